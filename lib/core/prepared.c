/* Prepared launches: a graph of one kernel node that is instantiated once, and updated where an argument was
 * changed.  Whatever stands in the way of that is left to gpul_launch.  SPDX-License-Identifier: MIT */
#include "core/context.h"
#include "core/device_failure.h"
#include "core/kept_launch.h"
#include "core/stream.h"

#define unlikely(x) __builtin_expect(!!(x), 0)

struct gpul_prepared {
    gpul__kept_launch *launch;
    gpul_device *device; /* kept by the launch */
    CUstream stream;
    uint64_t stream_id;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec; /* NULL: launched by gpul_launch */
    CUDA_KERNEL_NODE_PARAMS params;
    bool changed; /* arguments of the node are older than the launch's */
};

static bool can_be_graph(const gpul_prepared *p)
{
    const gpul__driver *driver = p->device->driver;
    return p->launch->plain && !p->device->checked && !p->device->is_cpu && driver->GraphCreate &&
           driver->GraphDestroy && driver->GraphAddKernelNode && driver->GraphInstantiate &&
           driver->GraphExecDestroy && driver->GraphExecKernelNodeSetParams &&
           driver->GraphLaunch && driver->StreamIsCapturing;
}

/* With the context current. */
static void drop_graph(gpul_prepared *p)
{
    const gpul__driver *driver = gpul__api(p->device);
    if (p->exec) driver->GraphExecDestroy(p->exec);
    if (p->graph) driver->GraphDestroy(p->graph);
    p->exec = NULL;
    p->graph = NULL;
}

static CUresult make_graph(gpul_prepared *p, const char **entry)
{
    const gpul__driver *driver = gpul__api(p->device);
    *entry = "cuGraphCreate";
    CUresult result = driver->GraphCreate(&p->graph, 0);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuGraphAddKernelNode";
    p->params = gpul__kept_launch_node(p->launch);
    result = driver->GraphAddKernelNode(&p->node, p->graph, NULL, 0, &p->params);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuGraphInstantiateWithFlags";
    return driver->GraphInstantiate(&p->exec, p->graph, 0);
}

/* A refusal means that it is launched the plain way, a lost context that nothing can be. */
static gpul_status settle(gpul_prepared *p, CUresult result, const char *entry)
{
    if (result == CUDA_SUCCESS) return GPUL_OK;
    drop_graph(p);
    const char *name = p->launch->kernel->info.name;
    if (gpul__is_sticky(result))
        return gpul__refused(p->device,
                             &(gpul__refusal){ GPUL__LAUNCH_REFUSED, result, entry,
                                               p->launch->opts.caller_file,
                                               p->launch->opts.caller_line },
                             "the prepared launch of '%s'", name);
    gpul__log(GPUL_LOG_INFO, "prepared launch of '%s': %s gave %s, so cuLaunchKernel is used", name,
              entry, gpul_native_name(GPUL_NATIVE_CUDA, (int)result));
    return GPUL_OK;
}

gpul_status gpul_prepare(gpul_prepared **out, const gpul_kernel *kernel,
                         const gpul_launch_opts *opts, gpul_arglist args)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(kernel);
    gpul_prepared *p = gpul__calloc(1, sizeof *p);
    if (!p) return gpul__no_memory();
    gpul_status status = gpul__kept_launch_new(&p->launch, kernel, opts, args, "gpul_prepare");
    if (status == GPUL_OK) {
        p->device = kernel->device;
        status = gpul__stream_of(&p->stream, &p->stream_id, p->device, p->launch->opts.stream,
                                 "gpul_prepare");
    }
    bool pushed;
    if (status == GPUL_OK && can_be_graph(p)) {
        status = gpul__enter(p->device, &pushed, "gpul_prepare");
        if (status == GPUL_OK) {
            const char *entry;
            CUresult result = make_graph(p, &entry);
            status = settle(p, result, entry);
            gpul__leave(p->device, pushed);
        }
    }
    if (status != GPUL_OK) {
        gpul__kept_launch_free(p->launch);
        gpul__free(p);
        return status;
    }
    *out = p;
    return GPUL_OK;
}

void gpul_prepared_free(gpul_prepared **prepared)
{
    gpul_prepared *p = prepared ? *prepared : NULL;
    if (!p) return;
    *prepared = NULL;
    bool pushed;
    if (p->graph && gpul__enter_quietly(p->device, &pushed)) {
        drop_graph(p);
        gpul__leave(p->device, pushed);
    }
    gpul__kept_launch_free(p->launch);
    gpul__free(p);
}

gpul_status gpul_prepared_set(gpul_prepared *prepared, size_t index, gpul_arg arg)
{
    GPUL__NEED(prepared);
    gpul_status status = gpul__kept_launch_set(prepared->launch, index, &arg, "gpul_prepared_set");
    if (status == GPUL_OK) prepared->changed = true;
    return status;
}

gpul_status gpul_prepared_set_named(gpul_prepared *prepared, const char *name, gpul_arg arg)
{
    GPUL__NEED(prepared);
    GPUL__NEED(name);
    size_t index;
    gpul_status status =
        gpul__kept_launch_find(&index, prepared->launch, name, "gpul_prepared_set_named");
    return status == GPUL_OK ? gpul_prepared_set(prepared, index, arg) : status;
}

bool gpul_prepared_is_graph(const gpul_prepared *prepared)
{
    return prepared && prepared->exec;
}

static __attribute__((noinline)) gpul_status launch_plainly(gpul_prepared *p)
{
    const gpul__kept_launch *l = p->launch;
    return gpul_launch(l->kernel, &l->opts, gpul__kept_launch_args(l));
}

/* With the context current. */
static inline CUresult submit(gpul_prepared *p, const gpul__driver *driver, const char **entry)
{
    CUresult result;
    *entry = "cuGraphExecKernelNodeSetParams";
    if (p->changed) {
        result = driver->GraphExecKernelNodeSetParams(p->exec, p->node, &p->params);
        if (unlikely(result != CUDA_SUCCESS)) return result;
        p->changed = false;
    }
    const gpul__kept_launch *l = p->launch;
    gpul__ring *ring = &p->device->ring;
    *entry = "cuGraphLaunch";
    uint64_t number = gpul__ring_enter(ring, l->kernel->kept_name, p->stream_id, l->geometry.grid,
                                       l->geometry.block, l->geometry.shared, l->opts.caller_file,
                                       l->opts.caller_line);
    result = driver->GraphLaunch(p->exec, p->stream);
    if (unlikely(result != CUDA_SUCCESS)) gpul__ring_withdraw(ring, number);
    else gpul__ring_submitted(ring, number, 0);
    return result;
}

gpul_status gpul_prepared_launch(gpul_prepared *prepared)
{
    GPUL__NEED(prepared);
    if (!prepared->exec) return launch_plainly(prepared);
    gpul_device *device = prepared->device;
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_prepared_launch");
    if (unlikely(status != GPUL_OK)) return status;
    const gpul__driver *driver = gpul__api(device);
    const char *entry;
    /* A capture records the kernel, so that the recording does not hang on this graph. */
    bool captured = gpul__stream_is_captured(driver, prepared->stream);
    if (!captured) {
        CUresult result = submit(prepared, driver, &entry);
        if (unlikely(result != CUDA_SUCCESS)) status = settle(prepared, result, entry);
    }
    gpul__leave(device, pushed);
    if (unlikely(captured || (status == GPUL_OK && !prepared->exec)))
        return launch_plainly(prepared);
    return status;
}
