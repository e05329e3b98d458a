/* A kernel whose even and odd threads do different things.  SPDX-License-Identifier: MIT */
#include "example.h"

int main(void)
{
    enum { N = 1000 };
    int out[N];
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *kernel;
    gpul_buffer *buffer;
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "divergent.cu", gpul_compile_opts(.device = device)));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&kernel, module, NULL)); /* the only one */
    CHECK(gpul_alloc(&buffer, device, sizeof out, gpul_alloc_opts(.type = GPUL_I32)));
    CHECK(gpul_launch(kernel, gpul_launch_opts(.grid = { 8 }, .block = { 128 }),
                      gpul_args(buffer, (int)N)));
    CHECK(gpul_read(out, buffer, 0, sizeof out, NULL));
    for (int i = 0; i < N; i++) {
        int expected = i % 2 ? -i : (i % 7) * (i % 7 + 1) / 2;
        if (out[i] == expected) continue;
        fprintf(stderr, "out[%d] is %d, not %d\n", i, out[i], expected);
        return 1;
    }
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
