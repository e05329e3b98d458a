/* Opening libzip.  SPDX-License-Identifier: MIT */
#if HAVE_ZIP
#include "zip_library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

#include "mem.h"

static zip_library entries;
static const char *reason; /* NULL: opened */

static void open_once(void)
{
    static const char *const names[] = { "libzip.so.5", "libzip.so.4" };
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
        library = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL);
        if (!library) reason = mem_dup(dlerror());
    }
    if (!library) return;
    reason = NULL;
#define X(name)                                                                                    \
    *(void **)(&entries.name) = dlsym(library, #name);                                             \
    if (!entries.name) reason = "it has no " #name;
    ZIP_LIBRARY_ENTRIES
#undef X
}

const zip_library *zip_library_open(const char **why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_once);
    *why = reason;
    return reason ? NULL : &entries;
}
#else
typedef int zip_library_is_absent; /* a file is not empty */
#endif
