/* From the steps of a sequence to a graph: one node behind the other, instantiated once, and nodes updated where
 * a step was changed.  SPDX-License-Identifier: MIT */
#include "core/launch_extra.h"
#include "core/sequence.h"

bool gpul__sequence_can_build(const gpul_sequence *sequence)
{
    const gpul__driver *d = sequence->device->driver;
    return d->GraphCreate && d->GraphDestroy && d->GraphAddKernelNode &&
           d->GraphKernelNodeSetAttribute && d->GraphAddMemcpyNode && d->GraphAddMemsetNode &&
           d->GraphAddEmptyNode && d->GraphInstantiate && d->GraphExecDestroy && d->GraphLaunch &&
           d->GraphExecKernelNodeSetParams && d->GraphExecMemcpyNodeSetParams &&
           d->StreamIsCapturing;
}

void gpul__sequence_drop_graph(gpul_sequence *sequence)
{
    const gpul__driver *driver = gpul__api(sequence->device);
    if (sequence->exec) driver->GraphExecDestroy(sequence->exec);
    if (sequence->graph) driver->GraphDestroy(sequence->graph);
    sequence->exec = NULL;
    sequence->graph = NULL;
    sequence->built = sequence->changed = 0;
    for (size_t i = 0; i < sequence->count; i++) sequence->steps[i].changed = false;
}

/* One row of bytes. */
static CUDA_MEMCPY3D copy_of(const gpul__step *step)
{
    CUDA_MEMCPY3D c = { .WidthInBytes = step->size, .Height = 1, .Depth = 1 };
    c.srcMemoryType = step->from ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    if (step->from) c.srcDevice = step->from->address + step->from_offset;
    else c.srcHost = step->host;
    c.dstMemoryType = step->to ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
    if (step->to) c.dstDevice = step->to->address + step->to_offset;
    else c.dstHost = step->host;
    c.srcPitch = c.dstPitch = step->size;
    c.srcHeight = c.dstHeight = 1;
    return c;
}

static CUresult add_launch(gpul_sequence *s, gpul__step *step, const CUgraphNode *before,
                           size_t count, const char **entry)
{
    const gpul__driver *driver = gpul__api(s->device);
    const gpul__kept_launch *launch = step->launch;
    CUDA_KERNEL_NODE_PARAMS params = gpul__kept_launch_node(launch);
    *entry = "cuGraphAddKernelNode";
    CUresult result = driver->GraphAddKernelNode(&step->node, s->graph, before, count, &params);
    if (result != CUDA_SUCCESS || launch->plain) return result;
    CUlaunchAttribute attributes[GPUL__LAUNCH_ATTRIBUTES];
    unsigned set = gpul__launch_attributes(attributes, &launch->geometry, launch->opts.extra);
    *entry = "cuGraphKernelNodeSetAttribute";
    for (unsigned i = 0; i < set && result == CUDA_SUCCESS; i++)
        result =
            driver->GraphKernelNodeSetAttribute(step->node, attributes[i].id, &attributes[i].value);
    return result;
}

static CUresult add_step(gpul_sequence *s, gpul__step *step, const CUgraphNode *before,
                         size_t count, const char **entry)
{
    const gpul__driver *driver = gpul__api(s->device);
    if (step->kind == GPUL__STEP_LAUNCH) return add_launch(s, step, before, count, entry);
    if (step->size == 0) {
        *entry = "cuGraphAddEmptyNode";
        return driver->GraphAddEmptyNode(&step->node, s->graph, before, count);
    }
    if (step->kind == GPUL__STEP_FILL) {
        CUDA_MEMSET_NODE_PARAMS fill = { .dst = step->to->address + step->to_offset,
                                         .value = gpul__pattern_number(step->pattern,
                                                                       step->pattern_size),
                                         .elementSize = (unsigned)step->pattern_size,
                                         .width = step->size / step->pattern_size,
                                         .height = 1 };
        *entry = "cuGraphAddMemsetNode";
        return driver->GraphAddMemsetNode(&step->node, s->graph, before, count, &fill,
                                          s->device->context);
    }
    CUDA_MEMCPY3D copy = copy_of(step);
    *entry = "cuGraphAddMemcpyNode";
    return driver->GraphAddMemcpyNode(&step->node, s->graph, before, count, &copy,
                                      s->device->context);
}

static CUresult make(gpul_sequence *s, const char **entry)
{
    const gpul__driver *driver = gpul__api(s->device);
    *entry = "cuGraphCreate";
    CUresult result = driver->GraphCreate(&s->graph, 0);
    for (size_t i = 0; i < s->count && result == CUDA_SUCCESS; i++)
        result = add_step(s, &s->steps[i], i ? &s->steps[i - 1].node : NULL, i ? 1 : 0, entry);
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuGraphInstantiateWithFlags";
    result = driver->GraphInstantiate(&s->exec, s->graph, 0);
    if (result == CUDA_SUCCESS) s->built = s->count;
    return result;
}

static CUresult update(gpul_sequence *s, gpul__step *step, const char **entry)
{
    const gpul__driver *driver = gpul__api(s->device);
    if (step->kind == GPUL__STEP_LAUNCH) {
        CUDA_KERNEL_NODE_PARAMS params = gpul__kept_launch_node(step->launch);
        *entry = "cuGraphExecKernelNodeSetParams";
        return driver->GraphExecKernelNodeSetParams(s->exec, step->node, &params);
    }
    CUDA_MEMCPY3D copy = copy_of(step);
    *entry = "cuGraphExecMemcpyNodeSetParams";
    return driver->GraphExecMemcpyNodeSetParams(s->exec, step->node, &copy, s->device->context);
}

CUresult gpul__sequence_build(gpul_sequence *s, const char **entry)
{
    CUresult result = CUDA_SUCCESS;
    if (s->exec && s->built == s->count) {
        for (size_t i = 0; s->changed && i < s->count && result == CUDA_SUCCESS; i++) {
            if (!s->steps[i].changed) continue;
            result = update(s, &s->steps[i], entry);
            if (result != CUDA_SUCCESS) break;
            s->steps[i].changed = false;
            s->changed--;
        }
        if (result == CUDA_SUCCESS) return result;
    }
    /* A node that does not take its new parameters is made anew with all others. */
    gpul__sequence_drop_graph(s);
    return make(s, entry);
}
