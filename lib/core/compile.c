/* gpul_compile and gpul_compile_file: the steps in order.  SPDX-License-Identifier: MIT */
#include "core/compile.h"
#include "core/compile_cache.h"
#include "core/compiler_memory.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/log.h"

#include <string.h>

static void finish(gpul__compile *c)
{
    gpul__list_free(&c->options);
    gpul__list_free(&c->base);
    gpul__list_free(&c->header_names);
    gpul__list_free(&c->header_texts);
    gpul__list_free(&c->searched);
    gpul__str_free(&c->choice);
    gpul__host_free(&c->host);
    gpul__scan_free(&c->scan);
    gpul__tokens_free(&c->tokens);
    gpul__files_free(&c->files);
    gpul__source_free(&c->source);
    gpul__arena_free(&c->arena);
}

/* The device to compile for: the caller's, or the default one when nothing else says for what. */
static void find_device(gpul__compile *c)
{
    if (c->opts->device) {
        c->device = gpul_device_describe(c->opts->device);
        return;
    }
    bool native = c->requested_arch && strcmp(c->requested_arch, "native") == 0;
    if (c->requested_arch && !native) return;
    if (gpul_device_query(&c->queried, NULL) == GPUL_OK) c->device = &c->queried;
    else c->why_no_device = gpul__arena_printf(&c->arena, "%s", gpul_last_error()->message);
}

static gpul_status choose_compiler(gpul__compile *c)
{
    gpul__nvrtc_want want = { .path = c->opts->nvrtc };
    if (!c->opts->no_cache && !c->from_scratch) want.memory = &gpul__compiler_memory;
    gpul__arch arch;
    if (c->device && c->device->backend == GPUL_BACKEND_CUDA)
        want.driver_version = c->device->driver_version;
    if (c->requested_arch && gpul__arch_parse(&arch, c->requested_arch)) want.arch = arch.number;
    else if (c->device) want.arch = c->device->compute_major * 10 + c->device->compute_minor;
    gpul_status status = gpul__nvrtc_choose(&c->nvrtc, &want);
    if (status) return status;
    if (c->opts->progress && !c->nvrtc->reports_progress) {
        gpul__fail(GPUL__COMPILE_IGNORED, (.call = "gpul_compile"),
                   "progress is set, and NVRTC %d.%d does not report it", c->nvrtc->major,
                   c->nvrtc->minor);
        return gpul__hint("use NVRTC 12.8 or later, or leave progress out");
    }
    status = gpul__arch_choose(&c->arch, &c->choice, c->nvrtc, c->device, c->requested_arch);
    if (status && c->why_no_device) gpul__note("no device: %s", c->why_no_device);
    return status;
}

static bool read_source(gpul__compile *c)
{
    gpul__files_input input = { .arena = &c->arena,
                                .source = &c->source,
                                .folder = c->folder,
                                .include_dirs = c->opts->include_dirs,
                                .includes = c->opts->includes,
                                .headers = c->opts->headers,
                                .macros = { .defines = c->opts->defines,
                                            .undefines = c->opts->undefines } };
    return gpul__files_read(&c->files, &c->tokens, &c->scan, &input) &&
           gpul__host_find(&c->host, &c->arena, &c->source, &c->scan, c->opts->headers,
                           c->default_device);
}

static bool set_aside(gpul__compile *c)
{
    if (!c->host.text && !gpul__host_set_aside(&c->host, &c->arena, &c->source, &c->scan,
                                               c->opts->expressions, c->opts->headers))
        return false;
    c->set_aside = true;
    c->text = c->host.text;
    return true;
}

static void keep_all(gpul__compile *c)
{
    c->set_aside = false;
    c->text = c->source.text;
}

static void complain_of_tool(gpul__run *run, const gpul__log_list *log)
{
    /* A lone -Xptxas is an error in the log and a success in the result. */
    for (size_t i = 0; i < log->count; i++)
        if (log->items[i].origin == GPUL__LOG_TOOL && log->items[i].severity == GPUL_ERROR)
            run->result = NVRTC_ERROR_INVALID_OPTION;
}

/* Kernels of the PTX that no question was about: extern "C" ones that macros or headers made. */
static bool ask_symbols(gpul__compile *c, const gpul__run *run, gpul__probe *out, bool *asked)
{
    const char **symbols = NULL;
    size_t count = 0, capacity = 0;
    bool ok = true;
    *asked = false;
    for (const char *at = run->ptx; ok && at && (at = strstr(at, ".entry ")) != NULL;) {
        at += strlen(".entry ");
        size_t length = strcspn(at, "( \n\t");
        if (gpul__starts(at, "_Z") || length == 0 || at[strcspn(at, "()\n")] != '(') continue;
        bool known = false;
        for (size_t i = 0; i < c->scan.count && !known; i++) {
            const gpul__decl *decl = &c->scan.decls[i];
            known = decl->is_global && !decl->file && decl->name != GPUL__NO_TOKEN &&
                    decl->has_body && c->tokens.items[decl->name].length == length &&
                    memcmp(c->tokens.text + c->tokens.items[decl->name].offset, at, length) == 0;
        }
        if (known) continue;
        const char *symbol = gpul__arena_strndup(&c->arena, at, length);
        ok = symbol && gpul__grow(&symbols, &capacity, count, sizeof *symbols);
        if (ok) symbols[count++] = symbol;
    }
    if (ok && count) {
        ok = gpul__probe_make_symbols(out, &c->arena, symbols, count);
        *asked = ok;
    }
    gpul__free(symbols);
    return ok;
}

/* Takes over the answers about symbols from a run that stops before the assembler. */
static bool answer_symbols(gpul__compile *c, const gpul__run *run, gpul__probe *probe)
{
    gpul__run second = { 0 };
    gpul__probe symbols = { 0 };
    gpul__log_list log = { 0 };
    bool asked, ok = ask_symbols(c, run, &symbols, &asked);
    if (ok && asked) {
        ok = gpul__compile_run(&second, c,
                               &(gpul__run_kind){ .probe = &symbols, .ptx_only = true }) &&
             gpul__log_read(&log, &c->arena, second.log, NULL) && gpul__probe_read(&symbols, &log);
        for (size_t i = 0; ok && i < symbols.count; i++) {
            if (!symbols.items[i].answered) continue;
            ok = gpul__grow(&probe->items, &probe->capacity, probe->count, sizeof *probe->items);
            if (ok) probe->items[probe->count++] = symbols.items[i];
        }
    }
    gpul__free(log.items);
    gpul__run_free(&second);
    gpul__probe_free(&symbols);
    return ok;
}

/* One attempt at the text as it stands: with all questions; if that fails, without any, so that the
 * messages are the user's alone; if that works, with the questions about kernels only. */
static gpul_status attempt(gpul_image **out, gpul__compile *c, gpul__run *run, bool *compiled)
{
    gpul__probe probe = { 0 };
    gpul__log_list log = { 0 };
    bool asking = true;
    *compiled = false;
    bool ok =
        gpul__probe_make(&probe, &c->arena, &c->tokens, &c->scan, c->opts->expressions, true) &&
        gpul__compile_run(run, c, &(gpul__run_kind){ .probe = &probe });
    if (ok && run->result == NVRTC_ERROR_COMPILATION) {
        gpul__probe_free(&probe);
        gpul__run_free(run);
        asking = false;
        ok = gpul__compile_run(run, c, &(gpul__run_kind){ 0 });
        if (ok && run->result == NVRTC_SUCCESS) {
            gpul__log(GPUL_LOG_DEBUG, "%s: the compiler could not answer about structs",
                      c->source.name);
            gpul__run again = { 0 };
            ok = gpul__probe_make(&probe, &c->arena, &c->tokens, &c->scan, c->opts->expressions,
                                  false) &&
                 gpul__compile_run(&again, c, &(gpul__run_kind){ .probe = &probe });
            if (ok && (again.result == NVRTC_SUCCESS || again.result == NVRTC_ERROR_CANCELLED)) {
                gpul__run_free(run);
                *run = again;
                asking = true;
            } else {
                gpul__run_free(&again);
            }
        }
    }
    gpul_status status = GPUL_OK;
    if (ok && run->result == NVRTC_SUCCESS) {
        ok = gpul__log_read(&log, &c->arena, run->log, &c->source);
        if (ok) complain_of_tool(run, &log);
        *compiled = ok && run->result == NVRTC_SUCCESS;
    }
    if (*compiled) {
        ok = (!asking || gpul__probe_read(&probe, &log)) && answer_symbols(c, run, &probe);
        if (ok) status = gpul__compile_image(out, c, run, &log, &probe);
    }
    gpul__free(log.items);
    gpul__probe_free(&probe);
    return ok ? status : gpul__no_memory();
}

static bool lacks_header(const gpul__run *run)
{
    return run->result == NVRTC_ERROR_COMPILATION && run->log &&
           strstr(run->log, "open source file");
}

/* NVRTC 13.3 and later hold CUDA's headers inside: used when no folder has them. */
static bool add_bundled_headers(gpul__compile *c)
{
    if (c->bundled_tried || c->folders.count || c->opts->no_carried_headers) return false;
    c->bundled_tried = true;
    if (!gpul__include_folders_bundled(&c->folders, c->nvrtc, &c->arena, &c->bundled_why))
        return false;
    for (size_t i = 0; i < c->folders.count; i++)
        if (!gpul__list_add(&c->searched, c->folders.folders[i])) return false;
    return c->folders.count > 0;
}

static gpul_status run_all(gpul_image **out, gpul__compile *c)
{
    bool may_set_aside = !c->opts->keep_host_code, compiled;
    keep_all(c);
    if (may_set_aside && c->host.found && !set_aside(c)) return gpul__no_memory();
    gpul__run run = { 0 };
    gpul_status status = attempt(out, c, &run, &compiled);
    if (!status && !compiled && lacks_header(&run) && add_bundled_headers(c)) {
        gpul__run_free(&run);
        status = attempt(out, c, &run, &compiled);
    }
    /* What looked like device code may be host code, and the other way round. */
    if (!status && !compiled && may_set_aside && run.result == NVRTC_ERROR_COMPILATION &&
        (c->set_aside || gpul__compile_is_host_trouble(&run))) {
        gpul__run other = { 0 };
        bool was_aside = c->set_aside, other_compiled = false;
        if (was_aside) keep_all(c);
        else if (!set_aside(c)) status = gpul__no_memory();
        if (!status) status = attempt(out, c, &other, &other_compiled);
        if (!status && !other_compiled) {
            /* Neither works: the first attempt's messages are the better ones. */
            if (was_aside) set_aside(c);
            else keep_all(c);
            gpul__run_free(&other);
        } else {
            gpul__run_free(&run);
            run = other;
            compiled = other_compiled;
        }
    }
    if (!status && !compiled) status = gpul__compile_explain(c, &run);
    gpul__run_free(&run);
    return status;
}

/* Runs the compiler, and keeps what it makes.  `unknown`: nothing is kept, for that reason. */
static gpul_status make(gpul_image **out, gpul__compile *c, const gpul__recipe *recipe,
                        const char *unknown)
{
    const gpul__nvrtc *ready = gpul__nvrtc_ready(c->nvrtc);
    c->is_stale = !ready;
    if (!ready) return GPUL_OK;
    c->nvrtc = ready;
    size_t searched = c->searched.count, chosen = c->choice.length;
    gpul_status status = read_source(c) ? run_all(out, c) : gpul__no_memory();
    if (status) return status;
    /* What the compile added to what the key is made of: the compiler's own headers, and what came out. */
    c->searched.count = searched;
    if (searched) c->searched.items[searched] = NULL;
    c->choice.length = chosen;
    if (chosen) c->choice.text[chosen] = 0;
    if (!unknown && !(*out)->ltoir) gpul__compile_keep(c, recipe, *out);
    if (gpul__log_on(GPUL_LOG_INFO))
        gpul__log(GPUL_LOG_INFO, "%s: %s", (*out)->info.name, (*out)->info.choice);
    return GPUL_OK;
}

/* Why the cache does not have it: into the log and the image, or the error when nothing is to be made. */
static gpul_status find_or_make(gpul_image **out, gpul__compile *c)
{
    gpul__recipe recipe = { .subject = c->source.name };
    gpul__compile_turn turn;
    const char *unknown = NULL;
    bool has_key = gpul__compile_key(c, &recipe, &unknown);
    gpul_status status = GPUL_OK;
    if (has_key) {
        gpul__compile_begin(&turn, recipe.key);
        unknown = NULL;
        *out = gpul__compile_find(recipe.key);
    }
    if (*out) {
        (*out)->info.compile_ns = gpul__now() - c->started_ns;
    } else {
        char *why = gpul__compile_miss(&recipe, unknown);
        if (!why) {
            status = gpul__no_memory();
        } else if (c->opts->cache_only) {
            gpul__fail(GPUL__CACHE_MISS, (.call = "gpul_compile"), "%s is not in the cache: %s",
                       c->source.name, why);
            status = gpul__hint("compile it once without cache_only");
        } else {
            gpul__log(GPUL_LOG_INFO, "%s is not in the cache: %s", c->source.name, why);
            status = make(out, c, &recipe, unknown);
        }
        if (!status && *out &&
            !((*out)->info.cache_miss = gpul__arena_printf(&(*out)->arena, "%s", why))) {
            gpul_image_free(out);
            status = gpul__no_memory();
        }
        gpul__free(why);
    }
    if (has_key) gpul__compile_end(&turn);
    gpul__str_free(&recipe.parts);
    return status;
}

static gpul_status compile(gpul_image **out, gpul__compile *c, const char *text, size_t length)
{
    c->started_ns = gpul__now();
    gpul_status status = gpul__source_prepare(&c->source, c->source.name, text, length);
    if (!status) status = gpul__compile_flags(c);
    if (status) return status;
    find_device(c);
    if ((status = choose_compiler(c)) != GPUL_OK) return status;
    if (!gpul__compile_headers(c)) return gpul__no_memory();
    return find_or_make(out, c);
}

static const gpul_compile_opts no_opts;

static gpul_status compile_from(gpul_image **out, const char *folder, const char *name,
                                const char *text, size_t length, const gpul_compile_opts *opts)
{
    bool from_scratch = false;
    for (;;) {
        gpul__compile c = { .opts = opts, .folder = folder, .from_scratch = from_scratch };
        c.source.name = opts->name ? opts->name : name;
        gpul_status status = compile(out, &c, text, length);
        from_scratch = c.is_stale;
        finish(&c);
        if (!from_scratch) return status;
    }
}

gpul_status gpul_compile(gpul_image **out, const char *source, size_t length,
                         const gpul_compile_opts *opts)
{
    if (!out) return gpul__fail(GPUL__ARGS_NULL, (0), "out is NULL");
    *out = NULL;
    if (!source) return gpul__fail(GPUL__ARGS_NULL, (0), "source is NULL");
    return compile_from(out, "", "source.cu", source, length, opts ? opts : &no_opts);
}

gpul_status gpul_compile_file(gpul_image **out, const char *path, const gpul_compile_opts *opts)
{
    if (!out) return gpul__fail(GPUL__ARGS_NULL, (0), "out is NULL");
    *out = NULL;
    if (!path) return gpul__fail(GPUL__ARGS_NULL, (0), "path is NULL");
    char *text, *folder = gpul__file_folder(path);
    size_t size;
    if (!folder) return gpul__no_memory();
    gpul_status status = gpul__file_read(&text, &size, path);
    if (!status) {
        status = compile_from(out, folder, path, text, size, opts ? opts : &no_opts);
        gpul__free(text);
    }
    gpul__free(folder);
    return status;
}
