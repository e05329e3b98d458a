/* Dynamic shared memory above 48 KB: the opt-in is raised by itself.  SPDX-License-Identifier: MIT */
#include "example.h"

int main(void)
{
    enum { N = 16384 };
    static int data[N];
    for (int i = 0; i < N; i++) data[i] = i;
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *kernel;
    gpul_buffer *buffer;
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "reverse_shared.cu",
                            gpul_compile_opts(.device = device)));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&kernel, module, "reverse_shared"));
    CHECK(
        gpul_alloc(&buffer, device, sizeof data, gpul_alloc_opts(.init = data, .type = GPUL_I32)));
    CHECK(gpul_launch(kernel,
                      gpul_launch_opts(.grid = { 1 }, .block = { 1024 }, .shared = sizeof data),
                      gpul_args(buffer, (int)N)));
    CHECK(gpul_read(data, buffer, 0, sizeof data, NULL));
    for (int i = 0; i < N; i++) {
        if (data[i] == N - 1 - i) continue;
        fprintf(stderr, "data[%d] is %d, not %d\n", i, data[i], N - 1 - i);
        return 1;
    }
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
