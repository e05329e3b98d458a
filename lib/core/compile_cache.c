/* Compiled images found again.  SPDX-License-Identifier: MIT */
#include "core/compile_cache.h"

#include "core/cache_image.h"
#include "core/cache_key.h"

#include <limits.h>
#include <pthread.h>
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
    gpul__key_text(key, "library", gpul_version());
    gpul__key_number(key, "entry layout", 2); /* of cache_image.c */
    gpul__key_text(key, "nvrtc", nvrtc->path);
    gpul__key_number(key, "nvrtc version", (uint64_t)(nvrtc->major * 100 + nvrtc->minor));
    add_file(key, "nvrtc file", &nvrtc->file);
    add_file(key, "nvrtc builtins", &nvrtc->builtins);
}

static void add_options(gpul__key *key, const gpul__compile *c)
{
    char arch[24];
    const gpul_compile_opts *o = c->opts;
    gpul__key_text(key, "arch", gpul__arch_text(arch, c->arch));
    gpul__key_text(key, "choice", gpul__str_text(&c->choice));
    gpul__key_list(key, "options", (const char *const *)c->base.items);
    gpul__key_list(key, "includes", o->includes);
    gpul__key_list(key, "expressions", o->expressions);
    gpul__key_list(key, "folders", (const char *const *)c->searched.items);
    for (const gpul_header *h = o->headers; h && h->name; h++) {
        gpul__key_text(key, "header name", h->name);
        gpul__key_text(key, "header text", h->text);
    }
    gpul__key_number(key, "flags",
                     (uint64_t)(o->line_info | o->keep_host_code << 1 | o->no_carried_headers << 2 |
                                c->warnings_off << 3 | c->default_device << 4));
}

/* Line information has whole paths, so that the same text compiled in another folder is another image. */
static bool add_place(gpul__key *key, const gpul_compile_opts *o)
{
    char here[PATH_MAX];
    if (!o->line_info && !o->debug) return true;
    if (!getcwd(here, sizeof here)) return false;
    gpul__key_text(key, "place", here);
    return true;
}

bool gpul__compile_key(const gpul__compile *c, char out[GPUL__CACHE_KEY + 1])
{
    gpul__key key;
    if (c->opts->no_cache || !c->nvrtc->file.size) return false;
    gpul__key_begin(&key, "compile");
    gpul__key_text(&key, "name", c->source.name);
    gpul__key_bytes(&key, "source", c->source.text, c->source.length);
    add_compiler(&key, c->nvrtc);
    add_options(&key, c);
    bool known = add_place(&key, c->opts);
    if (known && c->has_includes) {
        gpul_header *own = gpul__calloc(c->header_names.count + 1, sizeof *own);
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
    if (known) gpul__key_end(&key, out);
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

void gpul__compile_keep(const char *key, const gpul_image *image)
{
    int folder = gpul__cache_open();
    if (folder < 0) return;
    gpul__str data = { 0 };
    gpul__image_pack(&data, image);
    if (!data.failed) gpul__cache_write(folder, key, "image", data.text, data.length);
    gpul__str_free(&data);
    close(folder);
}
