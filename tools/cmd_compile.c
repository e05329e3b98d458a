/* gpulaunch compile.  SPDX-License-Identifier: MIT */
#include "commands.h"
#include "document.h"
#include "files.h"
#include "dependencies.h"

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
    bool lto = ends_with(path, ".ltoir");
    if (lto) {
        data = info->ltoir;
        size = info->ltoir_size;
    }
    if (!data) {
        message *m = message_at(fail(CODE_IMAGE_FORM, "%s: there is no %s of this image", path,
                                     lto                        ? "LTO-IR"
                                     : form == GPUL_IMAGE_PTX   ? "PTX"
                                     : form == GPUL_IMAGE_CUBIN ? "machine code"
                                                                : "fatbin"),
                                at);
        message_note(m, "%s", info->choice);
        if (lto) message_hint(m, "-dlto makes LTO-IR");
        else if (form == GPUL_IMAGE_CUBIN)
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
                lto                      ? "LTO-IR"
                : form == GPUL_IMAGE_PTX ? "PTX"
                                         : "machine code",
                *info->arch ? info->arch : "?");
    return good;
}

static const char *default_output(const source_file *source, const gpul_image_info *info)
{
    const char *slash = strrchr(source->path, '/'), *base = slash ? slash + 1 : source->path;
    if (same_text(source->path, "<stdin>")) return "-";
    const char *dot = strrchr(base, '.');
    return mem_format("%.*s.%s", (int)(dot ? (size_t)(dot - base) : strlen(base)), base,
                      info->cubin   ? "cubin"
                      : info->ltoir ? "ltoir"
                                    : "ptx");
}

/* -MD FILE or, in nvcc's words, -MD -MF FILE. */
static bool dependency_option(const element_list *elements, const option_use **out)
{
    const option_use *md = option_find(elements, OPT_MD), *mf = option_find(elements, OPT_MF);
    *out = mf ? mf : md;
    if (!*out || (md && *(*out)->text)) return true;
    message *m = mf ? fail(CODE_CLI_VALUE, "-MF names the file of -MD, which is not given")
                    : fail(CODE_CLI_VALUE, "-MD needs a value");
    message_at_span(m, (*out)->name);
    message_hint(m, "-MD FILE");
    return false;
}

/* The image; with dependencies also what the compiler read for it. */
static gpul_image *compile_recorded(compile_job *job, header_record *record, const option_use *md)
{
    if (md && !job->source->is_image && !record_begin(record)) return NULL;
    job->record = record->file;
    gpul_image *image = compile_source(job);
    if (!image && record->file && strstr(gpul_last_error()->log, record->folder))
        record_unknown(md);
    return image;
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
    const option_use *device = option_find(elements, OPT_DEVICE),
                     *out = option_find(elements, OPT_OUT), *md;
    if (!no_more_words(elements) || !dependency_option(elements, &md) ||
        !compile_request(&source, &all, elements, file))
        return 0;
    if (device && !session_open(&s, device, false)) return 0;
    compile_job job = { .source = &source, .options = &all, .session = device ? &s : NULL };
    header_record record = { 0 };
    gpul_image *image = compile_recorded(&job, &record, md);
    if (image) {
        document_image(image);
        const char *path = out ? out->text : default_output(&source, gpul_image_describe(image));
        bool good = true;
        if (!option_find(elements, OPT_SYNTAX_ONLY)) {
            if (same_text(path, "-") && summary_stream) summary_stream = stderr;
            good = write_output(image, path, out ? place_of_option(out) : (place){ 0 });
        }
        if (good && md) write_dependencies(&record, &source, md, path);
    }
    record_end(&record);
    gpul_image_free(&image);
    session_close(&s);
    return messages_status();
}
