/* Which form of an image a device gets.  SPDX-License-Identifier: MIT */
#include "core/image.h"

#include "base/error.h"

#include <string.h>

/* The PTX ISA that each CUDA release brought. */
int gpul__ptx_of_driver(int version)
{
    static const struct {
        int version, ptx;
    } table[] = { { 11020, 72 }, { 11030, 73 }, { 11040, 74 }, { 11050, 75 }, { 11060, 76 },
                  { 11070, 77 }, { 11080, 78 }, { 12000, 80 }, { 12010, 81 }, { 12020, 82 },
                  { 12030, 83 }, { 12040, 84 }, { 12050, 85 }, { 12060, 85 }, { 12070, 86 },
                  { 12080, 87 }, { 12090, 88 }, { 13000, 90 }, { 13010, 91 }, { 13020, 92 },
                  { 13030, 93 }, { 13040, 94 }, { 13050, 95 } };
    int ptx = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (version >= table[i].version) ptx = table[i].ptx;
    /* A newer driver than this table reads at least what the last one does: not known. */
    return version > table[sizeof table / sizeof *table - 1].version ? 0 : ptx;
}

static gpul_status fail_machine_code(const gpul_image *image, const gpul_device_info *device,
                                     gpul__arch arch)
{
    char text[24];
    gpul__arch_text(text, arch);
    if (device->backend == GPUL_BACKEND_CPU) {
        gpul__fail(GPUL__LOAD_ARCH, (.call = "gpul_load"),
                   "%s is machine code for %s; the CPU device runs PTX", image->info.name,
                   arch.number ? text : "a GPU");
        return gpul__hint("give the .cu or the .ptx instead");
    }
    gpul__fail(GPUL__LOAD_ARCH, (.call = "gpul_load"),
               "%s is machine code for %s; the device, %s, is sm_%d%d", image->info.name, text,
               device->name, device->compute_major, device->compute_minor);
    return gpul__hint("compile for sm_%d%d; or give PTX, which fits this and later devices",
                      device->compute_major, device->compute_minor);
}

/* Why the PTX cannot be used on this device; fails when it cannot. */
static gpul_status check_ptx(const gpul_image *image, const gpul_device_info *device)
{
    int own = device->compute_major * 10 + device->compute_minor;
    int ptx = image->info.ptx_major * 10 + image->info.ptx_minor;
    int driver =
        device->backend == GPUL_BACKEND_CUDA ? gpul__ptx_of_driver(device->driver_version) : 0;
    if (driver && ptx > driver) {
        gpul__fail(GPUL__LOAD_PTX_VERSION, (.call = "gpul_load"),
                   "%s is PTX %d.%d; this driver (CUDA %d.%d) reads PTX up to %d.%d",
                   image->info.name, ptx / 10, ptx % 10, device->driver_version / 1000,
                   device->driver_version % 1000 / 10, driver / 10, driver % 10);
        return gpul__hint("update the driver, or compile for sm_%d: machine code needs no PTX",
                          own);
    }
    if (image->ptx_target.number && own && image->ptx_target.number > own) {
        char text[24];
        gpul__fail(GPUL__LOAD_ARCH, (.call = "gpul_load"),
                   "%s is PTX for %s and later; the device, %s, is sm_%d", image->info.name,
                   gpul__arch_text(text, image->ptx_target), device->name, own);
        return gpul__hint("compile for compute_%d", own);
    }
    if (image->ptx_target.suffix == 'a' && own && image->ptx_target.number != own) {
        char text[24];
        gpul__fail(GPUL__LOAD_ARCH, (.call = "gpul_load"),
                   "%s is PTX for %s alone; the device, %s, is sm_%d", image->info.name,
                   gpul__arch_text(text, image->ptx_target), device->name, own);
        return gpul__hint("compile without the 'a' where its instructions are not used");
    }
    return GPUL_OK;
}

static gpul_status give(gpul__image_form *out, gpul__arena *arena, gpul_format format,
                        const void *data, size_t size, const char *choice)
{
    *out = (gpul__image_form){ .format = format, .data = data, .size = size };
    out->choice = gpul__arena_strndup(arena, choice, strlen(choice));
    return out->choice ? GPUL_OK : gpul__no_memory();
}

static gpul_status choose_fatbin(gpul__image_form *out, const gpul_image *image,
                                 const gpul_device_info *device, gpul__arena *arena)
{
    const gpul__fat_entry *ptx = NULL;
    bool fits = false;
    for (size_t i = 0; i < image->entry_count; i++) {
        const gpul__fat_entry *entry = &image->entries[i];
        if (entry->format == GPUL_IMAGE_PTX && (!ptx || entry->arch.number > ptx->arch.number) &&
            entry->arch.number <= device->compute_major * 10 + device->compute_minor)
            ptx = entry;
        fits |= entry->format == GPUL_IMAGE_CUBIN &&
                gpul__arch_runs(entry->arch, device->compute_major, device->compute_minor);
    }
    if (device->backend != GPUL_BACKEND_CPU)
        return give(out, arena, GPUL_IMAGE_FATBIN, image->fatbin, image->info.fatbin_size,
                    fits ? "fatbin: it has machine code for the device"
                         : "fatbin: the driver translates its PTX");
    if (ptx && !ptx->compressed) {
        /* In the file it ends with its entry, not with a NUL. */
        char *text = gpul__arena_strndup(arena, ptx->data, ptx->size);
        if (!text) return gpul__no_memory();
        return give(out, arena, GPUL_IMAGE_PTX, text, ptx->size,
                    "PTX of the fatbin: the CPU device runs PTX");
    }
    gpul__fail(GPUL__IMAGE_FORM, (.call = "gpul_load"),
               ptx ? "the PTX in %s is compressed, and only the driver can unpack it"
                   : "%s has no PTX; the CPU device runs PTX",
               image->info.name);
    return gpul__hint("give the .cu or the .ptx instead");
}

gpul_status gpul__image_choose(gpul__image_form *out, const gpul_image *image,
                               const gpul_device_info *device, bool wants_jit, gpul__arena *arena)
{
    *out = (gpul__image_form){ 0 };
    if (image->linked && device->backend == GPUL_BACKEND_CPU)
        return give(out, arena, GPUL_IMAGE_PTX, image->linked, image->linked_size,
                    "PTX texts, linked for the CPU device");
    if (image->linked || (image->ltoir && !image->ptx && !image->cubin)) {
        gpul__fail(GPUL__IMAGE_FORM, (.call = "gpul_load"),
                   image->linked ? "%s is linked for the CPU device"
                                 : "%s is LTO-IR, which must be linked first",
                   image->info.name);
        return gpul__hint("link it with gpul_link for this device");
    }
    if (image->fatbin && !image->ptx && !image->cubin)
        return choose_fatbin(out, image, device, arena);
    bool cpu = device->backend == GPUL_BACKEND_CPU;
    bool fits = image->cubin && !cpu &&
                gpul__arch_runs(image->arch, device->compute_major, device->compute_minor);
    if (fits && (!wants_jit || !image->ptx)) {
        if (wants_jit) {
            gpul__fail(GPUL__IMAGE_FORM, (.call = "gpul_load"),
                       "JIT options need PTX, and %s has machine code only", image->info.name);
            return gpul__hint("leave the JIT options out, or give PTX");
        }
        return give(out, arena, GPUL_IMAGE_CUBIN, image->cubin, image->info.cubin_size,
                    "machine code: it fits the device");
    }
    if (!image->ptx) return fail_machine_code(image, device, image->arch);
    gpul_status status = check_ptx(image, device);
    if (status) return status;
    return give(out, arena, GPUL_IMAGE_PTX, image->ptx, image->info.ptx_size,
                cpu            ? "PTX: the CPU device runs PTX"
                : fits         ? "PTX: JIT options were given"
                : image->cubin ? "PTX through the JIT: the machine code is for another architecture"
                               : "PTX through the JIT");
}
