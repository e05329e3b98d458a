/* Scales an array twice: with the machine code that NVRTC made, and with its PTX through the driver's
 * JIT under options of ours.  SPDX-License-Identifier: MIT */
#include "example.h"

enum { N = 1024 };

static void scale_once(gpul_device *device, gpul_image *image, const gpul_load_opts *how)
{
    float data[N];
    for (int i = 0; i < N; i++) data[i] = (float)i;
    gpul_module *module;
    const gpul_kernel *kernel;
    gpul_buffer *buffer;
    CHECK(gpul_load(&module, device, image, how));
    CHECK(gpul_module_kernel(&kernel, module, "scale"));
    CHECK(
        gpul_alloc(&buffer, device, sizeof data, gpul_alloc_opts(.init = data, .type = GPUL_F32)));
    CHECK(gpul_launch(kernel, gpul_launch_opts(.grid = { (N + 255) / 256 }, .block = { 256 }),
                      gpul_args(buffer, (int)N, 2.0f)));
    CHECK(gpul_read(data, buffer, 0, sizeof data, NULL));
    for (int i = 0; i < N; i++) {
        if (data[i] == 2.0f * (float)i) continue;
        fprintf(stderr, "data[%d] is %g, not %g\n", i, data[i], 2.0 * i);
        exit(1);
    }
    const gpul_module_info *info = gpul_module_describe(module);
    printf("%s: %s; JIT %.1f ms\n", info->format == GPUL_IMAGE_PTX ? "PTX" : "CUBIN", info->choice,
           info->jit_ms);
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
}

int main(void)
{
    gpul_device *device;
    gpul_image *image;
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "scale.cu", gpul_compile_opts(.device = device)));
    scale_once(device, image, NULL);
    scale_once(device, image,
               gpul_load_opts(.level = GPUL_JIT_O2, .max_registers = 32, .verbose = true));
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
