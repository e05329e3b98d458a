/* bool is a word of the language.  SPDX-License-Identifier: MIT */
#pragma once
#define __bool_true_false_are_defined 1
