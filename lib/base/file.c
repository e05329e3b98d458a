/* Whole files, read and written safely.  SPDX-License-Identifier: MIT */
#include "base/file.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
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

static int write_all(int fd, const char *data, size_t size)
{
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

gpul_status gpul__file_write(const char *path, const void *data, size_t size)
{
    gpul__str name = { 0 };
    gpul__str_printf(&name, "%s.XXXXXX", path);
    char *temporary = gpul__str_take(&name);
    if (!temporary) return gpul__no_memory();
    gpul_status status = GPUL_OK;
    int fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        status = failed(GPUL__FILE_WRITE, "mkostemp", path, errno);
        gpul__free(temporary);
        return status;
    }
    mode_t mask = umask(0);
    umask(mask);
    int number = write_all(fd, data, size);
    if (!number && fchmod(fd, 0666 & ~mask) != 0) number = errno;
    if (close(fd) != 0 && !number) number = errno;
    const char *call = "write";
    if (!number && rename(temporary, path) != 0) {
        number = errno;
        call = "rename";
    }
    if (number) {
        unlink(temporary);
        status = failed(GPUL__FILE_WRITE, call, path, number);
    }
    gpul__free(temporary);
    return status;
}

char *gpul__file_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return gpul__strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
}
