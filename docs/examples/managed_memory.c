/* Managed memory: the host writes, a kernel works on it, the host reads, all at one address.
 * SPDX-License-Identifier: MIT */
#include "example.h"

int main(void)
{
    enum { N = 1 << 16 };
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *scale;
    gpul_buffer *buffer;
    CHECK(gpul_open(&device, NULL));
    if (!gpul_device_describe(device)->managed) example_skip("this device has no managed memory");
    CHECK(gpul_image_from_file(&image, KERNELS "scale.ptx"));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&scale, module, "scale"));
    CHECK(gpul_alloc(&buffer, device, N * sizeof(float),
                     gpul_alloc_opts(.memory = GPUL_MEMORY_MANAGED, .type = GPUL_F32)));
    float *data = gpul_buffer_host(buffer);
    for (int i = 0; i < N; i++) data[i] = (float)i;
    /* Advice and prefetching only make it faster, and not every device takes them. */
    bool moves = gpul_device_describe(device)->concurrent_managed;
    if (moves) {
        CHECK(gpul_advise(buffer, 0, N * sizeof(float), GPUL_ADVICE_PREFERRED, device));
        CHECK(gpul_prefetch(buffer, 0, N * sizeof(float), device, NULL));
    }
    CHECK(gpul_launch(scale, gpul_launch_opts(.grid = { N / 256 }, .block = { 256 }),
                      gpul_args(buffer, (int)N, 2.0f)));
    if (moves) CHECK(gpul_prefetch(buffer, 0, N * sizeof(float), NULL, NULL));
    CHECK(gpul_sync(device)); /* before the host touches what the kernel writes */
    for (int i = 0; i < N; i++) {
        if (data[i] == 2.0f * (float)i) continue;
        fprintf(stderr, "data[%d] is %g, not %g\n", i, data[i], 2.0f * (float)i);
        return 1;
    }
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
