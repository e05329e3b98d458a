/* Launches that are kept: made, changed in place and freed.  SPDX-License-Identifier: MIT */
#include "core/kept_launch.h"

#include "core/context.h"
#include "core/stream.h"

/* ---- References ---- */

static void forget_buffer(const gpul_arg *arg)
{
    if (arg->kind != GPUL_ARG_BUFFER) return;
    gpul_buffer *buffer = (gpul_buffer *)(uintptr_t)arg->v.buffer;
    gpul_buffer_free(&buffer);
}

/* A copy of the attributes and of their raw ones behind it, with a reference to the window's buffer. */
static bool keep_extra(gpul__kept_launch *launch, const gpul_launch_extra *extra)
{
    size_t raw = extra->raw_count * sizeof(CUlaunchAttribute);
    gpul_launch_extra *copy = gpul__malloc(sizeof *copy + raw);
    if (!copy) return false;
    *copy = *extra;
    if (raw) copy->raw = memcpy(copy + 1, extra->raw, raw);
    if (copy->window.buffer) gpul__buffer_take(copy->window.buffer);
    launch->opts.extra = copy;
    return true;
}

static void forget_extra(const gpul_launch_extra *extra)
{
    gpul_buffer *buffer = (gpul_buffer *)(uintptr_t)extra->window.buffer;
    gpul_buffer_free(&buffer);
    gpul__free((void *)(uintptr_t)extra);
}

/* ---- Making ---- */

/* One piece of memory for the launch, its arguments, their addresses and the parameters themselves. */
static gpul__kept_launch *new_launch(const gpul_kernel *kernel)
{
    size_t count = kernel->slot_count;
    size_t args = (sizeof(gpul__kept_launch) + 15) / 16 * 16;
    size_t addresses = args + count * sizeof(gpul_arg);
    size_t parameters = (addresses + count * sizeof(void *) + 15) / 16 * 16;
    char *memory = gpul__calloc(1, parameters + kernel->param_bytes);
    if (!memory) return NULL;
    gpul__kept_launch *launch = (gpul__kept_launch *)(void *)memory;
    launch->kernel = kernel;
    launch->args = (gpul_arg *)(void *)(memory + args);
    launch->addresses = (void **)(void *)(memory + addresses);
    launch->parameters = (unsigned char *)memory + parameters;
    for (size_t i = 0; i < count; i++)
        launch->addresses[i] = launch->parameters + kernel->slots[i].offset;
    return launch;
}

static gpul_status check(gpul__kept_launch *launch, gpul_arglist args, const char *call)
{
    const gpul_kernel *kernel = launch->kernel;
    gpul_device *device = kernel->device;
    if (args.count != kernel->slot_count || (args.count && !args.items) ||
        !gpul__args_pack(kernel->slots, args.items, args.count, device, launch->parameters))
        return gpul__args_explain(kernel, &launch->opts, args);
    CUstream stream;
    uint64_t id;
    gpul_status status = gpul__stream_of(&stream, &id, device, launch->opts.stream, call);
    if (status != GPUL_OK) return status;
    bool pushed;
    status = gpul__enter(device, &pushed, call);
    if (status != GPUL_OK) return status;
    if (!gpul__geometry_fits(&launch->geometry, kernel, &launch->opts))
        status = gpul__geometry_check(&launch->geometry, kernel, &launch->opts);
    if (status == GPUL_OK && device->checked)
        status = gpul__args_check_addresses(kernel, &launch->opts, args);
    gpul__leave(device, pushed);
    launch->plain =
        !launch->geometry.cooperative && !launch->geometry.cluster[0] && !launch->opts.extra;
    return status;
}

static void keep_argument(gpul__kept_launch *launch, size_t index, const gpul_arg *arg)
{
    launch->args[index] = *arg;
    if (arg->kind == GPUL_ARG_BYTES) launch->args[index].v.bytes = launch->addresses[index];
    if (arg->kind == GPUL_ARG_BUFFER) gpul__buffer_take(arg->v.buffer);
}

gpul_status gpul__kept_launch_new(gpul__kept_launch **out, const gpul_kernel *kernel,
                                  const gpul_launch_opts *opts, gpul_arglist args, const char *call)
{
    static const gpul_launch_opts defaults;
    gpul__kept_launch *launch = new_launch(kernel);
    if (!launch) return gpul__no_memory();
    launch->opts = opts ? *opts : defaults;
    gpul_status status = check(launch, args, call);
    const gpul_launch_extra *extra = launch->opts.extra;
    if (status == GPUL_OK && extra && !keep_extra(launch, extra)) status = gpul__no_memory();
    if (status != GPUL_OK) {
        gpul__free(launch);
        return status;
    }
    launch->opts.caller_file =
        gpul__ring_keep_file(&kernel->device->ring, launch->opts.caller_file);
    if (launch->opts.stream) gpul__refs_take(&launch->opts.stream->refs);
    gpul__module_take(kernel->module);
    for (size_t i = 0; i < args.count; i++) keep_argument(launch, i, &args.items[i]);
    *out = launch;
    return GPUL_OK;
}

void gpul__kept_launch_free(gpul__kept_launch *launch)
{
    if (!launch) return;
    gpul_module *module = launch->kernel->module;
    for (size_t i = 0; i < launch->kernel->slot_count; i++) forget_buffer(&launch->args[i]);
    if (launch->opts.extra) forget_extra(launch->opts.extra);
    gpul_stream_free(&launch->opts.stream);
    gpul_module_free(&module);
    gpul__free(launch);
}

/* ---- Changing ---- */

/* The record names every mistake of a list, so the list is as it was but for this one. */
static gpul_status explain(const gpul__kept_launch *launch, size_t index, const gpul_arg *arg)
{
    size_t count = launch->kernel->slot_count;
    gpul_arg *items = gpul__malloc(count * sizeof *items);
    if (!items) return gpul__no_memory();
    memcpy(items, launch->args, count * sizeof *items);
    items[index] = *arg;
    gpul_status status =
        gpul__args_explain(launch->kernel, &launch->opts, (gpul_arglist){ count, items });
    gpul__free(items);
    return status;
}

gpul_status gpul__kept_launch_set(gpul__kept_launch *launch, size_t index, const gpul_arg *arg,
                                  const char *call)
{
    const gpul_kernel *kernel = launch->kernel;
    if (index >= kernel->slot_count)
        return gpul__fail(GPUL__ARGS_COUNT,
                          (.call = call, .hint = "the first argument has the place 0"),
                          "%s: there is no argument at place %zu: '%s' takes %u", call, index,
                          kernel->info.name, kernel->slot_count);
    const gpul__slot *slot = &kernel->slots[index];
    if (!gpul__arg_pack(slot, arg, kernel->device, launch->parameters)) {
        if (gpul__arg_check(slot, arg, kernel->device)) return explain(launch, index, arg);
        gpul__arg_store(slot, arg, launch->parameters);
    }
    gpul_arg *kept = &launch->args[index];
    if (arg->kind == GPUL_ARG_BUFFER && kept->kind == GPUL_ARG_BUFFER &&
        arg->v.buffer == kept->v.buffer) {
        kept->is_const = arg->is_const;
        return GPUL_OK;
    }
    gpul_arg old = *kept;
    keep_argument(launch, index, arg);
    forget_buffer(&old);
    return GPUL_OK;
}

gpul_status gpul__kept_launch_find(size_t *out, const gpul__kept_launch *launch, const char *name,
                                   const char *call)
{
    const gpul_kernel_info *info = &launch->kernel->info;
    bool named = false;
    for (size_t i = 0; i < info->param_count; i++) {
        const char *own = info->params[i].value.name;
        named = named || (own && *own);
        if (!own || strcmp(own, name) != 0) continue;
        *out = i;
        return GPUL_OK;
    }
    return gpul__fail(GPUL__ARGS_INVALID,
                      (.call = call, .hint = named ? "gpul_kernel_describe lists them"
                                                   : "give the argument's place: the image does "
                                                     "not have the names"),
                      "%s: '%s' has no parameter '%s'", call, info->name, name);
}

CUDA_KERNEL_NODE_PARAMS gpul__kept_launch_node(const gpul__kept_launch *launch)
{
    const gpul__geometry *g = &launch->geometry;
    return (CUDA_KERNEL_NODE_PARAMS){ .func = launch->kernel->function,
                                      .gridDimX = g->grid[0],
                                      .gridDimY = g->grid[1],
                                      .gridDimZ = g->grid[2],
                                      .blockDimX = g->block[0],
                                      .blockDimY = g->block[1],
                                      .blockDimZ = g->block[2],
                                      .sharedMemBytes = g->shared,
                                      .kernelParams =
                                          launch->kernel->slot_count ? launch->addresses : NULL };
}
