/* size_t and ptrdiff_t are NVRTC's own.  SPDX-License-Identifier: MIT */
#pragma once
#ifndef NULL
#define NULL 0
#endif
#ifndef offsetof
#define offsetof(type, member) ((size_t)__INTADDR__(&(((type *)0)->member)))
#endif
#if __cplusplus >= 201103L
typedef decltype(nullptr) nullptr_t;
typedef struct {
    long long whole;
    double real;
} max_align_t;
#endif
