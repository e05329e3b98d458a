/* The worker processes of check: each is given one case after the other, and what they answer is reported in
 * the order of the cases.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "progress.h"
#include "session.h"

typedef struct worker {
    pid_t pid;
    int channel;  /* -1: none */
    FILE *spoken; /* its stderr, so that what several write does not mix; NULL: it is ours */
    bool busy;
    size_t index; /* of its case */
} worker;

typedef struct crew {
    check_list *list;
    const element_list *options;
    worker *workers;
    size_t count, given, reported; /* cases before `given` were given to somebody */
    bool *ended;
} crew;

static void worker_died(check_list *list, size_t index, int status)
{
    check_result *r = &list->results[index];
    bool timeout = WIFEXITED(status) && WEXITSTATUS(status) == EXIT_TIMEOUT;
    *r = (check_result){ .status = CASE_FAIL, .file = "" };
    r->code = timeout ? CODE_EXECUTE_TIMEOUT : CODE_INTERNAL;
    if (timeout) r->summary = mem_format("GL%04d it has not ended within --timeout", r->code);
    else if (WIFSIGNALED(status))
        r->summary =
            mem_format("GL%04d the worker was ended by signal %d", r->code, WTERMSIG(status));
    else
        r->summary =
            mem_format("GL%04d the worker ended with status %d", r->code, WEXITSTATUS(status));
    r->details = mem_format("%s: error[%.6s]: %s: %s\n", list->cases.items[index].source->path,
                            r->summary, layer_of(r->code), r->summary + 7);
}

/* What a worker wrote to stderr since the last case; it waits, so that nothing is added meanwhile. */
static const char *take_spoken(worker *w)
{
    if (!w->spoken) return NULL;
    int file = fileno(w->spoken);
    off_t size = lseek(file, 0, SEEK_END);
    if (size <= 0) return NULL;
    char *all = mem_alloc((size_t)size + 1);
    ssize_t got = pread(file, all, (size_t)size, 0);
    if (ftruncate(file, 0) == 0) lseek(file, 0, SEEK_SET);
    return got > 0 ? all : NULL;
}

/* ---- Starting and giving ---- */

static _Noreturn void be_worker(crew *c, worker *w, int parent)
{
    interrupts_quiet();
    for (size_t i = 0; i < c->count; i++)
        if (c->workers[i].channel >= 0 && &c->workers[i] != w) close(c->workers[i].channel);
    if (w->spoken) dup2(fileno(w->spoken), STDERR_FILENO);
    check_worker(c->list, c->options, parent);
}

static bool worker_start(crew *c, worker *w)
{
    int ends[2];
    fflush(NULL);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) {
        fail(CODE_INTERNAL, "no socket for a worker: %s", strerror(errno));
        return false;
    }
    w->pid = fork();
    if (w->pid == 0) {
        close(ends[0]);
        be_worker(c, w, ends[1]);
    }
    close(ends[1]);
    if (w->pid < 0) {
        fail(CODE_INTERNAL, "no process: %s", strerror(errno));
        close(ends[0]);
        return false;
    }
    c->list->first_worker = false;
    w->channel = ends[0];
    w->busy = false;
    return true;
}

/* Closes the channel, at which a worker that waits ends; returns how it ended. */
static int worker_end(worker *w)
{
    int status = 0;
    close(w->channel);
    w->channel = -1;
    w->busy = false;
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) continue;
    return status;
}

static void skip_broken(crew *c)
{
    while (c->given < c->list->cases.count && c->list->cases.items[c->given].broken)
        c->ended[c->given++] = true;
}

/* Gives every idle worker a case, and starts those that there are cases for. */
static bool give(crew *c)
{
    for (size_t i = 0; i < c->count; i++) {
        worker *w = &c->workers[i];
        skip_broken(c);
        if (w->busy || c->given == c->list->cases.count) continue;
        if (w->channel < 0 && !worker_start(c, w)) return false;
        w->busy = true;
        w->index = c->given++;
        index_send(w->channel, w->index); /* one that has gone is noticed when it is read from */
    }
    return true;
}

/* ---- Answers ---- */

static void take_answer(crew *c, worker *w)
{
    check_result r;
    bool answered = record_read(w->channel, &r), last = !answered || r.last;
    int status = last ? worker_end(w) : 0;
    w->busy = false;
    if (!answered && interrupted) return;
    if (answered) c->list->results[w->index] = r;
    else worker_died(c->list, w->index, status);
    c->list->results[w->index].spoken = take_spoken(w);
    c->ended[w->index] = true;
}

/* Waits until a worker answers or the person interrupts. */
static void await(crew *c)
{
    struct pollfd *channels = mem_array(c->count, sizeof *channels);
    sigset_t interrupt, before;
    for (size_t i = 0; i < c->count; i++)
        channels[i] = (struct pollfd){ .fd = c->workers[i].busy ? c->workers[i].channel : -1,
                                       .events = POLLIN };
    sigemptyset(&interrupt);
    sigaddset(&interrupt, SIGINT);
    sigprocmask(SIG_BLOCK, &interrupt, &before);
    int ready = interrupted ? 0 : ppoll(channels, c->count, NULL, &before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    for (size_t i = 0; ready > 0 && i < c->count; i++)
        if (channels[i].revents) take_answer(c, &c->workers[i]);
}

static void report_ended(crew *c)
{
    for (; c->reported < c->list->cases.count && c->ended[c->reported]; c->reported++) {
        const char *spoken = c->list->results[c->reported].spoken;
        if (spoken) fputs(spoken, stderr);
        report_case(c->list, c->reported);
    }
}

/* What was running ends; what did not end is skipped. */
static void stop_all(crew *c)
{
    for (size_t i = 0; i < c->count; i++) {
        if (c->workers[i].channel < 0) continue;
        kill(c->workers[i].pid, SIGINT);
        if (c->workers[i].busy) take_answer(c, &c->workers[i]); /* it may have been done */
        if (c->workers[i].channel >= 0) worker_end(&c->workers[i]);
    }
    for (size_t i = 0; i < c->list->cases.count; i++) {
        if (!c->ended[i] && !c->list->cases.items[i].broken)
            c->list->results[i].summary = "interrupted";
        c->ended[i] = true;
    }
}

bool check_all(check_list *list, size_t jobs, const element_list *options)
{
    crew c = { .list = list, .options = options };
    FILE *turn = NULL;
    bool good = true;
    c.count = jobs < list->cases.count ? jobs : list->cases.count;
    c.workers = mem_array(c.count + 1, sizeof *c.workers);
    c.ended = mem_array(list->cases.count + 1, sizeof *c.ended);
    for (size_t i = 0; i < c.count; i++) c.workers[i] = (worker){ .channel = -1 };
    list->first_worker = true;
    list->turn = -1;
    if (c.count > 1) {
        progress_off();
        good = (turn = tmpfile()) != NULL;
        for (size_t i = 0; good && i < c.count; i++)
            good = (c.workers[i].spoken = tmpfile()) != NULL;
        if (good) list->turn = fileno(turn);
        else fail(CODE_INTERNAL, "no temporary file: %s", strerror(errno));
    }
    interrupts_hold(true);
    for (report_ended(&c); good && c.reported < list->cases.count; report_ended(&c)) {
        good = give(&c);
        report_ended(&c);
        if (good && c.reported < list->cases.count) await(&c);
        if (interrupted) stop_all(&c);
    }
    for (size_t i = 0; i < c.count; i++) {
        if (c.workers[i].channel >= 0) worker_end(&c.workers[i]);
        if (c.workers[i].spoken) fclose(c.workers[i].spoken);
    }
    if (turn) fclose(turn);
    interrupts_hold(false);
    return good;
}
