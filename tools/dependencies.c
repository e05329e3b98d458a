/* Make dependencies from the time profile of NVRTC (13.0 and later), which names every header that it reads.
 * SPDX-License-Identifier: MIT */
#include "dependencies.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "files.h"

bool record_begin(header_record *out)
{
    const char *where = getenv("TMPDIR");
    if (!where || !*where) where = "/tmp";
    char *folder = mem_format("%s/gpulaunch-XXXXXX", where);
    if (!mkdtemp(folder)) {
        fail(CODE_FILE_WRITE, "no folder can be made in %s: %s", where, strerror(errno));
        return false;
    }
    *out = (header_record){ folder, mem_format("%s/read", folder) };
    return true;
}

static const char *profile_of(const header_record *record)
{
    return mem_format("%s.json", record->file); /* the compiler adds the ending */
}

void record_unknown(const option_use *use)
{
    message *m =
        message_at(fail(CODE_CLI_FEATURE, "%s needs NVRTC 13.0 or later, which tells what it reads",
                        option_shown(use->row)),
                   place_of_option(use));
    message_hint(m, "GPULAUNCH_NVRTC=/path/libnvrtc.so.13, or leave %s out",
                 option_shown(use->row));
}

void record_end(header_record *record)
{
    if (!record->folder) return;
    unlink(profile_of(record));
    rmdir(record->folder);
    *record = (header_record){ 0 };
}

/* ---- Reading the profile ---- */

typedef list_of(const char *) name_list;

/* A JSON string from behind its quote; the profile writes file names as they are but for these. */
static const char *json_name(const char *from)
{
    text out = { 0 };
    for (; *from && *from != '"'; from++) {
        if (*from == '\\' && from[1]) from++;
        text_addn(&out, from, 1);
    }
    return text_of(&out);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Events are {"args":{"detail":"NAME"},...,"name":"Processing Header File",...}, one for each time that a header
 * is read, of all runs of the compiler one behind the other.  False: there is none, not even of the compiler's own. */
static bool find_headers(name_list *out, const char *profile)
{
    static const char event[] = "{\"args\":{\"detail\":\"",
                      kind[] = "\"name\":\"Processing Header File\"";
    const char *from = profile;
    bool any = false;
    while (from && (from = strstr(from, event))) {
        const char *next = strstr(from + 1, event), *found = strstr(from, kind);
        if (!found) break;
        const char *name = from + strlen(event);
        from = next ? next : found;
        if (next && found > next) continue;
        name = json_name(name);
        any = true;
        if (!starts_with(name, "__nv_nvrtc_builtin") && !starts_with(name, "gpulaunch_probe"))
            *list_add(out) = name;
    }
    if (out->count) qsort(out->items, out->count, sizeof *out->items, by_name);
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++)
        if (!kept || !same_text(out->items[i], out->items[kept - 1]))
            out->items[kept++] = out->items[i];
    out->count = kept;
    return any;
}

static const char *read_all(const char *path)
{
    FILE *file = fopen(path, "rb");
    text all = { 0 };
    char piece[4096];
    if (!file) return NULL;
    for (size_t got; (got = fread(piece, 1, sizeof piece, file)) > 0;) text_addn(&all, piece, got);
    fclose(file);
    return text_of(&all);
}

/* ---- Writing the rule ---- */

/* As make reads names: a blank and a # behind a backslash, which is doubled before them; a $ twice. */
static const char *make_name(const char *name)
{
    text out = { 0 };
    size_t backslashes = 0;
    for (; *name; name++) {
        if (strchr(" \t#", *name))
            for (size_t i = 0; i <= backslashes; i++) text_add(&out, "\\");
        if (*name == '$') text_add(&out, "$");
        backslashes = *name == '\\' ? backslashes + 1 : 0;
        text_addn(&out, name, 1);
    }
    return text_of(&out);
}

bool write_dependencies(const header_record *record, const source_file *source,
                        const option_use *use, const char *target)
{
    output out;
    const char *why = NULL;
    name_list headers = { 0 };
    if (!source->is_image && !find_headers(&headers, read_all(profile_of(record)))) {
        record_unknown(use);
        return false;
    }
    bool good = output_open(&out, use->text, &why);
    if (good) {
        fprintf(out.stream, "%s:", make_name(target));
        if (!same_text(source->path, "<stdin>"))
            fprintf(out.stream, " %s", make_name(source->path));
        for (size_t i = 0; i < headers.count; i++)
            if (access(headers.items[i], F_OK) == 0)
                fprintf(out.stream, " \\\n  %s", make_name(headers.items[i]));
        fputc('\n', out.stream);
        for (size_t i = 0; i < headers.count; i++)
            if (access(headers.items[i], F_OK) != 0)
                fprintf(out.stream, "# carried by gpulaunch: %s\n", headers.items[i]);
        good = output_close(&out, &why);
    }
    if (!good)
        message_at(fail(CODE_FILE_WRITE, "%s cannot be written: %s", use->text, why),
                   place_of_option(use));
    return good;
}
