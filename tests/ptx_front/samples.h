/* The PTX samples of this folder, read at run time.  SPDX-License-Identifier: MIT */
#ifndef GPUL_TESTS_PTX_SAMPLES_H
#define GPUL_TESTS_PTX_SAMPLES_H

#include <stddef.h>

enum { SAMPLE_COUNT = 9 };
extern const char *const sample_names[SAMPLE_COUNT];

/* The text of a sample, NUL-terminated, to be freed with free(); fails the test when there is none. */
char *sample_text(const char *name, size_t *length);

#endif
