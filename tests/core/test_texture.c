/* Arrays, textures and surfaces over the recording provider: descriptions, refusals, lifetimes, and every
 * failure.  What a texture reads is tested on a GPU.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <gpulaunch/texture.h>

static gpul__driver table;
static CUDA_ARRAY3D_DESCRIPTOR shape;
static CUDA_RESOURCE_DESC resource;
static CUDA_TEXTURE_DESC reading;

static CUresult create_array(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *desc)
{
    shape = *desc;
    return gpul__record_driver()->Array3DCreate(out, desc);
}

static CUresult create_texture(CUtexObject *out, const CUDA_RESOURCE_DESC *of,
                               const CUDA_TEXTURE_DESC *desc, const CUDA_RESOURCE_VIEW_DESC *view)
{
    resource = *of;
    reading = *desc;
    return gpul__record_driver()->TexObjectCreate(out, of, desc, view);
}

static int open_watched(void **state)
{
    (void)state;
    use_record(NULL);
    table = *gpul__record_driver();
    table.Array3DCreate = create_array;
    table.TexObjectCreate = create_texture;
    gpul__driver_override(&table);
    assert_ok(gpul_open(&device, NULL));
    return 0;
}

static gpul_array *array_of(const gpul_array_opts *opts)
{
    gpul_array *array;
    assert_ok(gpul_array_new(&array, device, opts));
    return array;
}

static void arrays_hold_their_elements(void **state)
{
    (void)state;
    uint16_t put[4 * 3 * 2 * 2], got[4 * 3 * 2 * 2] = { 0 };
    for (int i = 0; i < 48; i++) put[i] = (uint16_t)(i * 3);
    gpul_array *array = array_of(gpul_array_opts(.type = GPUL_U16, .channels = 2, .width = 4,
                                                 .height = 3, .depth = 2, .init = put));
    assert_int_equal(gpul_array_bytes(array), sizeof put);
    assert_non_null(gpul_array_handle(array));
    assert_int_equal(shape.Format, CU_AD_FORMAT_UNSIGNED_INT16);
    assert_int_equal(shape.NumChannels, 2);
    assert_int_equal(shape.Depth, 2);
    assert_ok(gpul_array_read(got, array, NULL));
    assert_memory_equal(put, got, sizeof put);
    gpul_array_free(&array);
    gpul_array_free(&array);
    gpul_array_free(NULL);
    array = array_of(gpul_array_opts(.type = GPUL_F32, .width = 8, .height = 8, .depth = 6,
                                     .cube = true, .surface = true));
    assert_int_equal(shape.Flags, CUDA_ARRAY3D_CUBEMAP | CUDA_ARRAY3D_SURFACE_LDST);
    gpul_array_free(&array);
    array = array_of(gpul_array_opts(.type = GPUL_F32, .width = 8, .depth = 5, .layered = true));
    assert_int_equal(shape.Flags, CUDA_ARRAY3D_LAYERED);
    gpul_array_free(&array);
}

static void rectangles_are_copied(void **state)
{
    (void)state;
    uint8_t rows[4 * 4], part[2 * 2] = { 1, 2, 3, 4 }, zero[16] = { 0 };
    gpul_array *array =
        array_of(gpul_array_opts(.type = GPUL_U8, .width = 4, .height = 4, .init = zero));
    assert_ok(gpul_copy_2d(gpul_plane(.array = array, .offset = 1, .row = 2),
                           gpul_plane(.host = part), 2, 2, NULL));
    assert_ok(gpul_array_read(rows, array, NULL));
    assert_int_equal(rows[9], 1);
    assert_int_equal(rows[14], 4);
    assert_code(
        gpul_copy_2d(gpul_plane(.array = array, .offset = 3), gpul_plane(.host = part), 2, 2, NULL),
        810, "outside the destination");
    gpul_array_free(&array);
}

static void boxes_are_copied(void **state)
{
    (void)state;
    uint8_t all[4 * 3 * 5], part[8], got[2 * 2 * 2], zero[60] = { 0 };
    gpul_buffer *buffer;
    for (int i = 0; i < 8; i++) part[i] = (uint8_t)(i + 1);
    gpul_array *array = array_of(
        gpul_array_opts(.type = GPUL_U8, .width = 4, .height = 3, .depth = 5, .init = zero));
    gpul_box *there = gpul_box(.array = array, .offset = 1, .row = 1, .layer = 3);
    assert_ok(gpul_copy_3d(there, gpul_box(.host = part), 2, 2, 2, NULL));
    assert_ok(gpul_array_read(all, array, NULL));
    for (int z = 0; z < 5; z++)
        for (int y = 0; y < 3; y++)
            for (int x = 0; x < 4; x++) {
                bool in = z >= 3 && y >= 1 && (x == 1 || x == 2);
                assert_int_equal(all[(z * 3 + y) * 4 + x],
                                 in ? part[(z - 3) * 4 + (y - 1) * 2 + x - 1] : 0);
            }
    /* To a buffer whose layers are apart, and back. */
    assert_ok(gpul_alloc(&buffer, device, 64, gpul_alloc_opts(.init = zero + 0, .name = "b")));
    assert_ok(gpul_copy_3d(gpul_box(.buffer = buffer, .offset = 3, .pitch = 5, .rows = 4), there, 2,
                           2, 2, NULL));
    assert_ok(gpul_read(all, buffer, 0, 60, NULL));
    assert_int_equal(all[3 + 5 + 1], 4);
    assert_int_equal(all[3 + 20], 5);
    assert_ok(gpul_copy_3d(gpul_box(.host = got), there, 2, 2, 2, NULL));
    assert_memory_equal(got, part, sizeof got);
    assert_code(gpul_copy_3d(there, gpul_box(.host = part), 2, 2, 3, NULL), 810, "3 layers");
    assert_code(gpul_copy_3d(there, gpul_box(.host = part), 2, 3, 2, NULL), 810, "3 rows");
    assert_code(gpul_copy_3d(there, gpul_box(.host = part), 4, 2, 2, NULL), 810, "4 bytes");
    assert_code(
        gpul_copy_3d(gpul_box(.array = array, .rows = 3), gpul_box(.host = part), 1, 1, 1, NULL),
        315, "no rows");
    gpul_buffer_free(&buffer);
    gpul_array_free(&array);
}

static void mipmaps_have_levels(void **state)
{
    (void)state;
    uint8_t put[8 * 4], got[8 * 4], small[2] = { 7, 9 };
    gpul_array_info info;
    for (int i = 0; i < 32; i++) put[i] = (uint8_t)(i + 1);
    gpul_array *level, *none = (gpul_array *)1;
    gpul_array *mipmap = array_of(gpul_array_opts(.type = GPUL_U8, .width = 8, .height = 4,
                                                  .levels = 4, .init = put, .name = "stairs"));
    assert_non_null(gpul_array_mipmap_handle(mipmap));
    assert_ok(gpul_array_describe(&info, mipmap));
    assert_true(info.levels == 4 && info.width == 8 && info.height == 4 && info.depth == 0);
    assert_true(info.type == GPUL_U8 && info.channels == 1);
    assert_ok(gpul_array_read(got, mipmap, NULL));
    assert_memory_equal(put, got, sizeof put);
    assert_ok(gpul_array_level(&level, mipmap, 2, NULL));
    assert_ok(gpul_array_describe(&info, level));
    assert_true(info.levels == 1 && info.width == 2 && info.height == 1);
    assert_null(gpul_array_mipmap_handle(level));
    assert_ok(gpul_array_write(level, small, NULL));
    assert_ok(gpul_array_read(got, mipmap, NULL));
    assert_memory_equal(put, got, sizeof put);
    assert_code(gpul_array_level(&none, mipmap, 4, NULL), 315, "level 4 of stairs");
    assert_null(none);
    assert_code(gpul_array_level(&none, level, 0, NULL), 315, "no mipmap");
    assert_code(gpul_array_level(&none, NULL, 0, NULL), 314, "mipmap");
    assert_code(gpul_array_level(NULL, mipmap, 0, NULL), 314, "out");
    assert_code(gpul_array_describe(&info, NULL), 314, "array");
    assert_code(gpul_array_describe(NULL, mipmap), 314, "out");
    assert_null(gpul_array_mipmap_handle(NULL));
    /* The level keeps the whole. */
    gpul_array_free(&mipmap);
    assert_int_equal(gpul__record_live().mipmaps, 1);
    assert_ok(gpul_array_read(got, level, NULL));
    assert_memory_equal(got, small, 2);
    gpul_array_free(&level);
    assert_int_equal(gpul__record_live().mipmaps + gpul__record_live().arrays, 0);
    /* Layers are not halved, depth is. */
    for (int layered = 0; layered < 2; layered++) {
        mipmap = array_of(gpul_array_opts(.type = GPUL_F32, .width = 4, .height = 4, .depth = 8,
                                          .layered = layered == 1, .levels = 3));
        assert_ok(gpul_array_level(&level, mipmap, 1, "half"));
        assert_ok(gpul_array_describe(&info, level));
        assert_int_equal(info.depth, layered ? 8 : 4);
        gpul_array_free(&level);
        gpul_array_free(&mipmap);
    }
}

static void mipmaps_are_read_with_their_levels(void **state)
{
    (void)state;
    gpul_texture *texture;
    gpul_array *level, *mipmap = array_of(gpul_array_opts(.type = GPUL_F32, .width = 8, .height = 8,
                                                          .levels = 4, .surface = true));
    assert_ok(gpul_texture_new(&texture,
                               gpul_texture_opts(.array = mipmap, .normalized = true,
                                                 .linear = true, .mip_linear = true,
                                                 .mip_bias = 0.5f, .mip_min = 1, .anisotropy = 8)));
    assert_int_equal(resource.resType, CU_RESOURCE_TYPE_MIPMAPPED_ARRAY);
    assert_ptr_equal(resource.res.mipmap.hMipmappedArray, gpul_array_mipmap_handle(mipmap));
    assert_int_equal(reading.mipmapFilterMode, CU_TR_FILTER_MODE_LINEAR);
    assert_int_equal(reading.maxAnisotropy, 8);
    assert_true(reading.mipmapLevelBias == 0.5f && reading.minMipmapLevelClamp == 1 &&
                reading.maxMipmapLevelClamp == 3);
    gpul_texture_free(&texture);
    /* A surface is of one level. */
    assert_ok(gpul_array_level(&level, mipmap, 1, NULL));
    gpul_array_free(&mipmap);
    assert_ok(gpul_texture_new(&texture, gpul_texture_opts(.array = level, .surface = true)));
    gpul_array_free(&level);
    gpul_texture_free(&texture);
}

#define REFUSED_ARRAY(code, words, ...)                                                            \
    do {                                                                                           \
        gpul_array *none_ = (gpul_array *)1;                                                       \
        assert_code(gpul_array_new(&none_, device, gpul_array_opts(__VA_ARGS__)), code, words);    \
        assert_null(none_);                                                                        \
    } while (0)

static void shapes_that_cannot_be_are_refused(void **state)
{
    (void)state;
    REFUSED_ARRAY(315, "double", .type = GPUL_F64, .width = 4);
    REFUSED_ARRAY(315, "3 channels", .type = GPUL_U8, .channels = 3, .width = 4);
    REFUSED_ARRAY(811, "without width", .type = GPUL_U8, .height = 4);
    REFUSED_ARRAY(315, "height is 0", .type = GPUL_U8, .width = 4, .depth = 4);
    REFUSED_ARRAY(315, "number of layers", .type = GPUL_U8, .width = 4, .layered = true);
    REFUSED_ARRAY(315, "six faces", .type = GPUL_U8, .width = 4, .height = 4, .depth = 5,
                  .cube = true);
    REFUSED_ARRAY(315, "overflows", .type = GPUL_F32, .width = SIZE_MAX / 2, .height = 9);
    REFUSED_ARRAY(315, "two dimensions", .type = GPUL_F32, .width = 2, .gather = true);
    REFUSED_ARRAY(315, "5 levels of 8x4x0", .type = GPUL_F32, .width = 8, .height = 4, .levels = 5);
    REFUSED_ARRAY(315, "4 levels", .type = GPUL_F32, .width = 4, .height = 4, .depth = 9,
                  .layered = true, .levels = 4);
    REFUSED_ARRAY(814, "texture_2d", .type = GPUL_U8, .width = 1u << 30);
    gpul_array *array;
    assert_code(gpul_array_new(NULL, device, gpul_array_opts(0)), 314, "out");
    assert_code(gpul_array_new(&array, NULL, gpul_array_opts(0)), 314, "device");
    assert_code(gpul_array_new(&array, device, NULL), 314, "opts");
    assert_code(gpul_array_write(NULL, "", NULL), 314, "destination");
    assert_code(gpul_array_read(NULL, NULL, NULL), 314, "destination");
    assert_int_equal(gpul_array_bytes(NULL), 0);
    assert_null(gpul_array_handle(NULL));
}

static void textures_read_as_told(void **state)
{
    (void)state;
    gpul_texture *texture;
    gpul_array *array = array_of(gpul_array_opts(.type = GPUL_U8, .width = 4, .height = 4));
    assert_ok(gpul_texture_new(&texture, gpul_texture_opts(.array = array)));
    assert_true(gpul_texture_handle(texture) != 0);
    assert_int_equal(resource.resType, CU_RESOURCE_TYPE_ARRAY);
    assert_int_equal(reading.flags, CU_TRSF_READ_AS_INTEGER);
    assert_int_equal(reading.addressMode[0], CU_TR_ADDRESS_MODE_CLAMP);
    gpul_texture_free(&texture);
    assert_ok(gpul_texture_new(
        &texture, gpul_texture_opts(.array = array, .linear = true, .as_float = true,
                                    .normalized = true, .srgb = true,
                                    .edge = { GPUL_EDGE_WRAP, GPUL_EDGE_MIRROR, GPUL_EDGE_BORDER },
                                    .border = { 1, 2, 3, 4 })));
    assert_int_equal(reading.filterMode, CU_TR_FILTER_MODE_LINEAR);
    assert_int_equal(reading.flags, CU_TRSF_NORMALIZED_COORDINATES | CU_TRSF_SRGB);
    assert_int_equal(reading.addressMode[0], CU_TR_ADDRESS_MODE_WRAP);
    assert_int_equal(reading.addressMode[1], CU_TR_ADDRESS_MODE_MIRROR);
    assert_int_equal(reading.addressMode[2], CU_TR_ADDRESS_MODE_BORDER);
    assert_true(reading.borderColor[3] == 4);
    /* It keeps its array. */
    gpul_array_free(&array);
    assert_int_equal(gpul__record_live().arrays, 1);
    gpul_texture_free(&texture);
    assert_int_equal(gpul__record_live().arrays, 0);
    gpul_texture_free(&texture);
    gpul_texture_free(NULL);
    assert_int_equal(gpul_texture_handle(NULL), 0);
}

static void buffers_are_textures_too(void **state)
{
    (void)state;
    gpul_texture *texture;
    gpul_buffer *line, *rows;
    size_t pitch;
    assert_ok(gpul_alloc(&line, device, 1000, gpul_alloc_opts(.type = GPUL_F32)));
    assert_ok(gpul_alloc_2d(&rows, &pitch, device, 100, 10, gpul_alloc_opts(.type = GPUL_F32)));
    assert_ok(gpul_texture_new(&texture, gpul_texture_opts(.buffer = line, .channels = 2)));
    assert_int_equal(resource.resType, CU_RESOURCE_TYPE_LINEAR);
    assert_int_equal(resource.res.linear.sizeInBytes, 1000);
    assert_int_equal(resource.res.linear.numChannels, 2);
    assert_int_equal(reading.flags, 0);
    gpul_texture_free(&texture);
    assert_ok(
        gpul_texture_new(&texture, gpul_texture_opts(.buffer = rows, .width = 25, .height = 10,
                                                     .pitch = pitch, .linear = true)));
    assert_int_equal(resource.resType, CU_RESOURCE_TYPE_PITCH2D);
    assert_int_equal(resource.res.pitch2D.pitchInBytes, pitch);
    gpul_buffer_free(&rows);
    gpul_texture_free(&texture);
    gpul_buffer_free(&line);
}

#define REFUSED(code, words, ...)                                                                  \
    do {                                                                                           \
        gpul_texture *none_ = (gpul_texture *)1;                                                   \
        assert_code(gpul_texture_new(&none_, gpul_texture_opts(__VA_ARGS__)), code, words);        \
        assert_null(none_);                                                                        \
    } while (0)

static void what_would_be_read_otherwise_is_refused(void **state)
{
    (void)state;
    gpul_array *bytes = array_of(gpul_array_opts(.type = GPUL_U8, .width = 4, .height = 4));
    gpul_array *words = array_of(gpul_array_opts(.type = GPUL_U32, .width = 4, .height = 4));
    gpul_buffer *buffer, *plain;
    assert_ok(gpul_alloc(&buffer, device, 64, gpul_alloc_opts(.type = GPUL_F32)));
    assert_ok(gpul_alloc(&plain, device, 64, NULL));
    REFUSED(315, "exactly one", .linear = true);
    REFUSED(315, "exactly one", .array = bytes, .buffer = buffer);
    REFUSED(315, "array's own", .array = bytes, .width = 4);
    REFUSED(315, "only floats", .array = bytes, .linear = true);
    REFUSED(315, "as_float", .array = words, .as_float = true);
    REFUSED(315, "srgb", .array = words, .srgb = true);
    REFUSED(315, "GPUL_EDGE_WRAP", .array = bytes, .edge = { GPUL_EDGE_WRAP });
    REFUSED(315, "edge[1] is 9", .array = bytes, .edge = { 0, (gpul_edge)9 });
    REFUSED(315, ".surface = true", .array = bytes, .surface = true);
    REFUSED(315, ".surface = true", .buffer = buffer, .surface = true);
    REFUSED(315, "type is", .buffer = plain);
    REFUSED(315, "3 channels", .buffer = buffer, .channels = 3);
    REFUSED(315, "two dimensions", .buffer = buffer, .linear = true);
    REFUSED(315, "width is 0", .buffer = buffer, .height = 2);
    REFUSED(315, "longer than the pitch", .buffer = buffer, .width = 8, .height = 2, .pitch = 16);
    REFUSED(810, "outside", .buffer = buffer, .width = 8, .height = 3);
    REFUSED(315, "overflows", .buffer = buffer, .width = SIZE_MAX / 2, .height = 3);
    REFUSED(315, "16 samples", .array = words, .anisotropy = 17);
    REFUSED(315, "several levels", .array = words, .mip_max = 1);
    gpul_array *mipmap = array_of(gpul_array_opts(.type = GPUL_F32, .width = 4, .levels = 3));
    REFUSED(315, "normalized", .array = mipmap);
    REFUSED(315, "mip_linear", .array = mipmap, .normalized = true, .mip_linear = true);
    REFUSED(315, "levels 0 to 3 of an array whose last is 2", .array = mipmap, .normalized = true,
            .mip_max = 3);
    REFUSED(315, "levels 2 to 1", .array = mipmap, .normalized = true, .mip_min = 2, .mip_max = 1);
    REFUSED(315, "levels -1", .array = mipmap, .normalized = true, .mip_min = -1);
    gpul_array_free(&mipmap);
    assert_code(gpul_texture_new(NULL, gpul_texture_opts(0)), 314, "out");
    gpul_buffer_free(&buffer);
    gpul_buffer_free(&plain);
    gpul_array_free(&bytes);
    gpul_array_free(&words);
}

static gpul_status go_all_the_way(void)
{
    gpul_array *array = NULL;
    gpul_array *mipmap = NULL, *level = NULL;
    gpul_texture *texture = NULL, *surface = NULL;
    gpul_status status =
        gpul_array_new(&mipmap, device, gpul_array_opts(.type = GPUL_F32, .width = 4, .levels = 2));
    if (status == GPUL_OK) status = gpul_array_level(&level, mipmap, 1, NULL);
    gpul_array_free(&mipmap);
    gpul_array_free(&level);
    if (status != GPUL_OK) return status;
    status = gpul_array_new(&array, device,
                            gpul_array_opts(.type = GPUL_F32, .width = 2, .height = 2,
                                            .surface = true, .init = "0123456789abcdef"));
    if (status == GPUL_OK) status = gpul_texture_new(&texture, gpul_texture_opts(.array = array));
    if (status == GPUL_OK)
        status = gpul_texture_new(&surface, gpul_texture_opts(.array = array, .surface = true));
    gpul_array_free(&array);
    gpul_texture_free(&surface);
    gpul_texture_free(&texture);
    return status;
}

static void every_step_may_fail(void **state)
{
    (void)state;
    assert_ok(go_all_the_way());
    long before = gpul__alloc_live(), good = 0;
    for (long n = 1; good < 5; n++) {
        gpul__alloc_fail_at(n);
        gpul_status status = go_all_the_way();
        gpul__alloc_fail_at(0);
        good += status == GPUL_OK;
        if (status != GPUL_OK) assert_int_equal(status, GPUL_E_MEMORY);
        assert_int_equal(gpul__record_live().arrays + gpul__record_live().textures, 0);
        assert_int_equal(gpul__record_live().mipmaps, 0);
        if (status == GPUL_OK) assert_int_equal(gpul__alloc_live(), before);
    }
    gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
    gpul_device_free(&device);
    assert_ok(gpul_open(&device, NULL));
    static const char *const entries[] = { "cuArray3DCreate_v2",     "cuMemcpy3DAsync_v2",
                                           "cuTexObjectCreate",      "cuSurfObjectCreate",
                                           "cuMipmappedArrayCreate", "cuMipmappedArrayGetLevel" };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        gpul__fault_entry(entries[i], 1, CUDA_ERROR_NOT_SUPPORTED);
        assert_code(go_all_the_way(), 820, "");
        gpul__fault_entry(entries[i], 1, CUDA_ERROR_OUT_OF_MEMORY);
        assert_code(go_all_the_way(), 804, "");
    }
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    static const char *const absent[] = { "cuArray3DCreate_v2",       "cuArrayDestroy",
                                          "cuMemcpy3DAsync_v2",       "cuTexObjectCreate",
                                          "cuTexObjectDestroy",       "cuSurfObjectCreate",
                                          "cuSurfObjectDestroy",      "cuMipmappedArrayCreate",
                                          "cuMipmappedArrayGetLevel", "cuMipmappedArrayDestroy" };
    gpul__fault_entry("cuMipmappedArrayGetLevel", 2, CUDA_ERROR_INVALID_HANDLE);
    assert_code(go_all_the_way(), 814, "level");
    gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
    for (size_t i = 0; i < sizeof absent / sizeof *absent; i++) {
        gpul__fault_without(absent[i]);
        assert_code(go_all_the_way(), 820, "");
    }
    gpul__fault_without(NULL);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, open_watched, close_all)
    const struct CMUnitTest tests[] = {
        TEST(arrays_hold_their_elements),
        TEST(rectangles_are_copied),
        TEST(boxes_are_copied),
        TEST(mipmaps_have_levels),
        TEST(mipmaps_are_read_with_their_levels),
        TEST(shapes_that_cannot_be_are_refused),
        TEST(textures_read_as_told),
        TEST(buffers_are_textures_too),
        TEST(what_would_be_read_otherwise_is_refused),
        TEST(every_step_may_fail),
    };
    return gpul_run_tests("core texture", tests, NULL, NULL);
}
