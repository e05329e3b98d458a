/* gpulaunch compile.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <unistd.h>

#include "commands.h"
#include "document.h"
#include "files.h"
#include "compiling.h"

/* What the name of the output asks for. */
static gpul_format wanted_form(const char *path, const gpul_image_info *info)
{
    if (ends_with(path, ".ptx")) return GPUL_IMAGE_PTX;
    if (ends_with(path, ".cubin")) return GPUL_IMAGE_CUBIN;
    if (ends_with(path, ".fatbin")) return GPUL_IMAGE_FATBIN;
    if (same_text(path, "-") && info->ptx) return GPUL_IMAGE_PTX;
    return info->cubin ? GPUL_IMAGE_CUBIN : info->ptx ? GPUL_IMAGE_PTX : GPUL_IMAGE_FATBIN;
}

static bool write_output(const gpul_image *image, const char *path, place at)
{
    const gpul_image_info *info = gpul_image_describe(image);
    gpul_format form = wanted_form(path, info);
    const void *data = form == GPUL_IMAGE_PTX     ? info->ptx
                       : form == GPUL_IMAGE_CUBIN ? info->cubin
                                                  : info->fatbin;
    size_t size = form == GPUL_IMAGE_PTX     ? info->ptx_size
                  : form == GPUL_IMAGE_CUBIN ? info->cubin_size
                                             : info->fatbin_size;
    if (ends_with(path, ".ltoir")) data = NULL;
    if (!data) {
        message *m = message_at(fail(CODE_IMAGE_FORM, "%s: there is no %s of this image", path,
                                     ends_with(path, ".ltoir")  ? "LTO-IR"
                                     : form == GPUL_IMAGE_PTX   ? "PTX"
                                     : form == GPUL_IMAGE_CUBIN ? "machine code"
                                                                : "fatbin"),
                                at);
        message_note(m, "%s", info->choice);
        if (form == GPUL_IMAGE_CUBIN)
            message_hint(m, "-arch sm_90 makes machine code; compute_90 makes PTX only");
        else
            message_hint(m, "-o %.*s.ptx or -o %.*s.cubin", (int)strcspn(path, "."), path,
                         (int)strcspn(path, "."), path);
        return false;
    }
    output out;
    const char *why = NULL;
    bool good = output_open(&out, path, &why);
    if (good) {
        fwrite(data, 1, size, out.stream);
        good = output_close(&out, &why);
    }
    if (!good) message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", path, why), at);
    else if (summary_stream && !same_text(path, "-"))
        fprintf(summary_stream, "%s  %zu bytes of %s for %s\n", path, size,
                form == GPUL_IMAGE_PTX ? "PTX" : "machine code", *info->arch ? info->arch : "?");
    return good;
}

static const char *default_output(const source_file *source, const gpul_image_info *info)
{
    const char *slash = strrchr(source->path, '/'), *base = slash ? slash + 1 : source->path;
    if (same_text(source->path, "<stdin>")) return "-";
    const char *dot = strrchr(base, '.');
    return mem_format("%.*s.%s", (int)(dot ? (size_t)(dot - base) : strlen(base)), base,
                      info->cubin ? "cubin" : "ptx");
}

/* The headers are found by their names in the source: NVRTC has no list of what it read. */
static bool write_dependencies(const source_file *source, const option_use *use, const char *target)
{
    output out;
    const char *why = NULL;
    if (!output_open(&out, use->text, &why)) {
        message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", use->text, why),
                   place_of_option(use));
        return false;
    }
    fprintf(out.stream, "%s: %s", target, source->path);
    for (unsigned i = 1; i <= source->lines.count; i++) {
        char name[512];
        if (sscanf(source_line(source, i), " # include \"%511[^\"]\"", name) != 1) continue;
        const char *path = mem_format("%s%s", source->folder, name);
        if (access(path, R_OK) == 0) fprintf(out.stream, " \\\n  %s", path);
    }
    fputc('\n', out.stream);
    if (output_close(&out, &why)) return true;
    message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", use->text, why),
               place_of_option(use));
    return false;
}

int cmd_compile(element_list *elements)
{
    const word *file = take_word(elements);
    if (!file) {
        need_file("compile");
        return 0;
    }
    source_file source;
    element_list all = { 0 };
    session s = { 0 };
    if (!no_more_words(elements) || !compile_request(&source, &all, elements, file)) return 0;
    const option_use *device = option_find(elements, OPT_DEVICE),
                     *out = option_find(elements, OPT_OUT), *md = option_find(elements, OPT_MD);
    if (device && !session_open(&s, device, false)) return 0;
    compile_job job = { .source = &source, .options = &all, .session = device ? &s : NULL };
    gpul_image *image = compile_source(&job);
    bool good = image != NULL;
    if (good) {
        document_image(image);
        if (!option_find(elements, OPT_SYNTAX_ONLY)) {
            const char *path =
                out ? out->text : default_output(&source, gpul_image_describe(image));
            if (same_text(path, "-") && summary_stream) summary_stream = stderr;
            good = write_output(image, path, out ? place_of_option(out) : (place){ 0 });
            if (good && md) good = write_dependencies(&source, md, path);
        }
    }
    gpul_image_free(&image);
    session_close(&s);
    return messages_status();
}
