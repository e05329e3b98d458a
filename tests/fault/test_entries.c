/* Every entry of the driver's table fails with each result that the Driver API documents for it, reached through the public
 * calls of the roads.  documented.def has a row for each entry and says which no road reaches.
 * SPDX-License-Identifier: MIT */
#include "road.h"

#include <stdio.h>
#include <string.h>

/* How an entry stands to the roads. */
typedef enum reach {
    ON_ROAD,  /* a road calls it, and some failure of it is the road's */
    MISSED,   /* a road calls it, and goes on without its answer */
    OFF_ROAD, /* the library calls it, no road does: not swept here */
    UNCALLED, /* the library has it for the CPU device and for tests */
} reach;

#define RESULTS 24
static const struct {
    const char *symbol;
    reach reach;
    CUresult results[RESULTS]; /* ends with CUDA_SUCCESS */
} rows[] = {
#define COMMON                                                                                     \
    CUDA_ERROR_DEINITIALIZED, CUDA_ERROR_NOT_INITIALIZED, CUDA_ERROR_INVALID_CONTEXT,              \
        CUDA_ERROR_INVALID_VALUE
#define E(symbol, reach, ...) { #symbol, reach, { __VA_ARGS__ } },
#include "documented.def"
#undef E
};

/* The compiler's road calls the driver for nothing that the others do not. */
static const route ways[] = { FROM_PTX, KINDS, GRAPHS };

static void start(const char *symbol, CUresult result)
{
    static const gpul__record_config machine;
    gpul__record_driver(); /* its first call resets */
    gpul__record_reset(&machine);
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    gpul__fault_at(0, CUDA_SUCCESS);
    gpul__fault_without(NULL);
    gpul__fault_entry(symbol, 1, result);
}

static bool was_called(const char *symbol)
{
    const char *failed = gpul__fault_failed();
    return failed && strcmp(failed, symbol) == 0;
}

/* The record of a failure that an entry caused says which result it was, and what to do. */
static void check_record(const journey *j, CUresult result, const char *what)
{
    const char *name = gpul_native_name(GPUL_NATIVE_CUDA, (int)result);
    check_failure(j, what);
    /* A list of mistakes, of which the refusal is one, has the name in its sentence. */
    bool in_words = j->error.native_kind == GPUL_NATIVE_NONE && strstr(j->message, name);
    if (!in_words &&
        (j->error.native_kind != GPUL_NATIVE_CUDA || strcmp(j->native_name, name) != 0))
        fail_msg("%s: the record has \"%s\" (%s)", what, j->native_name, j->message);
    if (!*j->hint && !in_words) fail_msg("%s: no hint: GL%04d %s", what, j->error.code, j->message);
}

static reach sweep(size_t row)
{
    reach seen = OFF_ROAD;
    char what[128];
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++)
        for (const CUresult *r = rows[row].results; *r != CUDA_SUCCESS; r++) {
            journey j;
            start(rows[row].symbol, *r);
            travel(&j, ways[w]);
            if (!was_called(rows[row].symbol)) break; /* not on this road, whatever it would give */
            snprintf(what, sizeof what, "way %d, %s gives %d", (int)ways[w], rows[row].symbol,
                     (int)*r);
            check_clean(&j, what);
            if (seen != ON_ROAD) seen = MISSED;
            if (j.status == GPUL_OK) continue;
            seen = ON_ROAD;
            check_record(&j, *r, what);
        }
    return seen;
}

static void each_entry_gives_each_documented_result(void **state)
{
    (void)state;
    static const char *const words[] = { "ON_ROAD", "MISSED", "OFF_ROAD", "UNCALLED" };
    size_t counts[4] = { 0 };
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        reach seen = sweep(row), said = rows[row].reach;
        counts[said]++;
        if (seen != said && !(seen == OFF_ROAD && said == UNCALLED))
            fail_msg("%s is %s, and documented.def has %s", rows[row].symbol, words[seen],
                     words[said]);
    }
    print_message("%zu entries fail a road, %zu are missed without harm, %zu are called off the "
                  "roads, %zu are not called\n",
                  counts[ON_ROAD], counts[MISSED], counts[OFF_ROAD], counts[UNCALLED]);
}

/* A new entry needs a row, in the table's order. */
static void each_entry_has_its_row(void **state)
{
    (void)state;
    const char *symbol;
    size_t count = 0;
    for (; (symbol = gpul__driver_symbol(count, NULL)); count++)
        if (count >= sizeof rows / sizeof *rows || strcmp(rows[count].symbol, symbol) != 0)
            fail_msg("%s has no row in documented.def, or not in the table's order", symbol);
    assert_int_equal(count, sizeof rows / sizeof *rows);
}

GPUL_TEST_MAIN("entries", cmocka_unit_test(each_entry_has_its_row),
               cmocka_unit_test(each_entry_gives_each_documented_result));
