/* Finding, reading and writing files; choosing the reader.  SPDX-License-Identifier: MIT */
#include "files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "values.h"

bool paths_trusted;

message *file_fail(const file_request *request, int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    message *m = message_at_span(fail(code, "%s", mem_vformat(format, args)), request->at);
    va_end(args);
    if (request->declared.kind != PLACE_NONE && code != CODE_FILE_OPEN)
        message_note_at(m, request->declared, "declared here");
    return m;
}

/* ---- Paths ---- */

static const char *folder_real(const char *path)
{
    char *real = realpath(*path ? path : ".", NULL);
    const char *kept = real ? mem_dup(real) : NULL;
    free(real);
    return kept;
}

const char *path_resolve(span at, const char *path)
{
    const word *w = at.word;
    if (same_text(path, "-")) return path;
    const char *full = path;
    if (w->folder && *w->folder && *path != '/') full = mem_format("%s%s", w->folder, path);
    if (!w->confined || paths_trusted) return full;
    const char *folder = folder_real(w->folder ? w->folder : ".");
    const char *real = folder_real(full);
    if (!real) { /* not there: judge its folder */
        const char *slash = strrchr(full, '/');
        real = folder_real(slash ? mem_copy(full, (size_t)(slash - full) + 1) : ".");
        if (!real) return full;
        real = mem_format("%s/", real);
    }
    size_t length = folder ? strlen(folder) : 0;
    if (folder && strncmp(real, folder, length) == 0 &&
        (real[length] == '/' || same_text(folder, "/")))
        return full;
    message *m = message_at_span(
        fail(CODE_DIRECTIVE_TRUST,
             "a directive may read inside its own folder only, and %s is outside", path),
        at);
    message_hint(m, "give the file on the command line, or --trust when you trust the source file");
    return NULL;
}

/* ---- Reading ---- */

bool file_slurp(unsigned char **data, size_t *size, const char *path, const char **why)
{
    int fd = same_text(path, "-") ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    *data = NULL;
    *size = 0;
    if (fd < 0 || fstat(fd, &facts)) {
        *why = strerror(errno);
        if (fd >= 0) close(fd);
        return false;
    }
    if (S_ISDIR(facts.st_mode)) {
        *why = "it is a folder";
        close(fd);
        return false;
    }
    size_t capacity = S_ISREG(facts.st_mode) ? (size_t)facts.st_size + 1 : 65536;
    unsigned char *bytes = data_alloc(capacity + 1);
    for (;;) {
        if (*size == capacity) {
            unsigned char *larger = data_alloc(capacity * 2 + 1);
            memcpy(larger, bytes, *size);
            data_free(bytes);
            bytes = larger;
            capacity *= 2;
        }
        ssize_t got = read(fd, bytes + *size, capacity - *size);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            *why = strerror(errno);
            data_free(bytes);
            close(fd);
            return false;
        }
        if (!got) break;
        *size += (size_t)got;
    }
    bytes[*size] = 0;
    close(fd);
    *data = bytes;
    return true;
}

bool file_content_read(const file_content *content, void *out, uint64_t offset, uint64_t size)
{
    if (content->fd < 0) {
        if (size) memcpy(out, content->memory + offset, size);
        return true;
    }
    while (size) {
        ssize_t got = pread(content->fd, out, size > 1 << 30 ? 1 << 30 : (size_t)size,
                            (off_t)(content->offset + offset));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        out = (char *)out + got;
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return true;
}

void file_content_free(file_content *content)
{
    if (content->fd >= 0) close(content->fd);
    content->fd = -1;
    data_free(content->memory);
    content->memory = NULL;
}

/* Raw elements of the parameter's type: the whole file, or the part that the shape asks for. */
static bool read_raw(file_content *out, const file_request *request, int fd, uint64_t size)
{
    const buffer_spec *spec = request->spec;
    size_t one = request->layout->size;
    if (spec->skip > size) {
        file_fail(request, CODE_FILE_SIZE, "%s has %llu bytes, and skip=%llu would drop more",
                  request->path, (unsigned long long)size, (unsigned long long)spec->skip);
        return false;
    }
    uint64_t bytes = size - spec->skip, count = bytes / one;
    uint64_t wanted = spec->shape_kind == SHAPE_GIVEN ? shape_count(&spec->shape) : 0;
    if (!wanted && (bytes % one || !count)) {
        message *m =
            file_fail(request, CODE_FILE_SIZE, "%s has %llu bytes, %s sizeof(%s) = %zu",
                      request->path, (unsigned long long)bytes,
                      bytes ? "not a multiple of" : "fewer than", request->layout->type_name, one);
        message_note(
            m,
            "the file is read as raw elements of the parameter's type, little-endian, no header");
        uint64_t rest = bytes % one;
        if (count)
            message_hint(
                m,
                "%s=%s:@%s  takes the first %llu elements; %s=@%s,skip=%llu  drops a %llu-byte header",
                request->name, count_text(count), request->path, (unsigned long long)count,
                request->name, request->path, (unsigned long long)rest, (unsigned long long)rest);
        return false;
    }
    out->shape = shape_flat(count);
    out->fd = fd;
    out->offset = spec->skip;
    gpul_type type;
    uint32_t lanes;
    if (!spec->big_endian) return true;
    if (!layout_plain_type(request->layout, &type, &lanes)) {
        file_fail(request, CODE_FILE_TYPE, "',be' needs plain numbers, and %s is a struct",
                  request->layout->type_name);
        return false;
    }
    unsigned char *memory = data_alloc(count * one);
    bool good = file_content_read(out, memory, 0, count * one);
    if (good) convert_scalars(type, memory, type, memory, count * lanes, false, true);
    else file_fail(request, CODE_FILE_OPEN, "%s cannot be read", request->path);
    out->fd = -1;
    out->memory = memory;
    return good;
}

static file_format sniff(const unsigned char *head, size_t size, const char *path)
{
    if (size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0) return FORMAT_NPY;
    file_format format = format_of_path(path);
    if (format != FORMAT_AUTO) return format;
    if (size >= 8 && memcmp(head, "\x89PNG\r\n\x1a\n", 8) == 0) return FORMAT_PNG;
    return FORMAT_RAW;
}

static bool read_as(file_content *out, const file_request *request, file_format format, int fd,
                    uint64_t size)
{
    unsigned char *data = NULL;
    size_t length = 0;
    const char *why = NULL;
    if (format == FORMAT_NPZ) return read_npz(out, request);
    if (format == FORMAT_RAW && fd >= 0) return read_raw(out, request, fd, size);
    if (format == FORMAT_NPY && fd >= 0) { /* only the header is read here */
        length = size < 65536 ? (size_t)size : 65536;
        data = data_alloc(length + 1);
        file_content head = { .fd = fd };
        bool good = file_content_read(&head, data, 0, length) &&
                    read_npy(out, request, data, (size_t)size, fd);
        data_free(data);
        return good;
    }
    if (!file_slurp(&data, &length, request->path, &why)) {
        file_fail(request, CODE_FILE_OPEN, "%s cannot be read: %s", request->path, why);
        return false;
    }
    bool good;
    switch (format) {
    case FORMAT_NPY: good = read_npy(out, request, data, length, -1); break;
    case FORMAT_CSV:
    case FORMAT_TSV:
    case FORMAT_TEXT: good = read_csv(out, request, data, length, format); break;
    case FORMAT_PNM:
    case FORMAT_PFM: good = read_pnm(out, request, data, length); break;
    case FORMAT_PNG: good = read_png(out, request, data, length); break;
    default: { /* raw from stdin: hold it, then treat it as a file of memory */
        FILE *spill = tmpfile();
        int copy = spill && fwrite(data, 1, length, spill) == length && !fflush(spill)
                       ? dup(fileno(spill))
                       : -1;
        if (spill) fclose(spill);
        good = copy >= 0 && read_raw(out, request, copy, length);
        if (copy < 0)
            file_fail(request, CODE_FILE_OPEN, "no temporary file for stdin: %s", strerror(errno));
        else if (out->fd != copy) close(copy);
        break;
    }
    }
    data_free(data);
    return good;
}

bool file_load(file_content *out, const file_request *request)
{
    *out = (file_content){ .fd = -1 };
    const char *path = path_resolve(request->at, request->path);
    if (!path) return false;
    file_request resolved = *request;
    resolved.path = path;
    file_format format = request->spec->format;
    if (same_text(path, "-"))
        return read_as(out, &resolved, format == FORMAT_AUTO ? FORMAT_RAW : format, -1, 0);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat facts;
    if (fd < 0 || fstat(fd, &facts) || S_ISDIR(facts.st_mode)) {
        message *m = file_fail(&resolved, CODE_FILE_OPEN, "%s cannot be read: %s", path,
                               fd >= 0 ? "it is a folder" : strerror(errno));
        if (fd < 0 && errno == ENOENT && *path != '/')
            message_hint(m, "paths %s",
                         request->at.word->folder ? "in a directive are relative to the source file"
                                                  : "are relative to the current folder");
        if (fd >= 0) close(fd);
        return false;
    }
    if (!S_ISREG(facts.st_mode)) { /* a pipe or a device: read it whole */
        close(fd);
        return read_as(out, &resolved, format == FORMAT_AUTO ? FORMAT_RAW : format, -1, 0);
    }
    unsigned char head[8];
    ssize_t got = pread(fd, head, sizeof head, 0);
    if (format == FORMAT_AUTO) format = sniff(head, got > 0 ? (size_t)got : 0, path);
    bool good = read_as(out, &resolved, format, fd, (uint64_t)facts.st_size);
    if (out->fd != fd) close(fd);
    if (!good) file_content_free(out);
    return good;
}

/* ---- Conversion ---- */

static void swap_bytes(unsigned char *out, const unsigned char *in, size_t size)
{
    unsigned char reversed[8];
    for (size_t i = 0; i < size; i++) reversed[i] = in[size - 1 - i];
    memcpy(out, reversed, size);
}

void convert_scalars(gpul_type to, void *out, gpul_type from, const void *in, uint64_t count,
                     bool norm, bool swap)
{
    size_t wide = type_size(to), narrow = type_size(from);
    unsigned char *target = out;
    const unsigned char *source = in;
    double scale = norm && type_is_integer(from) ? strtod(type_highest(from), NULL) : 1;
    for (uint64_t i = 0; i < count; i++) {
        unsigned char value[8];
        if (swap) swap_bytes(value, source + i * narrow, narrow);
        else memcpy(value, source + i * narrow, narrow);
        if (to == from && scale == 1) memcpy(target + i * wide, value, wide);
        else if (type_is_integer(to) && type_is_integer(from) && scale == 1) {
            value_from_int(to, target + i * wide, value_to_int(from, value));
        } else {
            value_from_double(to, target + i * wide, value_to_double(from, value) / scale);
        }
    }
}

/* ---- Writing ---- */

/* Temporary names in use, so that an interrupt can remove them. */
static char *volatile unfinished[64];

static void remember(char *name)
{
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
        if (!unfinished[i]) {
            unfinished[i] = name;
            return;
        }
}

static void forget(const char *name)
{
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
        if (unfinished[i] == name) unfinished[i] = NULL;
}

void outputs_remove_unfinished(void)
{
    for (size_t i = 0; i < sizeof unfinished / sizeof *unfinished; i++)
        if (unfinished[i]) unlink(unfinished[i]);
}

/* /dev/null, a pipe, and what names a file that is open already, /dev/fd/3: written as they are. */
static bool is_no_plain_file(const char *path)
{
    struct stat facts;
    return starts_with(path, "/dev/") || starts_with(path, "/proc/") ||
           (stat(path, &facts) == 0 && !S_ISREG(facts.st_mode));
}

/* Where the path leads: a link keeps pointing at its file. */
static const char *real_path(const char *path)
{
    char *real = realpath(path, NULL);
    const char *kept = real ? mem_dup(real) : path;
    free(real);
    return kept;
}

bool output_open(output *out, const char *path, const char **why)
{
    *out = (output){ .path = path };
    if (same_text(path, "-") || same_text(path, "/dev/stdout")) {
        out->stream = stdout;
        return true;
    }
    if (is_no_plain_file(path)) {
        out->stream = fopen(path, "ab");
        if (!out->stream) *why = strerror(errno);
        return out->stream != NULL;
    }
    out->path = real_path(path);
    char *name = mem_format("%s.%ld.part", out->path, (long)getpid());
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
    out->stream = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (!out->stream) {
        *why = strerror(errno);
        if (fd >= 0) {
            close(fd);
            unlink(name);
        }
        return false;
    }
    out->temporary = name;
    remember(name);
    return true;
}

bool output_close(output *out, const char **why)
{
    bool good = !ferror(out->stream);
    if (fflush(out->stream)) good = false;
    if (!good) *why = errno ? strerror(errno) : "the write failed";
    if (out->stream != stdout && fclose(out->stream) && good) {
        *why = strerror(errno);
        good = false;
    }
    if (out->temporary && good && rename(out->temporary, out->path)) {
        *why = strerror(errno);
        good = false;
    }
    if (out->temporary && !good) unlink(out->temporary);
    forget(out->temporary);
    out->stream = NULL;
    return good;
}

void output_abandon(output *out)
{
    if (out->stream && out->stream != stdout) fclose(out->stream);
    if (out->temporary) unlink(out->temporary);
    forget(out->temporary);
    out->stream = NULL;
}
