/* Reading a source with the user's own headers.  SPDX-License-Identifier: MIT */
#include "core/source_files.h"

#include "base/str.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES = 64, LARGEST = 4 << 20 };

/* A whole file of a sane size; NULL when it cannot be read.  Says nothing: the compiler will. */
static char *read_quietly(const char *path, size_t *size, bool *no_memory)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat file;
    if (fd < 0) return NULL;
    char *text = NULL;
    if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size <= LARGEST) {
        text = gpul__malloc((size_t)file.st_size + 1);
        *no_memory = !text;
        *size = 0;
        for (ssize_t got; text && *size < (size_t)file.st_size; *size += (size_t)got)
            if ((got = read(fd, text + *size, (size_t)file.st_size - *size)) <= 0) break;
        if (text) text[*size] = 0;
    }
    close(fd);
    return text;
}

static bool has_file(const gpul__files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++)
        if (strcmp(files->items[i].source.name, name) == 0) return true;
    return false;
}

/* Takes over a text under its name; a text that is not good is left out. */
static bool add_text(gpul__files *files, const gpul__files_input *in, const char *name,
                     const char *text, size_t size)
{
    if (files->count == FILES || has_file(files, name)) return true;
    if (memchr(text, 0, size)) return true;
    gpul__file file = { 0 };
    const char *copy = gpul__arena_strndup(in->arena, name, strlen(name));
    if (!copy || !gpul__grow(&files->items, &files->capacity, files->count, sizeof *files->items))
        return false;
    if (!gpul__source_take(&file.source, copy, text, size)) return false;
    files->items[files->count++] = file;
    return true;
}

static bool try_path(gpul__files *files, const gpul__files_input *in, const char *folder,
                     const char *name, size_t length, bool *found)
{
    char path[PATH_MAX];
    const char *slash = *folder && !gpul__ends(folder, "/") ? "/" : "";
    if (*name == '/') folder = slash = "";
    if (snprintf(path, sizeof path, "%s%s%.*s", folder, slash, (int)length, name) >=
        (int)sizeof path)
        return true;
    if (has_file(files, path)) {
        *found = true;
        return true;
    }
    size_t size;
    bool no_memory = false;
    char *text = read_quietly(path, &size, &no_memory);
    if (!text) return !no_memory;
    *found = true;
    bool ok = add_text(files, in, path, text, size);
    gpul__free(text);
    return ok;
}

/* One #include: texts first, then beside the including file, then the folders. */
static bool add_include(gpul__files *files, const gpul__files_input *in, const char *from,
                        const char *name, size_t length, bool quoted)
{
    for (const gpul_header *h = in->headers; h && h->name; h++)
        if (h->text && strlen(h->name) == length && memcmp(h->name, name, length) == 0)
            return add_text(files, in, h->name, h->text, strlen(h->text));
    bool found = false, ok = true;
    if (quoted) {
        char folder[PATH_MAX] = "";
        const char *slash = strrchr(from, '/');
        if (files->count && strcmp(from, files->items[0].source.name) == 0)
            snprintf(folder, sizeof folder, "%s", in->folder);
        else if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - from + 1), from);
        ok = try_path(files, in, folder, name, length, &found);
    }
    for (const char *const *dir = in->include_dirs; ok && !found && dir && *dir; dir++)
        ok = try_path(files, in, *dir, name, length, &found);
    return ok;
}

/* Includes of one file; files->items may move meanwhile. */
static bool follow(gpul__files *files, const gpul__files_input *in, size_t index)
{
    gpul__tokens tokens;
    const char *text = files->items[index].source.text, *from = files->items[index].source.name;
    if (!gpul__tokenize(&tokens, text, files->items[index].source.length, &in->macros))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < tokens.count; i++) {
        const char *name;
        bool quoted;
        size_t length = gpul__include_of(text, &tokens.items[i], &name, &quoted);
        if (length) ok = add_include(files, in, from, name, length, quoted);
    }
    gpul__tokens_free(&tokens);
    return ok;
}

static bool merge(gpul__files *files)
{
    files->text = files->items[0].source.text;
    if (files->count == 1) return true;
    gpul__str all = { 0 };
    for (size_t i = 0; i < files->count; i++) {
        files->items[i].base = all.length;
        gpul__str_addn(&all, files->items[i].source.text, files->items[i].source.length);
        gpul__str_add(&all, "\n");
    }
    files->text = files->merged = gpul__str_take(&all);
    gpul__str_free(&all);
    return files->merged != NULL;
}

bool gpul__files_read(gpul__files *out, gpul__tokens *tokens, gpul__scan *scan,
                      const gpul__files_input *in)
{
    *out = (gpul__files){ 0 };
    *tokens = (gpul__tokens){ 0 };
    bool ok = gpul__grow(&out->items, &out->capacity, 0, sizeof *out->items);
    if (ok) out->items[out->count++] = (gpul__file){ .source = *in->source };
    for (const char *const *name = in->includes; ok && name && *name; name++)
        ok = add_include(out, in, in->source->name, *name, strlen(*name), true);
    bool includes = memmem(in->source->text, in->source->length, "include", 7) != NULL;
    for (size_t i = 0; ok && (includes || out->count > 1) && i < out->count; i++)
        ok = follow(out, in, i);
    gpul__scan_begin(scan, tokens);
    ok = ok && merge(out);
    for (size_t i = 0; ok && i < out->count; i++) {
        size_t first = tokens->count;
        const gpul__file *file = &out->items[i];
        ok = gpul__tokenize_part(tokens, out->text, file->base, file->source.length, &in->macros) &&
             gpul__scan_part(scan, first, tokens->count, (uint32_t)i);
    }
    if (!ok) {
        gpul__files_free(out);
        gpul__tokens_free(tokens);
        gpul__scan_free(scan);
    }
    return ok;
}

void gpul__files_free(gpul__files *files)
{
    for (size_t i = 1; i < files->count; i++) gpul__source_free(&files->items[i].source);
    gpul__free(files->items);
    gpul__free(files->merged);
    *files = (gpul__files){ 0 };
}

gpul__place gpul__place_of(const gpul__files *files, const gpul__tokens *tokens, size_t first,
                           size_t end)
{
    const gpul__token *from = &tokens->items[first], *last = &tokens->items[end - 1];
    size_t index = files->count - 1;
    while (index && files->items[index].base > from->offset) index--;
    const gpul__file *file = &files->items[index];
    size_t start = from->offset - file->base, stop = last->offset + last->length - file->base;
    gpul__place place = { .file = file->source.name };
    place.line = gpul__source_line(&file->source, start);
    place.column = gpul__source_column(&file->source, start);
    place.text = gpul__source_line_text(&file->source, place.line, &place.length);
    if (gpul__source_line(&file->source, stop) == place.line)
        place.end_column = gpul__source_column(&file->source, stop);
    else place.end_column = gpul__characters(place.text, place.length) + 1;
    return place;
}
