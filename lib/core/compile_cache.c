/* Compiled images found again.  SPDX-License-Identifier: MIT */
#include "core/compile_cache.h"

#include "core/cache_image.h"
#include "core/cache_key.h"

#include "base/log.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What tells two builds of one version apart, wherever they lie. */
static void add_file(gpul__key *key, const char *label, const gpul__nvrtc_file *file)
{
    const uint64_t facts[] = { file->size, file->modified, file->changed };
    gpul__key_bytes(key, label, facts, sizeof facts);
}

static void add_compiler(gpul__key *key, const gpul__nvrtc *nvrtc)
{
    gpul__key_text(key, ".library", gpul_version());
    gpul__key_number(key, ".entry layout", 3); /* of cache_image.c */
    gpul__key_text(key, "NVRTC", nvrtc->path);
    char version[32];
    snprintf(version, sizeof version, "%d.%d", nvrtc->major, nvrtc->minor);
    gpul__key_text(key, "NVRTC version", version);
    add_file(key, "file of NVRTC", &nvrtc->file);
    add_file(key, "file of NVRTC's builtins", &nvrtc->builtins);
}

static void add_options(gpul__key *key, const gpul__compile *c)
{
    char arch[24];
    const gpul_compile_opts *o = c->opts;
    gpul__key_text(key, "architecture", gpul__arch_text(arch, c->arch));
    gpul__key_text(key, ".choice", gpul__str_text(&c->choice));
    gpul__key_list(key, "option", (const char *const *)c->base.items);
    gpul__key_list(key, "file included first", o->includes);
    gpul__key_list(key, "expression", o->expressions);
    gpul__key_list(key, "include folder", (const char *const *)c->searched.items);
    for (const gpul_header *h = o->headers; h && h->name; h++) {
        gpul__str label = { 0 };
        gpul__str_printf(&label, "header %s", h->name);
        gpul__key_bytes(key, gpul__str_text(&label), h->text, strlen(h->text));
        gpul__str_free(&label);
    }
    const struct {
        bool on;
        const char *name;
    } settings[] = { { o->line_info, "line information" },
                     { o->keep_host_code, "host code kept" },
                     { o->no_carried_headers, "no headers of gpulaunch" },
                     { c->warnings_off, "-w" },
                     { c->default_device, "functions for the device by default" } };
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].on) gpul__key_text(key, "setting", settings[i].name);
    gpul__key_text(key, ".settings", "end");
}

/* Line information has whole paths, so that the same text compiled in another folder is another image. */
static bool add_place(gpul__key *key, const gpul_compile_opts *o)
{
    char here[PATH_MAX];
    if (!o->line_info && !o->debug) return true;
    if (!getcwd(here, sizeof here)) return false;
    gpul__key_text(key, "current folder", here);
    return true;
}

bool gpul__compile_key(const gpul__compile *c, gpul__recipe *out, const char **unknown)
{
    gpul__key key;
    *unknown = c->opts->no_cache ? "the cache is not wanted" : "its compiler changed just now";
    if (c->opts->no_cache || !c->nvrtc->file.size) return false;
    gpul__key_begin(&key, "compile", &out->parts);
    gpul__key_text(&key, ".name", c->source.name);
    gpul__key_bytes(&key, "source", c->source.text, c->source.length);
    add_compiler(&key, c->nvrtc);
    add_options(&key, c);
    *unknown = "the current folder is not known";
    bool known = add_place(&key, c->opts);
    if (known && c->has_includes) {
        gpul_header *own = gpul__calloc(c->header_names.count + 1, sizeof *own);
        *unknown = "memory ran out";
        if (!own) return false;
        for (size_t i = 0; i < c->header_names.count; i++)
            own[i] = (gpul_header){ c->header_names.items[i], c->header_texts.items[i] };
        /* Files that are read before the source are included by it as far as the key can tell. */
        gpul__str text = { 0 };
        for (const char *const *file = c->opts->includes; file && *file; file++)
            gpul__str_printf(&text, "#include \"%s\"\n", *file);
        gpul__str_addn(&text, c->source.text, c->source.length);
        known =
            !text.failed && gpul__key_headers(&key, gpul__str_text(&text), text.length, c->folder,
                                              (const char *const *)c->searched.items, own);
        gpul__str_free(&text);
        gpul__free(own);
    }
    if (key.unknown) *unknown = key.unknown;
    if (known) gpul__key_end(&key, out->key);
    return known;
}

static pthread_mutex_t turns_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_ended = PTHREAD_COND_INITIALIZER;
static gpul__compile_turn *turns;

static bool is_taken(const gpul__compile_turn *wanted)
{
    for (const gpul__compile_turn *t = turns; t; t = t->next)
        if (t->process == wanted->process && strcmp(t->key, wanted->key) == 0) return true;
    return false;
}

void gpul__compile_begin(gpul__compile_turn *turn, const char *key)
{
    turn->key = key;
    turn->process = (int)getpid();
    pthread_mutex_lock(&turns_lock);
    while (is_taken(turn)) pthread_cond_wait(&turn_ended, &turns_lock);
    turn->next = turns;
    turns = turn;
    pthread_mutex_unlock(&turns_lock);
}

void gpul__compile_end(gpul__compile_turn *turn)
{
    pthread_mutex_lock(&turns_lock);
    gpul__compile_turn **link = &turns;
    while (*link != turn) link = &(*link)->next;
    *link = turn->next;
    pthread_cond_broadcast(&turn_ended);
    pthread_mutex_unlock(&turns_lock);
}

gpul_image *gpul__compile_find(const char *key)
{
    int folder = gpul__cache_open();
    if (folder < 0) return NULL;
    size_t size;
    void *data = gpul__cache_read(folder, key, "image", &size);
    gpul_image *image = data ? gpul__image_unpack(data, size) : NULL;
    gpul__free(data);
    close(folder);
    return image;
}

char *gpul__compile_miss(const gpul__recipe *recipe, const char *unknown)
{
    gpul__str out = { 0 };
    int folder = unknown ? -1 : gpul__cache_open();
    if (unknown) gpul__str_printf(&out, "nothing is kept: %s", unknown);
    else if (folder < 0) gpul__str_add(&out, "there is no folder for a cache");
    else gpul__miss_explain(&out, folder, recipe);
    if (folder >= 0) close(folder);
    return gpul__str_take(&out);
}

void gpul__compile_keep(const gpul__compile *c, const gpul__recipe *recipe, const gpul_image *image)
{
    gpul__recipe again = { 0 };
    const char *unknown;
    /* A header that was written between the scan and the compile gives an image of neither text. */
    bool same = gpul__compile_key(c, &again, &unknown) && strcmp(again.key, recipe->key) == 0;
    gpul__str_free(&again.parts);
    if (!same) {
        gpul__log(GPUL_LOG_INFO, "%s is not kept: what it reads changed during the compile",
                  c->source.name);
        return;
    }
    int folder = gpul__cache_open();
    if (folder < 0) return;
    gpul__str data = { 0 };
    gpul__image_pack(&data, image);
    if (!data.failed && gpul__cache_write(folder, recipe->key, "image", data.text, data.length))
        gpul__miss_keep(folder, recipe);
    gpul__str_free(&data);
    close(folder);
}
