/* Launch attributes: checking them, and turning them into the driver's.  SPDX-License-Identifier: MIT */
#include "core/launch_extra.h"

#include <string.h>

#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"
#include "core/stream.h"

#define MISTAKE(code, hint, ...) gpul__mistake_add(mistakes, code, NULL, hint, __VA_ARGS__)

static bool any_cluster(const gpul_launch_extra *x)
{
    return x->preferred_cluster[0] || x->preferred_cluster[1] || x->preferred_cluster[2];
}

static void check_window(gpul__mistakes *mistakes, const gpul_device *device,
                         const gpul_access_window *w)
{
    uint64_t most = device->info.access_window_bytes;
    if (w->buffer->device != device)
        MISTAKE(GPUL__ARGS_FOREIGN, NULL, "the access window's buffer belongs to another device");
    else if (w->offset > w->buffer->size || w->size > w->buffer->size - w->offset)
        MISTAKE(GPUL__MEMORY_RANGE, "offsets and sizes are bytes",
                "the access window, %zu bytes at offset %zu, lies outside its buffer of %zu bytes",
                w->size, w->offset, w->buffer->size);
    else if (!(w->ratio >= 0 && w->ratio <= 1))
        MISTAKE(GPUL__ARGS_INVALID, NULL, "the access window's ratio is %g, and 0 to 1 can be",
                (double)w->ratio);
    else if ((unsigned)w->hit > GPUL_ACCESS_PERSISTING || (unsigned)w->miss > GPUL_ACCESS_STREAMING)
        MISTAKE(GPUL__ARGS_INVALID, NULL,
                "the access window's hit is %d and its miss %d: gpul_access, and miss not "
                "PERSISTING",
                (int)w->hit, (int)w->miss);
    else if (!most)
        MISTAKE(GPUL__LAUNCH_UNSUPPORTED, "leave the window out on this device",
                "%s has no access windows", device->info.name);
    else if (w->size > most)
        MISTAKE(GPUL__LAUNCH_LIMIT, "use a part of the buffer",
                "the access window has %zu bytes, and %s allows at most %llu", w->size,
                device->info.name, (unsigned long long)most);
}

static void need_driver(gpul__mistakes *mistakes, const gpul_device *device, bool have, int needed)
{
    int version = device->driver->version;
    if (have && version >= needed) return;
    MISTAKE(GPUL__LAUNCH_UNSUPPORTED, "leave these attributes out, or update the driver",
            "these launch attributes need a driver of CUDA %d.%d or newer, and this one is CUDA "
            "%d.%d",
            needed / 1000, needed % 1000 / 10, version / 1000, version % 1000 / 10);
}

/* What launches and streams have in common. */
static void check_common(gpul__mistakes *mistakes, const gpul_device *device,
                         const gpul_launch_extra *x)
{
    if ((unsigned)x->cluster_policy > GPUL_CLUSTER_BALANCE)
        MISTAKE(GPUL__ARGS_INVALID, NULL, "cluster_policy is %d, which is none of its enumeration",
                (int)x->cluster_policy);
    if ((unsigned)x->sync > GPUL_SCHEDULE_BLOCKING)
        MISTAKE(GPUL__ARGS_INVALID, NULL, "sync is %d, which is none of gpul_schedule",
                (int)x->sync);
    if (x->raw_count > GPUL__RAW_ATTRIBUTES || (x->raw_count && !x->raw))
        MISTAKE(GPUL__ARGS_INVALID, NULL, "%u raw attributes are given at %p, and 0 to %d can be",
                x->raw_count, x->raw, GPUL__RAW_ATTRIBUTES);
    if (x->window.buffer) check_window(mistakes, device, &x->window);
}

void gpul__launch_extra_check(gpul__mistakes *mistakes, const gpul_device *device,
                              const gpul_launch_extra *x)
{
    check_common(mistakes, device, x);
    if (x->sync)
        MISTAKE(GPUL__ARGS_INVALID, "use gpul_stream_set",
                "sync is for a stream, and no launch has it");
    need_driver(mistakes, device, device->driver->LaunchKernelEx,
                any_cluster(x)                       ? 12080
                : x->remote_domain || x->has_domains ? 12000
                                                     : 11080);
    if (x->programmatic && device->info.compute_major < 9)
        MISTAKE(GPUL__LAUNCH_UNSUPPORTED, "leave .programmatic out on this device",
                "programmatic dependent launches need compute capability 9.0, and %s has %d.%d",
                device->info.name, device->info.compute_major, device->info.compute_minor);
}

static unsigned extra_attributes(CUlaunchAttribute *out, const gpul_launch_extra *x)
{
    unsigned count = 0;
#define NEXT(name)                                                                                 \
    (out[count] = (CUlaunchAttribute){ .id = CU_LAUNCH_ATTRIBUTE_##name }, &out[count++].value)
    if (x->programmatic)
        NEXT(PROGRAMMATIC_STREAM_SERIALIZATION)->programmaticStreamSerializationAllowed = 1;
    if (x->has_priority) NEXT(PRIORITY)->priority = x->priority;
    if (x->cluster_policy)
        NEXT(CLUSTER_SCHEDULING_POLICY_PREFERENCE)->clusterSchedulingPolicyPreference =
            (CUclusterSchedulingPolicy)x->cluster_policy; /* the same numbers */
    if (x->sync)
        NEXT(SYNCHRONIZATION_POLICY)->syncPolicy =
            (CUsynchronizationPolicy)(CU_SYNC_POLICY_AUTO + (int)x->sync); /* in the same order */
    if (x->has_domains) {
        CUlaunchMemSyncDomainMap map = { x->domain_of[0], x->domain_of[1] };
        NEXT(MEM_SYNC_DOMAIN_MAP)->memSyncDomainMap = map;
    }
    if (x->remote_domain) NEXT(MEM_SYNC_DOMAIN)->memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    if (any_cluster(x)) {
        CUlaunchAttributeValue *value = NEXT(PREFERRED_CLUSTER_DIMENSION);
        value->preferredClusterDim.x = x->preferred_cluster[0] ? x->preferred_cluster[0] : 1;
        value->preferredClusterDim.y = x->preferred_cluster[1] ? x->preferred_cluster[1] : 1;
        value->preferredClusterDim.z = x->preferred_cluster[2] ? x->preferred_cluster[2] : 1;
    }
    if (x->window.buffer) {
        const gpul_access_window *w = &x->window;
        CUaccessPolicyWindow window = {
            (void *)(uintptr_t)(w->buffer->address + w->offset), w->size, w->ratio,
            (CUaccessProperty)w->hit, (CUaccessProperty)w->miss /* the same numbers */
        };
        NEXT(ACCESS_POLICY_WINDOW)->accessPolicyWindow = window;
    }
#undef NEXT
    if (x->raw_count) memcpy(out + count, x->raw, x->raw_count * sizeof *out);
    return count + x->raw_count;
}

unsigned gpul__launch_attributes(CUlaunchAttribute *out, const gpul__geometry *geometry,
                                 const gpul_launch_extra *extra)
{
    unsigned count = 0;
    if (geometry->cooperative)
        out[count++] =
            (CUlaunchAttribute){ .id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value.cooperative = 1 };
    if (geometry->cluster[0])
        out[count++] =
            (CUlaunchAttribute){ .id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = { geometry->cluster[0], geometry->cluster[1],
                                                       geometry->cluster[2] } };
    return extra ? count + extra_attributes(out + count, extra) : count;
}

gpul_status gpul_stream_set(gpul_stream *stream, const gpul_launch_extra *x)
{
    GPUL__NEED(stream);
    if (!x) return gpul__fail_null("gpul_stream_set", "attributes");
    gpul_device *device = stream->device;
    gpul__mistakes collected = { 0 }, *mistakes = &collected;
    check_common(mistakes, device, x);
    if (x->programmatic || x->cluster_policy || any_cluster(x))
        MISTAKE(GPUL__ARGS_INVALID, "give it to the launch",
                "%s is for a launch, and no stream has it",
                x->programmatic     ? "programmatic"
                : x->cluster_policy ? "cluster_policy"
                                    : "preferred_cluster");
    need_driver(mistakes, device, device->driver->StreamSetAttribute,
                x->remote_domain || x->has_domains ? 12000
                : x->has_priority                  ? 11070
                                                   : 11000);
    if (mistakes->count || mistakes->failed)
        return gpul__mistakes_fail(mistakes, NULL, 0, "the attributes do not fit the stream");
    CUlaunchAttribute attributes[GPUL__EXTRA_ATTRIBUTES];
    unsigned count = extra_attributes(attributes, x);
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_stream_set");
    if (status != GPUL_OK) return status;
    CUresult result = CUDA_SUCCESS;
    for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
        result = gpul__api(device)->StreamSetAttribute(stream->handle, attributes[i].id,
                                                       &attributes[i].value);
    return gpul__leave_with(device, pushed, GPUL__EXECUTE_FAILED, result, "cuStreamSetAttribute",
                            "attributes of a stream");
}
