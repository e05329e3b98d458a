/* __constant__ data: a table that the host writes by its C++ name, and reads back with a counter.
 * SPDX-License-Identifier: MIT */
#include "example.h"

static const char source[] =
    "namespace filter { __constant__ float weights[4]; __device__ unsigned calls; }\n"
    "extern \"C\" __global__ void blend(const float *x, float *y, int n)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i >= n) return;\n"
    "    y[i] = 0;\n"
    "    for (int k = 0; k < 4; k++) y[i] += filter::weights[k] * x[i + k];\n"
    "    atomicAdd(&filter::calls, 1u);\n"
    "}\n";

int main(void)
{
    enum { N = 500 };
    static const float weights[4] = { 1, 2, 4, 8 };
    float x[N + 3], y[N];
    unsigned calls = 0;
    gpul_device *device;
    const gpul_kernel *blend;
    gpul_buffer *dx, *dy;
    for (int i = 0; i < N + 3; i++) x[i] = (float)(i % 7);
    CHECK(gpul_open(&device, NULL));
    gpul_module *module = example_module(device, source);
    CHECK(gpul_module_kernel(&blend, module, "blend"));
    CHECK(gpul_global_write(module, "filter::weights", 0, weights, sizeof weights));
    CHECK(gpul_global_write(module, "filter::calls", 0, &calls, sizeof calls));
    CHECK(gpul_alloc(&dx, device, sizeof x, gpul_alloc_opts(.init = x, .type = GPUL_F32)));
    CHECK(gpul_alloc(&dy, device, sizeof y, gpul_alloc_opts(.type = GPUL_F32)));
    CHECK(gpul_launch(blend, gpul_launch_opts(.grid = { (N + 127) / 128 }, .block = { 128 }),
                      gpul_args(gpul_in(dx), dy, (int)N)));
    CHECK(gpul_read(y, dy, 0, sizeof y, NULL));
    CHECK(gpul_global_read(&calls, module, "filter::calls", 0, sizeof calls));
    for (int i = 0; i < N; i++) {
        float expected = x[i] + 2 * x[i + 1] + 4 * x[i + 2] + 8 * x[i + 3];
        if (y[i] == expected) continue;
        fprintf(stderr, "y[%d] is %g, not %g\n", i, y[i], expected);
        return 1;
    }
    if (calls != N) {
        fprintf(stderr, "%u calls, not %d\n", calls, N);
        return 1;
    }
    gpul_buffer_free(&dx);
    gpul_buffer_free(&dy);
    gpul_module_free(&module);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
