/* From gpul_compile_opts to NVRTC's options and headers.  SPDX-License-Identifier: MIT */
#include "core/compile.h"

#include "base/error.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool add(gpul__compile *c, gpul__list *list, const char *prefix, const char *value)
{
    return gpul__list_add(list, gpul__arena_printf(&c->arena, "%s%s", prefix, value));
}

static bool is_name_start(char ch)
{
    return isalpha((unsigned char)ch) || ch == '_';
}

static gpul_status check_defines(const char *const *list, const char *what)
{
    for (; list && *list; list++)
        if (!is_name_start(**list)) {
            gpul__fail(GPUL__COMPILE_OPTION, (.call = "gpul_compile"), "'%s' is no macro to %s",
                       *list, what);
            return gpul__hint("write NAME or NAME=VALUE, without -D");
        }
    return GPUL_OK;
}

/* "--gpu-architecture=sm_90" and its like; NULL when the flag is another. */
static const char *value_of(const char *flag, const char *const *names, size_t count)
{
    if (*flag != '-') return NULL;
    flag += flag[1] == '-' ? 2 : 1;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(flag, names[i], length) != 0) continue;
        if (flag[length] == '=') return flag + length + 1;
        if (!flag[length]) return "";
    }
    return NULL;
}

static bool is_flag(const char *flag, const char *const *names, size_t count)
{
    return value_of(flag, names, count) != NULL;
}
#define NAMES(...)                                                                                 \
    (const char *const[]){ __VA_ARGS__ },                                                          \
        sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)

/* Flags that this library must know about; the others go to NVRTC as they are. */
static gpul_status read_flag(gpul__compile *c, const char *flag)
{
    const char *value = value_of(flag, NAMES("gpu-architecture", "arch"));
    if (value && *value) {
        c->requested_arch = value;
        return GPUL_OK;
    }
    if (is_flag(flag, NAMES("disable-warnings", "w"))) {
        c->warnings_off = true;
        return GPUL_OK;
    }
    if (is_flag(flag, NAMES("device-as-default-execution-space", "default-device"))) {
        c->default_device = true;
        return GPUL_OK;
    }
    value = value_of(flag, NAMES("relocatable-device-code", "rdc"));
    if ((value && strcmp(value, "true") == 0) ||
        is_flag(flag, NAMES("device-c", "dc", "dlink-time-opt", "dlto")))
        c->is_linked_later = true;
    if (!*flag)
        return gpul__fail(GPUL__COMPILE_OPTION, (.call = "gpul_compile"),
                          "an empty string is no option");
    return gpul__list_add(&c->base, flag) ? GPUL_OK : gpul__no_memory();
}

static bool has_std(const gpul__compile *c)
{
    if (c->opts->std) return true;
    for (const char *const *flag = c->opts->flags; flag && *flag; flag++)
        if (is_flag(*flag, NAMES("std"))) return true;
    return false;
}

static bool exists(const char *folder, const char *name)
{
    char path[PATH_MAX];
    const char *slash = *folder && !gpul__ends(folder, "/") ? "/" : "";
    return snprintf(path, sizeof path, "%s%s%s", folder, slash, name) < (int)sizeof path &&
           access(path, R_OK) == 0;
}

/* A header of that name which the user gives by text or in a folder wins over the carried one. */
static bool is_users_header(const gpul__compile *c, const char *name)
{
    for (const gpul_header *h = c->opts->headers; h && h->name; h++)
        if (strcmp(h->name, name) == 0) return true;
    for (const char *const *dir = c->opts->include_dirs; dir && *dir; dir++)
        if (exists(*dir, name)) return true;
    return exists(c->folder, name);
}

/* A folder of CUDA's headers need not hold all of them: NVRTC's bundled ones lack cuda_runtime.h. */
static bool is_in_cuda_folder(const gpul__compile *c, const char *name)
{
    for (size_t i = 0; i < c->folders.count; i++)
        if (exists(c->folders.folders[i], name)) return true;
    return false;
}

static bool add_headers(gpul__compile *c)
{
    for (const gpul_header *h = c->opts->headers; h && h->name; h++)
        if (!gpul__list_add(&c->header_names, h->name) ||
            !gpul__list_add(&c->header_texts, h->text ? h->text : ""))
            return false;
    if (c->opts->no_carried_headers || !c->has_includes) return true;
    for (size_t i = 0; i < gpul__carried_count; i++) {
        const gpul__carried_header *h = &gpul__carried[i];
        bool is_there = gpul__carried_is_stand_in(h->name) && is_in_cuda_folder(c, h->name);
        if (is_there || is_users_header(c, h->name)) continue;
        if (!gpul__list_add(&c->header_names, h->name) ||
            !gpul__list_add(&c->header_texts, h->text))
            return false;
    }
    return true;
}

static bool add_folders(gpul__compile *c)
{
    bool ok = gpul__list_add(&c->searched, *c->folder ? c->folder : ".");
    for (const char *const *dir = c->opts->include_dirs; ok && dir && *dir; dir++)
        ok = gpul__list_add(&c->searched, *dir);
    if (ok && c->has_includes && !c->opts->no_carried_headers)
        ok = gpul__include_folders_find(&c->folders, c->nvrtc, &c->arena);
    for (size_t i = 0; ok && i < c->folders.count; i++)
        ok = gpul__list_add(&c->searched, c->folders.folders[i]);
    return ok;
}

static bool add_base(gpul__compile *c)
{
    const gpul_compile_opts *o = c->opts;
    bool ok = true;
    if (o->std) ok = add(c, &c->base, "-std=", o->std);
    for (const char *const *d = o->defines; ok && d && *d; d++) ok = add(c, &c->base, "-D", *d);
    for (const char *const *d = o->undefines; ok && d && *d; d++) ok = add(c, &c->base, "-U", *d);
    if (ok && o->max_registers) {
        char number[16];
        snprintf(number, sizeof number, "%d", o->max_registers);
        ok = add(c, &c->base, "-maxrregcount=", number);
    }
    if (ok && o->debug) ok = gpul__list_add(&c->base, "-G");
    if (ok && o->fast_math) ok = gpul__list_add(&c->base, "-use_fast_math");
    /* Quoted includes are looked for in the folder of the program's name; another name loses it. */
    if (ok && o->name && *c->folder) ok = add(c, &c->base, "-I", c->folder);
    for (const char *const *dir = o->include_dirs; ok && dir && *dir; dir++)
        ok = add(c, &c->base, "-I", *dir);
    return ok;
}

gpul_status gpul__compile_flags(gpul__compile *c)
{
    const gpul_compile_opts *o = c->opts;
    gpul_status status = check_defines(o->defines, "define");
    if (!status) status = check_defines(o->undefines, "take away");
    if (status) return status;
    if (o->max_registers < 0 || o->max_registers > 255)
        return gpul__fail(GPUL__COMPILE_OPTION, (.call = "gpul_compile"),
                          "max_registers is %d; a thread has 1 to 255, and 0 is no limit",
                          o->max_registers);
    c->has_includes =
        (o->includes && *o->includes) || memmem(c->source.text, c->source.length, "include", 7);
    if (!add_base(c)) return gpul__no_memory();
    for (const char *const *flag = o->flags; flag && *flag; flag++)
        if ((status = read_flag(c, *flag)) != GPUL_OK) return status;
    if (o->arch) c->requested_arch = o->arch;
    return GPUL_OK;
}

bool gpul__compile_headers(gpul__compile *c)
{
    /* Before NVRTC 12 the default was C++03, in which no tutorial is written. */
    if (!has_std(c) && c->nvrtc->major < 12 && !gpul__list_add(&c->base, "-std=c++17"))
        return false;
    return add_folders(c) && add_headers(c);
}

bool gpul__compile_run_options(gpul__compile *c, const gpul__run_kind *kind)
{
    gpul__arch arch = c->arch;
    char text[24];
    if (kind->ptx_only) arch.is_virtual = true;
    c->options.count = 0;
    bool ok = add(c, &c->options, "-arch=", gpul__arch_text(text, arch)) &&
              gpul__list_add(&c->options, "-D__GPULAUNCH__=1");
    for (size_t i = 0; ok && i < c->base.count; i++)
        ok = gpul__list_add(&c->options, c->base.items[i]);
    for (size_t i = 0; ok && i < c->folders.count; i++)
        ok = add(c, &c->options, "-I", c->folders.folders[i]);
    if (ok && (c->opts->line_info || kind->line_info))
        ok = gpul__list_add(&c->options, "-lineinfo");
    if (ok && (c->default_device || c->set_aside))
        ok = gpul__list_add(&c->options, "-default-device");
    if (ok && kind->probe) ok = gpul__list_add(&c->options, "-include=" GPUL__PROBE_HEADER);
    else if (ok && c->warnings_off) ok = gpul__list_add(&c->options, "-w");
    for (const char *const *file = c->opts->includes; ok && file && *file; file++)
        ok = add(c, &c->options, "-include=", *file);
    return ok;
}

bool gpul__compile_run(gpul__run *out, gpul__compile *c, const gpul__run_kind *kind)
{
    *out = (gpul__run){ 0 };
    char *text = NULL;
    size_t headers = c->header_names.count;
    bool ok = gpul__compile_run_options(c, kind);
    if (ok && kind->probe) {
        text = gpul__probe_source(kind->probe, c->text, c->source.length);
        ok = text && gpul__list_add(&c->header_names, GPUL__PROBE_HEADER) &&
             gpul__list_add(&c->header_texts, gpul__str_text(&kind->probe->header));
    }
    gpul__run_input input = { .nvrtc = c->nvrtc,
                              .source = text ? text : c->text,
                              .name = c->source.name,
                              .options = &c->options,
                              .header_names = &c->header_names,
                              .header_texts = &c->header_texts,
                              .expressions = c->opts->expressions,
                              .progress = kind->ptx_only ? NULL : c->opts->progress,
                              .progress_user = c->opts->progress_user };
    ok = ok && gpul__run_nvrtc(out, &input);
    c->header_names.count = c->header_texts.count = headers;
    gpul__free(text);
    return ok;
}
