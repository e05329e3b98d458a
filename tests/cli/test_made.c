/* Contents made by a device are those that the host makes, bit for bit; here on the CPU device.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#undef fail /* cmocka's; the command has its own */

#include <stdlib.h>
#include <string.h>

#include "tools/gen_device.h"

enum { COUNT = 1000 };

static gpul_device *cpu;
static maker made;

static void compare_one(const char *description, gpul_type type, uint32_t lanes)
{
    layout *l = layout_plain(type, lanes);
    word *w = mem_alloc(sizeof *w);
    *w = (word){
        .text = mem_dup(description), .origin = WORD_FILE, .file = "test", .line_text = ""
    };
    unsigned *offset = mem_array(strlen(description) + 2, sizeof *offset);
    w->offset = offset;
    spec_context context = { .name = "x", .type_text = "T *" };
    content_owner owner = { .name = "x", .type_text = "T *", .seed = 7 };
    buffer_spec spec = { 0 };
    messages_restart();
    assert_true(spec_parse(&spec, span_of(w), &context));
    content *c = content_new(&spec, l, NULL, &owner);
    if (!c || !content_resize(c, COUNT)) print_error("%s: %s\n", description, type_name(type));
    assert_non_null(c);
    assert_true(maker_knows(c));
    size_t bytes = COUNT * l->size;
    unsigned char *host = malloc(bytes), *device = malloc(bytes);
    gpul_buffer *buffer = NULL;
    assert_true(content_read(c, host, 0, COUNT));
    assert_int_equal(gpul_alloc(&buffer, cpu, bytes, NULL), GPUL_OK);
    assert_int_equal(maker_make(&made, buffer, c), GPUL_OK);
    assert_int_equal(gpul_read(device, buffer, 0, bytes, NULL), GPUL_OK);
    gpul_buffer_free(&buffer);
    for (size_t i = 0; i < bytes; i++)
        if (host[i] != device[i]) {
            print_error("%s of %s: byte %zu is %02x, not %02x\n", description, type_name(type), i,
                        device[i], host[i]);
            assert_true(false);
        }
    free(host);
    free(device);
    content_free(c);
}

static void need_compiler(void)
{
    if (maker_open(&made, cpu)) skip_because("%s", gpul_last_error()->message);
}

static void floats(void **state)
{
    static const gpul_type types[] = { GPUL_F64, GPUL_F32, GPUL_F16, GPUL_BF16 };
    (void)state;
    need_compiler();
    for (size_t i = 0; i < 4; i++) {
        compare_one("1000:rand", types[i], 1);
        compare_one("1000:rand:-1e-7..2e-6,seed=3", types[i], 1); /* subnormals of half */
        compare_one("1000:rand:1..1.0009765625", types[i], 1);    /* the upper end is rounded to */
        compare_one("1000:rand", types[i], 2);
        compare_one("1000:iota", types[i], 1);
        compare_one("1000:iota:0.1:-0.3", types[i], 1);
        compare_one("1000:iota:6e4:1e3", types[i], 1); /* to infinity for half */
    }
    compare_one("1000:fill:0.1", GPUL_F64, 1);
    compare_one("1000:ones", GPUL_F64, 2);
}

static void integers(void **state)
{
    static const gpul_type types[] = { GPUL_I8,  GPUL_U8,  GPUL_I16, GPUL_U16,
                                       GPUL_I32, GPUL_U32, GPUL_I64, GPUL_U64 };
    (void)state;
    need_compiler();
    for (size_t i = 0; i < 8; i++) {
        compare_one("1000:rand", types[i], 1);
        compare_one("1000:rand:3..120", types[i], 4);
        if (i >= 2) compare_one("1000:iota", types[i], 2);
        if (i >= 2 && i % 2 == 0) compare_one("1000:iota:30000:-31", types[i], 1);
    }
    compare_one("1000:rand:-9223372036854775808..9223372036854775807", GPUL_I64, 1);
    compare_one("1000:rand:0..18446744073709551615", GPUL_U64, 1);
    compare_one("1000:fill:-5", GPUL_I64, 1);
    compare_one("1000:rand", GPUL_BOOL, 1);
}

static int open_device(void **state)
{
    (void)state;
    return gpul_open(&cpu, gpul_device_opts(.device = "cpu")) != GPUL_OK;
}

static int close_device(void **state)
{
    (void)state;
    maker_free(&made);
    gpul_device_free(&cpu);
    mem_release();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(floats), cmocka_unit_test(integers) };
    return gpul_run_tests("made", tests, open_device, close_device);
}
