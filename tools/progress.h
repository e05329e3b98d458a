/* One rewritten line that says what is going on, after half a second and on a terminal only.
 * SPDX-License-Identifier: MIT */
#ifndef TOOLS_PROGRESS_H
#define TOOLS_PROGRESS_H

#include "options.h"

void progress_start(const element_list *elements); /* --progress, -q, TERM and CI decide */

/* What begins now; NULL: nothing, and the line is wiped.  Call it before anything is printed. */
void progress(const char *what);

void progress_off(void); /* from now on nothing is shown */

#endif
