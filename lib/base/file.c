/* Whole files, read and written safely.  SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static gpul_status failed(int code, const char *call, const char *path, int number)
{
    return gpul__fail(code, (.call = call, .native_kind = GPUL_NATIVE_ERRNO, .native = number),
                      "%s: %s", path, strerror(number));
}

gpul_status gpul__file_read(char **text, size_t *size, const char *path)
{
    *text = NULL;
    *size = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return failed(GPUL__FILE_OPEN, "open", path, errno);
    struct stat about;
    if (fstat(fd, &about) == 0 && S_ISDIR(about.st_mode)) {
        close(fd);
        return failed(GPUL__FILE_OPEN, "open", path, EISDIR);
    }
    gpul__str data = { 0 };
    char block[65536];
    ssize_t got;
    while ((got = read(fd, block, sizeof block)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        gpul__str_addn(&data, block, (size_t)got);
        if (data.failed) break;
    }
    int number = errno;
    close(fd);
    if (got < 0) {
        gpul__str_free(&data);
        return failed(GPUL__FILE_OPEN, "read", path, number);
    }
    size_t length = data.length;
    *text = gpul__str_take(&data);
    if (!*text) return gpul__no_memory();
    *size = length;
    return GPUL_OK;
}

int gpul__write_all(int fd, const void *bytes, size_t size)
{
    const char *data = bytes;
    while (size) {
        ssize_t put = write(fd, data, size);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) return errno;
        if (put == 0) return ENOSPC;
        data += put;
        size -= (size_t)put;
    }
    return 0;
}

/* A device, a pipe: what has no contents to keep is written as it is, and never replaced by a file. */
static gpul_status write_in_place(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return failed(GPUL__FILE_WRITE, "open", path, errno);
    int number = gpul__write_all(fd, data, size);
    if (close(fd) != 0 && !number) number = errno;
    return number ? failed(GPUL__FILE_WRITE, "write", path, number) : GPUL_OK;
}

/* A new file beside `path`, with the permissions that the process gives to new files. */
static int open_temporary(char **name, const char *path)
{
    static atomic_uint next;
    for (int attempt = 0; attempt < 100; attempt++) {
        gpul__str text = { 0 };
        gpul__str_printf(&text, "%s.%ld-%u.tmp", path, (long)getpid(), atomic_fetch_add(&next, 1));
        *name = gpul__str_take(&text);
        if (!*name) return -ENOMEM;
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0) return fd;
        int number = errno;
        gpul__free(*name);
        *name = NULL;
        if (number != EEXIST) return -number;
    }
    return -EEXIST;
}

gpul_status gpul__file_write(const char *path, const void *data, size_t size)
{
    struct stat about;
    bool exists = stat(path, &about) == 0;
    if (exists && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return write_in_place(path, data, size);
    /* A link stays one: the file behind it is replaced. */
    char *target = exists ? realpath(path, NULL) : NULL;
    const char *final = target ? target : path, *call = "open";
    char *temporary = NULL;
    int fd = open_temporary(&temporary, final);
    int number = fd < 0 ? -fd : 0;
    if (fd >= 0) {
        call = "write";
        number = gpul__write_all(fd, data, size);
        if (!number && exists && fchmod(fd, about.st_mode & 0777) != 0) number = errno;
        if (close(fd) != 0 && !number) number = errno;
        if (!number && rename(temporary, final) != 0) {
            number = errno;
            call = "rename";
        }
        if (number) unlink(temporary);
    }
    gpul__free(temporary);
    free(target);
    if (number == ENOMEM) return gpul__no_memory();
    return number ? failed(GPUL__FILE_WRITE, call, path, number) : GPUL_OK;
}

char *gpul__file_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return gpul__strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}
