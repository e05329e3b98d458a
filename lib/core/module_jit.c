/* cuModuleLoadDataEx: the JIT's options as the driver takes them, both logs and the time.
 * SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "core/module.h"

/* Driver logs are cut at the size of the buffer, so it is made large; what is not written costs
 * nothing. */
enum { LOG_ROOM = GPUL__JIT_LOG_ROOM };

bool gpul__load_wants_jit(const gpul_load_opts *opts, gpul__str *list)
{
    const struct {
        bool given;
        const char *name;
    } options[] = {
        { opts->level != GPUL_JIT_DEFAULT, "level" },
        { opts->max_registers != 0, "max_registers" },
        { opts->threads_per_block != 0, "threads_per_block" },
        { opts->target != 0, "target" },
        { opts->cache_mode != GPUL_JIT_CACHE_DEFAULT, "cache_mode" },
        { opts->line_info, "line_info" },
        { opts->debug, "debug" },
        { opts->verbose, "verbose" },
        { opts->prefer_ptx, "prefer_ptx" },
    };
    bool any = false;
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given) continue;
        if (list) gpul__str_printf(list, "%s%s", any ? ", " : "", options[i].name);
        any = true;
    }
    return any;
}

static gpul_status fail_option(const char *name, unsigned long value, const char *range)
{
    return gpul__fail(GPUL__LOAD_OPTION, (.call = "gpul_load"),
                      "%s is %lu, and only %s is possible", name, value, range);
}

gpul_status gpul__load_check_options(const gpul_load_opts *opts, const gpul_device_info *device)
{
    char range[64];
    if ((unsigned)opts->level > GPUL_JIT_O4)
        return fail_option("level", (unsigned long)opts->level, "GPUL_JIT_O0 to GPUL_JIT_O4");
    if ((unsigned)opts->fallback > GPUL_JIT_PREFER_BINARY)
        return fail_option("fallback", (unsigned long)opts->fallback,
                           "GPUL_JIT_PREFER_PTX or GPUL_JIT_PREFER_BINARY");
    if ((unsigned)opts->cache_mode > GPUL_JIT_CACHE_CA)
        return fail_option("cache_mode", (unsigned long)opts->cache_mode,
                           "GPUL_JIT_CACHE_CG or GPUL_JIT_CACHE_CA");
    if (opts->max_registers > 255)
        return fail_option("max_registers", opts->max_registers, "1 to 255, or 0 for no limit,");
    if (opts->threads_per_block > device->max_threads_per_block) {
        snprintf(range, sizeof range, "1 to %u on this device", device->max_threads_per_block);
        return fail_option("threads_per_block", opts->threads_per_block, range);
    }
    if (opts->target && (opts->target < 30 || opts->target > 150))
        return fail_option("target", opts->target, "a compute capability such as 90 (for 9.0)");
    return GPUL_OK;
}

/* A value is in the pointer itself. */
static unsigned add(gpul__jit_options *o, CUjit_option name, uintptr_t value)
{
    o->names[o->count] = name;
    o->values[o->count] = (void *)value;
    return o->count++;
}

void gpul__jit_fill(gpul__jit_options *o, const gpul_load_opts *opts, char *logs)
{
    o->count = 0;
    add(o, CU_JIT_INFO_LOG_BUFFER, (uintptr_t)logs);
    add(o, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, LOG_ROOM);
    add(o, CU_JIT_ERROR_LOG_BUFFER, (uintptr_t)(logs + LOG_ROOM));
    add(o, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_ROOM);
    o->wall_time = add(o, CU_JIT_WALL_TIME, 0);
    if (opts->level) add(o, CU_JIT_OPTIMIZATION_LEVEL, (uintptr_t)(opts->level - GPUL_JIT_O0));
    if (opts->max_registers) add(o, CU_JIT_MAX_REGISTERS, opts->max_registers);
    if (opts->threads_per_block) add(o, CU_JIT_THREADS_PER_BLOCK, opts->threads_per_block);
    if (opts->target) add(o, CU_JIT_TARGET, opts->target);
    if (opts->fallback)
        add(o, CU_JIT_FALLBACK_STRATEGY,
            opts->fallback == GPUL_JIT_PREFER_PTX ? CU_PREFER_PTX : CU_PREFER_BINARY);
    if (opts->cache_mode)
        add(o, CU_JIT_CACHE_MODE,
            opts->cache_mode == GPUL_JIT_CACHE_CG ? CU_JIT_CACHE_OPTION_CG
                                                  : CU_JIT_CACHE_OPTION_CA);
    if (opts->line_info) add(o, CU_JIT_GENERATE_LINE_INFO, 1);
    if (opts->debug) add(o, CU_JIT_GENERATE_DEBUG_INFO, 1);
    if (opts->verbose) add(o, CU_JIT_LOG_VERBOSE, 1);
}

/* A log that fills its buffer was cut by the driver, and says so. */
char *gpul__jit_keep_log(gpul__arena *arena, const char *log)
{
    size_t length = strnlen(log, LOG_ROOM);
    if (length + 1 < LOG_ROOM) return gpul__arena_strndup(arena, log, length);
    return gpul__arena_printf(arena, "%.*s\n(the driver's log is longer than %d bytes)",
                              (int)(LOG_ROOM - 1), log, LOG_ROOM);
}

gpul_status gpul__load_call(gpul__load *load, gpul__arena *arena)
{
    /* Zeroed: drivers differ in what they write when there is nothing to say. */
    char *logs = gpul__calloc(2, LOG_ROOM);
    if (!logs) return gpul__no_memory();
    gpul__jit_options o;
    gpul__jit_fill(&o, load->opts, logs);
    uint64_t start = gpul__now();
    load->result =
        gpul__api(load->device)
            ->ModuleLoadDataEx(&load->module, load->form.data, o.count, o.names, o.values);
    load->load_ns = gpul__now() - start;
    float milliseconds;
    memcpy(&milliseconds, &o.values[o.wall_time], sizeof milliseconds);
    /* The slot is written only by a JIT that ran. */
    load->jit_ms = milliseconds > 0 ? (double)milliseconds : 0;
    load->info_log = gpul__jit_keep_log(arena, logs);
    load->error_log = gpul__jit_keep_log(arena, logs + LOG_ROOM);
    gpul__free(logs);
    if (load->info_log && load->error_log) return GPUL_OK;
    if (load->result == CUDA_SUCCESS) gpul__api(load->device)->ModuleUnload(load->module);
    return gpul__no_memory();
}
