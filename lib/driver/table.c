/* The table as an array: its entries by number.  SPDX-License-Identifier: MIT */
#include "driver/driver.h"

#include <string.h>

/* All symbols one behind the other, "NEED cuInit" and "WANT cuGetErrorName" with a NUL each, so that they need no
 * relocations. */
static const struct symbols {
#define X(field, symbol, need, params, args, letters) char field[sizeof #need " " #symbol];
#include "driver/driver.def"
#undef X
    char last[1];
} symbols = {
#define X(field, symbol, need, params, args, letters) #need " " #symbol,
#include "driver/driver.def"
#undef X
    "",
};

enum { FIRST = offsetof(gpul__driver, Init) };

_Static_assert(sizeof(gpul__driver) == FIRST + GPUL__DRIVER_ENTRIES * sizeof(void *),
               "the entries lie one behind the other");

const char *gpul__driver_symbol(size_t entry, bool *needed)
{
    const char *at = (const char *)&symbols;
    for (size_t i = 0; *at && i < entry; i++) at += strlen(at) + 1;
    if (!*at) return NULL;
    if (needed) *needed = *at == 'N';
    return at + strlen("NEED ");
}

void *gpul__driver_entry(const gpul__driver *driver, size_t entry)
{
    void *function;
    memcpy(&function, (const char *)driver + FIRST + entry * sizeof function, sizeof function);
    return function;
}

void gpul__driver_set_entry(gpul__driver *driver, size_t entry, void *function)
{
    memcpy((char *)driver + FIRST + entry * sizeof function, &function, sizeof function);
}
