/* A template kernel by name expression; any spacing names the same kernel.
 * SPDX-License-Identifier: MIT */
#include "example.h"

int main(void)
{
    float x[4] = { 0, 2, 4, 6 }, y[4];
    static const float expected[4] = { 1, 15, 85, 259 };
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *kernel;
    gpul_buffer *dx, *dy;
    static const char *const wanted[] = { "demo::poly<float, 3>", "demo::poly<double,1>", NULL };
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "poly.cu",
                            gpul_compile_opts(.device = device, .expressions = wanted)));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&kernel, module, "demo::poly<float,3>"));
    CHECK(gpul_alloc(&dx, device, sizeof x, gpul_alloc_opts(.init = x, .type = GPUL_F32)));
    CHECK(gpul_alloc(&dy, device, sizeof y, gpul_alloc_opts(.type = GPUL_F32)));
    CHECK(gpul_launch(kernel, gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                      gpul_args(dy, gpul_in(dx), 4)));
    CHECK(gpul_read(y, dy, 0, sizeof y, NULL));
    for (int i = 0; i < 4; i++) {
        if (y[i] == expected[i]) continue;
        fprintf(stderr, "y[%d] is %g, not %g\n", i, y[i], expected[i]);
        return 1;
    }
    gpul_buffer_free(&dx);
    gpul_buffer_free(&dy);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
