/* The progress line, written by a thread of its own.  SPDX-License-Identifier: MIT */
#include "progress.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "messages.h"
#include "request.h"

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool on, running, shown;
    char what[200];
    struct timespec since;
} line = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static double seconds_since(const struct timespec *then)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)(now.tv_sec - then->tv_sec) + (double)(now.tv_nsec - then->tv_nsec) / 1e9;
}

static void wipe(void)
{
    if (line.shown) fputs("\r\033[K", stderr);
    line.shown = false;
}

/* Wakes ten times a second; shows what has lasted half a second. */
static void *writer(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&line.lock);
    for (;;) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 100000000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&line.changed, &line.lock, &until);
        double seconds = seconds_since(&line.since);
        if (!line.what[0] || seconds < 0.5) continue;
        fprintf(stderr, "\r\033[K%.150s  %.1f s", line.what, seconds);
        fflush(stderr);
        line.shown = true;
    }
    return NULL;
}

static void stop(void)
{
    progress(NULL);
}

void progress_start(const element_list *elements)
{
    const option_use *use = option_find(elements, OPT_PROGRESS);
    const char *term = getenv("TERM"), *ci = getenv("CI");
    bool never = use && same_text(use->text, "never");
    line.on = !never && !common.quiet && isatty(STDERR_FILENO) && term &&
              !same_text(term, "dumb") && !(ci && *ci);
    if (line.on) message_style.before_show = stop;
}

void progress_off(void)
{
    line.on = false;
}

void progress(const char *what)
{
    if (!line.on) return;
    pthread_mutex_lock(&line.lock);
    wipe();
    snprintf(line.what, sizeof line.what, "%s", what ? what : "");
    clock_gettime(CLOCK_REALTIME, &line.since);
    pthread_t thread;
    if (what && !line.running && pthread_create(&thread, NULL, writer, NULL) == 0) {
        pthread_detach(thread);
        line.running = true;
    }
    pthread_mutex_unlock(&line.lock);
    fflush(stderr);
}
