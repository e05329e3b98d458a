/* Decoding JIT options and writing answers into them.  SPDX-License-Identifier: MIT */
#include "cpu/jit.h"

#include "base/clock.h"

#include <string.h>

static unsigned number(void *value)
{
    return (unsigned)(uintptr_t)value;
}

static CUresult decode(cpu_jit *jit, CUjit_option option, void *value)
{
    enum { HIGHEST_LEVEL = 4 };
    switch (option) {
    case CU_JIT_MAX_REGISTERS: jit->max_registers = number(value); break;
    case CU_JIT_THREADS_PER_BLOCK: jit->threads_per_block = number(value); break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: jit->info_room = number(value); break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: jit->error_room = number(value); break;
    case CU_JIT_LOG_VERBOSE: jit->verbose = number(value) != 0; break;
    case CU_JIT_OPTIMIZATION_LEVEL:
        if (number(value) > HIGHEST_LEVEL) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_JIT_TARGET: /* higher bits: for this architecture, or this family, alone */
        jit->target = number(value) & 0xffff;
        if (!gpul__cpu_limits_find((int)jit->target)) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_JIT_FALLBACK_STRATEGY:
        if (number(value) > CU_PREFER_BINARY) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_JIT_CACHE_MODE:
        if (number(value) > CU_JIT_CACHE_OPTION_CA) return CUDA_ERROR_INVALID_VALUE;
        break;
    case CU_JIT_GLOBAL_SYMBOL_COUNT: /* symbols of the host cannot be given to a kernel here */
        if (number(value)) return CUDA_ERROR_NOT_SUPPORTED;
        break;
    default:
        if (option < 0 || option > CU_JIT_SPLIT_COMPILE) return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_jit_begin(cpu_jit *jit, unsigned count, CUjit_option *options, void **values)
{
    *jit = (cpu_jit){ .count = count, .options = options, .values = values, .start = gpul__now() };
    if (count && (!options || !values)) return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        CUresult result = decode(jit, options[i], values[i]);
        if (result) return result;
    }
    return CUDA_SUCCESS;
}

static void **find(cpu_jit *jit, CUjit_option option)
{
    for (unsigned i = 0; i < jit->count; i++)
        if (jit->options[i] == option) return &jit->values[i];
    return NULL;
}

/* Fills the caller's buffer, ending in NUL, and replaces its size by what was used. */
static void write_log(cpu_jit *jit, CUjit_option buffer, CUjit_option size, size_t most,
                      const gpul__str *log)
{
    void **text = find(jit, buffer), **room = find(jit, size);
    if (!text || !room) return;
    size_t length = log->length;
    if (length >= most) length = most ? most - 1 : 0;
    if (*text && most) {
        memcpy(*text, gpul__str_text(log), length);
        ((char *)*text)[length] = 0;
    }
    *room = (void *)(uintptr_t)length;
}

void gpul__cpu_jit_write(cpu_jit *jit)
{
    write_log(jit, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, jit->info_room,
              &jit->info);
    write_log(jit, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, jit->error_room,
              &jit->error);
    void **time = find(jit, CU_JIT_WALL_TIME);
    if (!time) return;
    float milliseconds = (float)((double)(gpul__now() - jit->start) * 1e-6);
    *time = NULL;
    memcpy(time, &milliseconds, sizeof milliseconds);
}

void gpul__cpu_jit_end(cpu_jit *jit)
{
    gpul__cpu_jit_write(jit);
    gpul__str_free(&jit->info);
    gpul__str_free(&jit->error);
}
