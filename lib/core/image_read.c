/* Images from bytes and files: the kind is told by content.  SPDX-License-Identifier: MIT */
#include "core/image_read.h"

#include "base/error.h"
#include "base/file.h"
#include "core/cubin.h"
#include "core/signature.h"

#include <ctype.h>
#include <string.h>
#include <sys/stat.h>

static gpul_status fail_empty(const char *name, const char *what, uint64_t has, uint64_t wants)
{
    if (wants > has)
        return gpul__fail(GPUL__IMAGE_EMPTY, (.call = "gpul_image_from_memory"),
                          "%s is cut off: %s of %llu bytes, of which %llu are there", name, what,
                          (unsigned long long)wants, (unsigned long long)has);
    return gpul__fail(GPUL__IMAGE_EMPTY, (.call = "gpul_image_from_memory"),
                      "%s is cut off or damaged: %s whose tables do not fit together", name, what);
}

/* A few words on what the bytes are instead, for people who gave the wrong file. */
static const char *guess(const unsigned char *bytes, size_t size)
{
    if (size >= 20 && memcmp(bytes,
                             "\x7f"
                             "ELF",
                             4) == 0)
        return "an ELF file for the host (an executable, object or library)";
    if (size >= 2 && memcmp(bytes, "PK", 2) == 0) return "a zip file";
    if (size >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b) return "a gzip file";
    if (size >= 4 && memcmp(bytes, "BC\xc0\xde", 4) == 0) return "LLVM bitcode";
    if (size >= 4 && memcmp(bytes, "\xed\x43\x4e\x7f", 4) == 0)
        return "LTO-IR, which must be linked first";
    if (memmem(bytes, size, "__global__", 10)) return "CUDA source: compile it";
    for (size_t i = 0; i < size; i++)
        if (bytes[i] < 0x20 && !isspace(bytes[i])) return "bytes of an unknown kind";
    return "text, but no PTX: it has no .version line";
}

/* PTX begins with comments and blanks, then ".version". */
static bool is_ptx(const char *text, size_t size)
{
    const char *at = text, *end = text + size;
    while (at < end) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (end - at > 1 && at[0] == '/' && at[1] == '/') {
            const char *line = memchr(at, '\n', (size_t)(end - at));
            if (!line) return false;
            at = line + 1;
        } else if (end - at > 1 && at[0] == '/' && at[1] == '*') {
            const char *close = memmem(at + 2, (size_t)(end - at - 2), "*/", 2);
            if (!close) return false;
            at = close + 2;
        } else {
            return end - at > 8 && memcmp(at, ".version", 8) == 0;
        }
    }
    return false;
}

void gpul__image_set_ptx_facts(gpul_image *image, const ptx_signature *ptx)
{
    if (!ptx) return;
    image->info.ptx_major = (int)ptx->version_major;
    image->info.ptx_minor = (int)ptx->version_minor;
    image->ptx_target = (gpul__arch){ .number = (int)ptx->target_sm, .suffix = ptx->target_suffix };
}

static bool set_arch_text(gpul_image *image, gpul__arch arch)
{
    char text[24];
    if (!arch.number) return true;
    gpul__arch_text(text, arch);
    image->info.arch = gpul__arena_strndup(&image->arena, text, strlen(text));
    return image->info.arch != NULL;
}

static gpul_status read_ptx(gpul_image *image, const void *data, size_t size)
{
    image->ptx = gpul__strndup(data, size);
    if (!image->ptx) return gpul__no_memory();
    image->info.ptx = image->ptx;
    image->info.ptx_size = strlen(image->ptx);
    ptx_diags diags = { 0 };
    ptx_signature *ptx = NULL;
    ptx_status status = ptx_signature_read(&ptx, image->ptx, image->info.ptx_size, &diags);
    bool ok = status != PTX_OUT_OF_MEMORY;
    gpul__signature_input input = { .ptx = ptx };
    if (ok && ptx) {
        gpul__image_set_ptx_facts(image, ptx);
        image->arch = image->ptx_target;
        image->arch.is_virtual = true;
        ok = gpul__signature_build(image, &input) && set_arch_text(image, image->ptx_target);
    }
    /* PTX that is not understood is kept: the driver may know more, and says what is wrong. */
    if (ok && !ptx && diags.count) {
        image->diagnostics =
            gpul__arena_alloc(&image->arena, diags.count * sizeof *image->diagnostics);
        ok = image->diagnostics != NULL;
        for (size_t i = 0; ok && i < diags.count; i++) {
            const ptx_diag *d = &diags.items[i];
            const char *text = gpul__arena_strndup(&image->arena, d->text, strlen(d->text));
            ok = text != NULL;
            image->diagnostics[i] = (gpul_detail){ .severity = GPUL_WARNING,
                                                   .file = image->info.name,
                                                   .line = d->line,
                                                   .column = d->column,
                                                   .text = text };
            if (ok) image->diagnostic_count++;
        }
    }
    ptx_signature_free(ptx);
    ptx_diags_free(&diags);
    image->info.choice = "PTX as given";
    return ok ? GPUL_OK : gpul__no_memory();
}

static gpul_status read_cubin(gpul_image *image, const void *data, size_t size)
{
    gpul__cubin cubin;
    uint64_t whole;
    gpul__arena scratch = { 0 };
    gpul__read read = gpul__cubin_read(&cubin, &scratch, data, size, &whole);
    gpul_status status = GPUL_OK;
    if (read == GPUL__READ_CUT) {
        status = fail_empty(image->info.name, "a CUBIN", size, whole);
    } else if (read == GPUL__READ_FOREIGN) {
        status =
            gpul__fail(GPUL__IMAGE_UNKNOWN, (.call = "gpul_image_from_memory"),
                       "%s is no PTX, CUBIN or fatbin but %s", image->info.name, guess(data, size));
    } else if (read == GPUL__READ_OK) {
        gpul__signature_input input = { .cubin = &cubin };
        image->cubin = gpul__malloc(size);
        if (image->cubin) memcpy(image->cubin, data, size);
        image->info.cubin = image->cubin;
        image->info.cubin_size = size;
        image->arch = cubin.arch;
        image->info.choice = cubin.is_relocatable
                                 ? "relocatable CUBIN as given: it must be linked first"
                                 : "CUBIN as given";
        if (!image->cubin || !gpul__signature_build(image, &input) ||
            !set_arch_text(image, image->arch))
            status = gpul__no_memory();
    } else {
        status = gpul__no_memory();
    }
    gpul__arena_free(&scratch);
    return status;
}

static gpul_status read_fatbin(gpul_image *image, const void *data, size_t size)
{
    image->fatbin = gpul__malloc(size);
    if (!image->fatbin) return gpul__no_memory();
    memcpy(image->fatbin, data, size);
    image->info.fatbin = image->fatbin;
    image->info.fatbin_size = size;
    uint64_t whole;
    gpul__read read = gpul__fatbin_read(&image->entries, &image->entry_count, &image->arena,
                                        image->fatbin, size, &whole);
    if (read == GPUL__READ_NO_MEMORY) return gpul__no_memory();
    if (read != GPUL__READ_OK) return fail_empty(image->info.name, "a fatbin", size, whole);
    gpul__str list = { 0 };
    const gpul__fat_entry *best = NULL;
    for (size_t i = 0; i < image->entry_count; i++) {
        const gpul__fat_entry *entry = &image->entries[i];
        char arch[24];
        gpul__str_printf(&list, "%s%s %s%s", i ? ", " : "fatbin as given: ",
                         entry->format == GPUL_IMAGE_PTX     ? "PTX"
                         : entry->format == GPUL_IMAGE_CUBIN ? "CUBIN"
                                                             : "other",
                         gpul__arch_text(arch, entry->arch),
                         entry->compressed ? " (compressed)" : "");
        /* Kernels are read from the form that says most about them. */
        if (entry->compressed || entry->format == GPUL_IMAGE_AUTO) continue;
        if (!best || (entry->format == GPUL_IMAGE_PTX && best->format != GPUL_IMAGE_PTX))
            best = entry;
    }
    if (!image->entry_count) gpul__str_add(&list, "fatbin as given: it is empty");
    image->info.choice =
        list.failed ? NULL : gpul__arena_strndup(&image->arena, gpul__str_text(&list), list.length);
    gpul__str_free(&list);
    if (!image->info.choice) return gpul__no_memory();
    if (!best) return GPUL_OK;
    image->arch = best->arch;
    if (!set_arch_text(image, best->arch)) return gpul__no_memory();
    gpul__signature_input input = { 0 };
    gpul__cubin cubin;
    gpul__arena scratch = { 0 };
    ptx_signature *ptx = NULL;
    ptx_diags diags = { 0 };
    bool ok = true;
    if (best->format == GPUL_IMAGE_PTX) {
        ok = ptx_signature_read(&ptx, best->data, best->size, &diags) != PTX_OUT_OF_MEMORY;
        input.ptx = ptx;
    } else {
        read = gpul__cubin_read(&cubin, &scratch, best->data, best->size, NULL);
        ok = read != GPUL__READ_NO_MEMORY;
        if (read == GPUL__READ_OK) input.cubin = &cubin;
    }
    if (ok && (input.ptx || input.cubin)) ok = gpul__signature_build(image, &input);
    ptx_signature_free(ptx);
    ptx_diags_free(&diags);
    gpul__arena_free(&scratch);
    return ok ? GPUL_OK : gpul__no_memory();
}

/* What nvcc puts around a fatbin in an executable: a pointer to it. */
struct wrapper {
    uint32_t magic, version;
    const void *data, *unused;
};

static gpul_status read_bytes(gpul_image *image, const void *data, size_t size)
{
    uint32_t magic = 0;
    if (size >= sizeof magic) memcpy(&magic, data, sizeof magic);
    if (size == 0)
        return gpul__fail(GPUL__IMAGE_EMPTY, (.call = "gpul_image_from_memory"), "%s is empty",
                          image->info.name);
    if (memcmp(data,
               "\x7f"
               "ELF",
               size < 4 ? size : 4) == 0)
        return read_cubin(image, data, size);
    if (magic == GPUL__FATBIN_MAGIC) return read_fatbin(image, data, size);
    if (is_ptx(data, size)) return read_ptx(image, data, size);
    return gpul__fail(GPUL__IMAGE_UNKNOWN, (.call = "gpul_image_from_memory"),
                      "%s is no PTX, CUBIN or fatbin but %s", image->info.name, guess(data, size));
}

static gpul_status make(gpul_image **out, const void *data, size_t size, const char *name)
{
    gpul_image *image = gpul__image_new();
    if (!image) return gpul__no_memory();
    image->info.name = gpul__arena_strndup(&image->arena, name, strlen(name));
    gpul_status status = image->info.name ? read_bytes(image, data, size) : gpul__no_memory();
    if (status) gpul_image_free(&image);
    *out = image;
    return status;
}

gpul_status gpul_image_from_memory(gpul_image **out, const void *data, size_t size,
                                   const char *name)
{
    if (!out) return gpul__fail(GPUL__ARGS_NULL, (0), "out is NULL");
    *out = NULL;
    if (!data) return gpul__fail(GPUL__ARGS_NULL, (0), "data is NULL");
    struct wrapper wrapper;
    if (size == sizeof wrapper && ((uintptr_t)data & 3) == 0) {
        memcpy(&wrapper, data, sizeof wrapper);
        if (wrapper.magic == GPUL__FATBIN_WRAPPER && wrapper.data) {
            uint16_t head_size;
            uint64_t body;
            memcpy(&head_size, (const char *)wrapper.data + 6, sizeof head_size);
            memcpy(&body, (const char *)wrapper.data + 8, sizeof body);
            data = wrapper.data;
            size = head_size + (size_t)body;
        }
    }
    return make(out, data, size, name ? name : "image");
}

gpul_status gpul_image_from_file(gpul_image **out, const char *path)
{
    if (!out) return gpul__fail(GPUL__ARGS_NULL, (0), "out is NULL");
    *out = NULL;
    if (!path) return gpul__fail(GPUL__ARGS_NULL, (0), "path is NULL");
    struct stat file;
    if (stat(path, &file) == 0 && S_ISDIR(file.st_mode))
        return gpul__fail(GPUL__FILE_OPEN, (.call = "open"), "%s is a folder, not an image", path);
    char *text;
    size_t size;
    gpul_status status = gpul__file_read(&text, &size, path);
    if (status) return status;
    status = make(out, text, size, path);
    gpul__free(text);
    return status;
}
