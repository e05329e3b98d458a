/* Keys of the compile cache and the scan for headers.  SPDX-License-Identifier: MIT */
#include "core/cache_key.h"

#include "base/alloc.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Two FNV-1a hashes of different start, each stirred by the position: enough to tell honest inputs
 * apart; nobody else can write to the folder. */
static void stir(gpul__key *key, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t a = key->a, b = key->b;
    for (size_t i = 0; i < size; i++) {
        a = (a ^ bytes[i]) * 0x100000001b3u;
        b = (b ^ (bytes[i] + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
        b ^= b >> 29;
    }
    key->a = a;
    key->b = b;
}

void gpul__key_bytes(gpul__key *key, const char *label, const void *data, size_t size)
{
    uint64_t length = size;
    stir(key, label, strlen(label) + 1);
    stir(key, &length, sizeof length);
    stir(key, data, size);
}

void gpul__key_begin(gpul__key *key, const char *purpose)
{
    key->a = 0xcbf29ce484222325u;
    key->b = 0x243f6a8885a308d3u;
    gpul__key_text(key, "purpose", purpose);
    gpul__key_text(key, "gpulaunch", GPUL_VERSION);
    gpul__key_number(key, "layout", 2); /* of what is stored; raised when that changes */
}

void gpul__key_text(gpul__key *key, const char *label, const char *text)
{
    if (text) gpul__key_bytes(key, label, text, strlen(text));
    else gpul__key_bytes(key, "none", label, strlen(label));
}

void gpul__key_number(gpul__key *key, const char *label, uint64_t number)
{
    gpul__key_bytes(key, label, &number, sizeof number);
}

void gpul__key_list(gpul__key *key, const char *label, const char *const *list)
{
    uint64_t count = 0;
    for (; list && list[count]; count++) gpul__key_text(key, label, list[count]);
    gpul__key_number(key, label, count);
}

void gpul__key_end(const gpul__key *key, char out[GPUL__CACHE_KEY + 1])
{
    snprintf(out, GPUL__CACHE_KEY + 1, "%016llx%016llx", (unsigned long long)key->a,
             (unsigned long long)key->b);
}

/* ---- The scan ---- */

enum { MOST_HEADERS = 2000, DEEPEST = 100 };

struct scan {
    gpul__key *key;
    const char *const *folders;
    const gpul_header *own;
    char **seen; /* real names of what was read */
    size_t count, capacity;
};

static bool scan_text(struct scan *scan, const char *text, size_t size, const char *folder,
                      int depth);

static bool was_seen(struct scan *scan, const char *name, bool *failed)
{
    for (size_t i = 0; i < scan->count; i++)
        if (strcmp(scan->seen[i], name) == 0) return true;
    *failed = scan->count >= MOST_HEADERS ||
              !gpul__grow(&scan->seen, &scan->capacity, scan->count, sizeof *scan->seen) ||
              !(scan->seen[scan->count] = gpul__strdup(name));
    if (!*failed) scan->count++;
    return false;
}

static char *slurp(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    char *text = NULL;
    if (fd < 0) return NULL;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) &&
        (text = gpul__malloc((size_t)about.st_size + 1))) {
        size_t at = 0;
        ssize_t got;
        while (at < (size_t)about.st_size &&
               (got = read(fd, text + at, (size_t)about.st_size - at)) > 0)
            at += (size_t)got;
        if (at != (size_t)about.st_size) {
            gpul__free(text);
            text = NULL;
        } else {
            text[at] = 0;
            *size = at;
        }
    }
    close(fd);
    return text;
}

static bool read_header(struct scan *scan, const char *path, int depth, bool *found)
{
    size_t size;
    char *text = slurp(path, &size);
    *found = text != NULL;
    if (!text) return true;
    bool failed = false;
    if (was_seen(scan, path, &failed)) {
        gpul__free(text);
        return true;
    }
    char *folder = NULL;
    const char *slash = strrchr(path, '/');
    bool good = !failed && (folder = gpul__strndup(path, slash ? (size_t)(slash - path) + 1 : 0));
    if (good) {
        gpul__key_text(scan->key, "header", path);
        gpul__key_bytes(scan->key, "content", text, size);
        good = scan_text(scan, text, size, folder, depth + 1);
    }
    gpul__free(folder);
    gpul__free(text);
    return good;
}

/* One #include: `name` as it is spelt, `quoted` for "name". */
static bool include(struct scan *scan, const char *name, bool quoted, const char *folder, int depth)
{
    bool failed = false, found = false;
    for (const gpul_header *h = scan->own; h && h->name; h++) {
        if (strcmp(h->name, name) != 0) continue;
        if (was_seen(scan, name, &failed)) return true;
        /* Their text is hashed by the caller; what they include themselves is followed here. */
        return !failed && scan_text(scan, h->text, strlen(h->text), "", depth + 1);
    }
    gpul__str path = { 0 };
    bool good = true;
    if (quoted && folder) {
        gpul__str_printf(&path, "%s%s", name[0] == '/' ? "" : folder, name);
        good = !path.failed && read_header(scan, gpul__str_text(&path), depth, &found);
    }
    for (size_t i = 0; good && !found && scan->folders && scan->folders[i]; i++) {
        path.length = 0;
        gpul__str_printf(&path, "%s/%s", scan->folders[i], name);
        good = !path.failed && read_header(scan, gpul__str_text(&path), depth, &found);
    }
    gpul__str_free(&path);
    return good && found;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at;
}

/* Every line that begins with # include counts, also one in a comment or under an #if that is not
 * taken: too many headers cost a miss at most, one too few would give a wrong result.  A line that is
 * continued before the name is spelt is not followed, and the scan gives up. */
static bool scan_text(struct scan *scan, const char *text, size_t size, const char *folder,
                      int depth)
{
    if (depth > DEEPEST) return false;
    if (memmem(text, size, "__has_include", 13) ||
        memmem(text, size,
               "?"
               "?=",
               3) ||
        memmem(text, size, "%:", 2))
        return false;
    const char *end = text + size;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        const char *at = skip_blanks(line, stop);
        /* A comment may stand before the sign. */
        while (at + 1 < stop && at[0] == '/' && at[1] == '*') {
            const char *close = memmem(at + 2, (size_t)(stop - at - 2), "*/", 2);
            if (!close) break;
            at = skip_blanks(close + 2, stop);
        }
        const char *tail = at < stop ? memmem(at, (size_t)(stop - at), "*/", 2) : NULL;
        const char *sign = at < stop && *at == '#' ? at : NULL;
        if (!sign && tail) {
            const char *after = skip_blanks(tail + 2, stop);
            if (after < stop && *after == '#') sign = after;
        }
        if (sign) {
            at = skip_blanks(sign + 1, stop);
            const char *word = at;
            while (word < stop && ((*word >= 'a' && *word <= 'z') || *word == '_')) word++;
            if (word < stop && (*word == '\\' || *word == '/')) return false;
            if ((size_t)(stop - at) >= 7 && memcmp(at, "include", 7) == 0) {
                at = skip_blanks(at + 7, stop);
                char open = at < stop ? *at : 0, close = open == '<' ? '>' : '"';
                const char *last = open == '<' || open == '"'
                                       ? memchr(at + 1, close, (size_t)(stop - at - 1))
                                       : NULL;
                if (!last) return false;
                char *name = gpul__strndup(at + 1, (size_t)(last - at - 1));
                bool good = name && include(scan, name, open == '"', folder, depth);
                gpul__free(name);
                if (!good) return false;
            } else if (word - at == 5 && memcmp(at, "embed", 5) == 0) {
                return false;
            } else if (word - at == 6 && memcmp(at, "import", 6) == 0) {
                return false;
            }
        }
        line = stop + 1;
    }
    return true;
}

bool gpul__key_headers(gpul__key *key, const char *source, size_t size, const char *source_folder,
                       const char *const *folders, const gpul_header *own)
{
    struct scan scan = { .key = key, .folders = folders, .own = own };
    bool good = scan_text(&scan, source, size, source_folder, 0);
    for (size_t i = 0; i < scan.count; i++) gpul__free(scan.seen[i]);
    gpul__free(scan.seen);
    return good;
}
