/* JIT results found again: PTX goes through the driver's linker, which hands out the machine code that a load keeps to itself.
 * An entry is the log's size in eight bytes, the log, and the code.  SPDX-License-Identifier: MIT */
#include "core/jit_keep.h"

#include <string.h>
#include <unistd.h>

#include "core/cache_key.h"
#include "core/cache_miss.h"

enum { HEAD = 8 };

/* Where the code begins: aligned, as its reader may expect. */
static size_t code_place(uint64_t log)
{
    return (HEAD + (size_t)log + 15) / 16 * 16;
}

/* All that the machine code depends on. */
static void make_key(gpul__recipe *out, const gpul__load *load)
{
    const gpul_device_info *device = &load->device->info;
    const gpul_load_opts *o = load->opts;
    gpul__key key;
    gpul__key_begin(&key, "jit", &out->parts);
    gpul__key_bytes(&key, "PTX", load->form.data, load->form.size);
    gpul__key_number(&key, "compute capability",
                     (uint64_t)(device->compute_major * 100 + device->compute_minor));
    gpul__key_number(&key, "driver", (uint64_t)device->driver_version);
    gpul__key_text(&key, "driver's release", device->driver_release);
    gpul__key_number(&key, "level", (uint64_t)o->level);
    gpul__key_number(&key, "registers", o->max_registers);
    gpul__key_number(&key, "threads per block", o->threads_per_block);
    gpul__key_number(&key, "cache mode", (uint64_t)o->cache_mode);
    gpul__key_number(&key, "lines, debugging, verbosity",
                     (uint64_t)(o->line_info | o->debug << 1 | o->verbose << 2));
    gpul__key_end(&key, out->key);
}

/* False: the entry is none of ours. */
static bool unpack(gpul__jit_kept *out, void *entry, size_t size)
{
    uint64_t log;
    if (size < HEAD) return false;
    memcpy(&log, entry, HEAD);
    if (log > size - HEAD || code_place(log) >= size) return false;
    out->entry = entry;
    out->log = (const char *)entry + HEAD;
    out->log_size = (size_t)log;
    out->code = (const char *)entry + code_place(log);
    out->size = size - code_place(log);
    return true;
}

/* The PTX alone through the linker; NULL: it does not go that way. */
static void *make(const gpul__load *load, size_t *size, double *jit_ms)
{
    gpul_link_input input = { .data = load->form.data,
                              .size = load->form.size,
                              .name = load->image->info.name };
    gpul_link_opts opts = { .linker = GPUL_LINKER_DRIVER, .jit = load->opts };
    gpul_image *linked;
    if (gpul_link(&linked, load->device, &input, 1, &opts) != GPUL_OK) {
        gpul__log(GPUL_LOG_DEBUG, "the JIT's result is not kept: %s", gpul_last_error()->message);
        return NULL;
    }
    const gpul_image_info *info = &linked->info;
    const void *code = linked->cubin ? linked->cubin : linked->ptx;
    size_t code_size = linked->cubin ? info->cubin_size : info->ptx_size + 1;
    *jit_ms = (double)info->compile_ns / 1e6;
    uint64_t log = strlen(info->log);
    char *entry = code ? gpul__calloc(1, code_place(log) + code_size) : NULL;
    if (entry) {
        memcpy(entry, &log, HEAD);
        memcpy(entry + HEAD, info->log, log);
        memcpy(entry + code_place(log), code, code_size);
        *size = code_place(log) + code_size;
    }
    gpul_image_free(&linked);
    return entry;
}

void gpul__jit_keep(gpul__jit_kept *out, const gpul__load *load)
{
    const gpul__driver *driver = load->device->driver;
    gpul__str subject = { 0 }, why = { 0 };
    size_t size = 0;
    *out = (gpul__jit_kept){ 0 };
    /* The linker makes code for this device alone, and the CPU device compiles nothing. */
    if (!load->opts->keep || load->form.format != GPUL_IMAGE_PTX || load->device->is_cpu ||
        load->opts->target || !driver->LinkCreate || !driver->LinkAddData ||
        !driver->LinkComplete || !driver->LinkDestroy)
        return;
    int folder = gpul__cache_open();
    if (folder < 0) return;
    gpul__str_printf(&subject, "jit of %s", load->image->info.name);
    gpul__recipe recipe = { .subject = gpul__str_text(&subject) };
    make_key(&recipe, load);
    void *entry = gpul__cache_read(folder, recipe.key, "jit", &size);
    out->found = entry != NULL;
    if (!entry) {
        gpul__miss_explain(&why, folder, &recipe);
        gpul__log(GPUL_LOG_INFO, "the JIT's result for %s is not in the cache: %s",
                  load->image->info.name, gpul__str_text(&why));
        if ((entry = make(load, &size, &out->jit_ms)) &&
            gpul__cache_write(folder, recipe.key, "jit", entry, size))
            gpul__miss_keep(folder, &recipe);
    }
    gpul__str_free(&recipe.parts);
    gpul__str_free(&subject);
    gpul__str_free(&why);
    close(folder);
    if (entry && !unpack(out, entry, size)) gpul__free(entry);
}
