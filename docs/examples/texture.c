/* A texture: an image is read between its elements, which the hardware interpolates.  GPUs only.
 * SPDX-License-Identifier: MIT */
#include "example.h"

static const char source[] =
    "extern \"C\" __global__ void enlarge(cudaTextureObject_t image, float *out, int width,\n"
    "                                   int height, float step)\n"
    "{\n"
    "    int x = threadIdx.x, y = threadIdx.y;\n"
    "    if (x < width && y < height)\n"
    "        out[y * width + x] = tex2D<float>(image, x * step + 0.5f, y * step + 0.5f);\n"
    "}\n";

int main(void)
{
    enum { WIDTH = 4, HEIGHT = 3, W = 2 * WIDTH - 1, H = 2 * HEIGHT - 1 };
    static const float image[HEIGHT * WIDTH] = { 0, 2, 4, 6, 10, 12, 14, 16, 20, 22, 24, 26 };
    float got[H * W];
    gpul_device *device;
    gpul_array *array;
    gpul_texture *texture;
    const gpul_kernel *enlarge;
    gpul_buffer *out;
    CHECK(gpul_open(&device, NULL));
    if (!gpul_device_describe(device)->texture_2d[0]) example_skip("this device has no textures");
    gpul_module *module = example_module(device, source);
    CHECK(gpul_module_kernel(&enlarge, module, "enlarge"));
    CHECK(gpul_array_new(
        &array, device,
        gpul_array_opts(.type = GPUL_F32, .width = WIDTH, .height = HEIGHT, .init = image)));
    CHECK(gpul_texture_new(&texture, gpul_texture_opts(.array = array, .linear = true)));
    CHECK(gpul_alloc(&out, device, sizeof got, gpul_alloc_opts(.type = GPUL_F32)));
    CHECK(gpul_launch(enlarge, gpul_launch_opts(.grid = { 1 }, .block = { 8, 8 }),
                      gpul_args(gpul_texture_handle(texture), out, (int)W, (int)H, 0.5f)));
    CHECK(gpul_read(got, out, 0, sizeof got, NULL));
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float expected = (float)x + 5 * (float)y;
            if (got[y * W + x] == expected) continue;
            fprintf(stderr, "at %d, %d is %g, not %g\n", x, y, got[y * W + x], expected);
            return 1;
        }
    gpul_texture_free(&texture);
    gpul_array_free(&array);
    gpul_buffer_free(&out);
    gpul_module_free(&module);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
