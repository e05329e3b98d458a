/* printf from a kernel: the text arrives when something waits for the kernel.
 * SPDX-License-Identifier: MIT */
#include "example.h"

int main(void)
{
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *kernel;
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "hello.cu", gpul_compile_opts(.device = device)));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&kernel, module, "hello"));
    CHECK(gpul_launch(kernel, gpul_launch_opts(.grid = { 2 }, .block = { 3 }), gpul_args(100)));
    CHECK(gpul_sync(device));
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
