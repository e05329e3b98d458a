/* All the mistakes of one launch, collected first and told together.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_LAUNCH_MISTAKES_H
#define GPUL_CORE_LAUNCH_MISTAKES_H

#include "base/alloc.h"
#include "base/error.h"

typedef struct gpul__mistake {
    gpul_detail detail;
    const char *hint; /* NULL: none */
} gpul__mistake;

/* All zero is empty.  Texts live in the arena. */
typedef struct gpul__mistakes {
    gpul__arena arena;
    gpul__mistake *items;
    size_t count, capacity;
    bool failed; /* memory ran out */
} gpul__mistakes;

/* Adds one.  `parameter` says where it was declared; NULL: none.  `hint` is kept as it is: a literal or
 * text of the arena. */
void gpul__mistake_add(gpul__mistakes *mistakes, int code, const gpul_param *parameter,
                       const char *hint, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Makes the record: a single mistake is the sentence itself, several follow `summary` ("3 arguments of
 * 'scale' do not fit") as details.  The list is freed. */
gpul_status gpul__mistakes_fail(gpul__mistakes *mistakes, const char *caller_file, int caller_line,
                                const char *summary);

#endif
