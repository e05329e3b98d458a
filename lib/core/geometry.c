/* The checks of a launch's geometry, one sentence for each limit.  What is said when the driver refuses
 * all the same is in geometry_refused.c.  SPDX-License-Identifier: MIT */
#include "core/geometry.h"

#include <inttypes.h>

#include "core/device_failure.h"
#include "core/launch_extra.h"
#include "core/launch_mistakes.h"

typedef unsigned long long wide;

static const char axes[] = "xyz";

/* One check under way. */
typedef struct checking {
    const gpul_kernel *kernel;
    const gpul_launch_opts *opts;
    gpul__geometry *out;
    gpul__mistakes mistakes;
} checking;

#define MISTAKE(c, code, hint, ...) gpul__mistake_add(&(c)->mistakes, code, NULL, hint, __VA_ARGS__)
#define HINT(c, ...)                gpul__arena_printf(&(c)->mistakes.arena, __VA_ARGS__)

static const char *device_name(const checking *c)
{
    return c->kernel->device->info.name;
}

/* x = 0 is a mistake, y and z left zero mean 1. */
static void check_grid(checking *c)
{
    for (int i = 0; i < 3; i++) {
        uint64_t value = c->opts->grid[i], limit = c->kernel->grid_limit[i];
        if (i > 0 && value == 0) value = 1;
        if (value == 0)
            MISTAKE(c, GPUL__LAUNCH_ZERO,
                    "round up, (n + block - 1) / block, and skip the launch when there is nothing "
                    "to do",
                    "grid.x is 0: a launch of '%s' needs at least one block", c->kernel->info.name);
        else if (value > limit)
            MISTAKE(c, GPUL__LAUNCH_LIMIT,
                    i ? "put the long dimension on x, or let each thread do several elements"
                      : "let each thread do several elements",
                    "grid.%c is %llu, and %s allows at most %llu", axes[i], (wide)value,
                    device_name(c), (wide)limit);
        else c->out->grid[i] = (uint32_t)value;
    }
}

static void check_block_axes(checking *c)
{
    for (int i = 0; i < 3; i++) {
        uint64_t value = c->opts->block[i], limit = c->kernel->block_limit[i];
        if (i > 0 && value == 0) value = 1;
        if (value == 0)
            MISTAKE(c, GPUL__LAUNCH_ZERO, "128 or 256 threads are a good start",
                    "block.x is 0: a block of '%s' needs at least one thread",
                    c->kernel->info.name);
        else if (value > limit)
            MISTAKE(c, GPUL__LAUNCH_LIMIT, "use more blocks of fewer threads",
                    "block.%c is %llu, and %s allows at most %llu", axes[i], (wide)value,
                    device_name(c), (wide)limit);
        else c->out->block[i] = (uint32_t)value;
    }
}

/* The largest block that the registers allow.  They are given out to warps in units of 256, and to
 * blocks in units of four warps. */
static uint32_t register_bound(const gpul_kernel *kernel)
{
    uint32_t have = kernel->device->info.registers_per_block;
    if (kernel->info.registers <= 0 || !have) return UINT32_MAX;
    uint32_t per_warp = ((uint32_t)kernel->info.registers + 7) / 8 * 8 * 32;
    return have / per_warp / 4 * 4 * 32;
}

static void mistake_registers(checking *c, uint32_t threads)
{
    const gpul_kernel *k = c->kernel;
    uint32_t registers = (uint32_t)k->info.registers, have = k->device->info.registers_per_block;
    uint32_t fit = have / threads / 8 * 8;
    MISTAKE(
        c, GPUL__LAUNCH_REGISTERS,
        HINT(c,
             "use a block of at most %u threads, or compile with __launch_bounds__(%u) on the "
             "kernel or max_registers = %u",
             k->max_threads, threads, fit),
        "'%s' uses %u registers a thread: %u threads need %llu, and a block has %u; the largest "
        "block of this kernel is %u threads",
        k->info.name, registers, threads, (wide)registers * threads, have, k->max_threads);
}

static void check_block_total(checking *c)
{
    const gpul_kernel *k = c->kernel;
    const uint32_t *b = c->out->block;
    uint64_t threads = (uint64_t)b[0] * b[1] * b[2];
    uint32_t most = k->device->info.max_threads_per_block;
    const int *bound = k->info.bound_threads;
    uint64_t bounded = 1;
    for (int i = 0; i < 3; i++) bounded *= bound[i] > 0 ? (uint64_t)bound[i] : 1;
    if (threads > most) {
        MISTAKE(c, GPUL__LAUNCH_LIMIT, HINT(c, "use blocks of at most %u threads", most),
                "block %ux%ux%u has %llu threads, and %s allows at most %u in a block", b[0], b[1],
                b[2], (wide)threads, device_name(c), most);
    } else if ((k->special & GPUL__KERNEL_EXACT_BLOCK) &&
               (b[0] != (uint32_t)bound[0] || b[1] != (uint32_t)(bound[1] > 0 ? bound[1] : 1) ||
                b[2] != (uint32_t)(bound[2] > 0 ? bound[2] : 1))) {
        MISTAKE(c, GPUL__LAUNCH_BOUNDS,
                HINT(c, "use .block = {%d, %d, %d}", bound[0], bound[1] > 0 ? bound[1] : 1,
                     bound[2] > 0 ? bound[2] : 1),
                "'%s' is compiled for blocks of exactly %dx%dx%d threads, and the launch has "
                "%ux%ux%u",
                k->info.name, bound[0], bound[1] > 0 ? bound[1] : 1, bound[2] > 0 ? bound[2] : 1,
                b[0], b[1], b[2]);
    } else if (bound[0] > 0 && threads > bounded) {
        MISTAKE(c, GPUL__LAUNCH_BOUNDS,
                HINT(c, "use at most %llu threads, or raise __launch_bounds__ and compile again",
                     (wide)bounded),
                "'%s' is compiled for at most %llu threads in a block (launch bounds), and the "
                "launch has %llu",
                k->info.name, (wide)bounded, (wide)threads);
    } else if (threads > k->max_threads && threads > register_bound(k)) {
        mistake_registers(c, (uint32_t)threads);
    } else if (threads > k->max_threads) {
        MISTAKE(c, GPUL__LAUNCH_BOUNDS, HINT(c, "use at most %u threads", k->max_threads),
                "the largest block of '%s' on this device is %u threads (the driver's figure, from "
                "its launch bounds or resources), and the launch has %llu",
                k->info.name, k->max_threads, (wide)threads);
    }
}

/* Raised once, to all that the kernel can have: the attribute is only a cap. */
static void raise_shared(checking *c, uint32_t wanted)
{
    gpul_kernel *k = (gpul_kernel *)(uintptr_t)c->kernel;
    const gpul__driver *driver = gpul__api(k->device);
    CUresult result = driver->FuncSetAttribute(
        k->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)k->shared_limit);
    if (result == CUDA_SUCCESS)
        atomic_store_explicit(&k->shared_allowed, k->shared_limit, memory_order_relaxed);
    else
        MISTAKE(c, GPUL__LAUNCH_SHARED, NULL,
                "%u bytes of dynamic shared memory need the opt-in, and the driver refuses it: "
                "cuFuncSetAttribute gave %s (%d)",
                wanted, gpul_native_name(GPUL_NATIVE_CUDA, (int)result), (int)result);
}

static void check_shared(checking *c)
{
    const gpul_kernel *k = c->kernel;
    size_t shared = c->opts->shared;
    uint32_t limit = k->shared_limit;
    if (shared == 0 && (k->special & GPUL__KERNEL_SHARED)) {
        const char *name = k->info.dynamic_shared_name;
        MISTAKE(c, GPUL__LAUNCH_SHARED,
                "give its size in bytes, as in .shared = block * sizeof(float)",
                "'%s' uses dynamic shared memory%s%s%s, and .shared is 0", k->info.name,
                name ? " ('" : "", name ? name : "", name ? "')" : "");
    } else if (shared > limit) {
        int fixed = k->info.shared_bytes > 0 ? k->info.shared_bytes : 0;
        MISTAKE(
            c, GPUL__LAUNCH_SHARED,
            HINT(c, "use at most %u bytes; .shared counts bytes, not elements", limit),
            "%zu bytes of dynamic shared memory and %d static ones of '%s' are more than the %u "
            "that %s gives a block; at most %u can be dynamic",
            shared, fixed, k->info.name, k->device->info.shared_per_block_optin, device_name(c),
            limit);
    } else {
        c->out->shared = (uint32_t)shared;
        if (shared > atomic_load_explicit(&k->shared_allowed, memory_order_relaxed))
            raise_shared(c, (uint32_t)shared);
    }
}

/* ---- Clusters ---- */

static void check_cluster_grid(checking *c, const uint32_t cluster[3])
{
    for (int i = 0; i < 3; i++) {
        uint32_t n = cluster[i] ? cluster[i] : 1, grid = c->out->grid[i];
        if (grid % n == 0) continue;
        MISTAKE(c, GPUL__LAUNCH_CLUSTER,
                HINT(c, "the grid counts blocks, not clusters: make grid.%c %llu", axes[i],
                     (wide)(grid / n + 1) * n),
                "grid.%c is %u, which is no multiple of the cluster's %u blocks", axes[i], grid, n);
    }
}

static bool cluster_supported(checking *c)
{
    const gpul_device *device = c->kernel->device;
    if (!device->info.cluster)
        MISTAKE(c, GPUL__LAUNCH_UNSUPPORTED, "leave .cluster out on this device",
                "clusters need compute capability 9.0, and %s has %d.%d", device->info.name,
                device->info.compute_major, device->info.compute_minor);
    else if (!device->driver->LaunchKernelEx)
        MISTAKE(c, GPUL__LAUNCH_UNSUPPORTED, "update the driver",
                "clusters need a driver of CUDA 11.8 or newer (cuLaunchKernelEx), and this one is "
                "CUDA %d.%d",
                device->info.driver_version / 1000, device->info.driver_version % 1000 / 10);
    else return true;
    return false;
}

/* More than eight blocks are allowed only when the kernel says so, and not on every device. */
static void allow_large_cluster(checking *c, uint64_t blocks)
{
    const gpul_kernel *k = c->kernel;
    CUresult result = gpul__api(k->device)->FuncSetAttribute(
        k->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1);
    if (result != CUDA_SUCCESS)
        MISTAKE(c, GPUL__LAUNCH_CLUSTER, "use at most 8 blocks in a cluster",
                "a cluster of %llu blocks is above the portable 8, and the driver refuses it (%s)",
                (wide)blocks, gpul_native_name(GPUL_NATIVE_CUDA, (int)result));
}

static void check_cluster(checking *c)
{
    const uint32_t *asked = c->opts->cluster;
    const gpul_kernel *k = c->kernel;
    uint32_t own[3];
    for (int i = 0; i < 3; i++) own[i] = k->info.cluster[i] > 0 ? (uint32_t)k->info.cluster[i] : 0;
    if (!asked[0] && !asked[1] && !asked[2]) {
        if (own[0]) check_cluster_grid(c, own);
        return;
    }
    if (!cluster_supported(c)) return;
    uint64_t blocks = 1;
    bool same = true;
    for (int i = 0; i < 3; i++) {
        c->out->cluster[i] = asked[i] ? asked[i] : 1;
        blocks = blocks > 1000 ? blocks : blocks * c->out->cluster[i];
        same = same && c->out->cluster[i] == (own[i] ? own[i] : 1);
    }
    if (own[0] && !same)
        MISTAKE(
            c, GPUL__LAUNCH_CLUSTER, "leave .cluster out: the kernel's own size is used",
            "'%s' is compiled for clusters of %ux%ux%u blocks, and the launch asks for %ux%ux%u",
            k->info.name, own[0], own[1] ? own[1] : 1, own[2] ? own[2] : 1, c->out->cluster[0],
            c->out->cluster[1], c->out->cluster[2]);
    else if (blocks > 16)
        MISTAKE(c, GPUL__LAUNCH_CLUSTER, "use at most 8 blocks in a cluster, 16 on some devices",
                "a cluster of %ux%ux%u blocks is larger than 16", c->out->cluster[0],
                c->out->cluster[1], c->out->cluster[2]);
    else check_cluster_grid(c, c->out->cluster);
    if (blocks > 8 && blocks <= 16 && !c->mistakes.count) allow_large_cluster(c, blocks);
}

/* ---- Cooperative launches ---- */

/* The last answer is kept: threads in 16 bits, shared memory in 24, blocks + 1 in 24. */
CUresult gpul__geometry_cooperative(uint64_t *out, const gpul_kernel *kernel, uint32_t threads,
                                    uint32_t shared)
{
    gpul_kernel *k = (gpul_kernel *)(uintptr_t)kernel;
    uint64_t key = (uint64_t)threads << 48 | (uint64_t)shared << 24;
    uint64_t kept = atomic_load_explicit(&k->cooperative, memory_order_relaxed);
    if (kept && (kept & ~(uint64_t)0xffffff) == key) {
        *out = (kept & 0xffffff) - 1;
        return CUDA_SUCCESS;
    }
    int blocks = 0;
    CUresult result = gpul__api(k->device)->OccupancyMaxActiveBlocksPerMultiprocessor(
        &blocks, k->function, (int)threads, shared);
    if (result != CUDA_SUCCESS) return result;
    *out = (uint64_t)(blocks > 0 ? blocks : 0) * (uint64_t)k->device->info.multiprocessors;
    if (*out < 0xffffff)
        atomic_store_explicit(&k->cooperative, key | (*out + 1), memory_order_relaxed);
    return CUDA_SUCCESS;
}

static void check_cooperative(checking *c)
{
    const gpul_kernel *k = c->kernel;
    const gpul_device *device = k->device;
    c->out->cooperative = true;
    if (!device->info.cooperative) {
        MISTAKE(c, GPUL__LAUNCH_UNSUPPORTED, "use a kernel without grid synchronisation here",
                "%s cannot launch cooperatively", device->info.name);
        return;
    }
    const uint32_t *b = c->out->block, *g = c->out->grid;
    uint32_t threads = b[0] * b[1] * b[2];
    uint64_t most = 0, blocks = (uint64_t)g[0] * g[1];
    blocks = g[2] > UINT64_MAX / blocks ? UINT64_MAX : blocks * g[2];
    /* Where the calculator has no answer, the driver's own check of the launch stands. */
    if (gpul__geometry_cooperative(&most, k, threads, c->out->shared) != CUDA_SUCCESS) return;
    if (blocks > most)
        MISTAKE(c, GPUL__LAUNCH_COOPERATIVE,
                HINT(c, "use at most %llu blocks, and loop over the data inside the kernel",
                     (wide)most),
                "a cooperative grid of %llu blocks does not fit: at most %llu blocks of %u threads "
                "with %u bytes of dynamic shared memory of '%s' run at once on %s",
                (wide)blocks, (wide)most, threads, c->out->shared, k->info.name, device->info.name);
}

static void check_parameters(checking *c)
{
    const gpul_kernel *k = c->kernel;
    MISTAKE(c, GPUL__LAUNCH_PARAMETERS,
            "put the data into a buffer or a __constant__ variable and pass a pointer",
            "the parameters of '%s' take %u bytes, and a launch on %s with this driver carries at "
            "most %u",
            k->info.name, k->param_bytes, device_name(c), k->device->info.max_parameter_bytes);
}

gpul_status gpul__geometry_check(gpul__geometry *out, const gpul_kernel *kernel,
                                 const gpul_launch_opts *opts)
{
    *out = (gpul__geometry){ 0 };
    checking c = { .kernel = kernel, .opts = opts, .out = out };
    if (opts->extra && gpul__geometry_in_limits(out, kernel, opts)) {
        gpul__launch_extra_check(&c.mistakes, kernel->device, opts->extra);
        if (!c.mistakes.count && !c.mistakes.failed) return GPUL_OK;
        return gpul__mistakes_fail(&c.mistakes, opts->caller_file, opts->caller_line,
                                   "the launch's attributes do not fit");
    }
    check_grid(&c);
    check_block_axes(&c);
    if (out->block[0] && out->block[1] && out->block[2]) check_block_total(&c);
    check_shared(&c);
    if (kernel->special & GPUL__KERNEL_PARAMETERS) check_parameters(&c);
    if ((kernel->special & GPUL__KERNEL_GRID_SYNC) && !opts->cooperative)
        MISTAKE(&c, GPUL__LAUNCH_COOPERATIVE, "launch it with .cooperative = true",
                "'%s' synchronises the whole grid, and the launch is not cooperative: the kernel "
                "would trap and the context be lost",
                kernel->info.name);
    if (!c.mistakes.count) check_cluster(&c);
    if (!c.mistakes.count && opts->cooperative) check_cooperative(&c);
    if (opts->extra) gpul__launch_extra_check(&c.mistakes, kernel->device, opts->extra);
    if (!c.mistakes.count && !c.mistakes.failed) return GPUL_OK;
    bool table = kernel->special & GPUL__KERNEL_PARAMETERS;
    gpul_status status = gpul__mistakes_fail(&c.mistakes, opts->caller_file, opts->caller_line,
                                             "the launch breaks several limits");
    if (table && status != GPUL_E_MEMORY) gpul__args_table(&kernel->info);
    return status;
}
