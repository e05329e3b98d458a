/* Reading the source file.  SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <sys/stat.h>

#include "source.h"

#include "files.h"

static bool looks_like_image(const unsigned char *data, size_t size, bool *ptx)
{
    static const unsigned char fatbin[] = { 0x50, 0xed, 0x55, 0xba };
    *ptx = false;
    if (size >= 4 && (memcmp(data,
                             "\x7f"
                             "ELF",
                             4) == 0 ||
                      memcmp(data, fatbin, 4) == 0))
        return true;
    /* PTX: the first thing that is no comment and no blank is .version */
    const char *c = (const char *)data;
    for (;;) {
        c += strspn(c, " \t\r\n");
        if (starts_with(c, "//")) c += strcspn(c, "\n");
        else if (starts_with(c, "/*") && strstr(c, "*/")) c = strstr(c, "*/") + 2;
        else break;
    }
    *ptx = starts_with(c, ".version");
    return *ptx;
}

/* A file of a close name in the same folder. */
static const char *near_file(const char *folder, const char *path)
{
    list_of(const char *) names = { 0 };
    DIR *listing = opendir(*folder ? folder : ".");
    for (struct dirent *d; listing && (d = readdir(listing));)
        if (d->d_name[0] != '.') *list_add(&names) = mem_dup(d->d_name);
    if (listing) closedir(listing);
    const char *near = nearest_name(path + strlen(folder), names.items, names.count);
    return near ? mem_format("%s%s", folder, near) : NULL;
}

bool source_read_path(source_file *out, const char *path, place at)
{
    *out = (source_file){ .path = same_text(path, "-") ? "<stdin>" : path };
    const char *slash = strrchr(path, '/');
    out->folder = slash ? mem_copy(path, (size_t)(slash - path) + 1) : "";
    unsigned char *data;
    const char *why;
    if (!file_slurp(&data, &out->size, path, &why)) {
        message *m = message_at(fail(CODE_FILE_OPEN, "%s cannot be read: %s", path, why), at);
        struct stat facts;
        bool folder = stat(path, &facts) == 0 && S_ISDIR(facts.st_mode);
        const char *near = folder ? NULL : near_file(out->folder, path);
        if (folder)
            message_hint(m, "gpulaunch check %s  runs every kernel file in it", shell_quoted(path));
        if (near) message_hint(m, "%s", shell_quoted(near));
        if (strchr(path, '='))
            message_hint(
                m, "the first word after the command is the file: gpulaunch run FILE.cu %s", path);
        return false;
    }
    out->text = mem_copy((const char *)data, out->size);
    data_free(data);
    out->is_image = looks_like_image((const unsigned char *)out->text, out->size, &out->is_ptx);
    if (out->is_image && !out->is_ptx) return true;
    for (const char *line = out->text; *line;) {
        size_t length = strcspn(line, "\n");
        size_t shown = length && line[length - 1] == '\r' ? length - 1 : length;
        *list_add(&out->lines) = mem_copy(line, shown);
        line += length + (line[length] != 0);
    }
    return true;
}

bool source_read(source_file *out, const word *file)
{
    return source_read_path(out, file->text, place_word(file));
}

const char *source_line(const source_file *source, unsigned line)
{
    return line >= 1 && line <= source->lines.count ? source->lines.items[line - 1] : NULL;
}
