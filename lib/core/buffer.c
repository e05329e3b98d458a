/* Buffers: their life, views of them, and what is said when there is no memory left.  The kinds of memory
 * are in buffer_kinds.c, copies in buffer_copy.c.  SPDX-License-Identifier: MIT */
#include "core/buffer.h"

#include <string.h>

#include "core/context.h"
#include "core/device_failure.h"
#include "core/pool.h"
#include "core/stream.h"

void gpul__buffer_title(gpul__str *out, const gpul_buffer *buffer)
{
    if (buffer->name) gpul__str_printf(out, "buffer '%s'", buffer->name);
    else gpul__str_add(out, "a buffer");
}

/* The largest live buffers of a device, largest first. */
enum { LARGEST = 5 };
typedef struct ranking {
    struct {
        size_t size;
        char name[64];
    } top[LARGEST];
    size_t shown, count;
    uint64_t bytes;
} ranking;

static void rank(ranking *r, const gpul_buffer *buffer)
{
    r->count++;
    r->bytes += buffer->size;
    size_t place = r->shown;
    while (place && r->top[place - 1].size < buffer->size) place--;
    if (place == LARGEST) return;
    if (r->shown < LARGEST) r->shown++;
    for (size_t i = r->shown - 1; i > place; i--) r->top[i] = r->top[i - 1];
    const char *name = buffer->name ? buffer->name : "buffer";
    size_t length = strnlen(name, sizeof r->top[0].name - 1);
    r->top[place].size = buffer->size;
    memcpy(r->top[place].name, name, length);
    r->top[place].name[length] = 0;
}

gpul_status gpul__fail_exhausted(gpul_device *device, CUresult result, const char *entry,
                                 uint64_t asked, const char *name)
{
    size_t free_bytes = 0, total = 0;
    char a[32], f[32], t[32], s[32];
    gpul__api(device)->MemGetInfo(&free_bytes, &total);
    ranking largest = { 0 };
    pthread_mutex_lock(&device->lock);
    for (const gpul_buffer *b = device->buffers; b; b = b->next) rank(&largest, b);
    pthread_mutex_unlock(&device->lock);
    gpul__fail(GPUL__MEMORY_EXHAUSTED,
               (.call = entry, .native_kind = GPUL_NATIVE_CUDA, .native = (int)result),
               "out of device memory: %s (%llu bytes) asked for '%s', %s free of %s",
               gpul__bytes(a, asked), (unsigned long long)asked, name, gpul__bytes(f, free_bytes),
               gpul__bytes(t, total));
    for (size_t i = 0; i < largest.shown; i++)
        gpul__note("'%s' holds %s", largest.top[i].name, gpul__bytes(s, largest.top[i].size));
    gpul__note("%zu live buffers of this device hold %s in all", largest.count,
               gpul__bytes(s, largest.bytes));
    uint64_t used = total - free_bytes;
    if (asked <= free_bytes)
        return gpul__hint(
            "the free memory is in pieces that are too small: free buffers, or ask for "
            "less at a time");
    if (total && largest.bytes < used / 2)
        return gpul__hint(
            "most of the memory in use is not this device's buffers: nvidia-smi lists "
            "the processes on it; at most %s fit now",
            gpul__bytes(s, free_bytes));
    return gpul__hint(
        "at most %s fit now: free buffers that are no longer needed, or work in parts",
        gpul__bytes(s, free_bytes));
}

void gpul__buffer_keep(gpul_buffer *buffer)
{
    gpul_device *device = buffer->device;
    pthread_mutex_lock(&device->lock);
    buffer->next = device->buffers;
    buffer->link = &device->buffers;
    if (buffer->next) buffer->next->link = &buffer->next;
    device->buffers = buffer;
    pthread_mutex_unlock(&device->lock);
}

static void remove_from_list(gpul_buffer *buffer)
{
    gpul_device *device = buffer->device;
    pthread_mutex_lock(&device->lock);
    *buffer->link = buffer->next;
    if (buffer->next) buffer->next->link = buffer->link;
    pthread_mutex_unlock(&device->lock);
}

gpul_buffer *gpul__buffer_new(gpul_device *device, size_t size, const gpul_alloc_opts *opts)
{
    gpul_buffer *buffer = gpul__calloc(1, sizeof *buffer);
    if (!buffer) return NULL;
    if (opts->name && !(buffer->name = gpul__strdup(opts->name))) {
        gpul__free(buffer);
        return NULL;
    }
    gpul__refs_init(&buffer->refs);
    gpul__device_take(device);
    buffer->device = device;
    buffer->size = size;
    buffer->type = opts->type;
    buffer->memory = opts->memory;
    return buffer;
}

/* Before the device goes, what lives on it. */
void gpul__buffer_forget(gpul_buffer *buffer)
{
    gpul_stream_free(&buffer->stream);
    gpul_pool_free(&buffer->pool);
    gpul_module_free(&buffer->module);
    gpul__device_drop(buffer->device);
    gpul__free(buffer->pieces);
    gpul__free(buffer->name);
    gpul__free(buffer);
}

static void drop(gpul_buffer *buffer)
{
    while (buffer && gpul__refs_drop(&buffer->refs)) {
        gpul_buffer *parent = buffer->parent;
        gpul_device *device = buffer->device;
        if (!parent) {
            remove_from_list(buffer);
            bool pushed;
            if (gpul__enter_quietly(device, &pushed)) {
                gpul__memory_give_back(buffer);
                gpul__leave(device, pushed);
            }
        }
        gpul__buffer_forget(buffer);
        buffer = parent;
    }
}

/* With the context current. */
static gpul_status allocate(gpul_buffer *buffer, const gpul_alloc_opts *opts)
{
    gpul_device *device = buffer->device;
    const char *entry = "cuMemAlloc";
    CUresult result = gpul__memory_take(buffer, opts, &entry);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    if (!entry) return gpul__no_memory();
    const char *name = buffer->name ? buffer->name : "buffer";
    if (result == CUDA_ERROR_OUT_OF_MEMORY && opts->memory != GPUL_MEMORY_PINNED &&
        !atomic_load(&device->fault))
        return gpul__fail_exhausted(device, result, entry, buffer->size, name);
    return gpul__refused(device, &(gpul__refusal){ GPUL__MEMORY_FAILED, result, entry, NULL, 0 },
                         "%zu bytes for '%s' cannot be had", buffer->size, name);
}

static gpul_status fail_option(const char *option, const char *needs)
{
    return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_alloc"),
                      "%s is set, and only memory of the kind %s has it", option, needs);
}

static gpul_status check_alloc(gpul_device *device, size_t size, const gpul_alloc_opts *opts)
{
    gpul_memory memory = opts->memory;
    if (size == 0)
        return gpul__fail(GPUL__MEMORY_ZERO, (.call = "gpul_alloc"),
                          "a buffer of size zero was asked for%s%s%s", opts->name ? ": '" : "",
                          opts->name ? opts->name : "", opts->name ? "'" : "");
    if ((unsigned)opts->type > GPUL_OTHER)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_alloc"),
                          "type is %d, which is none of gpul_type", (int)opts->type);
    if ((unsigned)memory > GPUL_MEMORY_GROWING)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_alloc"),
                          "memory is %d, which is no kind that can be allocated", (int)memory);
    if ((opts->portable || opts->write_combined) && memory != GPUL_MEMORY_PINNED)
        return fail_option(opts->portable ? "portable" : "write_combined", "GPUL_MEMORY_PINNED");
    if (opts->attach_host && memory != GPUL_MEMORY_MANAGED)
        return fail_option("attach_host", "GPUL_MEMORY_MANAGED");
    if ((opts->pool || opts->stream) && memory != GPUL_MEMORY_POOL)
        return fail_option(opts->pool ? "pool" : "stream", "GPUL_MEMORY_POOL");
    if (opts->reserve && memory != GPUL_MEMORY_GROWING)
        return fail_option("reserve", "GPUL_MEMORY_GROWING");
    if (opts->reserve && opts->reserve < size)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_alloc"),
                          "reserve is %zu bytes, less than the buffer's %zu", opts->reserve, size);
    if ((opts->pool && gpul__pool_device(opts->pool) != device) ||
        (opts->stream && opts->stream->device != device))
        return gpul__fail(GPUL__ARGS_FOREIGN, (.call = "gpul_alloc"),
                          "the %s belongs to another device", opts->stream ? "stream" : "pool");
    return GPUL_OK;
}

gpul_status gpul_alloc(gpul_buffer **out, gpul_device *device, size_t size,
                       const gpul_alloc_opts *opts)
{
    static const gpul_alloc_opts defaults;
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    if (!opts) opts = &defaults;
    gpul_status status = check_alloc(device, size, opts);
    if (status != GPUL_OK) return status;
    gpul_buffer *buffer = gpul__buffer_new(device, size, opts);
    if (!buffer) return gpul__no_memory();
    bool pushed;
    status = gpul__enter(device, &pushed, "gpul_alloc");
    if (status == GPUL_OK) {
        status = allocate(buffer, opts);
        gpul__leave(device, pushed);
    }
    if (status != GPUL_OK) {
        gpul__buffer_forget(buffer);
        return status;
    }
    gpul__buffer_keep(buffer);
    if (opts->init) status = gpul_write(buffer, 0, opts->init, size, opts->stream);
    if (status == GPUL_OK && opts->init && opts->stream) status = gpul_stream_sync(opts->stream);
    if (status == GPUL_OK) *out = buffer;
    else drop(buffer);
    return status;
}

void gpul_buffer_free(gpul_buffer **buffer)
{
    if (!buffer) return;
    drop(*buffer);
    *buffer = NULL;
}

gpul_status gpul_view(gpul_buffer **out, gpul_buffer *parent, size_t offset, size_t size)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(parent);
    if (size == 0)
        return gpul__fail(GPUL__MEMORY_ZERO, (.call = "gpul_view"),
                          "a view of size zero was asked for");
    if (offset > parent->size || size > parent->size - offset) {
        gpul__str title = { 0 };
        gpul__buffer_title(&title, parent);
        gpul__fail(GPUL__MEMORY_RANGE, (.call = "gpul_view"),
                   "a view of %zu bytes at offset %zu lies outside %s, which has %zu bytes", size,
                   offset, gpul__str_text(&title), parent->size);
        gpul__str_free(&title);
        return gpul_last_error()->status;
    }
    gpul_buffer *view = gpul__buffer_new(
        parent->device, size,
        &(gpul_alloc_opts){ .type = parent->type, .name = parent->name, .memory = parent->memory });
    if (!view) return gpul__no_memory();
    if (parent->host) view->host = (char *)parent->host + offset;
    view->parent = gpul__buffer_take(parent);
    view->address = parent->address + offset;
    *out = view;
    return GPUL_OK;
}

size_t gpul_buffer_size(const gpul_buffer *buffer)
{
    return buffer ? buffer->size : 0;
}

uint64_t gpul_buffer_address(const gpul_buffer *buffer)
{
    return buffer ? buffer->address : 0;
}

gpul_device *gpul_buffer_device(const gpul_buffer *buffer)
{
    return buffer ? buffer->device : NULL;
}
