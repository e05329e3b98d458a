/* Keys of the compile cache and the scan for headers.  SPDX-License-Identifier: MIT */
#include "core/cache_key.h"

#include "base/alloc.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const gpul__key start = { .a = 0xcbf29ce484222325u, .b = 0x243f6a8885a308d3u };

/* Two hashes of different start and factors, each stirred by the position: enough to tell honest inputs apart; nobody
 * else can write to the folder.  Eight bytes a step, as headers are megabytes. */
static void stir(gpul__key *key, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    uint64_t a = key->a, b = key->b;
    for (size_t at = 0; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, bytes + at, size - at < 8 ? size - at : 8);
        a = (a ^ word) * 0x9fb21c651e98df25u;
        a ^= a >> 32;
        b = (b ^ (word + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
        b ^= b >> 29;
    }
    key->a = a;
    key->b = b;
}

static void record(gpul__key *key, const char *label, const char *value, size_t length)
{
    if (!key->record || label[0] == '.') return;
    /* A line each: what would break one is shown as a question mark. */
    for (const char *c = label; *c; c++)
        gpul__str_addn(key->record, (unsigned char)*c < ' ' ? "?" : c, 1);
    gpul__str_add(key->record, "\t");
    for (size_t i = 0; i < length; i++)
        gpul__str_addn(key->record, (unsigned char)value[i] < ' ' ? "?" : value + i, 1);
    gpul__str_add(key->record, "\n");
}

static void add(gpul__key *key, const char *label, const void *data, size_t size, gpul__key *own)
{
    uint64_t length = size;
    *own = start;
    stir(own, data, size);
    const uint64_t part[2] = { own->a, own->b };
    stir(key, label, strlen(label) + 1);
    stir(key, &length, sizeof length);
    stir(key, part, sizeof part);
}

void gpul__key_bytes(gpul__key *key, const char *label, const void *data, size_t size)
{
    gpul__key own;
    char value[64];
    add(key, label, data, size, &own);
    int length = snprintf(value, sizeof value, "#%016llx%016llx", (unsigned long long)own.a,
                          (unsigned long long)own.b);
    record(key, label, value, (size_t)length);
}

void gpul__key_begin(gpul__key *key, const char *purpose, gpul__str *lines)
{
    *key = start;
    key->record = lines;
    gpul__key_text(key, ".purpose", purpose);
    gpul__key_text(key, "gpulaunch", GPUL_VERSION);
    gpul__key_number(key, ".layout", 3); /* of what is stored; raised when that changes */
}

void gpul__key_text(gpul__key *key, const char *label, const char *text)
{
    gpul__key own;
    add(key, text ? label : ".none", text ? text : label, strlen(text ? text : label), &own);
    if (text) record(key, label, text, strlen(text));
}

void gpul__key_number(gpul__key *key, const char *label, uint64_t number)
{
    gpul__key own;
    char value[24];
    add(key, label, &number, sizeof number, &own);
    record(key, label, value,
           (size_t)snprintf(value, sizeof value, "%llu", (unsigned long long)number));
}

void gpul__key_list(gpul__key *key, const char *label, const char *const *list)
{
    uint64_t count = 0;
    for (; list && list[count]; count++) gpul__key_text(key, label, list[count]);
    gpul__key_number(key, ".count", count);
}

void gpul__key_end(const gpul__key *key, char out[GPUL__CACHE_KEY + 1])
{
    snprintf(out, GPUL__CACHE_KEY + 1, "%016llx%016llx", (unsigned long long)key->a,
             (unsigned long long)key->b);
}

/* ---- The scan ---- */

enum { MOST_HEADERS = 2000, DEEPEST = 100, MOST_QUESTIONS = 8 };
static const char first_question[] = "__has_include";

struct scan {
    gpul__key *key;
    const char *const *folders;
    const gpul_header *own;
    char **seen; /* real names of what was read */
    size_t count, capacity;
    char *questions[MOST_QUESTIONS]; /* macros that ask as __has_include does */
    size_t question_count;
    bool again; /* one of them was new */
};

static bool scan_text(struct scan *scan, const char *text, size_t size, const char *folder,
                      int depth);

/* The key cannot be known. */
static bool give_up(struct scan *scan, const char *why)
{
    if (!scan->key->unknown) scan->key->unknown = why;
    return false;
}

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
    gpul__str label = { 0 };
    const char *slash = strrchr(path, '/');
    gpul__str_printf(&label, "header %s", path);
    bool good = !failed && !label.failed &&
                (folder = gpul__strndup(path, slash ? (size_t)(slash - path) + 1 : 0));
    if (!good) give_up(scan, "it reads too many headers");
    if (good) {
        gpul__key_bytes(scan->key, label.text, text, size);
        good = scan_text(scan, text, size, folder, depth + 1);
    }
    gpul__str_free(&label);
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
    if (!good || found) return good;
    /* Only the folders are searched for <name>, so that one which is in none stays away until it is put into one. */
    if (quoted) return give_up(scan, "a header that it includes is in no folder that is known");
    gpul__key_text(scan->key, ".absent", name);
    return true;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && (*at == ' ' || *at == '\t')) at++;
    return at;
}

static bool is_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Whether the word at `at` stands behind one of the words, blanks and a parenthesis aside. */
static bool is_behind(const char *text, const char *at, const char *const *words)
{
    while (at > text && (at[-1] == ' ' || at[-1] == '\t')) at--;
    if (at > text && at[-1] == '(') at--;
    while (at > text && (at[-1] == ' ' || at[-1] == '\t')) at--;
    for (; *words; words++) {
        size_t length = strlen(*words);
        if ((size_t)(at - text) > length && memcmp(at - length, *words, length) == 0) return true;
    }
    return false;
}

/* The name at *at, which is moved behind it and the blanks there; 0: there is none. */
static size_t take_name(const char **at, const char *end)
{
    const char *begin = *at;
    while (*at < end && is_name(**at)) ++*at;
    size_t size = (size_t)(*at - begin);
    *at = skip_blanks(*at, end);
    return size;
}

/* "#define ASK(X) word(X)" makes ASK another word for the question.  `at` is the word, `argument` what stands in its parenthesis. */
static bool add_question(struct scan *scan, const char *text, const char *end, const char *at,
                         const char *argument)
{
    const char *line = at, *close = argument;
    size_t size = take_name(&close, end);
    while (line > text && line[-1] != '\n') line--;
    line = skip_blanks(line, at);
    bool good = size && close < end && *close == ')' && *line == '#';
    if (good) line = skip_blanks(line + 1, at);
    good = good && at - line > 6 && memcmp(line, "define", 6) == 0;
    if (good) line = skip_blanks(line + 6, at);
    const char *name = line;
    size_t length = good ? take_name(&line, at) : 0;
    good = length && name[length] == '(';
    if (good) line = skip_blanks(line + 1, at);
    const char *parameter = line;
    good = good && take_name(&line, at) == size && memcmp(parameter, argument, size) == 0 &&
           *line == ')' && skip_blanks(line + 1, at) == at;
    close = good ? skip_blanks(close + 1, end) : end;
    if (!good || (close < end && *close != '\n' && *close != '\r' && *close != '/'))
        return give_up(scan, "it asks with __has_include by a macro");
    for (size_t i = 0; i < scan->question_count; i++)
        if (strlen(scan->questions[i]) == length && memcmp(scan->questions[i], name, length) == 0)
            return true;
    if (scan->question_count == MOST_QUESTIONS)
        return give_up(scan, "it asks with __has_include by many macros");
    char *copy = gpul__strndup(name, length);
    if (!copy) return give_up(scan, "memory ran out");
    scan->questions[scan->question_count++] = copy;
    scan->again = true; /* what was read before may ask by it too */
    return true;
}

/* Every use of a question's word that asks for a name counts as an #include of it, as far as the key goes. */
static bool scan_question(struct scan *scan, const char *word, const char *text, size_t size,
                          const char *folder, int depth)
{
    static const char *const about[] = { "ifdef", "ifndef", "defined", NULL }, *const made[] = {
        "define", "undef", NULL
    };
    const char *at = text, *end = text + size;
    size_t length = strlen(word);
    bool is_first = word == first_question;
    for (; (at = memmem(at, (size_t)(end - at), word, length)); at += length) {
        if ((at > text && is_name(at[-1])) || is_behind(text, at, about) ||
            is_behind(text, at, made))
            continue;
        const char *next = skip_blanks(at + length, end);
        if (next < end && is_name(*next) && next == at + length) {
            if (is_first) return give_up(scan, "it asks with __has_include_next");
            continue;
        }
        if (next == end || *next != '(')
            return give_up(scan, "it asks with __has_include by a macro");
        next = skip_blanks(next + 1, end);
        char open = next < end ? *next : 0, close = open == '<' ? '>' : '"';
        if (open != '<' && open != '"') {
            if (!add_question(scan, text, end, at, next)) return false;
            continue;
        }
        const char *last = memchr(next + 1, close, (size_t)(end - next - 1));
        char *name = last ? gpul__strndup(next + 1, (size_t)(last - next - 1)) : NULL;
        bool good = name && include(scan, name, open == '"', folder, depth);
        gpul__free(name);
        if (!good) return give_up(scan, "a question with __has_include in it does not end");
    }
    return true;
}

static bool scan_questions(struct scan *scan, const char *text, size_t size, const char *folder,
                           int depth)
{
    bool good = scan_question(scan, first_question, text, size, folder, depth);
    for (size_t i = 0; good && i < scan->question_count; i++)
        good = scan_question(scan, scan->questions[i], text, size, folder, depth);
    return good;
}

/* memmem for what begins with a rare character, many times as fast. */
static bool has(const char *text, size_t size, const char *sign)
{
    size_t length = strlen(sign);
    const char *end = text + size;
    while ((text = memchr(text, sign[0], (size_t)(end - text)))) {
        if ((size_t)(end - text) >= length && memcmp(text, sign, length) == 0) return true;
        text++;
    }
    return false;
}

/* Every line that begins with # include counts, also one in a comment or under an #if that is not
 * taken: too many headers cost a miss at most, one too few would give a wrong result.  A line that is
 * continued before the name is spelt is not followed, and the scan gives up. */
static bool scan_text(struct scan *scan, const char *text, size_t size, const char *folder,
                      int depth)
{
    if (depth > DEEPEST) return give_up(scan, "its headers include each other too deeply");
    if (has(text, size,
            "?"
            "?=") ||
        has(text, size, "%:"))
        return give_up(scan, "it may spell # in another way");
    if (!scan_questions(scan, text, size, folder, depth)) return false;
    const char *end = text + size;
    for (const char *line = text; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop) stop = end;
        const char *at = memchr(line, '#', (size_t)(stop - line)) ? skip_blanks(line, stop) : stop;
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
            if (word < stop && (*word == '\\' || *word == '/'))
                return give_up(scan, "a directive in it is split");
            if ((size_t)(stop - at) >= 7 && memcmp(at, "include", 7) == 0) {
                at = skip_blanks(at + 7, stop);
                char open = at < stop ? *at : 0, close = open == '<' ? '>' : '"';
                const char *last = open == '<' || open == '"'
                                       ? memchr(at + 1, close, (size_t)(stop - at - 1))
                                       : NULL;
                if (!last) return give_up(scan, "an #include in it is spelt by a macro");
                char *name = gpul__strndup(at + 1, (size_t)(last - at - 1));
                bool good = name && include(scan, name, open == '"', folder, depth);
                gpul__free(name);
                if (!good) return give_up(scan, "memory ran out");
            } else if (word - at == 5 && memcmp(at, "embed", 5) == 0) {
                return give_up(scan, "it uses #embed");
            } else if (word - at == 6 && memcmp(at, "import", 6) == 0) {
                return give_up(scan, "it uses #import");
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
    const gpul__key before = *key;
    size_t recorded = key->record ? key->record->length : 0;
    bool good;
    do {
        *key = before;
        if (recorded) key->record->text[key->record->length = recorded] = 0;
        scan.again = false;
        good = scan_text(&scan, source, size, source_folder, 0);
        for (size_t i = 0; i < scan.count; i++) gpul__free(scan.seen[i]);
        scan.count = 0;
    } while (good && scan.again);
    gpul__free(scan.seen);
    for (size_t i = 0; i < scan.question_count; i++) gpul__free(scan.questions[i]);
    return good;
}
