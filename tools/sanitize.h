/* --sanitize: the run again under a checker.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_SANITIZE_H
#define TOOLS_SANITIZE_H

#include "options.h"

/* On a GPU this does not return when it succeeds: compute-sanitizer takes the process over.  On the CPU
 * device its own checkers are switched on and the run goes on.  False and a message otherwise. */
bool sanitize(const element_list *elements, const option_use *use);
/* The same for many launches in processes of their own, which compute-sanitizer is not asked for. */
bool sanitize_on_cpu(const element_list *elements, const option_use *use);

#endif
