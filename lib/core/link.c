/* gpul_link: what the inputs are, which linker gets them, and the image of what comes out.  The linkers are
 * in link_run.c.  SPDX-License-Identifier: MIT */
#include "core/link.h"

#include <string.h>

#include "base/clock.h"
#include "base/file.h"
#include "core/context.h"
#include "core/cubin.h"

/* ---- Inputs ---- */

static const unsigned char ltoir_magic[] = { 0xed, 0x43, 0x4e, 0x7f };

static bool begins(const gpul__link_item *item, const void *bytes, size_t size)
{
    return item->size >= size && memcmp(item->data, bytes, size) == 0;
}

/* False: none of what can be linked. */
static bool tell_kind(gpul__link_item *item)
{
    enum { MACHINE = 18, EM_CUDA = 190 };
    static const uint32_t fatbin = GPUL__FATBIN_MAGIC;
    const unsigned char *bytes = item->data;
    if (begins(item, "\177ELF", 4) && item->size > MACHINE + 1)
        item->kind = bytes[MACHINE] == EM_CUDA ? GPUL__LINK_CUBIN : GPUL__LINK_OBJECT;
    else if (begins(item, "!<arch>\n", 8)) item->kind = GPUL__LINK_LIBRARY;
    else if (begins(item, ltoir_magic, sizeof ltoir_magic)) item->kind = GPUL__LINK_LTOIR;
    else if (begins(item, &fatbin, sizeof fatbin)) item->kind = GPUL__LINK_FATBIN;
    else return false;
    return true;
}

/* Keeps the image for its descriptions, and takes the form that the target can use. */
static gpul_status take_image(gpul__link *l, gpul__link_item *item, gpul_image *image)
{
    bool cpu = l->device && l->device->is_cpu;
    gpul__image_take(image);
    l->parts[l->part_count++] = image;
    if (!item->name) item->name = image->info.name;
    bool fits = image->cubin && !cpu &&
                gpul__arch_runs(image->arch, l->arch.number / 10, l->arch.number % 10);
    if (image->ltoir) {
        *item = (gpul__link_item){ GPUL__LINK_LTOIR, image->ltoir, image->info.ltoir_size,
                                   item->name, item->read };
    } else if (fits || (image->cubin && !image->ptx && !cpu)) {
        *item = (gpul__link_item){ GPUL__LINK_CUBIN, image->cubin, image->info.cubin_size,
                                   item->name, item->read };
    } else if (image->ptx) {
        *item = (gpul__link_item){ GPUL__LINK_PTX, image->ptx, image->info.ptx_size + 1, item->name,
                                   item->read };
    } else if (image->fatbin && !cpu) {
        *item = (gpul__link_item){ GPUL__LINK_FATBIN, image->fatbin, image->info.fatbin_size,
                                   item->name, item->read };
    } else {
        gpul__fail(GPUL__IMAGE_FORM, (.call = "gpul_link"),
                   "%s has no PTX, and the CPU device links nothing else", item->name);
        return gpul__hint("give the .cu or the .ptx instead");
    }
    return GPUL_OK;
}

static gpul_status read_input(gpul__link *l, const gpul_link_input *input, gpul__link_item *item,
                              size_t number)
{
    int given = (input->image != NULL) + (input->data != NULL) + (input->path != NULL);
    if (given != 1)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_link"),
                          "input %zu has %s of image, data and path; exactly one is needed",
                          number + 1, given ? "several" : "none");
    item->name = input->name;
    if (input->image) return take_image(l, item, input->image);
    if (!item->name)
        item->name =
            input->path ? input->path : gpul__arena_printf(&l->arena, "input %zu", number + 1);
    if (!item->name) return gpul__no_memory();
    item->data = input->data;
    item->size = input->size;
    if (input->path) {
        gpul_status status = gpul__file_read(&item->read, &item->size, input->path);
        if (status != GPUL_OK) return status;
        item->data = item->read;
    }
    bool known = item->size && tell_kind(item);
    if (known && item->kind != GPUL__LINK_CUBIN && item->kind != GPUL__LINK_FATBIN) return GPUL_OK;
    /* PTX, CUBINs and fatbins are read as images are; what is none of them is said there. */
    gpul_image *image;
    gpul_status status = gpul_image_from_memory(&image, item->data, item->size, item->name);
    if (status != GPUL_OK) return status;
    status = take_image(l, item, image);
    gpul_image_free(&image);
    return status;
}

static gpul_status read_inputs(gpul__link *l, const gpul_link_input *inputs, size_t count)
{
    l->items = gpul__calloc(count, sizeof *l->items);
    l->parts = gpul__calloc(count, sizeof *l->parts);
    if (!l->items || !l->parts) return gpul__no_memory();
    l->count = count;
    gpul_status status = GPUL_OK;
    for (size_t i = 0; i < count && status == GPUL_OK; i++)
        status = read_input(l, &inputs[i], &l->items[i], i);
    return status;
}

/* ---- The image ---- */

/* The CPU device's linker only gathers texts, so the image's kernels and variables are those of its parts. */
static bool gather(gpul_image *image)
{
    size_t kernels = 0, globals = 0;
    for (size_t p = 0; p < image->part_count; p++) {
        kernels += image->parts[p]->kernel_count;
        globals += image->parts[p]->global_count;
    }
    image->kernels = gpul__arena_alloc(&image->arena, (kernels + 1) * sizeof *image->kernels);
    image->globals = gpul__arena_alloc(&image->arena, (globals + 1) * sizeof *image->globals);
    if (!image->kernels || !image->globals) return false;
    for (size_t p = 0; p < image->part_count; p++) {
        const gpul_image *part = image->parts[p];
        for (size_t i = 0; i < part->kernel_count; i++)
            if (*part->kernels[i].symbol) image->kernels[image->kernel_count++] = part->kernels[i];
        for (size_t i = 0; i < part->global_count; i++)
            image->globals[image->global_count++] = part->globals[i];
    }
    return true;
}

static gpul_status make_image(gpul_image **out, gpul__link *l)
{
    const char *name = l->opts->name ? l->opts->name : "linked";
    char arch[24];
    gpul_image *image = NULL;
    if (l->of_cpu) {
        image = gpul__image_new();
        if (!image) return gpul__no_memory();
        image->linked = l->bytes;
        image->linked_size = l->size;
        l->bytes = NULL;
        image->info.name = gpul__arena_strndup(&image->arena, name, strlen(name));
    } else {
        gpul_status status = gpul_image_from_memory(&image, l->bytes, l->size, name);
        if (status != GPUL_OK) return status;
    }
    image->parts = l->parts;
    image->part_count = l->part_count;
    l->parts = NULL;
    l->part_count = 0;
    gpul__arch_text(arch, l->arch);
    image->info.arch = gpul__arena_strndup(&image->arena, arch, strlen(arch));
    image->info.log = gpul__arena_strndup(&image->arena, l->log, strlen(l->log));
    image->info.choice = gpul__arena_printf(&image->arena, "linked of %zu inputs for %s", l->count,
                                            l->of_cpu ? "the CPU device" : arch);
    image->info.compile_ns = l->ns;
    bool ok = image->info.name && image->info.arch && image->info.log && image->info.choice &&
              (!l->of_cpu || gather(image));
    if (ok) {
        gpul__image_describe_by_parts(image);
        *out = image;
        return GPUL_OK;
    }
    gpul_image_free(&image);
    return gpul__no_memory();
}

static gpul_status choose_target(gpul__link *l)
{
    const char *arch = l->opts->arch;
    if (l->device)
        l->arch.number = l->device->info.compute_major * 10 + l->device->info.compute_minor;
    if (arch && l->device)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_link"),
                          "arch is \"%s\", and a device is given: its own is used", arch);
    if (!arch && !l->device)
        return gpul__fail(GPUL__ARGS_NULL, (.call = "gpul_link"),
                          "without a device the options must name an architecture, as \"sm_90\"");
    if (arch && (!gpul__arch_parse(&l->arch, arch) || l->arch.is_virtual))
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_link"),
                          "arch is \"%s\"; an architecture such as \"sm_90\" is needed", arch);
    return GPUL_OK;
}

static gpul_status run(gpul__link *l)
{
    bool ltoir = false;
    for (size_t i = 0; i < l->count; i++) ltoir |= l->items[i].kind == GPUL__LINK_LTOIR;
    bool library = ltoir || !l->device || l->opts->linker == GPUL_LINKER_NVJITLINK;
    if (library && l->opts->linker == GPUL_LINKER_DRIVER)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_link"), "the driver's linker %s",
                          ltoir ? "takes no LTO-IR: use GPUL_LINKER_AUTO" : "needs a device");
    uint64_t start = gpul__now();
    gpul_status status = library ? gpul__link_by_library(l) : gpul__link_by_driver(l);
    l->ns = gpul__now() - start;
    return status;
}

gpul_status gpul_link(gpul_image **out, gpul_device *device, const gpul_link_input *inputs,
                      size_t count, const gpul_link_opts *opts)
{
    static const gpul_link_opts defaults;
    GPUL__OUT(out, NULL);
    GPUL__NEED(inputs);
    if (!opts) opts = &defaults;
    if (count == 0)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_link"), "there are no inputs");
    if ((unsigned)opts->linker > GPUL_LINKER_NVJITLINK)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_link"),
                          "linker is %d, which is none of its enumeration", (int)opts->linker);
    gpul__link l = { .opts = opts, .device = device, .log = "" };
    gpul_status status = choose_target(&l);
    if (status == GPUL_OK) status = read_inputs(&l, inputs, count);
    if (status == GPUL_OK) status = run(&l);
    if (status == GPUL_OK) status = make_image(out, &l);
    for (size_t i = 0; i < l.part_count; i++) gpul_image_free(&l.parts[i]);
    for (size_t i = 0; i < l.count; i++) gpul__free(l.items[i].read);
    gpul__free(l.parts);
    gpul__free(l.items);
    gpul__free(l.bytes);
    gpul__arena_free(&l.arena);
    return status;
}
