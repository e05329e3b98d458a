/* Options of nvcc for NVRTC, and compiling.  SPDX-License-Identifier: MIT */
#include "compiling.h"

#include "files.h"
#include "values.h"

/* ---- Options that are refused or do nothing ---- */

static const struct refused_row {
    option_id id;
    const char *why;
} refused[] = {
    { OPT_XCOMPILER, "is for nvcc's host compiler; there is none here" },
    { OPT_CCBIN, "names nvcc's host compiler; there is none here" },
    { OPT_LIBRARY, "links a host library; nothing is linked here" },
    { OPT_LIBRARY_DIR, "is for linking; nothing is linked here" },
    { OPT_CUDART, "chooses nvcc's runtime library; none is used here" },
    { OPT_PREPROCESS, "prints preprocessed source; NVRTC cannot" },
    { OPT_DEPENDENCIES, "prints dependencies; use gpulaunch compile -MD FILE" },
};

static const struct refused_row ignored[] = {
    { OPT_OPTIMISE, "NVRTC always optimises (-G turns that off)" },
    { OPT_HOST_DEBUG, "there is no host code (-G is for the device, -lineinfo for lines)" },
    { OPT_M64, "device code is always 64-bit here" },
    { OPT_LANGUAGE, "the file is always read as CUDA C++" },
    { OPT_CONSTEXPR, "use -default-device to have constexpr functions on the device" },
    { OPT_WNO, "there is no such warning here" },
};

static bool check_option(const option_use *use)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (refused[i].id != use->id) continue;
        message *m = fail(CODE_COMPILE_OPTION, "%s %s", option_shown(use->row), refused[i].why);
        message_at_span(m, use->name);
        message_hint(
            m, "leave it out; 'gpulaunch help compile-options' lists the nvcc options that work");
        return false;
    }
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (ignored[i].id == use->id)
            inform(CODE_COMPILE_IGNORED, "%s%s ignored: %s", option_shown(use->row),
                   use->value.word && use->row->style == 's' ? use->text
                   : use->value.word                         ? mem_format(" %s", use->text)
                                                             : "",
                   ignored[i].why);
    return true;
}

bool compile_options_check(const element_list *options)
{
    bool good = true;
    for (size_t i = 0; i < options->count; i++) good &= check_option(&options->items[i].use);
    return good;
}

/* ---- Options for the library ---- */

typedef list_of(const char *) text_list;

typedef struct option_lists {
    text_list defines, undefines, dirs, includes, flags;
    bool werror, failed;
} option_lists;

static void add_path(option_lists *lists, text_list *to, const option_use *use)
{
    const char *path = path_resolve(use->value, use->text);
    if (path) *list_add(to) = path;
    else lists->failed = true;
}

static void bad_value(option_lists *lists, const option_use *use, const char *hint)
{
    lists->failed = true;
    message *m = message_at(
        fail(CODE_CLI_VALUE, "%s: \"%s\" is not understood", option_shown(use->row), use->text),
        place_of_option(use));
    message_hint(m, "%s", hint);
}

/* arch=compute_90,code=sm_90: the code when it is one target. */
static const char *gencode_target(const char *value)
{
    const char *code = strstr(value, "code=");
    if (!code) return NULL;
    code += 5;
    if (*code == '[' || strchr(code, ',')) return NULL;
    return code;
}

static void apply(gpul_compile_opts *out, option_lists *lists, const option_use *use)
{
    uint64_t number;
    switch (use->id) {
    case OPT_ARCH:
    case OPT_GPU_ARCH: out->arch = same_text(use->text, "native") ? NULL : use->text; break;
    case OPT_GENCODE:
        out->arch = gencode_target(use->text);
        if (!out->arch)
            bad_value(lists, use,
                      "one target only: -gencode arch=compute_90,code=sm_90, or -arch sm_90");
        break;
    case OPT_STD: out->std = use->text; break;
    case OPT_INCLUDE_DIR:
    case OPT_ISYSTEM: add_path(lists, &lists->dirs, use); break;
    case OPT_INCLUDE: add_path(lists, &lists->includes, use); break;
    case OPT_DEFINE: *list_add(&lists->defines) = use->text; break;
    case OPT_UNDEFINE: *list_add(&lists->undefines) = use->text; break;
    case OPT_LINEINFO: out->line_info = true; break;
    case OPT_DEBUG: out->debug = true; break;
    case OPT_MAXRREG:
        if (value_count(&number, use->text, strlen(use->text)) || number > 255)
            bad_value(lists, use, "-maxrregcount 64   (0 to 255)");
        else out->max_registers = (int)number;
        break;
    case OPT_PTXAS:
    case OPT_XPTXAS:
        if (!*use->text) bad_value(lists, use, "-Xptxas -v");
        else *list_add(&lists->flags) = mem_format("--ptxas-options=%s", use->text);
        break;
    case OPT_FAST_MATH: out->fast_math = true; break;
    case OPT_FTZ:
    case OPT_FMAD:
    case OPT_PREC_DIV:
    case OPT_PREC_SQRT:
    case OPT_RDC:
        if (!same_text(use->text, "true") && !same_text(use->text, "false"))
            bad_value(lists, use,
                      mem_format("-%s=true or -%s=false", use->row->name, use->row->name));
        else *list_add(&lists->flags) = mem_format("-%s=%s", use->row->name, use->text);
        break;
    case OPT_DLTO:
    case OPT_RESTRICT: *list_add(&lists->flags) = mem_format("-%s", use->row->name); break;
    case OPT_INT128:
    case OPT_DEFAULT_DEVICE: *list_add(&lists->flags) = mem_format("--%s", use->row->name); break;
    case OPT_NO_WARNINGS: *list_add(&lists->flags) = "-w"; break;
    case OPT_DIAG: *list_add(&lists->flags) = mem_format("--diag-suppress=%s", use->text); break;
    case OPT_WERROR: lists->werror = true; break;
    case OPT_NO_CACHE: out->no_cache = true; break;
    case OPT_NO_STD_HEADERS: out->no_carried_headers = true; break;
    default: break;
    }
}

/* A list that ends with NULL, or NULL when it is empty. */
static const char *const *ended(text_list *list)
{
    if (!list->count) return NULL;
    *list_add(list) = NULL;
    return list->items;
}

void compile_expressions(compile_job *job, const run_request *request)
{
    for (size_t i = 0; i < request->steps.count; i++) {
        const step_request *s = &request->steps.items[i];
        if (s->kernel && expression_needed(s->kernel)) *list_add(&job->expressions) = s->kernel;
        for (size_t k = 0; k < s->expect_kernels.count; k++) {
            const char *name = s->expect_kernels.items[k].text;
            if (!expression_needed(name)) continue;
            const char *end = strrchr(name, '>');
            *list_add(&job->expressions) =
                mem_copy(name, (size_t)(end ? end - name + 1 : (ptrdiff_t)strlen(name)));
        }
    }
}

/* ---- Compiling ---- */

static void report_warnings(const compile_job *job, const gpul_image *image, bool werror)
{
    plan p = { .source = job->source };
    size_t count = gpul_image_diagnostic_count(image), warnings = 0;
    message *last = NULL;
    for (size_t i = 0; i < count; i++) {
        const gpul_detail *d = gpul_image_diagnostic(image, i);
        const char *line = d->source;
        if (!line && d->file && same_text(d->file, p.source->path))
            line = source_line(p.source, d->line);
        place at = place_source(d->file, d->line, d->column, d->end_column, line);
        if (d->severity == GPUL_NOTE && last) {
            message_note_at(last, at, "%s", d->text);
            continue;
        }
        warnings++;
        last = message_new(werror ? SEVERITY_ERROR : SEVERITY_WARNING,
                           d->code ? d->code : CODE_COMPILE_ERROR, "%s", d->text);
        message_at(last, at);
    }
    if (werror && last)
        message_note(last, "%zu warning%s, and -Werror makes each an error", warnings,
                     warnings == 1 ? "" : "s");
}

/* The place of the option that a message is about. */
static void blame_option(const compile_job *job, message *m)
{
    for (size_t i = 0; i < job->options->count && m->at.kind == PLACE_NONE; i++) {
        const option_use *use = &job->options->items[i].use;
        bool arch =
                 m->code == CODE_COMPILE_ARCH && (use->id == OPT_ARCH || use->id == OPT_GPU_ARCH),
             std = m->code == CODE_COMPILE_OPTION && use->id == OPT_STD && strstr(m->text, "--std"),
             include = m->code == CODE_COMPILE_HEADER && use->id == OPT_INCLUDE &&
                       strstr(m->text, use->text),
             ptxas = m->code == CODE_COMPILE_OPTION && strstr(m->text, "the assembler") &&
                     (use->id == OPT_PTXAS || use->id == OPT_XPTXAS);
        if (arch || std || include || ptxas) message_at(m, place_of_option(use));
        if (std) message_hint(m, "-std c++17; NVRTC takes c++11, c++14, c++17 and c++20");
    }
}

/* Options of the assembler where it did not run. */
static void report_unused(const compile_job *job, const gpul_image *image)
{
    const gpul_image_info *info = gpul_image_describe(image);
    for (size_t i = 0; i < job->options->count && !info->cubin; i++) {
        const option_use *use = &job->options->items[i].use;
        if (use->id == OPT_PTXAS || use->id == OPT_XPTXAS)
            inform(CODE_COMPILE_IGNORED, "%s %s ignored: ptxas did not run, as %s",
                   option_shown(use->row), use->text,
                   info->ltoir ? "LTO-IR was made"
                               : mem_format("PTX only was made (%s)", info->arch));
    }
}

static void count_errors(const compile_job *job, size_t before)
{
    size_t errors = messages_errors() - before;
    message *last = NULL;
    for (size_t i = messages_count(); i-- > 0 && !last;)
        if (messages_at(i)->severity == SEVERITY_ERROR) last = (message *)messages_at(i);
    if (last && errors && last->at.kind == PLACE_SOURCE)
        message_block(last, mem_format("%zu error%s in %s. Nothing was run.", errors,
                                       errors == 1 ? "" : "s", job->source->path));
}

gpul_image *compile_source(compile_job *job)
{
    const source_file *source = job->source;
    gpul_image *image = NULL;
    plan p = { .source = source };
    if (source->is_image) {
        gpul_status status =
            same_text(source->path, "<stdin>")
                ? gpul_image_from_memory(&image, source->text, source->size, source->path)
                : gpul_image_from_file(&image, source->path);
        if (status) library_message(&p);
        return image;
    }
    option_lists lists = { 0 };
    gpul_compile_opts opts = { .line_info = job->line_info, .cache_only = job->cache_only };
    if (job->session) opts.device = job->session->device;
    for (size_t i = 0; i < job->options->count; i++)
        apply(&opts, &lists, &job->options->items[i].use);
    for (size_t i = 0; i < job->more_defines.count; i++)
        *list_add(&lists.defines) = job->more_defines.items[i];
    if (!opts.arch && !job->session) opts.arch = job->arch;
    if (lists.failed || !compile_options_check(job->options)) return NULL;
    if (opts.debug) opts.line_info = false;
    if (job->record) {
        *list_add(&lists.flags) = mem_format("--fdevice-time-trace=%s", job->record);
        opts.no_cache = true;
    }
    opts.defines = ended(&lists.defines);
    opts.undefines = ended(&lists.undefines);
    opts.include_dirs = ended(&lists.dirs);
    opts.includes = ended(&lists.includes);
    opts.flags = ended(&lists.flags);
    if (job->expressions.count) {
        *list_add(&job->expressions) = NULL;
        opts.expressions = job->expressions.items;
    }
    size_t before = messages_errors();
    gpul_status status;
    if (same_text(source->path, "<stdin>")) {
        opts.name = source->path;
        status = gpul_compile(&image, source->text, source->size, &opts);
    } else {
        status = gpul_compile_file(&image, source->path, &opts);
    }
    log_drain(NULL);
    if (status && job->cache_only && gpul_last_error()->code == CODE_CACHE_MISS) return NULL;
    if (status) {
        blame_option(job, library_message(&p));
        count_errors(job, before);
        if (common.verbose && *gpul_last_error()->log)
            fprintf(stderr, "%s\n", gpul_last_error()->log);
        return NULL;
    }
    report_warnings(job, image, lists.werror);
    report_unused(job, image);
    if (common.verbose) {
        const gpul_image_info *info = gpul_image_describe(image);
        if (*info->log) fprintf(stderr, "%s\n", info->log);
    }
    if (lists.werror && messages_errors() > before) {
        count_errors(job, before);
        gpul_image_free(&image);
    }
    return image;
}

bool compile_request(source_file *source, element_list *all, const element_list *elements,
                     const word *file)
{
    directives d = { 0 };
    if (!source_read(source, file)) return false;
    bool use = !option_find(elements, OPT_NO_DIRECTIVES) && !source->is_image;
    if (use && (!directives_read(&d, source, false) ||
                !options_parse(all, d.build.items, d.build.count, CMD_COMPILE)))
        return false;
    for (size_t i = 0; i < elements->count; i++)
        if (same_text(elements->items[i].use.row->group, "compiling"))
            *list_add(all) = elements->items[i];
    return true;
}
