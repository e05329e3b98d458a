/* A struct by value whose alignment is awkward.  The host's struct must lie as the device's does: a
 * float4 is aligned to 16 there.  SPDX-License-Identifier: MIT */
#include "example.h"

#include <stdalign.h>

struct mixed {
    char tag;
    double weight;
    short pair[3];
    alignas(16) float vector[4];
    unsigned char tail;
};

int main(void)
{
    struct mixed m = { 'A', 2.5, { 1, 2, 3 }, { 1, 2, 3, 4 }, 200 };
    static const double expected[] = { -3, 'A', 2.5, 321, 10, 200, -999 };
    double out[7];
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *kernel;
    gpul_buffer *buffer;
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "by_value.cu", gpul_compile_opts(.device = device)));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&kernel, module, "by_value"));
    CHECK(gpul_alloc(&buffer, device, sizeof out, gpul_alloc_opts(.type = GPUL_F64)));
    CHECK(gpul_launch(kernel, gpul_launch_opts(.grid = { 1 }, .block = { 1 }),
                      gpul_args((char)-3, gpul_value(m), (short)-999, buffer)));
    CHECK(gpul_read(out, buffer, 0, sizeof out, NULL));
    for (int i = 0; i < 7; i++) {
        if (out[i] == expected[i]) continue;
        fprintf(stderr, "out[%d] is %g, not %g\n", i, out[i], expected[i]);
        return 1;
    }
    gpul_buffer_free(&buffer);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
