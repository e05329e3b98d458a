/* Tests: the recording provider's state, its devices and contexts, and what it tells the tests.
 * SPDX-License-Identifier: MIT */
#include "driver/record_private.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20 };
static const uint64_t h200_memory = 143771ull * MIB;

/* What an H200 says; what is not here is 0. */
static const int h200[][2] = {
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024 },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 1024 },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y, 1024 },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z, 64 },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 2147483647 },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y, 65535 },
    { CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z, 65535 },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152 },
    { CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536 },
    { CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32 },
    { CU_DEVICE_ATTRIBUTE_MAX_PITCH, 2147483647 },
    { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536 },
    { CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000 },
    { CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512 },
    { CU_DEVICE_ATTRIBUTE_GPU_OVERLAP, 1 },
    { CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132 },
    { CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1 },
    { CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH, 131072 },
    { CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, 131072 },
    { CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT, 65536 },
    { CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, 16384 },
    { CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT, 16384 },
    { CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH, 16384 },
    { CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT, 512 },
    { CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS, 1 },
    { CU_DEVICE_ATTRIBUTE_ECC_ENABLED, 1 },
    { CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000 },
    { CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144 },
    { CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560 },
    { CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048 },
    { CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT, 3 },
    { CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1 },
    { CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32 },
    { CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472 },
    { CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536 },
    { CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1 },
    { CU_DEVICE_ATTRIBUTE_HOST_NATIVE_ATOMIC_SUPPORTED, 0 },
    { CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO, 2 },
    { CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1 },
    { CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, 1 },
    { CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH, 1 },
    { CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448 },
    { CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES, 1 },
    { CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32 },
    { CU_DEVICE_ATTRIBUTE_MAX_PERSISTING_L2_CACHE_SIZE, 39321600 },
    { CU_DEVICE_ATTRIBUTE_MAX_ACCESS_POLICY_WINDOW_SIZE, 134213632 },
    { CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024 },
    { CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES, 9 },
    { CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH, 1 },
    { CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS, 1 },
    { CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR, 1 },
    { CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, 4 },
    { CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED, 1 },
    { CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS, 1 },
    { CU_DEVICE_ATTRIBUTE_NUMA_ID, -1 },
    { CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 1 },
};

struct record_state gpul__record;
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static struct object *living[KINDS];
static struct object *dead; /* contexts that are gone: their addresses are not used again */
static int abandoned;
static pid_t process;
static unsigned generation; /* counts resets, so that other threads' stacks become empty */

/* The thread's stack of contexts. */
enum { DEEPEST = 64 };
static _Thread_local struct context *stack[DEEPEST];
static _Thread_local int depth;
static _Thread_local unsigned stack_generation;

struct guard gpul__record_lock(void)
{
    pthread_mutex_lock(&lock);
    return (struct guard){ 0 };
}

void gpul__record_unlock(struct guard *guard)
{
    (void)guard;
    pthread_mutex_unlock(&lock);
}

/* ---- Objects ------------------------------------------------------------------------------- */

void *gpul__record_new(enum kind kind, size_t size, struct context *context)
{
    struct object *object = calloc(1, size);
    if (!object) return NULL;
    object->kind = kind;
    object->context = context;
    object->next = living[kind];
    living[kind] = object;
    return object;
}

void *gpul__record_find(enum kind kind, const void *handle)
{
    struct object *object = living[kind];
    while (object && object != handle) object = object->next;
    return object;
}

void *gpul__record_next(enum kind kind, const void *after)
{
    return after ? ((const struct object *)after)->next : living[kind];
}

static void unlink_object(struct object *object)
{
    struct object **at = &living[object->kind];
    while (*at && *at != object) at = &(*at)->next;
    if (*at) *at = object->next;
}

void gpul__record_drop(void *pointer)
{
    unlink_object(pointer);
    free(pointer);
}

static void free_object(struct object *object)
{
    switch (object->kind) {
    case MODULE: gpul__record_module_free((struct module *)object); break;
    case LIBRARY: gpul__record_library_free((struct library *)object); break;
    case MEMORY: gpul__record_memory_free((struct memory *)object); break;
    case LINK: gpul__record_link_free(object); break;
    case GRAPH: gpul__record_graph_free((struct graph *)object); break;
    case STREAM:
        if (((struct stream *)object)->capture)
            gpul__record_graph_free(((struct stream *)object)->capture);
        gpul__record_drop(object);
        break;
    case EXEC:
        gpul__record_graph_free(((struct exec *)object)->graph);
        gpul__record_drop(object);
        break;
    default: gpul__record_drop(object);
    }
}

/* What the context still had goes with it. */
static void destroy_context(struct context *context)
{
    static const enum kind owned[] = { MODULE, MEMORY, STREAM,  EVENT,
                                       ARRAY,  MIPMAP, TEXTURE, SURFACE };
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) {
        struct object *next;
        for (struct object *object = living[owned[i]]; object; object = next) {
            next = object->next;
            if (object->context != context) continue;
            if (owned[i] == MEMORY && ((struct memory *)object)->kind == GLOBAL) continue;
            abandoned++;
            free_object(object);
        }
    }
    unlink_object(&context->object);
    context->object.next = dead;
    dead = &context->object;
}

/* ---- What the tests see -------------------------------------------------------------------- */

void gpul__record_reset(const gpul__record_config *config)
{
    LOCKED;
    /* Graphs inside others go with those, and captures with their streams. */
    static const enum kind order[] = { EXEC, STREAM, MODULE, LIBRARY, LINK,    MEMORY,  HANDLE,
                                       POOL, EVENT,  ARRAY,  MIPMAP,  TEXTURE, SURFACE, CONTEXT };
    struct graph *next;
    for (struct graph *g = gpul__record_next(GRAPH, NULL); g; g = next) {
        next = gpul__record_next(GRAPH, g);
        if (g->owned) continue;
        gpul__record_graph_free(g);
        next = gpul__record_next(GRAPH, NULL);
    }
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        while (living[order[i]]) free_object(living[order[i]]);
    while (dead) {
        struct object *gone = dead;
        dead = gone->next;
        free(gone);
    }
    generation++;
    abandoned = 0;
    gpul__record = (struct record_state){ .config = config ? *config : (gpul__record_config){ 0 } };
    gpul__record_config *c = &gpul__record.config;
    if (c->devices == 0) c->devices = 1;
    if (c->compute_capability == 0) c->compute_capability = 90;
    if (c->driver_version == 0) c->driver_version = 13000;
    if (c->memory == 0) c->memory = h200_memory;
    for (size_t i = 0; i < sizeof h200 / sizeof *h200; i++)
        gpul__record.attributes[h200[i][0]] = h200[i][1];
    gpul__record.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] =
        c->compute_capability / 10;
    gpul__record.attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] =
        c->compute_capability % 10;
    gpul__record_forget();
    gpul__record_on_launch(NULL, NULL);
    gpul__record_forget_jit();
}

void gpul__record_set_attribute(CUdevice_attribute attribute, int value)
{
    LOCKED;
    if ((size_t)attribute < sizeof gpul__record.attributes / sizeof(int))
        gpul__record.attributes[attribute] = value;
}

static int count(enum kind kind)
{
    int n = 0;
    for (struct object *object = living[kind]; object; object = object->next) n++;
    return n;
}

gpul__record_counts gpul__record_live(void)
{
    LOCKED;
    gpul__record_counts c = { .links = count(LINK),
                              .handles = count(HANDLE),
                              .streams = count(STREAM),
                              .events = count(EVENT),
                              .execs = count(EXEC),
                              .arrays = count(ARRAY),
                              .mipmaps = count(MIPMAP),
                              .textures = count(TEXTURE),
                              .surfaces = count(SURFACE),
                              .libraries = count(LIBRARY),
                              .abandoned = abandoned };
    for (struct context *x = NULL; (x = gpul__record_next(CONTEXT, x));)
        *(x->primary ? &c.retained : &c.contexts) += x->primary ? x->retained : 1;
    for (struct module *m = NULL; (m = gpul__record_next(MODULE, m));) c.modules += !m->library;
    for (struct memory *m = NULL; (m = gpul__record_next(MEMORY, m));) {
        c.allocations += m->kind == DEVICE || m->kind == MANAGED;
        c.host_allocations += m->kind == HOST;
        c.registrations += m->kind == REGISTERED;
        c.reservations += m->kind == RESERVED;
    }
    for (struct pool *p = NULL; (p = gpul__record_next(POOL, p));)
        c.pools += p->object.context != NULL;
    for (struct graph *g = NULL; (g = gpul__record_next(GRAPH, g));) c.graphs += !g->owned;
    return c;
}

const char *gpul__record_leaks(void)
{
    static char text[512];
    gpul__record_counts c = gpul__record_live();
    const struct {
        const char *name;
        int count;
    } rows[] = { { "contexts", c.contexts },
                 { "primary contexts", c.retained },
                 { "modules", c.modules },
                 { "libraries", c.libraries },
                 { "links", c.links },
                 { "allocations", c.allocations },
                 { "host allocations", c.host_allocations },
                 { "registrations", c.registrations },
                 { "reservations", c.reservations },
                 { "memory handles", c.handles },
                 { "pools", c.pools },
                 { "streams", c.streams },
                 { "events", c.events },
                 { "graphs", c.graphs },
                 { "instantiated graphs", c.execs },
                 { "arrays", c.arrays },
                 { "mipmaps", c.mipmaps },
                 { "textures", c.textures },
                 { "surfaces", c.surfaces },
                 { "objects destroyed with their context", c.abandoned } };
    size_t length = 0;
    text[0] = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows && length < sizeof text; i++)
        if (rows[i].count)
            length += (size_t)snprintf(text + length, sizeof text - length, "%s%d %s",
                                       length ? ", " : "", rows[i].count, rows[i].name);
    return text;
}

void gpul__record_fault(CUresult result)
{
    LOCKED;
    for (struct context *c = NULL; (c = gpul__record_next(CONTEXT, c));) c->sticky = result;
}

/* ---- Driver and devices -------------------------------------------------------------------- */

bool gpul__record_device(CUdevice device)
{
    return device >= 0 && device < gpul__record.config.devices;
}

static bool started(void)
{
    return gpul__record.started && process == getpid();
}

#define DEVICE_ENTRY(device)                                                                       \
    LOCKED;                                                                                        \
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);                                                \
    REQUIRE(gpul__record_device(device), CUDA_ERROR_INVALID_DEVICE)

CUresult gpul__record_Init(unsigned flags)
{
    LOCKED;
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(!gpul__record.started || process == getpid(), CUDA_ERROR_NOT_INITIALIZED);
    gpul__record.started = true;
    process = getpid();
    return gpul__record.config.devices > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult gpul__record_DriverGetVersion(int *version)
{
    REQUIRE(version, CUDA_ERROR_INVALID_VALUE);
    *version = gpul__record.config.driver_version;
    return CUDA_SUCCESS;
}

CUresult gpul__record_GetErrorName(CUresult error, const char **name)
{
    *name = gpul_native_name(GPUL_NATIVE_CUDA, (int)error);
    return strcmp(*name, "unknown") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_GetErrorString(CUresult error, const char **text)
{
    *text = gpul_native_text(GPUL_NATIVE_CUDA, (int)error);
    return strcmp(*text, "unknown") ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult gpul__record_DeviceGet(CUdevice *device, int ordinal)
{
    DEVICE_ENTRY(ordinal);
    *device = ordinal;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetCount(int *count_out)
{
    LOCKED;
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    *count_out = gpul__record.config.devices;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetName(char *name, int length, CUdevice device)
{
    DEVICE_ENTRY(device);
    REQUIRE(name && length > 0, CUDA_ERROR_INVALID_VALUE);
    snprintf(name, (size_t)length, "NVIDIA H200");
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetUuid(CUuuid *uuid, CUdevice device)
{
    DEVICE_ENTRY(device);
    for (int i = 0; i < 16; i++) uuid->bytes[i] = (char)(0x10 * (device + 1) + i);
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    return gpul__record_DeviceGetUuid(uuid, device);
}

CUresult gpul__record_DeviceTotalMem(size_t *bytes, CUdevice device)
{
    DEVICE_ENTRY(device);
    *bytes = gpul__record.config.memory;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
    DEVICE_ENTRY(device);
    REQUIRE(attribute > 0 && (size_t)attribute < sizeof gpul__record.attributes / sizeof(int),
            CUDA_ERROR_INVALID_VALUE);
    *value = gpul__record.attributes[attribute];
    if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID) *value = device + 1;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetPCIBusId(char *bus_id, int length, CUdevice device)
{
    DEVICE_ENTRY(device);
    REQUIRE(bus_id && length >= 13, CUDA_ERROR_INVALID_VALUE);
    snprintf(bus_id, (size_t)length, "0000:%02X:00.0", device + 1);
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetByPCIBusId(CUdevice *device, const char *bus_id)
{
    LOCKED;
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    const char *bus = strchr(bus_id, ':');
    if (bus && strchr(bus + 1, ':')) bus++;
    else bus = bus_id;
    int found = (int)strtol(bus, NULL, 16) - 1;
    REQUIRE(gpul__record_device(found), CUDA_ERROR_INVALID_DEVICE);
    *device = found;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer)
{
    DEVICE_ENTRY(device);
    REQUIRE(gpul__record_device(peer), CUDA_ERROR_INVALID_DEVICE);
    *can = device != peer;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetP2PAttribute(int *value, CUdevice_P2PAttribute attribute,
                                            CUdevice source, CUdevice destination)
{
    DEVICE_ENTRY(source);
    REQUIRE(gpul__record_device(destination) && source != destination, CUDA_ERROR_INVALID_DEVICE);
    *value = attribute != CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK;
    return CUDA_SUCCESS;
}

/* ---- Contexts ------------------------------------------------------------------------------ */

static void settle_stack(void)
{
    if (stack_generation == generation) return;
    stack_generation = generation;
    depth = 0;
}

CUresult gpul__record_enter(struct context **context)
{
    settle_stack();
    *context = NULL;
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    REQUIRE(depth > 0 && stack[depth - 1], CUDA_ERROR_INVALID_CONTEXT);
    *context = gpul__record_find(CONTEXT, stack[depth - 1]);
    REQUIRE(*context, CUDA_ERROR_CONTEXT_IS_DESTROYED);
    return (*context)->sticky;
}

static struct context *new_context(CUdevice device, unsigned flags)
{
    struct context *context = gpul__record_new(CONTEXT, sizeof *context, NULL);
    if (!context) return NULL;
    context->device = device;
    context->flags = flags;
    context->id = ++gpul__record.next_id;
    context->limits[CU_LIMIT_STACK_SIZE] = 1024;
    context->limits[CU_LIMIT_PRINTF_FIFO_SIZE] = 8650752;
    context->limits[CU_LIMIT_MALLOC_HEAP_SIZE] = 8388608;
    context->limits[CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH] = 2;
    context->limits[CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT] = 2048;
    context->limits[CU_LIMIT_MAX_L2_FETCH_GRANULARITY] = 64;
    return context;
}

static struct context *primary(CUdevice device)
{
    struct context *context = NULL;
    while ((context = gpul__record_next(CONTEXT, context)))
        if (context->primary && context->device == device) return context;
    return NULL;
}

static unsigned primary_flags[16];

CUresult gpul__record_DevicePrimaryCtxRetain(CUcontext *out, CUdevice device)
{
    DEVICE_ENTRY(device);
    struct context *context = primary(device);
    if (!context) {
        context = new_context(device, primary_flags[device % 16]);
        REQUIRE(context, CUDA_ERROR_OUT_OF_MEMORY);
        context->primary = true;
    }
    context->retained++;
    *out = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DevicePrimaryCtxRelease(CUdevice device)
{
    DEVICE_ENTRY(device);
    struct context *context = primary(device);
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    if (--context->retained == 0) destroy_context(context);
    return CUDA_SUCCESS;
}

CUresult gpul__record_DevicePrimaryCtxSetFlags(CUdevice device, unsigned flags)
{
    DEVICE_ENTRY(device);
    primary_flags[device % 16] = flags;
    struct context *context = primary(device);
    if (context) context->flags = flags;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    DEVICE_ENTRY(device);
    *flags = primary_flags[device % 16];
    *active = primary(device) != NULL;
    return CUDA_SUCCESS;
}

static CUresult push(struct context *context)
{
    REQUIRE(depth < DEEPEST, CUDA_ERROR_OUT_OF_MEMORY);
    stack[depth++] = context;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxCreate(CUcontext *out, unsigned flags, CUdevice device)
{
    DEVICE_ENTRY(device);
    REQUIRE(out && (flags & ~0xffu) == 0, CUDA_ERROR_INVALID_VALUE);
    settle_stack();
    struct context *context = new_context(device, flags);
    REQUIRE(context, CUDA_ERROR_OUT_OF_MEMORY);
    *out = (CUcontext)context;
    return push(context);
}

/* An even number of multiprocessors, as an H200's come in pairs. */
CUresult gpul__record_CtxCreate_v3(CUcontext *out, CUexecAffinityParam *affinity, int count,
                                   unsigned flags, CUdevice device)
{
    REQUIRE(count == 0 || gpul__record.config.affinity, CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
    REQUIRE(count == 0 || (count == 1 && affinity && affinity->param.smCount.val),
            CUDA_ERROR_INVALID_VALUE);
    CUresult result = gpul__record_CtxCreate(out, flags, device);
    if (result == CUDA_SUCCESS && count)
        ((struct context *)*out)->multiprocessors = (affinity->param.smCount.val + 1) / 2 * 2;
    return result;
}

CUresult gpul__record_CtxCreate_v4(CUcontext *out, CUctxCreateParams *params, unsigned flags,
                                   CUdevice device)
{
    return gpul__record_CtxCreate_v3(out, params ? params->execAffinityParams : NULL,
                                     params ? params->numExecAffinityParams : 0, flags, device);
}

CUresult gpul__record_CtxGetExecAffinity(CUexecAffinityParam *affinity, CUexecAffinityType type)
{
    ENTER;
    REQUIRE(affinity && type == CU_EXEC_AFFINITY_TYPE_SM_COUNT, CUDA_ERROR_INVALID_VALUE);
    affinity->type = type;
    affinity->param.smCount.val = context->multiprocessors;
    return CUDA_SUCCESS;
}

CUresult gpul__record_DeviceGetExecAffinitySupport(int *supported, CUexecAffinityType type,
                                                   CUdevice device)
{
    DEVICE_ENTRY(device);
    REQUIRE(supported && type == CU_EXEC_AFFINITY_TYPE_SM_COUNT, CUDA_ERROR_INVALID_VALUE);
    *supported = gpul__record.config.affinity;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxDestroy(CUcontext handle)
{
    LOCKED;
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    settle_stack();
    struct context *context = gpul__record_find(CONTEXT, handle);
    REQUIRE(context && !context->primary, CUDA_ERROR_INVALID_CONTEXT);
    if (depth > 0 && stack[depth - 1] == context) depth--;
    destroy_context(context);
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxPushCurrent(CUcontext handle)
{
    LOCKED;
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    settle_stack();
    struct context *context = gpul__record_find(CONTEXT, handle);
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    return push(context);
}

CUresult gpul__record_CtxPopCurrent(CUcontext *out)
{
    LOCKED;
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    settle_stack();
    REQUIRE(depth > 0, CUDA_ERROR_INVALID_CONTEXT);
    struct context *context = stack[--depth];
    if (out) *out = (CUcontext)context;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxSetCurrent(CUcontext handle)
{
    LOCKED;
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    settle_stack();
    if (!handle) {
        if (depth > 0) depth--;
        return CUDA_SUCCESS;
    }
    struct context *context = gpul__record_find(CONTEXT, handle);
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    if (depth == 0) return push(context);
    stack[depth - 1] = context;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetCurrent(CUcontext *out)
{
    REQUIRE(out, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(started(), CUDA_ERROR_NOT_INITIALIZED);
    settle_stack();
    *out = depth > 0 ? (CUcontext)stack[depth - 1] : NULL;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetDevice(CUdevice *device)
{
    ENTER;
    *device = context->device;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetFlags(unsigned *flags)
{
    ENTER;
    *flags = context->flags;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetApiVersion(CUcontext handle, unsigned *version)
{
    LOCKED;
    struct context *context = NULL;
    if (handle) context = gpul__record_find(CONTEXT, handle);
    else (void)gpul__record_enter(&context);
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    *version = 3020;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetId(CUcontext handle, unsigned long long *id)
{
    LOCKED;
    struct context *context = NULL;
    if (handle) context = gpul__record_find(CONTEXT, handle);
    else (void)gpul__record_enter(&context);
    REQUIRE(context, CUDA_ERROR_INVALID_CONTEXT);
    *id = context->id;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxSynchronize(void)
{
    ENTER;
    for (struct stream *s = NULL; (s = gpul__record_next(STREAM, s));)
        REQUIRE(s->object.context != context || !s->capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetLimit(size_t *value, CUlimit limit)
{
    ENTER;
    REQUIRE(limit <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE, CUDA_ERROR_UNSUPPORTED_LIMIT);
    *value = context->limits[limit];
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxSetLimit(CUlimit limit, size_t value)
{
    ENTER;
    REQUIRE(limit <= CU_LIMIT_PERSISTING_L2_CACHE_SIZE, CUDA_ERROR_UNSUPPORTED_LIMIT);
    context->limits[limit] = value;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetCacheConfig(CUfunc_cache *config)
{
    ENTER;
    *config = context->cache;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxSetCacheConfig(CUfunc_cache config)
{
    ENTER;
    REQUIRE(config <= CU_FUNC_CACHE_PREFER_EQUAL, CUDA_ERROR_INVALID_VALUE);
    context->cache = config;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxGetStreamPriorityRange(int *least, int *greatest)
{
    ENTER;
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxResetPersistingL2Cache(void)
{
    ENTER;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxEnablePeerAccess(CUcontext handle, unsigned flags)
{
    ENTER;
    struct context *peer = gpul__record_find(CONTEXT, handle);
    REQUIRE(peer, CUDA_ERROR_INVALID_CONTEXT);
    REQUIRE(flags == 0, CUDA_ERROR_INVALID_VALUE);
    REQUIRE(peer->device != context->device, CUDA_ERROR_PEER_ACCESS_UNSUPPORTED);
    unsigned bit = 1u << peer->device % 16;
    REQUIRE(!(context->peers & bit), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
    context->peers |= bit;
    return CUDA_SUCCESS;
}

CUresult gpul__record_CtxDisablePeerAccess(CUcontext handle)
{
    ENTER;
    struct context *peer = gpul__record_find(CONTEXT, handle);
    REQUIRE(peer, CUDA_ERROR_INVALID_CONTEXT);
    unsigned bit = 1u << peer->device % 16;
    REQUIRE(context->peers & bit, CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
    context->peers &= ~bit;
    return CUDA_SUCCESS;
}

/* ---- The table ----------------------------------------------------------------------------- */

const gpul__driver *gpul__record_driver(void)
{
    static const gpul__driver entries = {
        .name = "recording provider",
#define X(field, symbol, need, params, args, letters) .field = gpul__record_##field,
#include "driver/driver.def"
#undef X
    };
    static gpul__driver table;
    LOCKED;
    if (!table.name) {
        gpul__record_reset(NULL);
        table = entries;
    }
    table.version = gpul__record.config.driver_version;
    return &table;
}

/* ---- Green contexts: the multiprocessors in groups of eight -------------------------------- */

/* A description is a number of multiprocessors in the pointer; a green context is a context of its own that is
 * never current. */
CUresult gpul__record_DeviceGetDevResource(CUdevice device, CUdevResource *resource,
                                           CUdevResourceType type)
{
    LOCKED;
    REQUIRE(gpul__record_device(device), CUDA_ERROR_INVALID_DEVICE);
    REQUIRE(resource && type == CU_DEV_RESOURCE_TYPE_SM, CUDA_ERROR_INVALID_RESOURCE_TYPE);
    memset(resource, 0, sizeof *resource);
    resource->type = type;
    resource->sm.smCount =
        (unsigned)gpul__record.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT];
    return CUDA_SUCCESS;
}

CUresult gpul__record_DevSmResourceSplitByCount(CUdevResource *result, unsigned *groups,
                                                const CUdevResource *input, CUdevResource *rest,
                                                unsigned flags, unsigned least)
{
    (void)rest;
    LOCKED;
    REQUIRE(groups && input && input->type == CU_DEV_RESOURCE_TYPE_SM && flags == 0,
            CUDA_ERROR_INVALID_VALUE);
    unsigned size = (least + 7) / 8 * 8, most = size ? input->sm.smCount / size : 0;
    REQUIRE(most, CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION);
    if (*groups > most) *groups = most;
    for (unsigned i = 0; result && i < *groups; i++) {
        result[i] = *input;
        result[i].sm.smCount = size;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__record_DevResourceGenerateDesc(CUdevResourceDesc *desc, CUdevResource *resources,
                                              unsigned count)
{
    LOCKED;
    REQUIRE(desc && resources && count == 1 && resources->sm.smCount, CUDA_ERROR_INVALID_VALUE);
    *desc = (CUdevResourceDesc)(uintptr_t)resources->sm.smCount;
    return CUDA_SUCCESS;
}

CUresult gpul__record_GreenCtxCreate(CUgreenCtx *out, CUdevResourceDesc desc, CUdevice device,
                                     unsigned flags)
{
    REQUIRE(out && desc && flags == CU_GREEN_CTX_DEFAULT_STREAM, CUDA_ERROR_INVALID_VALUE);
    CUcontext context, popped;
    CUresult result = gpul__record_CtxCreate(&context, 0, device);
    if (result != CUDA_SUCCESS) return result;
    gpul__record_CtxPopCurrent(&popped);
    *out = (CUgreenCtx)context;
    return CUDA_SUCCESS;
}

CUresult gpul__record_GreenCtxDestroy(CUgreenCtx green)
{
    return gpul__record_CtxDestroy((CUcontext)green);
}

/* The stream works under the primary context, as a driver has it. */
CUresult gpul__record_GreenCtxStreamCreate(CUstream *stream, CUgreenCtx green, unsigned flags,
                                           int priority)
{
    {
        LOCKED;
        REQUIRE(gpul__record_find(CONTEXT, green), CUDA_ERROR_INVALID_CONTEXT);
    }
    REQUIRE(flags == CU_STREAM_NON_BLOCKING, CUDA_ERROR_INVALID_VALUE);
    return gpul__record_StreamCreateWithPriority(stream, flags, priority);
}
