/* A thread-block cluster: four blocks read each other's shared memory.  SPDX-License-Identifier: MIT */
#include "example.h"

static const char source[] =
    "#include <cooperative_groups.h>\n"
    "namespace cg = cooperative_groups;\n"
    "extern \"C\" __global__ void around(int *out)\n"
    "{\n"
    "    __shared__ int mine;\n"
    "    cg::cluster_group cluster = cg::this_cluster();\n"
    "    unsigned rank = cluster.block_rank(), blocks = cluster.num_blocks();\n"
    "    if (threadIdx.x == 0) mine = 100 + blockIdx.x;\n"
    "    cluster.sync();\n"
    "    int *theirs = cluster.map_shared_rank(&mine, (rank + 1) % blocks);\n"
    "    if (threadIdx.x == 0) out[blockIdx.x] = *theirs;\n"
    "    cluster.sync();\n"
    "}\n";

int main(void)
{
    enum { BLOCKS = 8, CLUSTER = 4 };
    int got[BLOCKS];
    gpul_device *device;
    const gpul_kernel *around;
    gpul_buffer *out;
    CHECK(gpul_open(&device, NULL));
    if (!gpul_device_describe(device)->cluster) example_skip("this device has no clusters");
    gpul_module *module = example_module(device, source);
    CHECK(gpul_module_kernel(&around, module, "around"));
    CHECK(gpul_alloc(&out, device, sizeof got, gpul_alloc_opts(.type = GPUL_I32)));
    CHECK(gpul_launch(
        around, gpul_launch_opts(.grid = { BLOCKS }, .block = { 32 }, .cluster = { CLUSTER, 1, 1 }),
        gpul_args(out)));
    CHECK(gpul_read(got, out, 0, sizeof got, NULL));
    for (int i = 0; i < BLOCKS; i++) {
        int expected = 100 + i / CLUSTER * CLUSTER + (i + 1) % CLUSTER;
        if (got[i] == expected) continue;
        fprintf(stderr, "block %d has %d, not %d\n", i, got[i], expected);
        return 1;
    }
    gpul_buffer_free(&out);
    gpul_module_free(&module);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
