/* gpulaunch cache: where the compile cache is, what it holds, and making it smaller.  Only entries (32
 * hexadecimal digits and a kind) are ever touched.  SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "commands.h"
#include "request.h"
#include "session.h"
#include "show.h"
#include "values.h"

typedef struct entry {
    const char *name;
    uint64_t bytes;
    int64_t used; /* seconds since the epoch */
} entry;
typedef list_of(entry) entry_list;

static const char *cache_folder(void)
{
    const char *own = secure_getenv("GPULAUNCH_CACHE_DIR"), *xdg = secure_getenv("XDG_CACHE_HOME"),
               *home = secure_getenv("HOME");
    if (own && *own) return own;
    if (xdg && *xdg) return mem_format("%s/gpulaunch", xdg);
    return home && *home ? mem_format("%s/.cache/gpulaunch", home) : NULL;
}

static bool is_entry(const char *name)
{
    size_t digits = strspn(name, "0123456789abcdef");
    return digits == 32 && name[32] == '.' && name[33];
}

static int by_use(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    return x->used < y->used ? -1 : x->used > y->used;
}

/* What a process left that died while it wrote; younger ones may still be written. */
static bool is_leftover(const char *name, const struct stat *facts)
{
    enum { STALE_SECONDS = 600 };
    int64_t age = (int64_t)time(NULL) - (int64_t)facts->st_mtime;
    size_t length = strlen(name);
    return name[0] == '.' && length > 5 && same_text(name + length - 5, ".part") &&
           (age > STALE_SECONDS || age < -STALE_SECONDS);
}

/* Removes what a writer left behind. */
static void sweep(int folder)
{
    struct stat facts;
    DIR *listing = fdopendir(dup(folder));
    if (!listing) return;
    rewinddir(listing);
    for (struct dirent *d; (d = readdir(listing));)
        if (!fstatat(folder, d->d_name, &facts, AT_SYMLINK_NOFOLLOW) && S_ISREG(facts.st_mode) &&
            is_leftover(d->d_name, &facts))
            unlinkat(folder, d->d_name, 0);
    closedir(listing);
}

/* The folder's descriptor, or -1: there is none (no error), or it cannot be used (a message). */
static int open_folder(const char *path, entry_list *out)
{
    struct stat facts;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        if (errno != ENOENT)
            fail(CODE_CACHE_FOLDER, "%s cannot be opened: %s", path, strerror(errno));
        return -1;
    }
    if (fstat(folder, &facts) || facts.st_uid != geteuid()) {
        fail(CODE_CACHE_FOLDER, "%s belongs to another user", path);
        close(folder);
        return -1;
    }
    DIR *listing = fdopendir(dup(folder));
    for (struct dirent *d; listing && (d = readdir(listing));) {
        if (!is_entry(d->d_name) || fstatat(folder, d->d_name, &facts, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(facts.st_mode))
            continue;
        *list_add(out) =
            (entry){ mem_dup(d->d_name), (uint64_t)facts.st_size, (int64_t)facts.st_mtime };
    }
    if (listing) closedir(listing);
    if (out->count) qsort(out->items, out->count, sizeof *out->items, by_use);
    return folder;
}

static uint64_t total_bytes(const entry_list *list)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < list->count; i++) sum += list->items[i].bytes;
    return sum;
}

static const char *age_text(int64_t seconds)
{
    if (seconds < 120) return mem_format("%lld s", (long long)(seconds < 0 ? 0 : seconds));
    if (seconds < 7200) return mem_format("%lld min", (long long)seconds / 60);
    if (seconds < 172800) return mem_format("%lld h", (long long)seconds / 3600);
    return mem_format("%lld days", (long long)seconds / 86400);
}

static void list_entries(const entry_list *list)
{
    int64_t now = (int64_t)time(NULL);
    for (size_t i = list->count; i-- > 0;)
        printf("%s  %10s  used %s ago\n", list->items[i].name, bytes_text(list->items[i].bytes),
               age_text(now - list->items[i].used));
    if (summary_stream)
        fprintf(summary_stream, "%zu entr%s, %s\n", list->count, list->count == 1 ? "y" : "ies",
                bytes_text(total_bytes(list)));
}

/* 30d, 12h, 90m or 600s. */
static bool parse_age(const char *source, int64_t *seconds)
{
    size_t length = strlen(source);
    uint64_t count;
    int64_t unit = 1;
    if (!length) return false;
    switch (source[length - 1]) {
    case 'd': unit = 86400; break;
    case 'h': unit = 3600; break;
    case 'm': unit = 60; break;
    case 's': break;
    default: length++;
    }
    if (value_count(&count, source, length - 1) || count > 100000000) return false;
    *seconds = (int64_t)count * unit;
    return true;
}

/* Removes the oldest until at most `most` bytes are left, and all older than `age` (-1: none). */
static void prune(int folder, const entry_list *list, uint64_t most, int64_t age)
{
    uint64_t left = total_bytes(list), removed = 0, count = 0;
    int64_t now = (int64_t)time(NULL);
    for (size_t i = 0; i < list->count; i++) {
        const entry *e = &list->items[i];
        bool old = age >= 0 && now - e->used > age;
        if (!old && left <= most) continue;
        if (unlinkat(folder, e->name, 0)) {
            warn(CODE_CACHE_FOLDER, "%s cannot be removed: %s", e->name, strerror(errno));
            continue;
        }
        left -= e->bytes;
        removed += e->bytes;
        count++;
    }
    if (summary_stream)
        fprintf(summary_stream, "%llu of %zu entries removed, %s; %s left\n",
                (unsigned long long)count, list->count, bytes_text(removed), bytes_text(left));
}

int cmd_cache(element_list *elements)
{
    const word *what = take_word(elements);
    if (what && same_text(what->text, "why")) {
        cache_why(elements);
        return 0;
    }
    for (size_t i = 0; i < elements->count; i++) {
        const option_use *use = &elements->items[i].use;
        if (elements->items[i].kind != ELEMENT_OPTION ||
            (use->row->commands & CMD_ALL) == CMD_ALL || use->id == OPT_MAX || use->id == OPT_OLDER)
            continue;
        message_at(fail(CODE_CLI_OPTION, "only 'cache why' takes %s", option_shown(use->row)),
                   place_of_option(use));
        return 0;
    }
    if (!what || !no_more_words(elements)) {
        if (!what)
            message_hint(fail(CODE_CLI_VALUE, "'cache' needs to know what to do"),
                         "gpulaunch cache dir, list, prune, clear or why FILE");
        return 0;
    }
    const char *path = cache_folder();
    if (!path) {
        message_hint(
            fail(
                CODE_CACHE_FOLDER,
                "there is no place for a cache: neither GPULAUNCH_CACHE_DIR, XDG_CACHE_HOME nor HOME is set"),
            "GPULAUNCH_CACHE_DIR=DIR");
        return 0;
    }
    if (same_text(what->text, "dir")) {
        puts(path);
        return 0;
    }
    bool listing = same_text(what->text, "list"), clear = same_text(what->text, "clear"),
         some = same_text(what->text, "prune");
    if (!listing && !clear && !some) {
        message_hint(
            message_at_span(
                fail(CODE_CLI_VALUE, "'%s' is nothing that can be done with the cache", what->text),
                span_of(what)),
            "gpulaunch cache dir, list, prune, clear or why FILE");
        return 0;
    }
    uint64_t most = clear ? 0 : UINT64_MAX;
    int64_t age = -1;
    const option_use *max = option_find(elements, OPT_MAX),
                     *older = option_find(elements, OPT_OLDER);
    if (max && value_count(&most, max->text, strlen(max->text))) {
        message_at(fail(CODE_CLI_VALUE, "--max: \"%s\" is no size", max->text),
                   place_of_option(max));
        return 0;
    }
    if (older && !parse_age(older->text, &age)) {
        message_hint(message_at(fail(CODE_CLI_VALUE, "--older: \"%s\" is no time", older->text),
                                place_of_option(older)),
                     "--older 30d");
        return 0;
    }
    if (some && !max && !older) {
        message_hint(fail(CODE_CLI_VALUE, "'cache prune' needs a limit"),
                     "gpulaunch cache prune --max 1G --older 30d");
        return 0;
    }
    entry_list list = { 0 };
    int folder = open_folder(path, &list);
    if (listing) list_entries(&list);
    else if (folder >= 0) {
        prune(folder, &list, most, age);
        sweep(folder);
    } else if (!messages_failed() && summary_stream)
        fprintf(summary_stream, "%s does not exist: nothing to remove\n", path);
    if (folder >= 0) close(folder);
    return 0;
}
