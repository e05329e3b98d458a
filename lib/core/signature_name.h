/* C++ names: what a symbol means, and whether a name that a user writes means it.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_SIGNATURE_NAME_H
#define GPUL_CORE_SIGNATURE_NAME_H

#include <stdbool.h>
#include <stddef.h>

#include "base/alloc.h"

/* A symbol taken apart; strings live in the arena. */
typedef struct gpul__demangled {
    const char *name;    /* "demo::poly<float, 3>"; the symbol itself when it is not mangled */
    const char *base;    /* without the last template arguments: "demo::poly" */
    const char **params; /* as the compiler's messages spell them: "const float *" */
    size_t param_count;
    bool is_mangled; /* false: extern "C", or a kind of mangling that is not read */
    bool is_template;
    bool is_function; /* a variable otherwise */
} gpul__demangled;

/* Reads Itanium mangling as far as kernels and variables need it.  False: out of memory; a symbol that
 * is not understood gives name == symbol and is_mangled false. */
bool gpul__demangle(gpul__demangled *out, gpul__arena *arena, const char *symbol);

/* Two spellings of a name that differ in blanks only ("a<float,3>", "a< float, 3 >"). */
bool gpul__same_name(const char *a, const char *b);

#endif
