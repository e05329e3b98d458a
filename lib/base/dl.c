/* Shared libraries opened at run time.  SPDX-License-Identifier: MIT */
#include "base/dl.h"

#include "base/alloc.h"

#include <dlfcn.h>
#include <stdio.h>

void *gpul__dl_open(const char *name, char *why, size_t size)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        const char *text = dlerror();
        snprintf(why, size, "%s", text ? text : "the loader does not say why");
    }
    return library;
}

void *gpul__dl_symbol(void *library, const char *name)
{
    return dlsym(library, name);
}

void gpul__dl_close(void *library)
{
    dlclose(library);
}

char *gpul__dl_file(const void *symbol)
{
    Dl_info about;
    if (!dladdr(symbol, &about) || !about.dli_fname || !*about.dli_fname) return NULL;
    return gpul__strdup(about.dli_fname);
}
