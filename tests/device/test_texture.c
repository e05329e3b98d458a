/* Textures and surfaces: what kernels read and write through them on a GPU, and the refusal of the CPU
 * device.  SPDX-License-Identifier: MIT */
#include "suite.h"

#include <gpulaunch/texture.h>

static const char source[] =
    "extern \"C\" __global__ void read2(cudaTextureObject_t t, const float *at, float *out, int n)\n"
    "{\n"
    "    int i = threadIdx.x;\n"
    "    if (i < n) out[i] = tex2D<float>(t, at[2 * i], at[2 * i + 1]);\n"
    "}\n"
    "extern \"C\" __global__ void fetch(cudaTextureObject_t t, float *out, int n)\n"
    "{\n"
    "    int i = threadIdx.x;\n"
    "    if (i < n) out[i] = tex1Dfetch<float>(t, i);\n"
    "}\n"
    "extern \"C\" __global__ void read_level(cudaTextureObject_t t, const float *level, float *out, int n)\n"
    "{\n"
    "    int i = threadIdx.x;\n"
    "    if (i < n) out[i] = tex2DLod<float>(t, 0.5f, 0.5f, level[i]);\n"
    "}\n"
    "extern \"C\" __global__ void read_face(cudaTextureObject_t t, float *out)\n"
    "{\n"
    "    int i = threadIdx.x;\n"
    "    float s = i & 1 ? -1.0f : 1.0f;\n"
    "    if (i < 6) out[i] = texCubemap<float>(t, i / 2 == 0 ? s : 0.1f, i / 2 == 1 ? s : 0.1f,\n"
    "                                          i / 2 == 2 ? s : 0.1f);\n"
    "}\n"
    "extern \"C\" __global__ void read_layer(cudaTextureObject_t t, float *out)\n"
    "{\n"
    "    out[threadIdx.x] = tex2DLayered<float>(t, 0.5f, 0.5f, threadIdx.x);\n"
    "}\n"
    "extern \"C\" __global__ void read3(cudaTextureObject_t t, float *out)\n"
    "{\n"
    "    out[threadIdx.x] = tex3D<float>(t, 1.5f, 0.5f, threadIdx.x + 0.5f);\n"
    "}\n"
    "extern \"C\" __global__ void paint(cudaSurfaceObject_t s, int width, int height)\n"
    "{\n"
    "    int x = threadIdx.x, y = threadIdx.y;\n"
    "    if (x < width && y < height) surf2Dwrite((float)(10 * y + x), s, x * 4, y);\n"
    "}\n";

static gpul_module *module;

static bool on_cpu(void)
{
    return gpul_device_describe(device)->backend == GPUL_BACKEND_CPU;
}

static void need_gpu(void)
{
    if (on_cpu()) skip_because("the CPU device has no textures");
    if (!have_nvrtc()) skip_because("no NVRTC here");
    if (module) return;
    gpul_image *image;
    assert_ok(gpul_compile(&image, source, GPUL_TEXT, gpul_compile_opts(.device = device)));
    assert_ok(gpul_load(&module, device, image, NULL));
    gpul_image_free(&image);
}

/* What a texture gives at some places. */
static void read_at(gpul_texture *texture, const float *at, float *out, int n)
{
    gpul_buffer *places = buffer_of((size_t)n * 8, at), *values = buffer_of((size_t)n * 4, NULL);
    assert_ok(gpul_launch(kernel_of(module, "read2"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                          gpul_args(gpul_texture_handle(texture), gpul_in(places), values, n)));
    assert_ok(gpul_read(out, values, 0, (size_t)n * 4, NULL));
    gpul_buffer_free(&places);
    gpul_buffer_free(&values);
}

static const float grid[16] = { 0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23, 30, 31, 32, 33 };

static void arrays_are_read_and_filtered(void **state)
{
    (void)state;
    need_gpu();
    gpul_array *array;
    gpul_texture *point, *linear;
    assert_ok(gpul_array_new(
        &array, device, gpul_array_opts(.type = GPUL_F32, .width = 4, .height = 4, .init = grid)));
    assert_ok(gpul_texture_new(&point, gpul_texture_opts(.array = array)));
    assert_ok(gpul_texture_new(&linear, gpul_texture_opts(.array = array, .linear = true)));
    gpul_array_free(&array);
    float at[] = { 0.5f, 0.5f, 2.5f, 3.5f, -7, 1.5f, 99, 99 }, got[4];
    read_at(point, at, got, 4);
    assert_true(got[0] == 0 && got[1] == 32 && got[2] == 10 && got[3] == 33);
    float between[] = { 1, 0.5f, 0.5f, 1, 2, 2 };
    read_at(linear, between, got, 3);
    assert_true(got[0] == 0.5f && got[1] == 5 && got[2] == 16.5f);
    gpul_texture_free(&point);
    gpul_texture_free(&linear);
}

static void edges_are_addressed(void **state)
{
    (void)state;
    need_gpu();
    gpul_array *array;
    gpul_texture *border, *wrap, *mirror;
    assert_ok(gpul_array_new(
        &array, device, gpul_array_opts(.type = GPUL_F32, .width = 4, .height = 4, .init = grid)));
    assert_ok(gpul_texture_new(
        &border, gpul_texture_opts(.array = array, .edge = { GPUL_EDGE_BORDER, GPUL_EDGE_BORDER },
                                   .border = { 77 })));
    assert_ok(
        gpul_texture_new(&wrap, gpul_texture_opts(.array = array, .normalized = true,
                                                  .edge = { GPUL_EDGE_WRAP, GPUL_EDGE_WRAP })));
    assert_ok(gpul_texture_new(&mirror,
                               gpul_texture_opts(.array = array, .normalized = true,
                                                 .edge = { GPUL_EDGE_MIRROR, GPUL_EDGE_MIRROR })));
    float at[] = { -1, 0.5f, 1.5f, 1.5f }, got[2];
    read_at(border, at, got, 2);
    assert_true(got[0] == 77 && got[1] == 11);
    float far[] = { 1.125f, 0.125f, 1.125f, 2.375f };
    read_at(wrap, far, got, 2);
    assert_true(got[0] == 0 && got[1] == 10);
    read_at(mirror, far, got, 2);
    assert_true(got[0] == 3 && got[1] == 13);
    gpul_texture_free(&border);
    gpul_texture_free(&wrap);
    gpul_texture_free(&mirror);
    gpul_array_free(&array);
}

static void bytes_are_read_as_floats(void **state)
{
    (void)state;
    need_gpu();
    uint8_t bytes[4] = { 0, 255, 51, 102 };
    gpul_array *array;
    gpul_texture *texture;
    assert_ok(gpul_array_new(
        &array, device, gpul_array_opts(.type = GPUL_U8, .width = 2, .height = 2, .init = bytes)));
    assert_ok(gpul_texture_new(&texture, gpul_texture_opts(.array = array, .as_float = true)));
    float at[] = { 0.5f, 0.5f, 1.5f, 0.5f, 0.5f, 1.5f }, got[3];
    read_at(texture, at, got, 3);
    assert_true(got[0] == 0 && got[1] == 1 && got[2] > 0.1999f && got[2] < 0.2001f);
    gpul_texture_free(&texture);
    gpul_array_free(&array);
}

static void buffers_are_read(void **state)
{
    (void)state;
    need_gpu();
    gpul_buffer *line = buffer_of(sizeof grid, grid), *rows, *out = buffer_of(sizeof grid, NULL);
    gpul_texture *texture;
    size_t pitch;
    float got[16];
    assert_ok(gpul_texture_new(&texture, gpul_texture_opts(.buffer = line, .type = GPUL_F32)));
    assert_ok(gpul_launch(kernel_of(module, "fetch"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                          gpul_args(gpul_texture_handle(texture), out, 16)));
    assert_ok(gpul_read(got, out, 0, sizeof got, NULL));
    assert_memory_equal(got, grid, sizeof grid);
    gpul_texture_free(&texture);
    assert_ok(gpul_alloc_2d(&rows, &pitch, device, 16, 4,
                            gpul_alloc_opts(.type = GPUL_F32, .init = grid)));
    assert_ok(gpul_texture_new(&texture, gpul_texture_opts(.buffer = rows, .width = 4, .height = 4,
                                                           .pitch = pitch, .linear = true)));
    float at[] = { 0.5f, 3.5f, 2, 2 };
    read_at(texture, at, got, 2);
    assert_true(got[0] == 30 && got[1] == 16.5f);
    gpul_texture_free(&texture);
    gpul_buffer_free(&rows);
    gpul_buffer_free(&line);
    gpul_buffer_free(&out);
}

static void surfaces_are_written(void **state)
{
    (void)state;
    need_gpu();
    gpul_array *array;
    gpul_texture *surface;
    float got[16];
    assert_ok(gpul_array_new(
        &array, device,
        gpul_array_opts(.type = GPUL_F32, .width = 4, .height = 4, .surface = true)));
    assert_ok(gpul_texture_new(&surface, gpul_texture_opts(.array = array, .surface = true)));
    assert_ok(gpul_launch(kernel_of(module, "paint"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 8, 8 }),
                          gpul_args(gpul_texture_handle(surface), 4, 4)));
    assert_ok(gpul_array_read(got, array, NULL));
    assert_memory_equal(got, grid, sizeof grid);
    gpul_texture_free(&surface);
    gpul_array_free(&array);
}

static void arrays_are_copied(void **state)
{
    (void)state;
    need_gpu();
    uint16_t put[5 * 4 * 3], got[5 * 4 * 3];
    gpul_array *array;
    gpul_stream *stream;
    gpul_buffer *buffer = buffer_of(64, NULL);
    for (int i = 0; i < 60; i++) put[i] = (uint16_t)(i * 11);
    assert_ok(gpul_array_new(
        &array, device,
        gpul_array_opts(.type = GPUL_U16, .width = 5, .height = 4, .depth = 3, .init = put)));
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_array_read(got, array, stream));
    assert_ok(gpul_stream_sync(stream));
    assert_memory_equal(put, got, sizeof put);
    /* A rectangle of the first layer, to a buffer and back to another place. */
    assert_ok(gpul_copy_2d(gpul_plane(.buffer = buffer, .pitch = 8),
                           gpul_plane(.array = array, .offset = 2, .row = 1), 4, 2, NULL));
    assert_ok(gpul_read(got, buffer, 0, 12, NULL));
    assert_true(got[0] == put[6] && got[1] == put[7] && got[4] == put[11] && got[5] == put[12]);
    gpul_stream_free(&stream);
    gpul_buffer_free(&buffer);
    gpul_array_free(&array);
}

/* What kernel `name` writes of a texture, one number a thread. */
static void run_on(const char *name, gpul_texture *texture, float *out, unsigned n)
{
    gpul_buffer *values = buffer_of(n * sizeof *out, NULL);
    assert_ok(gpul_launch(kernel_of(module, name), gpul_launch_opts(.grid = { 1 }, .block = { n }),
                          gpul_args(gpul_texture_handle(texture), values)));
    assert_ok(gpul_read(out, values, 0, n * sizeof *out, NULL));
    gpul_buffer_free(&values);
}

static void levels_of_a_mipmap_are_read(void **state)
{
    (void)state;
    need_gpu();
    gpul_array *mipmap, *level;
    gpul_texture *point, *linear, *two;
    assert_ok(gpul_array_new(
        &mipmap, device,
        gpul_array_opts(.type = GPUL_F32, .width = 8, .height = 8, .levels = 4, .surface = true)));
    for (unsigned i = 0; i < 4; i++) {
        float values[64];
        for (int v = 0; v < 64; v++) values[v] = (float)(10 * i);
        assert_ok(gpul_array_level(&level, mipmap, i, NULL));
        assert_int_equal(gpul_array_bytes(level), 4u << (6 - 2 * i));
        assert_ok(gpul_array_write(level, values, NULL));
        gpul_array_free(&level);
    }
    assert_ok(gpul_texture_new(&point, gpul_texture_opts(.array = mipmap, .normalized = true)));
    assert_ok(gpul_texture_new(&linear, gpul_texture_opts(.array = mipmap, .normalized = true,
                                                          .linear = true, .mip_linear = true)));
    assert_ok(gpul_texture_new(
        &two, gpul_texture_opts(.array = mipmap, .normalized = true, .linear = true,
                                .mip_linear = true, .mip_bias = 0.5f, .mip_min = 1, .mip_max = 2)));
    gpul_array_free(&mipmap);
    float at[] = { 0, 1, 1.5f, 3, 9 }, got[5];
    gpul_buffer *levels = buffer_of(sizeof at, at), *out = buffer_of(sizeof got, NULL);
    gpul_texture *all[] = { point, linear, two };
    static const float expected[3][5] = { { 0, 10, -1, 30, 30 },
                                          { 0, 10, 15, 30, 30 },
                                          { 10, -1, -1, 20, 20 } };
    for (int t = 0; t < 3; t++) {
        assert_ok(gpul_launch(kernel_of(module, "read_level"),
                              gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                              gpul_args(gpul_texture_handle(all[t]), gpul_in(levels), out, 5)));
        assert_ok(gpul_read(got, out, 0, sizeof got, NULL));
        if (all[t] == two) print_message("note: level 1.5 with a bias of 0.5 reads %g\n", got[2]);
        for (int i = 0; i < 5; i++)
            if (expected[t][i] >= 0) assert_float_equal(got[i], expected[t][i], 0.1f);
        gpul_texture_free(&all[t]);
    }
    gpul_buffer_free(&levels);
    gpul_buffer_free(&out);
}

static void cubes_and_layers_are_read(void **state)
{
    (void)state;
    need_gpu();
    float values[6 * 4], got[6];
    for (int i = 0; i < 24; i++) values[i] = (float)(i / 4);
    for (int cube = 0; cube < 2; cube++) {
        gpul_array *array;
        gpul_texture *texture;
        assert_ok(gpul_array_new(&array, device,
                                 gpul_array_opts(.type = GPUL_F32, .width = 2, .height = 2,
                                                 .depth = 6, .cube = cube == 1,
                                                 .layered = cube == 0, .init = values)));
        assert_ok(
            gpul_texture_new(&texture, gpul_texture_opts(.array = array, .normalized = cube == 1)));
        gpul_array_free(&array);
        run_on(cube ? "read_face" : "read_layer", texture, got, 6);
        for (int i = 0; i < 6; i++) assert_true(got[i] == (float)i);
        gpul_texture_free(&texture);
    }
}

static void boxes_of_arrays_are_copied(void **state)
{
    (void)state;
    need_gpu();
    enum { W = 3, H = 2, D = 4 };
    float put[D][H][W], got[2][2][2], zero[D * H * W] = { 0 }, read[D];
    gpul_array *array, *other;
    gpul_texture *texture;
    gpul_buffer *buffer = buffer_of(sizeof put, NULL);
    for (int i = 0; i < D * H * W; i++) put[0][0][i] = (float)i;
    assert_ok(gpul_array_new(
        &array, device,
        gpul_array_opts(.type = GPUL_F32, .width = W, .height = H, .depth = D, .init = put)));
    assert_ok(gpul_array_new(
        &other, device,
        gpul_array_opts(.type = GPUL_F32, .width = W, .height = H, .depth = D, .init = zero)));
    const gpul_box *inner = gpul_box(.array = array, .offset = 4, .layer = 1);
    assert_ok(gpul_copy_3d(gpul_box(.host = got), inner, 8, 2, 2, NULL));
    for (int i = 0; i < 8; i++) assert_true(got[0][0][i] == put[1 + i / 4][i / 2 % 2][1 + i % 2]);
    /* From array to buffer, and from array to array. */
    assert_ok(gpul_copy_3d(gpul_box(.buffer = buffer, .pitch = 16), inner, 8, 2, 2, NULL));
    assert_ok(gpul_read(got, buffer, 48, 8, NULL));
    assert_true(got[0][0][0] == put[2][1][1] && got[0][0][1] == put[2][1][2]);
    assert_ok(
        gpul_copy_3d(gpul_box(.array = other, .offset = 4, .layer = 2), inner, 8, 2, 2, NULL));
    assert_ok(gpul_texture_new(&texture, gpul_texture_opts(.array = other)));
    run_on("read3", texture, read, D);
    assert_true(read[0] == 0 && read[1] == 0);
    assert_true(read[2] == put[1][0][1] && read[3] == put[2][0][1]);
    assert_code(gpul_copy_3d(gpul_box(.host = got), inner, 12, 1, 1, NULL), 810, "12 bytes");
    assert_code(gpul_copy_3d(gpul_box(.host = got), inner, 4, 3, 1, NULL), 810, "3 rows");
    assert_code(gpul_copy_3d(gpul_box(.host = got), inner, 4, 1, 4, NULL), 810, "4 layers");
    gpul_texture_free(&texture);
    gpul_array_free(&array);
    gpul_array_free(&other);
    gpul_buffer_free(&buffer);
}

static void the_cpu_device_refuses(void **state)
{
    (void)state;
    gpul_array *array = (gpul_array *)1;
    gpul_texture *texture = (gpul_texture *)1;
    gpul_buffer *buffer;
    if (!on_cpu()) skip_because("only the CPU device lacks textures");
    assert_code(
        gpul_array_new(&array, device, gpul_array_opts(.type = GPUL_F32, .width = 4, .height = 4)),
        820, "an array cannot be made");
    assert_int_equal(gpul_last_error()->native, 801);
    assert_null(array);
    array = (gpul_array *)1;
    assert_code(
        gpul_array_new(&array, device, gpul_array_opts(.type = GPUL_F32, .width = 4, .levels = 2)),
        820, "an array cannot be made");
    assert_string_equal(gpul_last_error()->call, "cuMipmappedArrayCreate");
    assert_null(array);
    assert_ok(gpul_alloc(&buffer, device, 64, gpul_alloc_opts(.type = GPUL_F32)));
    assert_code(gpul_texture_new(&texture, gpul_texture_opts(.buffer = buffer)), 820,
                "a texture cannot be made");
    assert_null(texture);
    gpul_buffer_free(&buffer);
}

static int close_with_module(void **state)
{
    gpul_module_free(&module);
    return close_device(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_are_read_and_filtered), cmocka_unit_test(edges_are_addressed),
        cmocka_unit_test(bytes_are_read_as_floats),     cmocka_unit_test(buffers_are_read),
        cmocka_unit_test(surfaces_are_written),         cmocka_unit_test(arrays_are_copied),
        cmocka_unit_test(levels_of_a_mipmap_are_read),  cmocka_unit_test(cubes_and_layers_are_read),
        cmocka_unit_test(boxes_of_arrays_are_copied),   cmocka_unit_test(the_cpu_device_refuses),
    };
    return gpul_run_tests("device texture", tests, open_device, close_with_module);
}
