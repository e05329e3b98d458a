/* The readers of files: what NumPy wrote comes back, and hostile files are refused.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#undef fail /* cmocka's; the command has its own */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tools/content.h"
#include "tools/npy.h"

#define DATA "tests/cli/data/"

typedef struct loaded {
    content *content;
    buffer_spec spec;
    unsigned char bytes[4096];
} loaded;

/* Reads `x=<description>` for elements of the layout; NULL when it fails. */
static content *load(loaded *out, const char *description, layout *l)
{
    word *w = mem_alloc(sizeof *w);
    *w = (word){
        .text = mem_dup(description), .origin = WORD_FILE, .file = "test", .line_text = ""
    };
    unsigned *offset = mem_array(strlen(description) + 2, sizeof *offset);
    w->offset = offset;
    spec_context context = { .name = "x", .type_text = "float *" };
    content_owner owner = { .name = "x", .type_text = "float *", .seed = 1 };
    memset(out, 0, sizeof *out);
    messages_restart();
    if (!spec_parse(&out->spec, span_of(w), &context)) return NULL;
    out->content = content_new(&out->spec, l, NULL, &owner);
    if (!out->content) return NULL;
    shape s = out->spec.shape_kind == SHAPE_GIVEN ? out->spec.shape : content_shape(out->content);
    uint64_t count = shape_count(&s);
    if (!content_resize(out->content, count)) {
        content_free(out->content);
        return NULL;
    }
    assert_true(count * l->size <= sizeof out->bytes);
    assert_true(content_read(out->content, out->bytes, 0, count));
    content_free(out->content);
    return out->content;
}

static int first_code(void)
{
    return messages_count() ? messages_at(0)->code : 0;
}

static void numpy_plain(void **state)
{
    (void)state;
    loaded x;
    float f[12];
    double d[3];
    assert_non_null(load(&x, "@" DATA "f32.npy", layout_plain(GPUL_F32, 1)));
    assert_int_equal(x.content->count, 5);
    memcpy(f, x.bytes, 20);
    assert_true(f[0] == 1.5f && f[1] == -2.25f && f[2] == 0 && f[3] > 1e38f && f[4] != f[4]);
    assert_non_null(load(&x, "@" DATA "f64.npy", layout_plain(GPUL_F64, 1)));
    memcpy(d, x.bytes, 24);
    assert_true(d[0] == 0.1 && d[1] == 1e300 && d[2] == -3);
    assert_null(load(&x, "@" DATA "f64.npy", layout_plain(GPUL_F32, 1)));
    assert_int_equal(first_code(), CODE_FILE_TYPE);
    assert_non_null(strstr(messages_at(0)->text, "float64"));
    assert_non_null(load(&x, "@" DATA "f32.npy,cast", layout_plain(GPUL_F64, 1)));
    memcpy(d, x.bytes, 16);
    assert_true(d[0] == 1.5 && d[1] == -2.25);
    int32_t n[24];
    assert_non_null(load(&x, "@" DATA "big_endian.npy", layout_plain(GPUL_I32, 1)));
    memcpy(n, x.bytes, 12);
    assert_true(n[0] == 1 && n[1] == 2 && n[2] == -3);
    assert_non_null(load(&x, "@" DATA "bool.npy", layout_plain(GPUL_BOOL, 1)));
    assert_true(x.bytes[0] == 1 && x.bytes[1] == 0 && x.bytes[2] == 1);
    uint64_t u[3];
    assert_non_null(load(&x, "@" DATA "u64.npy", layout_plain(GPUL_U64, 1)));
    memcpy(u, x.bytes, 24);
    assert_true(u[1] == (uint64_t)1 << 63 && u[2] == UINT64_MAX);
    uint16_t h[4];
    assert_non_null(load(&x, "@" DATA "f16.npy", layout_plain(GPUL_F16, 1)));
    memcpy(h, x.bytes, 8);
    assert_true(h[0] == 0x3c00 && h[2] == 0x7bff && h[3] == 1);
    assert_non_null(load(&x, "@" DATA "scalar.npy", layout_plain(GPUL_F32, 1)));
    assert_int_equal(x.content->count, 1);
    assert_null(load(&x, "@" DATA "empty.npy", layout_plain(GPUL_F32, 1)));
    assert_int_equal(first_code(), CODE_FILE_SIZE);
    assert_null(load(&x, "@" DATA "text.npy", layout_plain(GPUL_F32, 1)));
    assert_int_equal(first_code(), CODE_FILE_FORMAT);
    assert_null(load(&x, "@" DATA "none.npy", layout_plain(GPUL_F32, 1)));
    assert_int_equal(first_code(), CODE_FILE_OPEN);
    mem_release();
    messages_restart();
}

static void numpy_shapes(void **state)
{
    (void)state;
    loaded x;
    int32_t n[24];
    assert_non_null(load(&x, "@" DATA "i16_2d.npy", layout_plain(GPUL_I16, 1)));
    assert_string_equal(shape_text(&x.content->file.shape), "3x2");
    assert_non_null(load(&x, "@" DATA "fortran.npy", layout_plain(GPUL_I32, 1)));
    assert_string_equal(shape_text(&x.content->file.shape), "4x3x2");
    memcpy(n, x.bytes, sizeof n);
    for (int i = 0; i < 24; i++) assert_int_equal(n[i], i);
    assert_non_null(load(&x, "@" DATA "float4.npy", layout_plain(GPUL_F32, 4)));
    assert_int_equal(x.content->count, 3);
    assert_null(
        load(&x, "@" DATA "f32.npy", layout_plain(GPUL_F32, 4))); /* 5 numbers are no float4s */
    assert_int_equal(first_code(), CODE_FILE_SHAPE);
    assert_non_null(load(&x, "@" DATA "complex.npy", layout_plain(GPUL_F32, 2)));
    float f[4];
    memcpy(f, x.bytes, 16);
    assert_true(x.content->count == 2 && f[0] == 1 && f[1] == 2 && f[3] == -3.5f);
    assert_non_null(load(&x, "2:@" DATA "f32.npy", layout_plain(GPUL_F32, 1)));
    assert_null(load(&x, "9:@" DATA "f32.npy", layout_plain(GPUL_F32, 1)));
    assert_int_equal(first_code(), CODE_FILE_SIZE);
    mem_release();
    messages_restart();
}

/* struct { float4 pos; float4 vel; } */
static layout *body(void)
{
    layout *l = mem_alloc(sizeof *l);
    *l = (layout){ .type_name = "Body", .size = 32, .align = 16, .is_struct = true };
    *list_add(&l->leaves) = (leaf){ "pos", GPUL_F32, 0, 4, "float4" };
    *list_add(&l->leaves) = (leaf){ "vel", GPUL_F32, 16, 4, "float4" };
    return l;
}

static void numpy_structs(void **state)
{
    (void)state;
    loaded x;
    float f[16];
    assert_non_null(load(&x, "@" DATA "struct.npy", body()));
    memcpy(f, x.bytes, sizeof f);
    for (int i = 0; i < 16; i++) assert_true(f[i] == (float)(i + 1));
    assert_null(load(&x, "@" DATA "nested.npy", body()));
    assert_int_equal(first_code(), CODE_FILE_TYPE);
    layout *padded = mem_alloc(sizeof *padded);
    *padded = (layout){ .type_name = "P", .size = 16, .align = 8, .is_struct = true };
    *list_add(&padded->leaves) = (leaf){ "c", GPUL_U8, 0, 1, "char" };
    *list_add(&padded->leaves) = (leaf){ "d", GPUL_F64, 8, 1, "double" };
    assert_non_null(load(&x, "@" DATA "padded.npy", padded));
    mem_release();
    messages_restart();
}

/* What we write, our reader takes; that NumPy takes it is tested by npy.py where NumPy is. */
static void numpy_round_trip(void **state)
{
    (void)state;
    static const gpul_type types[] = {
        GPUL_BOOL, GPUL_I8,  GPUL_U8,  GPUL_I16, GPUL_U16, GPUL_I32,
        GPUL_U32,  GPUL_I64, GPUL_U64, GPUL_F16, GPUL_F32, GPUL_F64
    };
    shape shapes[] = { { 1, { 7 } }, { 2, { 3, 5 } }, { 3, { 2, 3, 4 } } };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < 3; s++)
            for (unsigned lanes = 1; lanes <= 4; lanes++) {
                layout *l = layout_plain(types[t], lanes);
                size_t length;
                const char *header = npy_header_text(l, &shapes[s], &length);
                assert_int_equal(length % 64, 0);
                npy_header h;
                uint64_t size = length + shape_count(&shapes[s]) * l->size;
                assert_null(npy_parse(&h, (const unsigned char *)header, length, size));
                assert_int_equal(h.data_offset, length);
                gpul_type type;
                uint32_t one;
                assert_true(layout_plain_type(h.layout, &type, &one));
                assert_int_equal(type, types[t]);
                assert_int_equal(shape_count(&h.shape), shape_count(&shapes[s]) * lanes);
            }
    layout *l = body();
    size_t length;
    shape two = shape_flat(2);
    const char *header = npy_header_text(l, &two, &length);
    npy_header h;
    assert_null(npy_parse(&h, (const unsigned char *)header, length, length + 64));
    assert_true(layout_same(h.layout, l));
    mem_release();
}

static void hostile(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "",
        "{",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 1, 1, 1, 1, 1, 1, 1, 1), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1e9,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f16', 'fortran_order': False, 'shape': (1,), }",
        "{'descr': '<f4', 'fortran_order': False, }",
        "{'descr': '<f4, 'shape': (1,)",
        "{'descr': [('a', '<f4', (1048576, 1048576)), ('b', '<f4')], 'fortran_order': False, 'shape': (1,), }",
        "{'descr': [[[[[[[[[[[[",
        "{'descr': [('a', [('a', [('a', [('a', [('a', [('a', [('a', [('a', [('a', [('a', '<f4')]",
        "{'unknown': 1}",
        "{'descr': '<f4', 'fortran_order': Tru",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t length = strlen(bad[i]);
        unsigned char *file = calloc(1, 10 + length); /* exact, so that an overrun is seen */
        memcpy(file, "\x93NUMPY\x01\x00", 8);
        file[8] = (unsigned char)length;
        file[9] = (unsigned char)(length >> 8);
        memcpy(file + 10, bad[i], length);
        npy_header h;
        assert_non_null(npy_parse(&h, file, 10 + length, 10 + length));
        free(file);
    }
    npy_header h;
    unsigned char cut[] = "\x93NUMPY\x01\x00\xff\xff";
    assert_non_null(npy_parse(&h, cut, 10, 10));
    assert_non_null(npy_parse(&h, cut, 6, 6));
    mem_release();
}

static void write_text(const char *path, const void *data, size_t size)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, size, f), size);
    assert_int_equal(fclose(f), 0);
}

static void tables_and_images(void **state)
{
    (void)state;
    char folder[] = "/tmp/gpulaunch-test-XXXXXX";
    assert_non_null(mkdtemp(folder));
    const char *path = mem_format("%s/t", folder), *at = mem_format("@%s", path);
    loaded x;
    float f[16];
    static const char csv[] = "a,b\n1,2\n3,4.5\n\n# remark\n-1e3,nan\n";
    write_text(path, csv, sizeof csv - 1);
    assert_non_null(load(&x, mem_format("%s,csv", at), layout_plain(GPUL_F32, 1)));
    assert_string_equal(shape_text(&x.content->file.shape), "2x3");
    memcpy(f, x.bytes, 24);
    assert_true(f[3] == 4.5f && f[4] == -1000 && f[5] != f[5]);
    assert_non_null(load(&x, mem_format("%s,csv,col=2", at), layout_plain(GPUL_F32, 1)));
    assert_int_equal(x.content->count, 3);
    assert_null(load(&x, mem_format("%s,csv,col=3", at), layout_plain(GPUL_F32, 1)));
    assert_null(load(&x, mem_format("%s,csv", at), layout_plain(GPUL_I32, 1)));
    assert_non_null(load(&x, mem_format("%s,csv", at), layout_plain(GPUL_F32, 2)));
    assert_int_equal(x.content->count, 3);
    static const unsigned char pgm[] = "P5 # c\n3 2\n255\n\1\2\3\4\5\6";
    write_text(path, pgm, sizeof pgm - 1);
    assert_non_null(load(&x, mem_format("%s,pnm", at), layout_plain(GPUL_U8, 1)));
    assert_true(x.content->file.width == 3 && x.content->file.channels == 1 && x.bytes[5] == 6);
    assert_null(load(&x, mem_format("%s,pnm", at), layout_plain(GPUL_F32, 1)));
    assert_int_equal(first_code(), CODE_FILE_TYPE);
    assert_non_null(load(&x, mem_format("%s,pnm,norm", at), layout_plain(GPUL_F32, 1)));
    memcpy(f, x.bytes, 24);
    assert_true(f[5] == (float)(6 / 255.0));
    write_text(path, pgm, sizeof pgm - 2);
    assert_null(load(&x, mem_format("%s,pnm", at), layout_plain(GPUL_U8, 1)));
    assert_int_equal(first_code(), CODE_FILE_FORMAT);
    static const unsigned char ppm[] = "P6\n1 1\n255\n\x64\xc8\x32";
    write_text(path, ppm, sizeof ppm - 1);
    assert_non_null(load(&x, mem_format("%s,pnm", at), layout_plain(GPUL_U8, 4)));
    assert_true(x.bytes[0] == 100 && x.bytes[3] == 255);
    assert_non_null(load(&x, mem_format("%s,pnm,gray", at), layout_plain(GPUL_U8, 1)));
    assert_int_equal(x.bytes[0], (299 * 100 + 587 * 200 + 114 * 50) / 1000);
    assert_non_null(load(&x, mem_format("%s,pnm", at), layout_plain(GPUL_U8, 1)));
    assert_string_equal(shape_text(&x.content->file.shape), "3x1x1");
    static const unsigned char deep[] = "P2\n2 1\n65535\n1 65535\n";
    write_text(path, deep, sizeof deep - 1);
    assert_non_null(load(&x, mem_format("%s,pnm", at), layout_plain(GPUL_U16, 1)));
    uint16_t u[2];
    memcpy(u, x.bytes, 4);
    assert_true(u[0] == 1 && u[1] == 65535);
    static const char huge[] = "P5\n16777216 16777216\n255\n";
    write_text(path, huge, sizeof huge - 1);
    assert_null(load(&x, mem_format("%s,pnm", at), layout_plain(GPUL_U8, 1)));
    static const unsigned char pfm[] = "Pf\n1 2\n-1.0\n\0\0\x80\x3f\0\0\0\x40";
    write_text(path, pfm, sizeof pfm - 1);
    assert_non_null(load(&x, mem_format("%s,pfm", at), layout_plain(GPUL_F32, 1)));
    memcpy(f, x.bytes, 8);
    assert_true(f[0] == 2 && f[1] == 1); /* rows stand from the bottom up */
    write_text(path, "12345", 5);
    assert_null(load(&x, at, layout_plain(GPUL_F32, 1)));
    assert_int_equal(first_code(), CODE_FILE_SIZE);
    assert_non_null(load(&x, mem_format("%s,skip=1", at), layout_plain(GPUL_F32, 1)));
    assert_non_null(load(&x, mem_format("%s,skip=1,be", at), layout_plain(GPUL_U32, 1)));
    uint32_t big;
    memcpy(&big, x.bytes, 4);
    assert_int_equal(big, 0x32333435);
    unlink(path);
    rmdir(folder);
    mem_release();
    messages_restart();
}

static void archives(void **state)
{
    (void)state;
#if HAVE_ZIP
    loaded x;
    float f[5];
    assert_non_null(load(&x, "@" DATA "one.npz", layout_plain(GPUL_F32, 1)));
    memcpy(f, x.bytes, sizeof f);
    assert_true(x.content->count == 5 && f[4] == 4);
    assert_null(load(&x, "@" DATA "two.npz", layout_plain(GPUL_F32, 1)));
    assert_non_null(load(&x, "@" DATA "two.npz,key=second", layout_plain(GPUL_F32, 1)));
    assert_null(load(&x, "@" DATA "two.npz,key=third", layout_plain(GPUL_F32, 1)));
    mem_release();
    messages_restart();
#else
    skip_because("built without libzip");
#endif
}

static void generated(void **state)
{
    (void)state;
    loaded x, y;
    int32_t n[64];
    float f[64];
    assert_non_null(load(&x, "8:iota:5:-2", layout_plain(GPUL_I32, 1)));
    memcpy(n, x.bytes, 32);
    assert_true(n[0] == 5 && n[7] == -9);
    assert_non_null(load(&x, "4:iota:0.5:0.25", layout_plain(GPUL_F32, 1)));
    memcpy(f, x.bytes, 16);
    assert_true(f[3] == 1.25f);
    assert_null(load(&x, "300:iota", layout_plain(GPUL_U8, 1)));
    assert_int_equal(first_code(), CODE_ARGS_RANGE);
    assert_non_null(load(&x, "64:perm", layout_plain(GPUL_I32, 1)));
    memcpy(n, x.bytes, sizeof n);
    uint64_t seen = 0;
    for (int i = 0; i < 64; i++) seen |= (uint64_t)1 << n[i];
    assert_true(seen == UINT64_MAX);
    assert_non_null(load(&x, "64:rand:3..6", layout_plain(GPUL_I32, 1)));
    memcpy(n, x.bytes, sizeof n);
    for (int i = 0; i < 64; i++) assert_true(n[i] >= 3 && n[i] < 6);
    assert_non_null(load(&x, "64:rand", layout_plain(GPUL_F32, 1)));
    assert_non_null(load(&y, "32:rand", layout_plain(GPUL_F32, 1)));
    assert_memory_equal(x.bytes, y.bytes, 128); /* a longer buffer starts with the shorter one */
    assert_non_null(load(&x, "2:fill:1,2,3", layout_plain(GPUL_F32, 3)));
    memcpy(f, x.bytes, 24);
    assert_true(f[3] == 1 && f[5] == 3);
    assert_null(load(&x, "2:fill:1,2", layout_plain(GPUL_F32, 3)));
    assert_non_null(load(&x, "1,2,3", layout_plain(GPUL_F32, 1)));
    assert_int_equal(x.content->count, 3);
    assert_non_null(load(&x, "5,", layout_plain(GPUL_F32, 1)));
    assert_int_equal(x.content->count, 1);
    assert_null(load(&x, "1,2.5", layout_plain(GPUL_I32, 1)));
    assert_int_equal(first_code(), CODE_ARGS_TYPE);
    assert_null(load(&x, "4:rand:2..1", layout_plain(GPUL_F32, 1)));
    assert_null(load(&x, "4:randn", layout_plain(GPUL_I32, 1)));
    mem_release();
    messages_restart();
}

GPUL_TEST_MAIN("cli files", cmocka_unit_test(numpy_plain), cmocka_unit_test(numpy_shapes),
               cmocka_unit_test(numpy_structs), cmocka_unit_test(numpy_round_trip),
               cmocka_unit_test(hostile), cmocka_unit_test(tables_and_images),
               cmocka_unit_test(archives), cmocka_unit_test(generated));
