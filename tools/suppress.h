/* --suppressions FILE: findings of the checkers that are known and not to be shown.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_SUPPRESS_H
#define TOOLS_SUPPRESS_H

#include "options.h"

/* Reads the file that the option names, once for the process; false: it cannot be read, or a line is wrong, with a message
 * for each. */
bool suppressions_read(const option_use *use);

/* Whether a line of the file covers this finding: "'kernel': race in shared memory: ...".  Counts it when `count` is set. */
bool suppression_covers(const char *sentence, const char *file, unsigned line, bool count);

/* Notes how many findings were not shown, and the lines that covered none. */
void suppressions_tell(void);

#endif
