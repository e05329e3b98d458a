/* One run of NVRTC: text in, log and code out.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_COMPILE_RUN_H
#define GPUL_CORE_COMPILE_RUN_H

#include "base/alloc.h"
#include "nvrtc/nvrtc.h"

/* A list of strings that ends with NULL; the strings live elsewhere. */
typedef struct gpul__list {
    const char **items;
    size_t count, capacity;
} gpul__list;
bool gpul__list_add(gpul__list *list, const char *text);
void gpul__list_free(gpul__list *list);

typedef struct gpul__run_input {
    const gpul__nvrtc *nvrtc;
    const char *source, *name;
    const gpul__list *options;
    const gpul__list *header_names, *header_texts;
    const char *const *expressions; /* ends with NULL; may be NULL */
    bool (*progress)(void *user);   /* may be NULL */
    void *progress_user;
} gpul__run_input;

/* What came out; freed with gpul__run_free. */
typedef struct gpul__run {
    nvrtcResult result; /* of compiling */
    const char *call;   /* what failed when `result` is not success */
    char *log;          /* never NULL after a run */
    char *ptx;          /* NULL: none; ends in NUL */
    size_t ptx_size;    /* without the NUL */
    void *cubin;        /* NULL: none */
    size_t cubin_size;
    void *ltoir; /* NULL: none; only when there is neither PTX nor CUBIN */
    size_t ltoir_size;
    char **lowered; /* one for each expression, NULL where there is none */
    size_t lowered_count;
} gpul__run;

/* False: out of memory.  Any other failure is in `result` and `call`. */
bool gpul__run_nvrtc(gpul__run *out, const gpul__run_input *input);
void gpul__run_free(gpul__run *run);

#endif
