/* Making failing statuses.  gpul__fail is the only way to make one; gpul__detail and gpul__hint add to
 * the record it made.  SPDX-License-Identifier: MIT
 *
 *     return gpul__fail(GPUL__ARGS_NULL, (.call = "gpul_launch"), "kernel is NULL");
 *
 *     gpul__fail(GPUL__COMPILE_ERROR, (.call = "nvrtcCompileProgram", .log = log), "...");
 *     gpul__detail(&(gpul_detail){ .line = 3, ... });
 *     return gpul__hint("write a=%s", text);                                                       */
#ifndef GPUL_BASE_ERROR_H
#define GPUL_BASE_ERROR_H

#include <gpulaunch/gpulaunch.h>

enum gpul__code {
#define X(number, name, layer, status, title) GPUL__##name = number,
#include "base/codes.def"
#undef X
};

/* What is known beside the sentence; everything may be left out.  Strings are copied. */
typedef struct gpul__failure {
    const char *call; /* left out: "" becomes the calling C function's name */
    gpul_native_kind native_kind;
    int native;
    const char *native_name; /* left out: looked up in the table of base/native.c */
    const char *hint;
    const char *log;
    const char *caller_file;
    int caller_line;
    gpul_status status; /* left out: that of the code */
} gpul__failure;

gpul_status gpul__fail_at(int code, const char *function, const gpul__failure *failure,
                          const char *format, ...) __attribute__((format(printf, 4, 5)));

#define GPUL__STRIP(...) __VA_ARGS__
/* `what` is a parenthesised list of designated initialisers of gpul__failure, `(0)` for none. */
#define gpul__fail(code, what, ...)                                                                \
    gpul__fail_at(code, __func__, &(gpul__failure){ GPUL__STRIP what }, __VA_ARGS__)

/* Out of host memory; needs no memory itself. */
gpul_status gpul__fail_memory(const char *function);
#define gpul__no_memory() gpul__fail_memory(__func__)

/* Add to the record of the failure that was just made, and return its status. */
gpul_status gpul__detail(const gpul_detail *detail);
gpul_status gpul__note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* What to do about a driver's or compiler's result where the caller knows nothing better; a static text, or NULL. */
const char *gpul__native_hint(gpul_native_kind kind, int native);

gpul_status gpul__hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The table row of a code; NULL when there is none. */
typedef struct gpul__code_row {
    int code;
    gpul_layer layer;
    gpul_status status;
    const char *title;
} gpul__code_row;
const gpul__code_row *gpul__code_row_at(size_t index);
const gpul__code_row *gpul__code_row_find(int code);

#endif
