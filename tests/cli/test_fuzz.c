/* The argument language and the readers of files on damaged input: any answer will do, no crash, no leak, and a
 * message for each refusal.  With -fsanitize=fuzzer (FUZZ_WORDS or FUZZ_FILES defined) it is a fuzz target.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#undef fail /* cmocka's; the command has its own */

#include <stdlib.h>
#include <string.h>

#include "tools/content.h"
#include "tools/npy.h"
#include "tools/request.h"

static word *word_of(const char *made)
{
    word *w = mem_alloc(sizeof *w);
    unsigned *offset = mem_array(strlen(made) + 1, sizeof *offset);
    for (size_t i = 0; i <= strlen(made); i++) offset[i] = (unsigned)i;
    *w = (word){ .text = made,
                 .origin = WORD_FILE,
                 .file = "fuzz",
                 .line_text = made,
                 .line = 1,
                 .offset = offset };
    return w;
}

/* A description for several element types, a word of a command line, and a directive. */
static void try_words(const char *data, size_t size)
{
    char *content_text = mem_copy(data, size);
    spec_context context = { .name = "x", .type_text = "float *" };
    content_owner owner = { .name = "x", .type_text = "float *", .seed = 1 };
    static const gpul_type types[] = { GPUL_F32, GPUL_U8, GPUL_I64, GPUL_F16, GPUL_BOOL };
    messages_restart();
    buffer_spec spec;
    bool good = spec_parse(&spec, span_of(word_of(content_text)), &context);
    assert_true(good || messages_failed());
    for (size_t i = 0; good && spec.source != SOURCE_FILE && i < sizeof types / sizeof *types;
         i++) {
        size_t before = messages_errors();
        content *c = content_new(&spec, layout_plain(types[i], 1 + (unsigned)i % 4), NULL, &owner);
        assert_true(c || messages_errors() > before);
        unsigned char bytes[64 * 8 * 4];
        if (c && content_resize(c, c->count && c->count < 64 ? c->count : 64))
            content_read(c, bytes, 0, c->count);
        if (c) content_free(c);
    }
    word_list words = { 0 };
    size_t bad;
    word like = { .file = "fuzz", .line_text = content_text, .line = 1, .confined = true };
    run_request request;
    request_init(&request);
    if (words_split(&words, &like, 0, &bad)) request_add_words(&request, &words, 0, 1, 1);
    for (size_t i = 0; i < messages_count(); i++) assert_non_null(message_rendered(messages_at(i)));
    source_file source = { .path = "fuzz.cu", .folder = "", .text = content_text, .size = size };
    *list_add(&source.lines) = mem_format("// gpulaunch: %s", content_text);
    directives d;
    messages_restart();
    directives_read(&d, &source, true);
    for (size_t i = 0; i < messages_count(); i++) assert_non_null(message_rendered(messages_at(i)));
    messages_restart();
    mem_release();
}

static void try_file(const unsigned char *data, size_t size)
{
    static const struct {
        gpul_type type;
        unsigned lanes;
    } wanted[] = {
        { GPUL_F32, 1 }, { GPUL_U8, 1 }, { GPUL_U8, 4 }, { GPUL_F32, 4 }, { GPUL_U16, 1 }
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        for (int kind = 0; kind < 4; kind++) {
            buffer_spec spec = { .cast = kind % 2 == 0, .norm = i == 3, .gray = i == 1 };
            word *w = word_of("@fuzz");
            file_request request = { .path = "fuzz",
                                     .at = span_of(w),
                                     .name = "x",
                                     .type_text = "T *",
                                     .layout = layout_plain(wanted[i].type, wanted[i].lanes),
                                     .spec = &spec };
            file_content out = { .fd = -1 };
            unsigned char *exact = malloc(size + 1); /* an overrun is seen by the sanitizer */
            if (size) memcpy(exact, data, size);
            exact[size] = 0;
            messages_restart();
            bool good = kind == 0   ? read_npy(&out, &request, exact, size, -1)
                        : kind == 1 ? read_csv(&out, &request, exact, size, FORMAT_CSV)
                        : kind == 2 ? read_pnm(&out, &request, exact, size)
                                    : read_png(&out, &request, exact, size);
            assert_true(good ? shape_count(&out.shape) != UINT64_MAX : messages_failed());
            file_content_free(&out);
            free(exact);
            messages_restart();
            mem_release();
        }
}

#if defined(FUZZ_WORDS) || defined(FUZZ_FILES)
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef FUZZ_WORDS
    try_words((const char *)data, size);
#else
    try_file(data, size);
#endif
    return 0;
}
#else

static uint64_t state_of_random = 88172645463325252u;

static uint32_t next_random(uint32_t limit)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 7;
    state_of_random ^= state_of_random << 17;
    return (uint32_t)(state_of_random >> 33) % limit;
}

static void random_words(void **state)
{
    static const char *const pieces[] = {
        "1M",       "640x480", "0",      "-1",      "2.5",      ":",       ",",        "=",
        "..",       "/",       "@a.bin", "%x",      "rand",     "iota",    "nan",      "fill",
        "zeros",    "x.",      "len",    "shape",   "null",     "f32",     "u8x3",     "cast",
        "seed",     "in",      "'",      "\"",      " ",        "#",       "--grid",   "-D",
        "--expect", "x=",      "case ",  "args ",   "require ", "fails ",  "GL0505",   "+",
        "perm",     "randn",   "1e9",    "0x1f",    "010",      "K",       "\xc3\xa4", "\xff",
        "--then",   "16G",     "-k",     "<float>", "--swap",   "--print", "key=",     "skip="
    };
    (void)state;
    for (int i = 0; i < 4000; i++) {
        text made = { 0 };
        for (uint32_t n = next_random(9); n; n--)
            text_add(&made, pieces[next_random(sizeof pieces / sizeof *pieces)]);
        char *copy = strdup(text_of(&made));
        try_words(copy, strlen(copy));
        free(copy);
    }
}

static void damaged_files(void **state)
{
    static const char *const paths[] = {
        "f32.npy",           "struct.npy",         "fortran.npy",        "nested.npy",
        "float4.npy",        "../files/small.pgm", "../files/small.ppm", "../files/table.csv",
        "../files/small.png"
    };
    (void)state;
    for (size_t p = 0; p < sizeof paths / sizeof *paths; p++) {
        unsigned char *data;
        size_t size;
        const char *why;
        assert_true(file_slurp(&data, &size, mem_format("tests/cli/data/%s", paths[p]), &why));
        try_file(data, size);
        for (int i = 0; i < 150; i++) {
            unsigned char *copy = malloc(size);
            memcpy(copy, data, size);
            for (uint32_t n = 1 + next_random(4); n; n--)
                copy[next_random((uint32_t)size)] = (unsigned char)next_random(256);
            size_t length = next_random(3) ? size : next_random((uint32_t)size + 1);
            try_file(copy, length);
            free(copy);
        }
        data_free(data);
    }
}

GPUL_TEST_MAIN("cli fuzz", cmocka_unit_test(random_words), cmocka_unit_test(damaged_files));
#endif
