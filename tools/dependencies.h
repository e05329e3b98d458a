/* Make dependencies of a compiled file: which headers the compiler read.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_DEPENDENCIES_H
#define TOOLS_DEPENDENCIES_H

#include "compiling.h"

/* A folder of its own for the compiler's record of its work, and the record in it. */
typedef struct header_record {
    const char *folder, *file;
} header_record;

bool record_begin(header_record *out); /* false with a message */
void record_unknown(
    const option_use *use);             /* the message for a compiler that keeps no such record */
void record_end(header_record *record); /* removes both */

/* Writes the rule of `target`: the source, every header that was read, and as remarks those that are no files. */
bool write_dependencies(const header_record *record, const source_file *source,
                        const option_use *use, const char *target);

#endif
