/* What the examples share: a check with file and line, and where the kernels lie.
 * SPDX-License-Identifier: MIT */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <gpulaunch/gpulaunch.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef KERNELS
#define KERNELS "ptx/kernels/"
#endif

/* Ends the program with the whole story when a call fails. */
#define CHECK(call)                                                                                \
    do {                                                                                           \
        if ((call) != GPUL_OK) example_fail(__FILE__, __LINE__);                                   \
    } while (0)

static inline void example_fail(const char *file, int line)
{
    const gpul_error *e = gpul_last_error();
    fprintf(stderr, "%s:%d: GL%04d %s: %s\n", file, line, e->code, gpul_layer_text(e->layer),
            e->message);
    for (size_t i = 0; i < e->detail_count; i++)
        fprintf(stderr, "  %s:%u: %s\n", e->details[i].file ? e->details[i].file : "-",
                e->details[i].line, e->details[i].text);
    if (e->hint) fprintf(stderr, "  hint: %s\n", e->hint);
    exit(1);
}

#endif
