/* Over the socket between a worker of check and its parent: numbers of cases there, results back.
 * SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

typedef struct record_head {
    size_t summary, details, file; /* lengths */
    double milliseconds;
    int status, code;
    unsigned line, column;
    bool last;
} record_head;

static bool put(int to, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        ssize_t wrote = send(to, at, size, MSG_NOSIGNAL); /* a side that has gone is no signal */
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote <= 0) return false;
        at += wrote;
        size -= (size_t)wrote;
    }
    return true;
}

static bool get(int from, void *data, size_t size)
{
    char *at = data;
    while (size) {
        ssize_t got = read(from, at, size);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

bool index_send(int to, size_t index)
{
    return put(to, &index, sizeof index);
}

bool index_read(int from, size_t *index)
{
    return get(from, index, sizeof *index);
}

bool record_write(int to, const check_result *r)
{
    record_head head = { .summary = strlen(r->summary),
                         .details = strlen(r->details),
                         .file = strlen(r->file),
                         .milliseconds = r->milliseconds,
                         .status = r->status,
                         .code = r->code,
                         .line = r->line,
                         .column = r->column,
                         .last = r->last };
    return put(to, &head, sizeof head) && put(to, r->summary, head.summary) &&
           put(to, r->details, head.details) && put(to, r->file, head.file);
}

static const char *get_text(int from, size_t length, bool *good)
{
    char *made = mem_alloc(length + 1);
    *good = *good && get(from, made, length);
    return made;
}

bool record_read(int from, check_result *r)
{
    record_head head;
    bool good = get(from, &head, sizeof head);
    if (!good) return false;
    *r = (check_result){ .status = (case_status)head.status,
                         .code = head.code,
                         .milliseconds = head.milliseconds,
                         .line = head.line,
                         .column = head.column,
                         .last = head.last };
    r->summary = get_text(from, head.summary, &good);
    r->details = get_text(from, head.details, &good);
    r->file = get_text(from, head.file, &good);
    return good;
}
