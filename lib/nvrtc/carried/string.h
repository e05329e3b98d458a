/* memcpy and memset are NVRTC's own.  SPDX-License-Identifier: MIT */
#pragma once
#ifndef NULL
#define NULL 0
#endif
static __device__ inline void *memmove(void *to, const void *from, size_t size)
{
    char *t = (char *)to;
    const char *f = (const char *)from;
    if (t < f)
        for (size_t i = 0; i < size; i++) t[i] = f[i];
    else
        while (size--) t[size] = f[size];
    return to;
}
static __device__ inline int memcmp(const void *a, const void *b, size_t size)
{
    const unsigned char *x = (const unsigned char *)a, *y = (const unsigned char *)b;
    for (size_t i = 0; i < size; i++)
        if (x[i] != y[i]) return x[i] - y[i];
    return 0;
}
static __device__ inline size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length]) length++;
    return length;
}
static __device__ inline int strncmp(const char *a, const char *b, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if (a[i] != b[i] || !a[i]) return (unsigned char)a[i] - (unsigned char)b[i];
    return 0;
}
static __device__ inline int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, (size_t)-1);
}
static __device__ inline char *strncpy(char *to, const char *from, size_t size)
{
    size_t i = 0;
    for (; i < size && from[i]; i++) to[i] = from[i];
    for (; i < size; i++) to[i] = 0;
    return to;
}
static __device__ inline char *strcpy(char *to, const char *from)
{
    size_t i = 0;
    do to[i] = from[i];
    while (from[i++]);
    return to;
}
static __device__ inline char *strcat(char *to, const char *from)
{
    strcpy(to + strlen(to), from);
    return to;
}
static __device__ inline const char *strchr(const char *text, int c)
{
    for (;; text++) {
        if (*text == (char)c) return text;
        if (!*text) return NULL;
    }
}
