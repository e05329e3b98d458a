/* Making fatbins: forms of one module for several architectures.  SPDX-License-Identifier: MIT */
#include <elf.h>
#include <string.h>

#include "core/cubin.h"
#include "core/device.h"
#include "core/link.h"

/* The fatbin that grows. */
typedef struct bundle {
    const char *call;
    gpul__str bytes;
    struct form {
        gpul_format format;
        gpul__arch arch;
        const char *name; /* of its image */
    } * forms;
    size_t count, capacity;
} bundle;

#define INVALID(b, ...) gpul__fail(GPUL__ARGS_INVALID, (.call = (b)->call), __VA_ARGS__)

static gpul_status note_form(bundle *b, gpul_format format, gpul__arch arch, const char *name)
{
    char text[24];
    for (size_t i = 0; i < b->count; i++) {
        const struct form *other = &b->forms[i];
        if (other->format != format || other->arch.number != arch.number ||
            other->arch.suffix != arch.suffix)
            continue;
        return INVALID(b, "%s and %s are both %s for %s: the driver would take one of them",
                       other->name, name, format == GPUL_IMAGE_PTX ? "PTX" : "machine code",
                       gpul__arch_text(text, arch));
    }
    if (!gpul__grow(&b->forms, &b->capacity, b->count, sizeof *b->forms)) return gpul__no_memory();
    b->forms[b->count++] = (struct form){ format, arch, name };
    return GPUL_OK;
}

static gpul_status add_form(bundle *b, const gpul_image *image, gpul_format format)
{
    static const char zeros[8];
    bool is_ptx = format == GPUL_IMAGE_PTX;
    gpul__arch arch = is_ptx ? image->ptx_target : image->arch;
    const char *data = is_ptx ? image->ptx : image->cubin;
    size_t size = is_ptx ? image->info.ptx_size : image->info.cubin_size;
    if (!arch.number)
        return INVALID(b, "%s does not say what it was made for, and a fatbin needs to",
                       image->info.name);
    arch.is_virtual = is_ptx;
    gpul_status status = note_form(b, format, arch, image->info.name);
    if (status != GPUL_OK) return status;
    /* PTX ends in a NUL, and every entry at a multiple of eight. */
    size_t padding = is_ptx ? 8 - size % 8 : (8 - size % 8) % 8;
    gpul__fatbin_entry entry = {
        .kind = is_ptx ? GPUL__FATBIN_PTX : GPUL__FATBIN_CUBIN,
        .version = 0x101,
        .head_size = sizeof entry,
        .size = size + padding,
        .major = (uint16_t)(is_ptx ? image->info.ptx_major : 1),
        .minor = (uint16_t)(is_ptx ? image->info.ptx_minor : data[EI_ABIVERSION]),
        .arch = (uint32_t)arch.number,
        .flags = GPUL__FATBIN_64_BIT | GPUL__FATBIN_LINUX |
                 (arch.suffix == 'a'   ? GPUL__FATBIN_ARCH_A
                  : arch.suffix == 'f' ? GPUL__FATBIN_ARCH_F
                                       : 0u),
    };
    /* The driver reads this record of PTX without looking whether it is there: the offset of the compiler's options
     * from the entry's start, and the options, which are empty. */
    const uint64_t options[2] = { sizeof entry + sizeof options[0] };
    if (is_ptx) {
        entry.options_offset = sizeof entry;
        entry.head_size += sizeof options;
    }
    gpul__str_addn(&b->bytes, (const char *)&entry, sizeof entry);
    if (is_ptx) gpul__str_addn(&b->bytes, (const char *)options, sizeof options);
    gpul__str_addn(&b->bytes, data, size);
    gpul__str_addn(&b->bytes, zeros, padding);
    return GPUL_OK;
}

/* The entries of a fatbin as they are. */
static gpul_status add_fatbin(bundle *b, const gpul_image *image)
{
    gpul__fatbin_head head;
    gpul_status status = GPUL_OK;
    for (size_t i = 0; i < image->entry_count && status == GPUL_OK; i++)
        if (image->entries[i].format != GPUL_IMAGE_AUTO)
            status =
                note_form(b, image->entries[i].format, image->entries[i].arch, image->info.name);
    memcpy(&head, image->fatbin, sizeof head);
    gpul__str_addn(&b->bytes, (const char *)image->fatbin + head.head_size, (size_t)head.size);
    return status;
}

static gpul_status add_part(bundle *b, const gpul_fat_part *part, size_t index)
{
    gpul_format format = part->format;
    const gpul_image *image = part->image;
    if (!image) return INVALID(b, "the image of part %zu is NULL", index);
    if ((unsigned)format > GPUL_IMAGE_FATBIN)
        return INVALID(b, "%d, of part %zu, is no format of images", (int)format, index);
    bool all = format == GPUL_IMAGE_AUTO;
    bool cubin = image->cubin && (all || format == GPUL_IMAGE_CUBIN);
    bool ptx = image->ptx && (all || format == GPUL_IMAGE_PTX);
    bool fatbin = image->fatbin && (all || format == GPUL_IMAGE_FATBIN);
    if (!cubin && !ptx && !fatbin)
        return gpul__fail(GPUL__IMAGE_FORM, (.call = b->call), "%s, part %zu, has no %s",
                          image->info.name, index,
                          format == GPUL_IMAGE_PTX     ? "PTX"
                          : format == GPUL_IMAGE_CUBIN ? "CUBIN"
                          : all                        ? "PTX, CUBIN or fatbin"
                                                       : "fatbin");
    gpul_status status = cubin ? add_form(b, image, GPUL_IMAGE_CUBIN) : GPUL_OK;
    if (status == GPUL_OK && ptx) status = add_form(b, image, GPUL_IMAGE_PTX);
    if (status == GPUL_OK && fatbin) status = add_fatbin(b, image);
    return status;
}

static gpul_status finish(gpul_image **out, bundle *b, const gpul_fat_part *parts, size_t count,
                          const char *name)
{
    gpul__fatbin_head head = { .magic = GPUL__FATBIN_MAGIC,
                               .version = 1,
                               .head_size = sizeof head,
                               .size = b->bytes.length - sizeof head };
    if (b->bytes.failed) return gpul__no_memory();
    memcpy(b->bytes.text, &head, sizeof head);
    gpul_image *image;
    gpul_status status =
        gpul_image_from_memory(&image, b->bytes.text, b->bytes.length, name ? name : "fatbin");
    if (status != GPUL_OK) return status;
    image->parts = gpul__calloc(count, sizeof *image->parts);
    if (!image->parts) {
        gpul_image_free(&image);
        return gpul__no_memory();
    }
    for (size_t i = 0; i < count; i++) {
        gpul__image_take(parts[i].image);
        image->parts[image->part_count++] = parts[i].image;
    }
    gpul__image_describe_by_parts(image);
    *out = image;
    return GPUL_OK;
}

static gpul_status make(gpul_image **out, const char *call, const gpul_fat_part *parts,
                        size_t count, const char *name)
{
    static const gpul__fatbin_head none;
    bundle b = { .call = call };
    gpul_status status = GPUL_OK;
    gpul__str_addn(&b.bytes, (const char *)&none, sizeof none);
    for (size_t i = 0; i < count && status == GPUL_OK; i++) status = add_part(&b, &parts[i], i);
    if (status == GPUL_OK) status = finish(out, &b, parts, count, name);
    gpul__str_free(&b.bytes);
    gpul__free(b.forms);
    return status;
}

gpul_status gpul_fatbin(gpul_image **out, const gpul_fat_part *parts, size_t count,
                        const char *name)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(parts);
    if (!count)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_fatbin"), "there are no parts");
    return make(out, "gpul_fatbin", parts, count, name);
}

/* What the compiler said, which a fatbin has not: that of the first part. */
static void tell_compiler(gpul_image *image)
{
    const gpul_image *first = image->parts[0];
    image->info.log = first->info.log;
    image->info.nvrtc_major = first->info.nvrtc_major;
    image->info.nvrtc_minor = first->info.nvrtc_minor;
    image->info.nvrtc_path = first->info.nvrtc_path;
    image->diagnostics = first->diagnostics;
    image->diagnostic_count = first->diagnostic_count;
    for (size_t i = 0; i < image->part_count; i++)
        image->info.compile_ns += image->parts[i]->info.compile_ns;
}

static gpul_status compile_parts(gpul_fat_part *parts, const char *source, size_t length,
                                 const char *const *archs, const gpul_compile_opts *opts)
{
    gpul_status status = GPUL_OK;
    for (size_t i = 0; archs[i] && status == GPUL_OK; i++) {
        gpul__arch arch;
        gpul_compile_opts own = opts ? *opts : (gpul_compile_opts){ 0 };
        own.arch = archs[i];
        if (!gpul__arch_parse(&arch, archs[i]))
            return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_compile_fatbin"),
                              "\"%s\" is no architecture such as \"sm_90\" or \"compute_90\"",
                              archs[i]);
        status = gpul_compile(&parts[i].image, source, length, &own);
        parts[i].format = arch.is_virtual ? GPUL_IMAGE_PTX : GPUL_IMAGE_CUBIN;
    }
    return status;
}

gpul_status gpul_compile_fatbin(gpul_image **out, const char *source, size_t length,
                                const char *const *archs, const gpul_compile_opts *opts)
{
    static const char call[] = "gpul_compile_fatbin";
    GPUL__OUT(out, NULL);
    GPUL__NEED(source);
    GPUL__NEED(archs);
    size_t count = 0;
    while (archs[count]) count++;
    if (!count) return gpul__fail(GPUL__ARGS_INVALID, (.call = call), "archs names none");
    if (opts && (opts->arch || opts->device))
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "archs says what to compile for, and the options have %s too",
                          opts->arch ? "arch" : "device");
    gpul_fat_part *parts = gpul__calloc(count, sizeof *parts);
    if (!parts) return gpul__no_memory();
    gpul_status status = compile_parts(parts, source, length, archs, opts);
    if (status == GPUL_OK) status = make(out, call, parts, count, opts ? opts->name : NULL);
    if (status == GPUL_OK) tell_compiler(*out);
    for (size_t i = 0; i < count; i++) gpul_image_free(&parts[i].image);
    gpul__free(parts);
    return status;
}
