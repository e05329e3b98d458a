/* Keeping a run: as a case of the source file, or as a folder for a bug report.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_SAVE_H
#define TOOLS_SAVE_H

#include "job.h"

/* --save-directive[=NAME]: appends the command line's words to the file as a case. */
bool save_directive(const source_file *source, const directives *d, const element_list *elements,
                    const option_use *use);

/* --save-case DIR: source, inputs, command and versions. */
bool save_case(const job *j, const session *s, const option_use *use);

#endif
