/* Shared libraries opened at run time.  Not here: where to look (lib/driver/load.c, lib/nvrtc).
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_BASE_DL_H
#define GPUL_BASE_DL_H

#include <stddef.h>

/* Opens a library with all its symbols bound and none shown to others.  NULL when that fails, and then `why`
 * holds the loader's sentence. */
void *gpul__dl_open(const char *name, char *why, size_t size);

void *gpul__dl_symbol(void *library,
                      const char *name); /* NULL: the library has none of that name */
void gpul__dl_close(void *library);

/* The file that holds a symbol's address, as the loader spells it; freed with gpul__free, NULL when not known. */
char *gpul__dl_file(const void *symbol);

#endif
