/* The tracer: a table whose every entry calls the same entry of another and logs the call with its arguments, result
 * and time.  A table is chosen by its pointer when a device is opened, so that nobody pays who does not listen.
 * SPDX-License-Identifier: MIT */
#include "driver/driver.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/str.h"

#include <inttypes.h>
#include <pthread.h>
#include <string.h>

/* A text in quotes, without control characters, cut where it grows long. */
static void add_text(gpul__str *line, const char *text)
{
    enum { LONGEST = 120 };
    if (!text) {
        gpul__str_add(line, "NULL");
        return;
    }
    size_t length = strnlen(text, LONGEST + 1), shown = length > LONGEST ? LONGEST : length;
    gpul__str_add(line, "\"");
    for (size_t i = 0; i < shown; i++) {
        char c = text[i];
        if ((unsigned char)c < ' ' || c == 127) c = '.';
        gpul__str_addn(line, &c, 1);
    }
    gpul__str_add(line, length > LONGEST ? "...\"" : "\"");
}

static void add_address(gpul__str *line, uint64_t address)
{
    gpul__str_printf(line, "0x%" PRIx64, address);
}

/* What the driver wrote through a pointer; not looked at when the call failed. */
static void add_written(gpul__str *line, char letter, const void *written, bool success)
{
    if (!written || !success) {
        gpul__str_add(line, written ? "?" : "NULL");
        return;
    }
    switch (letter) {
    case 'I': gpul__str_printf(line, "%d", *(const int *)written); break;
    case 'U': gpul__str_printf(line, "%u", *(const unsigned *)written); break;
    case 'Z': gpul__str_printf(line, "%zu", *(const size_t *)written); break;
    case 'Q': add_address(line, *(const uint64_t *)written); break;
    case 'P': gpul__str_printf(line, "%p", *(void *const *)written); break;
    case 'D': add_address(line, *(const CUdeviceptr *)written); break;
    case 'F': gpul__str_printf(line, "%g", (double)*(const float *)written); break;
    case 'S': add_text(line, written); break;
    case 'C': add_text(line, *(const char *const *)written); break;
    }
}

static void add_argument(gpul__str *line, char letter, va_list *args, bool success)
{
    switch (letter) {
    case 'i': gpul__str_printf(line, "%d", va_arg(*args, int)); break;
    case 'u': gpul__str_printf(line, "%u", va_arg(*args, unsigned)); break;
    case 'x': gpul__str_printf(line, "0x%x", va_arg(*args, unsigned)); break;
    case 'z': gpul__str_printf(line, "%zu", va_arg(*args, size_t)); break;
    case 'q': add_address(line, va_arg(*args, unsigned long long)); break;
    case 'd': add_address(line, va_arg(*args, CUdeviceptr)); break;
    case 'p': gpul__str_printf(line, "%p", va_arg(*args, void *)); break;
    case 's': add_text(line, va_arg(*args, const char *)); break;
    case 'L': {
        CUmemLocation location = va_arg(*args, CUmemLocation);
        gpul__str_printf(line, "{%d, %d}", (int)location.type, location.id);
        break;
    }
    case 'H': {
        CUipcMemHandle handle = va_arg(*args, CUipcMemHandle);
        gpul__str_printf(line, "{%02x%02x...}", (unsigned char)handle.reserved[0],
                         (unsigned char)handle.reserved[1]);
        break;
    }
    default: add_written(line, letter, va_arg(*args, const void *), success);
    }
}

/* The time when a call begins; 0 when nobody listens. */
static __attribute__((noinline)) uint64_t trace_begin(void)
{
    return gpul__log_on(GPUL_LOG_TRACE) ? gpul__now() : 0;
}

/* Logs a call that has returned and hands its result on.  `entry` is its row as one text, so that the rows need no
 * relocations: "cuMemAlloc_v2(address, bytes)Dz". */
static CUresult trace_end(uint64_t start, const char *entry, CUresult result, ...)
{
    uint64_t spent = gpul__now() - start;
    gpul__str line = { 0 };
    const char *name = strchr(entry, '(') + 1;
    gpul__str_addn(&line, entry, (size_t)(name - entry));
    va_list args;
    va_start(args, result);
    for (const char *letter = strchr(entry, ')') + 1; *letter; letter++) {
        size_t length = strcspn(name, ",)");
        gpul__str_addn(&line, name, length);
        gpul__str_add(&line, "=");
        add_argument(&line, *letter, &args, result == CUDA_SUCCESS);
        name += length;
        if (*name == ',') gpul__str_add(&line, ", ");
        name += strspn(name, ", ");
    }
    va_end(args);
    gpul__log(GPUL_LOG_TRACE, "%s) = %s, %" PRIu64 " ns", gpul__str_text(&line),
              gpul_native_name(GPUL_NATIVE_CUDA, (int)result), spent);
    gpul__str_free(&line);
    return result;
}

/* An entry has no self, so each table that is traced needs entries of its own: one slot for libcuda and one for the
 * CPU device, whichever comes first. */
#ifdef GPUL_HAVE_CPU
enum { SLOTS = 2 };
#else
enum { SLOTS = 1 };
#endif
static struct slot {
    const gpul__driver *under;
    gpul__driver table;
} slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

#define STRIP(...) __VA_ARGS__
#define TRACED(slot, field, exported, params, args, letters, ...)                                  \
    static CUresult traced##slot##_##field params                                                  \
    {                                                                                              \
        uint64_t start_ = trace_begin();                                                           \
        CUresult result_ = slots[slot].under->field args;                                          \
        return start_ ? trace_end(start_, #exported #args letters, __VA_ARGS__) : result_;         \
    }

#define X(field, exported, need, params, args, letters)                                            \
    TRACED(0, field, exported, params, args, letters, result_, STRIP args)
#define X0(field, exported, need) TRACED(0, field, exported, (void), (), "", result_)
#include "driver/driver.def"
#undef X

#ifdef GPUL_HAVE_CPU
#define X(field, exported, need, params, args, letters)                                            \
    TRACED(1, field, exported, params, args, letters, result_, STRIP args)
#define X0(field, exported, need) TRACED(1, field, exported, (void), (), "", result_)
#include "driver/driver.def"
#undef X
#endif

static const gpul__driver traced[SLOTS] = {
#define X(field, symbol, need, params, args, letters) .field = traced0_##field,
    {
#include "driver/driver.def"
    },
#undef X
#ifdef GPUL_HAVE_CPU
#define X(field, symbol, need, params, args, letters) .field = traced1_##field,
    {
#include "driver/driver.def"
    },
#undef X
#endif
};

/* What the table below lacks, the traced table lacks as well. */
static void bind(struct slot *slot, const gpul__driver *driver)
{
    slot->table = traced[slot - slots];
    slot->table.name = driver->name;
    slot->table.path = driver->path;
    slot->table.version = driver->version;
    slot->table.priv = driver->priv;
    for (size_t i = 0; i < GPUL__DRIVER_ENTRIES; i++)
        if (!gpul__driver_entry(driver, i)) gpul__driver_set_entry(&slot->table, i, NULL);
    slot->under = driver;
}

const gpul__driver *gpul__driver_traced(const gpul__driver *driver)
{
    if (!gpul__log_on(GPUL_LOG_TRACE)) return driver;
    const gpul__driver *found = NULL;
    pthread_mutex_lock(&lock);
    for (struct slot *slot = slots; !found && slot < slots + SLOTS; slot++) {
        if (!slot->under) bind(slot, driver);
        if (slot->under == driver || &slot->table == driver) found = &slot->table;
    }
    pthread_mutex_unlock(&lock);
    if (!found)
        gpul__log(GPUL_LOG_WARN, "the calls of %s are not traced: %d drivers are", driver->name,
                  SLOTS);
    return found ? found : driver;
}
