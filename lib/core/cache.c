/* The store of the compile cache.  SPDX-License-Identifier: MIT */
#include "core/cache.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/log.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char magic[16] = "gpulaunch-entry1";
enum { HEAD = 32, STALE_SECONDS = 600 };
static const uint64_t default_limit = (uint64_t)1 << 30;

static const char *variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

char *gpul__cache_path(void)
{
    gpul__str path = { 0 };
    const char *base;
    if ((base = variable("GPULAUNCH_CACHE_DIR"))) gpul__str_add(&path, base);
    else if ((base = variable("XDG_CACHE_HOME"))) gpul__str_printf(&path, "%s/gpulaunch", base);
    else if ((base = variable("HOME"))) gpul__str_printf(&path, "%s/.cache/gpulaunch", base);
    else return NULL;
    return gpul__str_take(&path);
}

/* Makes the folders above the last one, as far as they are missing. */
static void make_parents(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
}

int gpul__cache_open(void)
{
    char *path = gpul__cache_path();
    if (!path) {
        gpul__log(GPUL_LOG_INFO, "no compile cache: HOME is not set");
        return -1;
    }
    make_parents(path);
    if (mkdir(path, 0700) != 0 && errno != EEXIST) {
        gpul__log(GPUL_LOG_INFO, "no compile cache: %s cannot be made: %s", path, strerror(errno));
        gpul__free(path);
        return -1;
    }
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat about;
    const char *why = NULL;
    if (folder < 0) why = errno == ELOOP ? "it is a link" : strerror(errno);
    else if (fstat(folder, &about) != 0) why = strerror(errno);
    else if (about.st_uid != geteuid()) why = "it belongs to another user";
    else if (about.st_mode & 077) why = "other users may enter it; chmod 700 would help";
    if (why) {
        gpul__log(GPUL_LOG_WARN, "the compile cache %s is not used: %s", path, why);
        if (folder >= 0) close(folder);
        folder = -1;
    }
    gpul__free(path);
    return folder;
}

static void entry_name(char out[64], const char *key, const char *kind)
{
    snprintf(out, 64, "%.32s.%.16s", key, kind);
}

/* The head of an entry: magic, size, and a checksum of the payload. */
static void make_head(unsigned char head[HEAD], const void *data, size_t size)
{
    uint64_t length = size, sum = gpul__hash(data, size);
    memcpy(head, magic, 16);
    memcpy(head + 16, &length, 8);
    memcpy(head + 24, &sum, 8);
}

static bool read_all(int fd, void *data, size_t size)
{
    for (char *at = data; size;) {
        ssize_t got = read(fd, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

void *gpul__cache_read(int folder, const char *key, const char *kind, size_t *size)
{
    char name[64];
    entry_name(name, key, kind);
    *size = 0;
    int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0) {
        if (errno == ELOOP) unlinkat(folder, name, 0);
        return NULL;
    }
    struct stat about;
    unsigned char head[HEAD], expected[HEAD];
    unsigned char *data = NULL;
    const char *why = NULL;
    if (fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) why = "it is no file";
    else if (about.st_uid != geteuid()) why = "it belongs to another user";
    else if (about.st_size < HEAD || !read_all(fd, head, HEAD)) why = "it is cut off";
    else if (!(data = gpul__malloc((size_t)about.st_size - HEAD + 1))) {
        close(fd);
        return NULL;
    } else if (!read_all(fd, data, (size_t)about.st_size - HEAD)) why = "it is cut off";
    if (!why) {
        make_head(expected, data, (size_t)about.st_size - HEAD);
        if (memcmp(head, expected, HEAD) != 0) why = "it is damaged";
    }
    if (why) {
        gpul__log(GPUL_LOG_WARN, "the cache entry %s was dropped: %s", name, why);
        unlinkat(folder, name, 0);
        gpul__free(data);
        close(fd);
        return NULL;
    }
    futimens(fd, NULL); /* used now: eviction goes by this time */
    close(fd);
    *size = (size_t)about.st_size - HEAD;
    data[*size] = 0;
    return data;
}

bool gpul__cache_write(int folder, const char *key, const char *kind, const void *data, size_t size)
{
    static atomic_uint serial;
    char name[64], temporary[96];
    entry_name(name, key, kind);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(temporary, sizeof temporary, ".%ld.%lx.%x.part", (long)getpid(),
             (unsigned long)now.tv_nsec, atomic_fetch_add(&serial, 1));
    int fd = openat(folder, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    unsigned char head[HEAD];
    make_head(head, data, size);
    int number = fd < 0 ? errno : gpul__write_all(fd, head, HEAD);
    if (!number) number = gpul__write_all(fd, data, size);
    bool good = !number;
    if (fd >= 0 && close(fd) != 0 && good) {
        good = false;
        number = errno;
    }
    if (good && renameat(folder, temporary, folder, name) != 0) {
        good = false;
        number = errno;
    }
    if (!good) {
        if (fd >= 0) unlinkat(folder, temporary, 0);
        gpul__log(GPUL_LOG_INFO, "the cache entry %s was not kept: %s", name, strerror(number));
        return false;
    }
    /* One write in 32, told by the key, looks after the folder's size. */
    if (key[0] == '0' && key[1] < '8') {
        struct gpul__cache_use removed, left;
        gpul__cache_prune(folder, default_limit, 0, &removed, &left);
    }
    return true;
}

struct item {
    char name[64];
    uint64_t bytes;
    int64_t used;
};

static int by_use(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    return (x->used > y->used) - (x->used < y->used);
}

/* Entry names are 32 hexadecimal digits, a dot and a kind; nothing else in the folder is touched. */
static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == GPUL__CACHE_KEY && name[GPUL__CACHE_KEY] == '.' &&
           strlen(name) < sizeof((struct item *)0)->name;
}

void gpul__cache_prune(int folder, uint64_t max_bytes, uint64_t max_age_s,
                       struct gpul__cache_use *removed, struct gpul__cache_use *left)
{
    *removed = *left = (struct gpul__cache_use){ 0, 0 };
    int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy < 0 ? NULL : fdopendir(copy);
    if (!listing) {
        if (copy >= 0) close(copy);
        return;
    }
    struct item *items = NULL;
    size_t count = 0, capacity = 0;
    int64_t now = (int64_t)time(NULL);
    const struct dirent *found;
    while ((found = readdir(listing))) {
        struct stat about;
        if (fstatat(folder, found->d_name, &about, AT_SYMLINK_NOFOLLOW) != 0) continue;
        int64_t used = (int64_t)about.st_mtime;
        if (found->d_name[0] == '.' && gpul__ends(found->d_name, ".part")) {
            /* A time far ahead is that of a clock that ran backwards since. */
            if (now - used > STALE_SECONDS || used - now > STALE_SECONDS)
                unlinkat(folder, found->d_name, 0);
            continue;
        }
        if (!is_entry(found->d_name)) continue;
        if (!gpul__grow(&items, &capacity, count, sizeof *items)) break;
        items[count] = (struct item){ .bytes = (uint64_t)about.st_size, .used = used };
        memcpy(items[count].name, found->d_name, strlen(found->d_name) + 1);
        left->bytes += items[count].bytes;
        count++;
    }
    left->entries = count;
    if (count) qsort(items, count, sizeof *items, by_use);
    for (size_t i = 0; i < count; i++) {
        bool old = max_age_s && now - items[i].used > (int64_t)max_age_s;
        if (!old && left->bytes <= max_bytes) break;
        if (unlinkat(folder, items[i].name, 0) != 0) continue;
        removed->entries++;
        removed->bytes += items[i].bytes;
        left->entries--;
        left->bytes -= items[i].bytes;
    }
    gpul__free(items);
    closedir(listing);
}
