/* Two sources, compiled by themselves and linked: the kernel of one calls a function of the other.
 * SPDX-License-Identifier: MIT */
#include "example.h"

static const char shapes[] = "__device__ float area(float width, float height)\n"
                             "{ return width * height; }\n";
static const char user[] = "extern __device__ float area(float, float);\n"
                           "extern \"C\" __global__ void areas(const float *w, float *a, int n)\n"
                           "{\n"
                           "    int i = threadIdx.x;\n"
                           "    if (i < n) a[i] = area(w[i], 3);\n"
                           "}\n";

static gpul_image *compile(gpul_device *device, const char *source, const char *name)
{
    static const char *const flags[] = { "-rdc=true", NULL };
    gpul_image *image;
    gpul_status status =
        gpul_compile(&image, source, GPUL_TEXT,
                     gpul_compile_opts(.device = device, .flags = flags, .name = name));
    if (status == GPUL_E_COMPILER) example_skip(gpul_last_error()->message);
    CHECK(status);
    return image;
}

int main(void)
{
    float w[8] = { 1, 2, 3, 4, 5, 6, 7, 8 }, a[8];
    gpul_device *device;
    gpul_image *linked;
    gpul_module *module;
    const gpul_kernel *areas;
    gpul_buffer *dw, *da;
    CHECK(gpul_open(&device, NULL));
    gpul_link_input inputs[] = { { .image = compile(device, user, "user.cu") },
                                 { .image = compile(device, shapes, "shapes.cu") } };
    CHECK(gpul_link(&linked, device, inputs, 2, gpul_link_opts(.name = "program")));
    CHECK(gpul_load(&module, device, linked, NULL));
    CHECK(gpul_module_kernel(&areas, module, "areas"));
    CHECK(gpul_alloc(&dw, device, sizeof w, gpul_alloc_opts(.init = w, .type = GPUL_F32)));
    CHECK(gpul_alloc(&da, device, sizeof a, gpul_alloc_opts(.type = GPUL_F32)));
    CHECK(gpul_launch(areas, gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                      gpul_args(gpul_in(dw), da, 8)));
    CHECK(gpul_read(a, da, 0, sizeof a, NULL));
    for (int i = 0; i < 8; i++) {
        if (a[i] == 3 * w[i]) continue;
        fprintf(stderr, "a[%d] is %g, not %g\n", i, a[i], 3 * w[i]);
        return 1;
    }
    gpul_buffer_free(&dw);
    gpul_buffer_free(&da);
    gpul_module_free(&module);
    gpul_image_free(&linked);
    for (int i = 0; i < 2; i++) gpul_image_free(&inputs[i].image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
