/* A cooperative launch: all blocks wait for each other inside the kernel, so that one launch does what
 * otherwise takes two.  SPDX-License-Identifier: MIT */
#include "example.h"

static const char source[] =
    "#include <cooperative_groups.h>\n"
    "extern \"C\" __global__ void total(const int *x, int *sums, int *out, int n)\n"
    "{\n"
    "    auto grid = cooperative_groups::this_grid();\n"
    "    if (threadIdx.x == 0) sums[blockIdx.x] = 0;\n"
    "    __syncthreads();\n"
    "    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)\n"
    "        atomicAdd(&sums[blockIdx.x], x[i]);\n"
    "    grid.sync();\n"
    "    if (grid.thread_rank() == 0) {\n"
    "        *out = 0;\n"
    "        for (int b = 0; b < gridDim.x; b++) *out += sums[b];\n"
    "    }\n"
    "}\n";

int main(void)
{
    enum { N = 10000, BLOCK = 64 };
    static int x[N];
    int expected = 0, got = 0;
    uint64_t most;
    gpul_device *device;
    const gpul_kernel *total;
    gpul_buffer *dx, *sums, *out;
    for (int i = 0; i < N; i++) expected += x[i] = i % 17;
    CHECK(gpul_open(&device, NULL));
    if (!gpul_device_describe(device)->cooperative)
        example_skip("this device launches nothing cooperatively");
    gpul_module *module = example_module(device, source);
    CHECK(gpul_module_kernel(&total, module, "total"));
    gpul_launch_opts launch = { .block = { BLOCK }, .cooperative = true };
    CHECK(gpul_kernel_max_cooperative(&most, total, &launch));
    launch.grid[0] = most < 32 ? most : 32;
    CHECK(gpul_alloc(&dx, device, sizeof x, gpul_alloc_opts(.init = x, .type = GPUL_I32)));
    CHECK(gpul_alloc(&sums, device, 32 * sizeof(int), gpul_alloc_opts(.type = GPUL_I32)));
    CHECK(gpul_alloc(&out, device, sizeof(int), gpul_alloc_opts(.type = GPUL_I32)));
    CHECK(gpul_launch(total, &launch, gpul_args(gpul_in(dx), sums, out, (int)N)));
    CHECK(gpul_read(&got, out, 0, sizeof got, NULL));
    if (got != expected) {
        fprintf(stderr, "the sum is %d, not %d\n", got, expected);
        return 1;
    }
    gpul_buffer_free(&dx);
    gpul_buffer_free(&sums);
    gpul_buffer_free(&out);
    gpul_module_free(&module);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
