/* Tests: the table whose chosen calls fail.  SPDX-License-Identifier: MIT */
#include "driver/fault.h"

#include <stdatomic.h>
#include <string.h>

static const gpul__driver *below;
static gpul__driver table;
static atomic_long calls, planned, named_countdown;
static atomic_int planned_result, named_entry, named_result;
static _Atomic(const char *) failed;

static size_t find(const char *symbol)
{
    for (size_t i = 0; i < GPUL__DRIVER_ENTRIES; i++)
        if (strcmp(gpul__driver_symbol(i, NULL), symbol) == 0) return i;
    return GPUL__DRIVER_ENTRIES;
}

static bool gives_back(const char *symbol)
{
    static const char *const words[] = { "Destroy", "Free",       "Unload", "Release",
                                         "Unmap",   "Unregister", "Close",  "PopCurrent" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(symbol, words[i])) return true;
    return false;
}

enum verdict { PASS, FAIL, CALL_AND_FAIL };

/* Counts a call and says what becomes of it. */
static enum verdict judge(size_t entry, CUresult *result)
{
    long number = atomic_fetch_add(&calls, 1) + 1;
    long at = atomic_load(&planned);
    if (at && number == at) {
        *result = (CUresult)atomic_load(&planned_result);
    } else if ((size_t)atomic_load(&named_entry) == entry &&
               atomic_fetch_sub(&named_countdown, 1) <= 1) {
        *result = (CUresult)atomic_load(&named_result);
    } else {
        return PASS;
    }
    const char *symbol = gpul__driver_symbol(entry, NULL);
    atomic_store(&failed, symbol);
    return gives_back(symbol) ? CALL_AND_FAIL : FAIL;
}

#define X(field, symbol, need, params, args, letters)                                              \
    static CUresult fault_##field params                                                           \
    {                                                                                              \
        CUresult result_ = CUDA_SUCCESS;                                                           \
        enum verdict verdict_ = judge(GPUL__ENTRY_##field, &result_);                              \
        if (verdict_ == PASS) return below->field args;                                            \
        if (verdict_ == CALL_AND_FAIL) (void)below->field args;                                    \
        return result_;                                                                            \
    }
#include "driver/driver.def"
#undef X

static const gpul__driver all = {
#define X(field, symbol, need, params, args, letters) .field = fault_##field,
#include "driver/driver.def"
#undef X
};

const gpul__driver *gpul__fault_driver(const gpul__driver *under)
{
    below = under;
    gpul__fault_at(0, CUDA_SUCCESS);
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    gpul__fault_without(NULL);
    return &table;
}

void gpul__fault_at(long n, CUresult result)
{
    atomic_store(&planned_result, (int)result);
    atomic_store(&calls, 0);
    atomic_store(&planned, n);
    atomic_store(&failed, NULL);
}

void gpul__fault_entry(const char *symbol, long n, CUresult result)
{
    atomic_store(&named_result, (int)result);
    atomic_store(&named_countdown, n);
    atomic_store(&named_entry, (int)(symbol ? find(symbol) : GPUL__DRIVER_ENTRIES));
}

void gpul__fault_without(const char *symbol)
{
    if (symbol) {
        size_t entry = find(symbol);
        if (entry < GPUL__DRIVER_ENTRIES) gpul__driver_set_entry(&table, entry, NULL);
        return;
    }
    table = all;
    table.name = below->name;
    table.path = below->path;
    table.version = below->version;
    table.priv = below->priv;
    for (size_t i = 0; i < GPUL__DRIVER_ENTRIES; i++)
        if (!gpul__driver_entry(below, i)) gpul__driver_set_entry(&table, i, NULL);
}

long gpul__fault_calls(void)
{
    return atomic_load(&calls);
}

const char *gpul__fault_failed(void)
{
    return atomic_load(&failed);
}
