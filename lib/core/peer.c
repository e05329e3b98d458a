/* Access from one device to another's memory, switched on when it is first needed, and copies between
 * devices.  SPDX-License-Identifier: MIT */
#include "core/peer.h"

#include <gpulaunch/device.h>

#include "core/context.h"
#include "core/device_failure.h"
#include "core/stream.h"

/* What is known of the way to another context: found once, as each copy asks for it. */
struct gpul__peer {
    uint64_t serial; /* of the other device object; a number is never used again */
    bool direct;
    bool both; /* the way back was opened too */
};

static bool find_peer(struct gpul__peer *out, gpul_device *device, const gpul_device *peer)
{
    bool found = false;
    pthread_mutex_lock(&device->lock);
    for (size_t i = 0; i < device->peer_count && !found; i++) {
        found = device->peers[i].serial == peer->serial;
        if (found) *out = device->peers[i];
    }
    pthread_mutex_unlock(&device->lock);
    return found;
}

/* False: out of memory. */
static bool remember_peer(gpul_device *device, const gpul_device *peer, bool direct)
{
    pthread_mutex_lock(&device->lock);
    bool ok = gpul__grow(&device->peers, &device->peer_capacity, device->peer_count,
                         sizeof *device->peers);
    if (ok)
        device->peers[device->peer_count++] = (struct gpul__peer){ peer->serial, direct, false };
    pthread_mutex_unlock(&device->lock);
    return ok;
}

static CUresult enable(gpul_device *device, const gpul_device *peer, bool *direct,
                       const char **entry)
{
    const gpul__driver *driver = gpul__api(device);
    int can = 0;
    *entry = "cuDeviceCanAccessPeer";
    *direct = false;
    CUresult result = GPUL__CALL(driver, DeviceCanAccessPeer, &can, device->handle, peer->handle);
    if (result == CUDA_ERROR_NOT_SUPPORTED || (result == CUDA_SUCCESS && !can)) return CUDA_SUCCESS;
    if (result != CUDA_SUCCESS) return result;
    *entry = "cuCtxEnablePeerAccess";
    result = GPUL__CALL(driver, CtxEnablePeerAccess, peer->context, 0);
    *direct = result == CUDA_SUCCESS || result == CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED;
    bool slow = result == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED ||
                result == CUDA_ERROR_TOO_MANY_PEERS || result == CUDA_ERROR_NOT_SUPPORTED;
    return *direct || slow ? CUDA_SUCCESS : result;
}

/* Opens the way from `device` to the memory of `peer`.  Two contexts of one device share its memory. */
static gpul_status open_way(gpul_device *device, gpul_device *peer, bool *direct, const char *call)
{
    struct gpul__peer known = { .direct = true };
    bool pushed, there = device->handle == peer->handle || find_peer(&known, device, peer);
    *direct = known.direct;
    if (there) return GPUL_OK;
    const char *entry;
    gpul_status status = gpul__enter(device, &pushed, call);
    if (status != GPUL_OK) return status;
    CUresult result = enable(device, peer, direct, &entry);
    status = gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, result, entry,
                              "access to another device's memory");
    if (status != GPUL_OK) return status;
    if (!*direct)
        gpul__log(GPUL_LOG_WARN,
                  "device: %d does not reach the memory of %d directly, copies go through the host",
                  device->info.ordinal, peer->info.ordinal);
    return remember_peer(device, peer, *direct) ? GPUL_OK : gpul__no_memory();
}

static gpul_status check_pair(const gpul_device *device, const gpul_device *peer, const char *call)
{
    if (device->is_cpu == peer->is_cpu) return GPUL_OK;
    gpul__fail(GPUL__ARGS_FOREIGN, (.call = call),
               "%s: the two devices are of different kinds and share nothing", call);
    return gpul__hint("read from the one to the host, and write to the other");
}

gpul_status gpul_peer_enable(gpul_device *device, gpul_device *peer)
{
    GPUL__NEED(device);
    GPUL__NEED(peer);
    bool direct;
    gpul_status status = check_pair(device, peer, "gpul_peer_enable");
    if (status == GPUL_OK) status = open_way(device, peer, &direct, "gpul_peer_enable");
    if (status != GPUL_OK || direct) return status;
    gpul__fail(GPUL__MEMORY_UNSUPPORTED, (.call = "gpul_peer_enable"),
               "device %d does not reach the memory of device %d", device->info.ordinal,
               peer->info.ordinal);
    return gpul__hint("copy what its kernels need with gpul_copy; nvidia-smi topo -p2p r shows "
                      "which devices reach each other");
}

gpul_status gpul_peer_describe(gpul_peer_info *out, gpul_device *device, gpul_device *peer)
{
    GPUL__OUT(out, (gpul_peer_info){ 0 });
    GPUL__NEED(device);
    GPUL__NEED(peer);
    gpul_status status = check_pair(device, peer, "gpul_peer_describe");
    if (status != GPUL_OK) return status;
    if (device->handle == peer->handle) {
        *out = (gpul_peer_info){ .access = true, .native_atomics = true, .arrays = true };
        return GPUL_OK;
    }
    int values[5] = { 0 };
    const gpul__driver *driver = gpul__api(device);
    for (int i = CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
         i <= CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED; i++) {
        CUresult result = GPUL__CALL(driver, DeviceGetP2PAttribute, &values[i],
                                     (CUdevice_P2PAttribute)i, device->handle, peer->handle);
        if (result != CUDA_SUCCESS)
            return gpul__refused(
                device,
                &(gpul__refusal){ GPUL__MEMORY_FAILED, result, "cuDeviceGetP2PAttribute", NULL, 0 },
                "the way between two devices");
    }
    *out = (gpul_peer_info){
        .access = values[CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED] != 0,
        .native_atomics = values[CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED] != 0,
        .arrays = values[CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED] != 0,
        .rank = values[CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK],
    };
    return GPUL_OK;
}

/* Calls without a stream come behind what runs in both devices' own streams. */
static gpul_status wait_for_own(gpul_device *device)
{
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_copy");
    if (status != GPUL_OK) return status;
    CUresult result = gpul__stream_wait(device, device->stream, 0);
    return gpul__leave_with(device, pushed, GPUL__MEMORY_FAILED, result, "cuStreamSynchronize",
                            "waiting for the source of a copy");
}

/* Copies run fastest when each device reaches the other. */
static gpul_status open_both(gpul_device *to, gpul_device *from)
{
    struct gpul__peer known = { .both = false };
    bool direct;
    if (atomic_load_explicit(&to->last_peer, memory_order_relaxed) == from->serial) return GPUL_OK;
    gpul_status status = GPUL_OK;
    if (!find_peer(&known, to, from) || !known.both) {
        status = open_way(to, from, &direct, "gpul_copy");
        if (status == GPUL_OK) status = open_way(from, to, &direct, "gpul_copy");
    }
    if (status == GPUL_OK)
        atomic_store_explicit(&to->last_peer, from->serial, memory_order_relaxed);
    pthread_mutex_lock(&to->lock);
    for (size_t i = 0; status == GPUL_OK && i < to->peer_count; i++)
        if (to->peers[i].serial == from->serial) to->peers[i].both = true;
    pthread_mutex_unlock(&to->lock);
    return status;
}

static bool on_host(const gpul_buffer *buffer)
{
    return buffer->memory == GPUL_MEMORY_MANAGED || buffer->memory == GPUL_MEMORY_PINNED ||
           buffer->memory == GPUL_MEMORY_REGISTERED;
}

gpul_status gpul__copy_peer(gpul_buffer *destination, size_t destination_offset,
                            const gpul_buffer *source, size_t source_offset, size_t size,
                            gpul_stream *stream)
{
    gpul_device *to = destination->device, *from = source->device;
    gpul_status status = check_pair(to, from, "gpul_copy");
    if (status == GPUL_OK && to->handle != from->handle) status = open_both(to, from);
    if (status == GPUL_OK && !stream) status = wait_for_own(from);
    if (status != GPUL_OK) return status;
    gpul__transfer t = { .call = "gpul_copy",
                         .device = stream && stream->device == from ? from : to,
                         .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(t.device);
    CUdeviceptr at = destination->address + destination_offset;
    CUdeviceptr of = source->address + source_offset;
    if (on_host(destination) || on_host(source))
        return gpul__transfer_finish(&t, driver->MemcpyDtoDAsync(at, of, size, t.stream),
                                     "cuMemcpyDtoDAsync");
    return gpul__transfer_finish(
        &t, GPUL__CALL(driver, MemcpyPeerAsync, at, to->context, of, from->context, size, t.stream),
        "cuMemcpyPeerAsync");
}
