/* Compares two modules' trees, lines and places in the text aside.  SPDX-License-Identifier: MIT */
#ifndef GPUL_TESTS_TREE_EQUAL_H
#define GPUL_TESTS_TREE_EQUAL_H

#include "ptx/ptx.h"

/* NULL when they are the same, else what differs first (valid until the next call). */
const char *tree_difference(const ptx_module *a, const ptx_module *b);

#endif
