/* Bad input to the front end: every truncation, many mutations, deep nesting, absurd sizes, binary
 * bytes, and memory that runs out.  An error is fine, a crash or a leak is not; what parses must
 * print and parse again.  Worth running under sanitizers.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/signature.h"
#include "samples.h"
#include "tree_equal.h"

/* Parses text in a block of exactly its size, so that a sanitizer sees each byte read too far. */
static ptx_status try_text(const char *text, size_t length, bool and_print)
{
    char *exact = malloc(length ? length : 1);
    assert_non_null(exact);
    memcpy(exact, text, length);
    ptx_diags diags = { 0 };
    ptx_module *module = NULL;
    ptx_status status = ptx_parse(&module, exact, length, &diags);
    assert_int_equal(status == PTX_OK, module != NULL);
    assert_true(status == PTX_OK || diags.errors > 0);
    if (module && and_print) {
        gpul__str printed = { 0 };
        ptx_module *again = NULL;
        ptx_print_module(module, &printed);
        assert_int_equal(ptx_parse(&again, printed.text, printed.length, &diags), PTX_OK);
        const char *difference = tree_difference(module, again);
        if (difference) fail_msg("%s differs after printing", difference);
        ptx_module_free(again);
        gpul__str_free(&printed);
    }
    ptx_module_free(module);
    ptx_signature *signature = NULL;
    ptx_status read = ptx_signature_read(&signature, exact, length, &diags);
    assert_int_equal(read == PTX_OK, signature != NULL);
    assert_true(status != PTX_OK || read == PTX_OK);
    ptx_signature_free(signature);
    gpul__str log = { 0 };
    ptx_diags_render_log(&diags, &log);
    for (size_t i = 0; i < diags.count; i++) ptx_diag_render(&diags.items[i], &log);
    gpul__str_free(&log);
    ptx_diags_free(&diags);
    free(exact);
    return status;
}

static void test_every_truncation(void **state)
{
    (void)state;
    static const char *const names[] = { "assembly_sm90.ptx", "handwritten_sm90.ptx",
                                         "old_sm50.ptx" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length;
        char *text = sample_text(names[i], &length);
        for (size_t cut = 0; cut < length; cut++) try_text(text, cut, false);
        assert_int_equal(try_text(text, length, true), PTX_OK);
        free(text);
    }
    assert_int_equal(gpul__alloc_live(), 0);
}

static uint32_t random_state;

static uint32_t random_below(uint32_t limit)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state % limit;
}

/* One to four changes: a byte, a piece removed, a piece doubled, a dangerous word put in. */
static size_t mutate(char *text, size_t length, size_t room)
{
    static const char *const words[] = {
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "<4294967295>",
        "[18446744073709551615]",
        "0x",
        "1e999",
        ".v4",
        "-9223372036854775808",
        "@",
        "|",
        "%",
        ".align 0",
        "0f",
        "\"",
        "/*",
        "::",
        ", , ",
        "_",
        ";;",
        ".param .b32 x",
        "%tid.w",
        "call (a), b, (c), d",
        ".func f",
        "generic(",
        ".reg .v4 .pred q<9>",
    };
    for (uint32_t changes = 1 + random_below(4); changes && length > 8; changes--) {
        size_t at = random_below((uint32_t)length), size = 1 + random_below(24);
        if (size > length - at) size = length - at;
        switch (random_below(4)) {
        case 0: text[at] = (char)random_below(256); break;
        case 1:
            memmove(text + at, text + at + size, length - at - size);
            length -= size;
            break;
        case 2:
            if (length + size > room) break;
            memmove(text + at + size, text + at, length - at);
            length += size;
            break;
        default: {
            const char *word = words[random_below(sizeof words / sizeof *words)];
            size = strlen(word);
            if (length + size > room) break;
            memmove(text + at + size, text + at, length - at);
            memcpy(text + at, word, size);
            length += size;
        }
        }
    }
    return length;
}

static void test_mutations(void **state)
{
    (void)state;
    enum { EACH = 600 };
    size_t survived = 0;
    random_state = 2463534242u;
    for (int i = 0; i < SAMPLE_COUNT; i++) {
        size_t length;
        char *text = sample_text(sample_names[i], &length);
        size_t room = length + 256;
        char *changed = malloc(room);
        assert_non_null(changed);
        for (int n = 0; n < EACH; n++) {
            memcpy(changed, text, length);
            size_t changed_length = mutate(changed, length, room);
            survived += try_text(changed, changed_length, true) == PTX_OK;
        }
        free(changed);
        free(text);
    }
    print_message("%zu of %d mutations still parse\n", survived, EACH * SAMPLE_COUNT);
    assert_true(survived > 0);
    assert_int_equal(gpul__alloc_live(), 0);
}

#define HEADER ".version 8.0\n.target sm_90\n.address_size 64\n"

/* `before`, then `piece` many times, then `after`. */
static ptx_status repeated(const char *before, const char *piece, size_t times, const char *after)
{
    gpul__str text = { 0 };
    gpul__str_add(&text, before);
    for (size_t i = 0; i < times; i++) gpul__str_add(&text, piece);
    gpul__str_add(&text, after);
    ptx_status status = try_text(text.text, text.length, false);
    gpul__str_free(&text);
    return status;
}

static void test_depth(void **state)
{
    (void)state;
    enum { DEEP = 200000 };
    assert_int_equal(repeated(HEADER ".entry k() {", "{", DEEP, ""), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".entry k() {", "{}", DEEP, "ret; }"), PTX_OK);
    assert_int_equal(repeated(HEADER ".global .b32 x = ", "(", DEEP, "1;"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".global .b32 x = ", "-", DEEP, "1;"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".global .b32 x = ", "1?", DEEP, "1;"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".global .b32 x[2] = ", "{", DEEP, "1;"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".entry k() { mov.b32 ", "{", DEEP, ", 1; }"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".entry k() { mov.b32 ", "!", DEEP, "x, 1; }"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".entry k() { mov.b32 ", "_|", DEEP, "_, 1; }"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".entry k() { ld.b32 ", "[", DEEP, "x, 1; }"), PTX_INVALID);
    assert_int_equal(repeated(HEADER ".global .b32 x", "[1]", DEEP, ";"), PTX_INVALID);
    assert_int_equal(repeated(HEADER, ".visible ", DEEP, ".global .b32 x;"), PTX_OK);
    assert_int_equal(gpul__alloc_live(), 0);
}

static void test_sizes(void **state)
{
    (void)state;
    static const char *const refused[] = {
        ".global .b8 x[18446744073709551615];",
        ".global .b8 x[4294967296][4294967296];",
        ".global .b64 x[281474976710656];",
        ".global .b8 x[-1];",
        ".global .align 3 .b8 x[4];",
        ".global .align 4294967296 .b8 x[4];",
        ".global .b8 x[2][1099511627776] = {{1}, {2}};",
        ".global .b8 x[2] = {1, 2, 3};",
        ".entry k(.param .b8 x[4294967295]) { ret; }",
        ".entry k(.param .b8 x[]) { ret; }",
        ".entry k() { .reg .b32 %r<4294967295>; ret; }",
        ".entry k() { .reg .b32 %r<99999999999>; ret; }",
        ".entry k() .maxntid 4294967296 { ret; }",
        ".global .b32 x = 1 / 0;",
        ".global .b32 x = 18446744073709551616;",
        ".global .b32 x = 0xFFFFFFFFFFFFFFFFF;",
        ".global .b32 x = 09;",
        ".global .b32 x = 0f1234567;",
        ".global .b32 x = 0d12345678;",
        ".file 4294967296 \"x\"",
        ".loc 1 1",
        ".section .debug_info {",
        ".section {}",
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        gpul__str text = { 0 };
        gpul__str_printf(&text, HEADER "%s\n", refused[i]);
        if (try_text(text.text, text.length, false) != PTX_INVALID)
            fail_msg("%s is accepted", refused[i]);
        gpul__str_free(&text);
    }
    /* A million registers cost nothing until they are mentioned. */
    assert_int_equal(repeated(HEADER ".entry k() {", "{ .reg .b32 %r<1000000>; mov.b32 %r7, 1; }",
                              20000, "ret; }"),
                     PTX_OK);
    /* -2^63 / -1 wraps around instead of trapping. */
    static const char wraps[] = HEADER ".global .b64 x = -9223372036854775808 / -1;\n"
                                       ".global .b64 y = -9223372036854775808 % -1;\n"
                                       ".global .b64 z = 1 << 64;\n.global .b64 w = -1 >> 99;\n";
    assert_int_equal(try_text(wraps, sizeof wraps - 1, true), PTX_OK);
    assert_int_equal(gpul__alloc_live(), 0);
}

static void test_not_ptx(void **state)
{
    (void)state;
    static const unsigned char elf[64] = { 0x7f, 'E', 'L', 'F', 2, 1, 1 };
    unsigned char bytes[4096];
    random_state = 88172645u;
    for (size_t i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)random_below(256);
    assert_int_equal(try_text("", 0, false), PTX_INVALID);
    assert_int_equal(try_text("\0\0\0", 3, false), PTX_INVALID);
    assert_int_equal(try_text((const char *)elf, sizeof elf, false), PTX_INVALID);
    assert_int_equal(try_text((const char *)bytes, sizeof bytes, false), PTX_INVALID);
    assert_int_equal(try_text("__global__ void k() {}", 22, false), PTX_INVALID);
    /* NUL bytes may pad the end, as in fat binaries, but not hide what follows them. */
    static const char padded[] = HEADER ".entry k() { ret; }\n\0\0\0";
    assert_int_equal(try_text(padded, sizeof padded - 1, false), PTX_OK);
    static const char hidden[] = HEADER "\0.entry k() { ret; }\n";
    assert_int_equal(try_text(hidden, sizeof hidden - 1, false), PTX_INVALID);
    assert_int_equal(try_text(".version 99.0\n.target sm_90\n", 28, false), PTX_VERSION_TOO_NEW);
    assert_int_equal(gpul__alloc_live(), 0);
}

/* Without memory, whichever allocation fails: a status, no leak, and no tree. */
static void test_out_of_memory(void **state)
{
    (void)state;
    size_t length;
    char *text = sample_text("handwritten_sm90.ptx", &length);
    long n = 1;
    for (bool done = false; !done; n++) {
        ptx_diags diags = { 0 };
        ptx_module *module = NULL;
        gpul__alloc_fail_at(n);
        ptx_status status = ptx_parse(&module, text, length, &diags);
        gpul__alloc_fail_at(0);
        assert_true(status == PTX_OK || status == PTX_OUT_OF_MEMORY);
        assert_int_equal(status == PTX_OK, module != NULL);
        done = status == PTX_OK;
        ptx_module_free(module);
        ptx_diags_free(&diags);
        assert_int_equal(gpul__alloc_live(), 0);
    }
    assert_true(n > 20);
    n = 1;
    for (bool done = false; !done; n++) {
        ptx_diags diags = { 0 };
        ptx_signature *signature = NULL;
        gpul__alloc_fail_at(n);
        ptx_status status = ptx_signature_read(&signature, text, length, &diags);
        gpul__alloc_fail_at(0);
        assert_true(status == PTX_OK || status == PTX_OUT_OF_MEMORY);
        done = status == PTX_OK;
        ptx_signature_free(signature);
        ptx_diags_free(&diags);
        assert_int_equal(gpul__alloc_live(), 0);
    }
    assert_true(n > 20);
    /* The same while messages are written. */
    static const char wrong[] = HEADER ".entry k() { foo; bar; add.s32 a, b; mma.sync; ret; }";
    for (n = 1; n < 60; n++) {
        ptx_diags diags = { 0 };
        ptx_module *module = NULL;
        gpul__alloc_fail_at(n);
        ptx_status status = ptx_parse(&module, wrong, sizeof wrong - 1, &diags);
        gpul__alloc_fail_at(0);
        assert_true(status == PTX_INVALID || status == PTX_OUT_OF_MEMORY);
        assert_null(module);
        ptx_diags_free(&diags);
        assert_int_equal(gpul__alloc_live(), 0);
    }
    free(text);
}

GPUL_TEST_MAIN("ptx: bad input", cmocka_unit_test(test_every_truncation),
               cmocka_unit_test(test_mutations), cmocka_unit_test(test_depth),
               cmocka_unit_test(test_sizes), cmocka_unit_test(test_not_ptx),
               cmocka_unit_test(test_out_of_memory));
