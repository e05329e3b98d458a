/* The driver table of the CPU device.  SPDX-License-Identifier: MIT */
#include "cpu/cpu.h"
#include "cpu/entries.h"
#include "cpu/state.h"

#include <string.h>

/* PICK(Init) is the entry's function where entries.h has CPU_HAS_Init, else the refusal. */
#define SECOND(a, b, ...)  b
#define SECOND_OF(...)     SECOND(__VA_ARGS__, 0, 0)
#define MARK_1             0, 1
#define PASTE(a, b)        a##b
#define HAS(mark)          SECOND_OF(PASTE(MARK_, mark), 0)
#define CHOOSE_1(field)    gpul__cpu_##field
#define CHOOSE_0(field)    refuse_##field
#define CHOOSE(has, field) PASTE(CHOOSE_, has)(field)
#define PICK(field)        CHOOSE(HAS(CPU_HAS_##field), field)

/* A refusal for every row, so that the types are right; those of rows that have a function are unused. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter"
#pragma GCC diagnostic ignored "-Wunused-function"
#define X(field, symbol, need, params, args, letters)                                              \
    static CUresult refuse_##field params                                                          \
    {                                                                                              \
        return CUDA_ERROR_NOT_SUPPORTED;                                                           \
    }
#include "driver/driver.def"
#undef X
#pragma GCC diagnostic pop

static const gpul__driver table = {
    .name = "cpu",
    .version = CPU_DRIVER_VERSION,
#define X(field, symbol, need, params, args, letters) .field = PICK(field),
#include "driver/driver.def"
#undef X
};

const gpul__driver *gpul__cpu_driver(void)
{
    return &table;
}

/* Names with and without the version at their end mean the same here: there is one version of each. */
static bool same_symbol(const char *symbol, const char *wanted)
{
    size_t length = strlen(wanted);
    if (strncmp(symbol, wanted, length) != 0) return false;
    return symbol[length] == 0 || (symbol[length] == '_' && symbol[length + 1] == 'v');
}

CUresult gpul__cpu_GetProcAddress(const char *symbol, void **function, int version,
                                  cuuint64_t flags, CUdriverProcAddressQueryResult *status)
{
    (void)version;
    enum { LEGACY_STREAM = 1, PER_THREAD_STREAM = 2 };
    if (!symbol || !function || flags > PER_THREAD_STREAM) return CUDA_ERROR_INVALID_VALUE;
    if (flags == PER_THREAD_STREAM) return CUDA_ERROR_NOT_SUPPORTED;
    *function = NULL;
    for (size_t i = 0; i < GPUL__DRIVER_ENTRIES && !*function; i++)
        if (same_symbol(gpul__driver_symbol(i, NULL), symbol))
            *function = gpul__driver_entry(&table, i);
    if (status)
        *status = *function ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *function ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
