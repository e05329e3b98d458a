/* Lines of the JIT's log: where they point in the PTX, and from there in the source.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_MODULE_LOG_H
#define GPUL_CORE_MODULE_LOG_H

#include "base/error.h"

/* Adds each complaint of `log` to the record, with its PTX line; with the source line where the PTX has
 * line information.  `ptx` may be NULL; `name` is the PTX's file name, NULL when there is none. */
void gpul__log_details(const char *log, const char *ptx, const char *name);

#endif
