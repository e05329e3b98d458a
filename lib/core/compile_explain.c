/* From the compiler's messages to the error record: the cause first, what follows from it counted, and
 * places in what the user wrote.  SPDX-License-Identifier: MIT */
#include "core/compile.h"

#include "base/error.h"
#include "core/signature_name.h"
#include "core/signature_types.h"

#include <ctype.h>
#include <string.h>

/* Errors that have one cause; `lead` is the one that tells it. */
struct cause {
    const gpul__log_entry *lead;
    size_t followers;
};

struct causes {
    struct cause *items;
    size_t count, capacity;
};

/* `identifier "x" is undefined`: x, in the arena; NULL when the message is another. */
static const char *undefined_name(gpul__arena *arena, const gpul__log_entry *e)
{
    const char *start = strstr(e->text, "identifier \"");
    const char *end = start ? strstr(start, "\" is undefined") : NULL;
    if (!end) return NULL;
    start += strlen("identifier \"");
    return gpul__arena_strndup(arena, start, (size_t)(end - start));
}

static bool is_standard_type(const char *name)
{
    static const char *const names[] = { "int8_t",   "uint8_t",   "int16_t",  "uint16_t",
                                         "int32_t",  "uint32_t",  "int64_t",  "uint64_t",
                                         "intptr_t", "uintptr_t", "intmax_t", "uintmax_t",
                                         "uint",     "ushort",    "ulong",    "ssize_t",
                                         "nullptr_t" };
    for (size_t i = 0; name && i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return false;
}

/* What the compiler says of a declaration whose type it does not know. */
static bool is_misleading(const char *text)
{
    return strstr(text, "does not apply here") || strstr(text, "host variables are not allowed") ||
           strstr(text, "incomplete type \"void\"") || strstr(text, "expected a") ||
           strstr(text, "type name is not allowed") || strstr(text, "missing explicit type");
}

static bool in_one_declaration(const gpul__compile *c, const gpul__log_entry *a,
                               const gpul__log_entry *b)
{
    if (!a->file || !b->file || strcmp(a->file, b->file) != 0) return false;
    if (a->line == b->line) return true;
    if (strcmp(a->file, c->source.name) != 0) return false;
    for (size_t i = 0; i < c->scan.count; i++) {
        const gpul__decl *decl = &c->scan.decls[i];
        if (decl->kind != GPUL__DECLARED_FUNCTION || decl->file) continue;
        uint32_t first = gpul__source_line(&c->source, c->tokens.items[decl->first].offset);
        uint32_t last = gpul__source_line(&c->source, c->tokens.items[decl->end - 1].offset);
        if (a->line >= first && a->line <= last && b->line >= first && b->line <= last) return true;
    }
    return false;
}

static bool follows(gpul__compile *c, const gpul__log_entry *lead, const gpul__log_entry *e)
{
    const char *undefined = undefined_name(&c->arena, lead), *own = undefined_name(&c->arena, e);
    if (undefined && own && strcmp(undefined, own) == 0) return true;
    bool same_line =
        lead->file && e->file && strcmp(lead->file, e->file) == 0 && lead->line == e->line;
    if (is_standard_type(undefined)) return in_one_declaration(c, lead, e);
    /* Two unknown names in one line are two mistakes, everything else there is a cascade. */
    if (same_line) return !(undefined && own);
    return lead->file && e->file && strcmp(lead->text, e->text) == 0 && lead->line == e->line;
}

static bool group(gpul__compile *c, const gpul__log_list *log, struct causes *out)
{
    for (size_t i = 0; i < log->count; i++) {
        const gpul__log_entry *e = &log->items[i];
        if (e->severity != GPUL_ERROR || e->origin == GPUL__LOG_REST || gpul__probe_is_own(e))
            continue;
        struct cause *cause = NULL;
        for (size_t k = 0; k < out->count && !cause; k++)
            if (follows(c, out->items[k].lead, e)) cause = &out->items[k];
        const char *undefined = undefined_name(&c->arena, e);
        /* The unknown type behind misleading messages of the same declaration takes their place. */
        for (size_t k = 0; k < out->count && is_standard_type(undefined); k++)
            if (is_misleading(out->items[k].lead->text) &&
                in_one_declaration(c, out->items[k].lead, e)) {
                cause = &out->items[k];
                cause->lead = e;
            }
        if (!cause && undefined && out->count &&
            is_misleading(out->items[out->count - 1].lead->text) &&
            out->items[out->count - 1].lead->line == e->line) {
            cause = &out->items[out->count - 1];
            cause->lead = e;
        }
        if (cause && undefined && is_misleading(cause->lead->text) && cause->lead->line == e->line)
            cause->lead = e;
        if (cause) {
            cause->followers++;
            continue;
        }
        if (!gpul__grow(&out->items, &out->capacity, out->count, sizeof *out->items)) return false;
        out->items[out->count++] = (struct cause){ e, 0 };
    }
    return true;
}

static const char *line_of_source(gpul__compile *c, const gpul__log_entry *e)
{
    size_t length;
    if (!e->file || strcmp(e->file, c->source.name) != 0) return e->source;
    const char *text = gpul__source_line_text(&c->source, e->line, &length);
    return text ? gpul__arena_strndup(&c->arena, text, length) : e->source;
}

static void add_detail(gpul__compile *c, const gpul__log_entry *e, const char *text, int code)
{
    if (!text) return;
    gpul__detail(&(gpul_detail){ .severity = e->severity,
                                 .code = code,
                                 .file = e->file,
                                 .line = e->line,
                                 .column = e->column,
                                 .end_column = e->end_column,
                                 .text = text,
                                 .source = line_of_source(c, e) });
}

/* A detail at the name of a declaration. */
static void add_decl(gpul__compile *c, const gpul__decl *decl, gpul_severity severity,
                     const char *text)
{
    gpul__place place = gpul__place_of(&c->files, &c->tokens, decl->name, decl->name + 1);
    const char *line = gpul__arena_strndup(&c->arena, place.text, place.length);
    if (text)
        gpul__detail(&(gpul_detail){ .severity = severity,
                                     .file = place.file,
                                     .line = place.line,
                                     .column = place.column,
                                     .end_column = place.end_column,
                                     .text = text,
                                     .source = line });
}

/* All causes with what follows from each. */
static void add_causes(gpul__compile *c, const struct causes *causes, const char *first_text)
{
    for (size_t i = 0; i < causes->count; i++) {
        const gpul__log_entry *e = causes->items[i].lead;
        add_detail(c, e, i == 0 && first_text ? first_text : e->text, 0);
        if (e->more)
            for (const char *line = e->more; line && *line;) {
                size_t length = strcspn(line, "\n");
                const char *copy = gpul__arena_strndup(&c->arena, line, length);
                if (copy) gpul__note("%s", copy);
                line += length + (line[length] == '\n');
            }
        if (causes->items[i].followers)
            gpul__note("%zu further error%s follow%s from this one; the log has them",
                       causes->items[i].followers, causes->items[i].followers == 1 ? "" : "s",
                       causes->items[i].followers == 1 ? "s" : "");
    }
}

#define FAIL(code, c, run, ...)                                                                    \
    gpul__fail(code,                                                                               \
               (.call = (run)->call ? (run)->call : "nvrtcCompileProgram",                         \
                .native_kind = GPUL_NATIVE_NVRTC, .native = (run)->result, .log = (run)->log),     \
               __VA_ARGS__)

/* ---- One kind of trouble each ---- */

static gpul_status explain_header(gpul__compile *c, const gpul__run *run, struct causes *causes)
{
    const gpul__log_entry *e = causes->items[0].lead;
    const char *open = strchr(e->text, '"'), *close = open ? strchr(open + 1, '"') : NULL;
    const char *name =
        close ? gpul__arena_strndup(&c->arena, open + 1, (size_t)(close - open - 1)) : "?";
    if (!name) return gpul__no_memory();
    /* The compiler's caret stands behind the line; the name is what it means. */
    gpul__log_entry placed = *e;
    const char *line = line_of_source(c, e), *at = line ? strstr(line, name) : NULL;
    if (at) {
        placed.column = gpul__characters(line, (size_t)(at - line)) + 1;
        placed.end_column = placed.column + gpul__characters(name, strlen(name));
        causes->items[0].lead = e = &placed;
    }
    size_t length = strlen(name);
    const gpul__carried_header *carried = gpul__carried_find(name);
    if (gpul__is_host_header(name, length)) {
        FAIL(GPUL__COMPILE_HOST_HEADER, c, run,
             "<%s> is a host library; it does not exist on the device", name);
        add_causes(c, causes, gpul_last_error()->message);
        return gpul__hint("drop it, or put it between #ifndef __CUDACC_RTC__ and #endif; nvcc will "
                          "still see it");
    }
    FAIL(GPUL__COMPILE_HEADER, c, run, "cannot find \"%s\"%s", name,
         carried ? ": NVRTC has no C or C++ library headers of its own" : "");
    add_causes(c, causes, gpul_last_error()->message);
    gpul__str list = { 0 };
    for (size_t i = 0; i < c->searched.count; i++)
        gpul__str_printf(&list, "%s%s", i ? ", " : "", c->searched.items[i]);
    gpul__note("searched: %s", gpul__str_text(&list));
    gpul__str_free(&list);
    if (c->bundled_why) gpul__note("%s", c->bundled_why);
    if (carried)
        return gpul__hint(
            "the library carries this header: leave no_carried_headers off; or drop the line, "
            "or guard it with #ifndef __CUDACC_RTC__");
    if (gpul__starts(name, "cuda") || gpul__starts(name, "cub/") ||
        gpul__starts(name, "cooperative") || gpul__starts(name, "mma") ||
        gpul__starts(name, "curand"))
        return gpul__hint(
            "it belongs to the CUDA toolkit's headers: name the toolkit in CUDA_PATH, or "
            "install NVIDIA's Python packages nvidia-cuda-runtime and nvidia-cuda-cccl");
    return gpul__hint("add the folder that holds it to the include folders (-I DIR)");
}

static gpul_status explain_type(gpul__compile *c, const gpul__run *run, const struct causes *causes,
                                const char *type)
{
    FAIL(GPUL__COMPILE_TYPE, c, run, "type '%s' is not declared", type);
    add_causes(c, causes, gpul_last_error()->message);
    gpul__note("NVRTC declares no <stdint.h> types by itself");
    if (c->opts->no_carried_headers)
        return gpul__hint(
            "declare the type, or add #include <stdint.h> and leave no_carried_headers off");
    return gpul__hint("add  #include %s  as the first line; gpulaunch carries that header",
                      strcmp(type, "uint") == 0 || strcmp(type, "ushort") == 0 ||
                              strcmp(type, "ulong") == 0 || strcmp(type, "ssize_t") == 0
                          ? "<stdlib.h>"
                      : strcmp(type, "nullptr_t") == 0 ? "<stddef.h>"
                                                       : "<stdint.h>");
}

/* Which of the caller's expressions a message of the name map is about. */
static const char *expression_of(const gpul__compile *c, const gpul__log_list *log,
                                 const gpul__log_entry *e)
{
    static const char mark[] = "nv_mangled_name ", input[] = "Input name expression was: \"";
    const char *text = e->source ? strstr(e->source, mark) : NULL;
    if (text) text += sizeof mark - 1;
    for (const gpul__log_entry *later = e; !text && later < log->items + log->count; later++)
        if (later->text && (text = strstr(later->text, input))) text += sizeof input - 1;
    for (const char *const *x = c->opts->expressions; x && *x; x++) {
        if (!text) return *x;
        char plain[512];
        size_t length = strcspn(text, "\"");
        if (length >= sizeof plain) continue;
        memcpy(plain, text, length);
        plain[length] = 0;
        if (gpul__same_name(plain, *x)) return *x;
    }
    return c->opts->expressions && *c->opts->expressions ? *c->opts->expressions : "?";
}

static gpul_status explain_expression(gpul__compile *c, const gpul__run *run,
                                      const gpul__log_list *log, const gpul__log_entry *e)
{
    const char *expression = expression_of(c, log, e);
    FAIL(GPUL__COMPILE_EXPRESSION, c, run, "the name expression \"%s\" names no kernel: %s",
         expression, e->text);
    size_t length, plain_length;
    const char *last = gpul__last_part(expression, &length), *hint = NULL;
    while (length && *last == '&') last++, length--;
    for (size_t i = 0; i < c->scan.count; i++) {
        const gpul__decl *decl = &c->scan.decls[i];
        if (decl->kind != GPUL__DECLARED_FUNCTION || !decl->is_global ||
            decl->name == GPUL__NO_TOKEN || !decl->has_body)
            continue;
        const gpul__token *token = &c->tokens.items[decl->name];
        const char *name = c->tokens.text + token->offset;
        add_decl(c, decl, GPUL_NOTE,
                 gpul__arena_printf(&c->arena, "%s%.*s%s", decl->scope, (int)token->length, name,
                                    decl->is_template ? ", a template: name its arguments" : ""));
        plain_length = token->length;
        if (plain_length != length || memcmp(name, last, length) != 0) continue;
        bool has_arguments = last[length] == '<';
        hint = gpul__arena_printf(&c->arena, "write %s%.*s%s", decl->scope, (int)plain_length, name,
                                  has_arguments       ? last + length
                                  : decl->is_template ? "<...>, with its arguments"
                                                      : "");
        /* The name was right, so the arguments are not. */
        if (hint && gpul__same_name(hint + strlen("write "), expression)) {
            const gpul__token *from = &c->tokens.items[decl->template_first];
            const gpul__token *to = &c->tokens.items[decl->template_end - 1];
            const char *example =
                decl->is_template ? gpul__template_example(&c->arena, &c->tokens, decl) : NULL;
            hint = example && *example
                       ? gpul__arena_printf(&c->arena,
                                            "its arguments are <%.*s>: write for instance %s",
                                            (int)(to->offset + to->length - from->offset),
                                            c->tokens.text + from->offset, example)
                       : NULL;
        }
    }
    return hint ? gpul__hint("%s", hint)
                : gpul__hint("write the whole name with its namespaces and arguments");
}

bool gpul__compile_is_host_trouble(const gpul__run *run)
{
    return run->result == NVRTC_ERROR_COMPILATION && run->log &&
           (strstr(run->log, "not allowed in JIT mode") ||
            strstr(run->log, "cannot open source file") ||
            strstr(run->log, "could not open source file"));
}

static gpul_status explain_host(gpul__compile *c, const gpul__run *run, const struct causes *causes)
{
    const gpul__log_entry *e = causes->items[0].lead;
    bool kernels = false;
    for (size_t i = 0; i < c->scan.count; i++) kernels |= c->scan.decls[i].is_global;
    if (!kernels && c->host.found) return gpul__compile_fail_empty(c, run->log);
    bool variable = strstr(e->text, "host variable") != NULL;
    const char *source = line_of_source(c, e);
    const char *name = "this";
    if (e->column && e->end_column > e->column && source) {
        size_t byte = e->byte_column - 1, length = 0;
        while (isalnum((unsigned char)source[byte + length]) || source[byte + length] == '_')
            length++;
        name = gpul__arena_strndup(&c->arena, source + byte, length);
    } else {
        for (size_t i = 0; i < c->scan.count; i++) {
            const gpul__decl *decl = &c->scan.decls[i];
            if (decl->name != GPUL__NO_TOKEN && !decl->file &&
                gpul__source_line(&c->source, c->tokens.items[decl->name].offset) == e->line)
                name = gpul__token_text(&c->arena, &c->tokens, decl->name);
        }
    }
    FAIL(GPUL__COMPILE_ERROR, c, run,
         "%s is a host %s, as it has no __device__: NVRTC compiles device code only",
         name ? name : "this", variable ? "variable" : "function");
    add_causes(c, causes, gpul_last_error()->message);
    if (c->host.found && c->host.name && name && strcmp(name, c->host.name) != 0)
        gpul__note("the file has more host code: %s", c->host.name);
    return gpul__hint("put __device__ before it, or compile with the option -default-device "
                      "(--device-as-default-execution-space)");
}

/* ---- The assembler ---- */

/* "Entry function '_Z1kPi' uses ...": with the kernel's name as it is written. */
static const char *demangle_text(gpul__compile *c, const char *text, const char **symbol)
{
    const char *open = strchr(text, '\''), *close = open ? strchr(open + 1, '\'') : NULL;
    *symbol = NULL;
    if (!close) return text;
    gpul__demangled name;
    *symbol = gpul__arena_strndup(&c->arena, open + 1, (size_t)(close - open - 1));
    if (!*symbol || !gpul__demangle(&name, &c->arena, *symbol)) return NULL;
    return gpul__arena_printf(&c->arena, "%.*s'%s%s", (int)(open - text), text, name.name, close);
}

static gpul_status explain_assembler(gpul__compile *c, const gpul__run *run,
                                     const struct causes *causes)
{
    const char *symbol, *text = demangle_text(c, causes->items[0].lead->text, &symbol);
    if (!text) return gpul__no_memory();
    if (gpul__starts(text, "Unknown option")) {
        FAIL(GPUL__COMPILE_OPTION, c, run, "the assembler refuses an option: %s", text);
        return gpul__hint("options behind -Xptxas or --ptxas-options= are ptxas's own");
    }
    /* ptxas counts a program's errors in a last line of its own, which says nothing. */
    FAIL(GPUL__COMPILE_PTXAS, c, run, "the assembler refuses the code: %s", text);
    for (size_t i = 0; i < causes->count; i++) {
        const gpul__log_entry *e = causes->items[i].lead;
        if (strstr(e->text, "aborted due to errors")) continue;
        gpul_detail detail = { .severity = GPUL_ERROR, .text = demangle_text(c, e->text, &symbol) };
        if (!detail.text) return gpul__no_memory();
        if (e->line && !gpul__compile_place_ptx(c, e->line, &detail)) return gpul__no_memory();
        gpul__demangled name;
        if (!e->line && symbol && gpul__demangle(&name, &c->arena, symbol))
            for (size_t k = 0; k < c->scan.count; k++) {
                const gpul__decl *decl = &c->scan.decls[k];
                size_t length;
                const char *last = gpul__last_part(name.base, &length);
                if (!decl->is_global || decl->name == GPUL__NO_TOKEN || !decl->has_body ||
                    c->tokens.items[decl->name].length != length ||
                    memcmp(c->tokens.text + c->tokens.items[decl->name].offset, last, length) != 0)
                    continue;
                gpul__place place =
                    gpul__place_of(&c->files, &c->tokens, decl->name, decl->name + 1);
                detail.file = place.file;
                detail.line = place.line;
                detail.column = place.column;
                detail.end_column = place.end_column;
                detail.source = gpul__arena_strndup(&c->arena, place.text, place.length);
            }
        gpul__detail(&detail);
    }
    if (strstr(causes->items[0].lead->text, "too much shared data"))
        return gpul__hint(
            "make the array smaller, or dynamic (extern __shared__): static shared memory "
            "ends at 48 KiB");
    return gpul_last_error()->status;
}

/* ---- Options ---- */

static gpul_status explain_option(gpul__compile *c, const gpul__run *run, const char *text)
{
    static const char refused[] = "unrecognized option ";
    if (strstr(text, "gpu-architecture")) {
        char arch[24];
        return gpul__fail_arch(c->nvrtc, c->requested_arch ? c->requested_arch
                                                           : gpul__arch_text(arch, c->arch));
    }
    const char *option = strstr(text, refused);
    if (!option) {
        FAIL(GPUL__COMPILE_OPTION, c, run, "the compiler refuses an option: %s", text);
        return gpul_last_error()->status;
    }
    option += sizeof refused - 1;
    size_t length = strlen(option);
    if (gpul__ends(option, " found")) length -= 6;
    FAIL(GPUL__COMPILE_OPTION, c, run, "the compiler does not know the option %.*s", (int)length,
         option);
    if (length > 2 && memcmp(option, "-O", 2) == 0)
        return gpul__hint("leave it out: NVRTC always optimises (-G turns that off)");
    if (!memchr(option, '-', length) || option[0] != '-')
        return gpul__hint("each option is one string: an option and its value are joined by '='");
    return gpul__hint(
        "leave it out; options of nvcc's host compiler and linker have no meaning here");
}

/* The name of a file of -include that is not there, which the log says without a place. */
static const char *missing_include(gpul__compile *c, const gpul__run *run)
{
    static const char words[] = "Command-line error: cannot open source file \"";
    const char *at = strstr(run->log, words);
    if (!at) return NULL;
    at += sizeof words - 1;
    return gpul__arena_strndup(&c->arena, at, strcspn(at, "\"\n"));
}

gpul_status gpul__compile_explain(gpul__compile *c, const gpul__run *run)
{
    gpul__log_list log = { 0 };
    struct causes causes = { 0 };
    if (!gpul__log_read(&log, &c->arena, run->log, &c->source) || !group(c, &log, &causes)) {
        gpul__free(log.items);
        gpul__free(causes.items);
        return gpul__no_memory();
    }
    const gpul__log_entry *first = causes.count ? causes.items[0].lead : NULL;
    const char *undefined = first ? undefined_name(&c->arena, first) : NULL, *missing;
    gpul_status status;
    bool in_compile = !run->call || strcmp(run->call, "nvrtcCompileProgram") == 0;
    if (run->result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE) {
        FAIL(GPUL__ENV_NVRTC_BUILTINS, c, run,
             "%s (%d.%d) cannot compile: its libnvrtc-builtins is missing or of "
             "another version",
             c->nvrtc->path, c->nvrtc->major, c->nvrtc->minor);
        status = gpul__hint("install the whole NVRTC: libnvrtc-builtins.so.%d.%d belongs beside it",
                            c->nvrtc->major, c->nvrtc->minor);
    } else if (run->result == NVRTC_ERROR_OUT_OF_MEMORY) {
        FAIL(GPUL__MEMORY_HOST, c, run, "the compiler ran out of host memory");
        status = gpul_last_error()->status;
    } else if (run->result == NVRTC_ERROR_CANCELLED) {
        FAIL(GPUL__COMPILE_CANCELLED, c, run, "compiling %s was cancelled by progress",
             c->source.name);
        status = gpul_last_error()->status;
    } else if (first && first->origin == GPUL__LOG_TOOL) {
        status = explain_option(c, run, first->text);
    } else if ((missing = missing_include(c, run)) != NULL) {
        FAIL(GPUL__COMPILE_HEADER, c, run, "cannot find \"%s\", which is to be read first",
             missing);
        status =
            gpul__hint("correct the path, or add the folder that holds it to the include folders");
    } else if (!in_compile || !first || run->result != NVRTC_ERROR_COMPILATION) {
        FAIL(GPUL__COMPILE_INTERNAL, c, run, "NVRTC %d.%d fails in %s: %s", c->nvrtc->major,
             c->nvrtc->minor, run->call ? run->call : "nvrtcCompileProgram",
             gpul_native_text(GPUL_NATIVE_NVRTC, run->result));
        status = gpul_last_error()->status;
    } else if (first->origin == GPUL__LOG_ASSEMBLER) {
        status = explain_assembler(c, run, &causes);
    } else if (strstr(first->text, "open source file")) {
        status = explain_header(c, run, &causes);
    } else if (first->file && strcmp(first->file, "__nv_name_map") == 0) {
        status = explain_expression(c, run, &log, first);
    } else if (is_standard_type(undefined)) {
        status = explain_type(c, run, &causes, undefined);
    } else if (strstr(first->text, "not allowed in JIT mode")) {
        status = explain_host(c, run, &causes);
    } else {
        FAIL(GPUL__COMPILE_ERROR, c, run, "%s", first->text);
        add_causes(c, &causes, NULL);
        if (c->host.header_count && c->set_aside && strstr(first->text, "\"std\""))
            gpul__note("set aside as host code: <%s>%s", c->host.headers[0],
                       c->host.header_count > 1 ? " and others" : "");
        char arch[24];
        status = gpul_last_error()->status;
        if (undefined && gpul__starts(undefined, "__"))
            status =
                gpul__hint("%s may exist on newer architectures only; this was compiled for %s",
                           undefined, gpul__arch_text(arch, c->arch));
        else if (gpul__starts(first->text, "device-side kernel launch"))
            status = gpul__hint(
                "a kernel that launches kernels needs CUDA's device run time, which is not part "
                "of the Driver API: launch both from the host, one after the other");
    }
    gpul__free(log.items);
    gpul__free(causes.items);
    return status;
}

gpul_status gpul__compile_fail_empty(gpul__compile *c, const char *log)
{
    const char *name = c->source.name;
    bool templates = false, kernels = false;
    const char *example = NULL;
    for (size_t i = 0; i < c->scan.count; i++) {
        kernels |= c->scan.decls[i].is_global;
        if (!c->scan.decls[i].is_global || !c->scan.decls[i].is_template) continue;
        templates = true;
        if (!example && c->scan.decls[i].name != GPUL__NO_TOKEN)
            example = gpul__template_example(&c->arena, &c->tokens, &c->scan.decls[i]);
    }
    if (!kernels && c->host.found && c->host.name) {
        uint32_t line = gpul__source_line(&c->source, c->host.offset);
        uint32_t column = gpul__source_column(&c->source, c->host.offset);
        size_t width;
        const char *text = gpul__source_line_text(&c->source, line, &width);
        gpul__fail(GPUL__COMPILE_HOST, (.call = "gpul_compile", .log = log),
                   "%s has host code (%s, line %u) and no kernel", name, c->host.name, line);
        gpul__detail(&(gpul_detail){
            .severity = GPUL_ERROR,
            .file = name,
            .line = line,
            .column = column,
            .end_column =
                column + gpul__characters(c->tokens.text + c->host.offset, c->host.name_length),
            .text =
                gpul__arena_printf(&c->arena, "this file has host code (%s, line %u) and no kernel",
                                   c->host.name, line),
            .source = text ? gpul__arena_strndup(&c->arena, text, width) : NULL });
        gpul__note(
            "gpulaunch does what main() would do: it allocates, copies, launches and reads back");
        return gpul__hint("put __global__ before the function that is to run on the device");
    }
    if (!c->tokens.count) {
        gpul__fail(GPUL__COMPILE_EMPTY, (.call = "gpul_compile", .log = log),
                   "%s is empty: no code, no kernel", name);
        return gpul__hint("it should hold CUDA C++ with a __global__ function, or PTX");
    }
    gpul__fail(GPUL__COMPILE_EMPTY, (.call = "gpul_compile", .log = log),
               "%s compiles, but gives no kernel%s", name,
               templates ? ": a template becomes one when its arguments are named"
               : kernels ? ""
                         : ": it has no __global__ function");
    for (size_t i = 0; i < c->scan.count; i++) {
        const gpul__decl *decl = &c->scan.decls[i];
        if (!decl->is_global || !decl->is_template || decl->name == GPUL__NO_TOKEN) continue;
        const gpul__token *token = &c->tokens.items[decl->name];
        const gpul__token *first = &c->tokens.items[decl->template_first];
        const gpul__token *last = &c->tokens.items[decl->template_end - 1];
        add_decl(c, decl, GPUL_NOTE,
                 gpul__arena_printf(&c->arena, "template <%.*s> %s%.*s",
                                    (int)(last->offset + last->length - first->offset),
                                    c->tokens.text + first->offset, decl->scope, (int)token->length,
                                    c->tokens.text + token->offset));
    }
    if (templates)
        return gpul__hint("name the instance that is wanted, such as %s",
                          example && *example ? example : "k<float>");
    return gpul__hint("put __global__ before the function that is to run on the device");
}
