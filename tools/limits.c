/* Time limits and interruption.  SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "files.h"
#include "session.h"

volatile int interrupted;
static volatile sig_atomic_t held, quiet;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct timespec until;
    bool on, running, reached;
    gpul_device *device;
    char what[256];
    double seconds;
} watch = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

/* Waits for the moment.  A launch on a GPU cannot be called off, so the process ends. */
static void *watcher(void *unused)
{
    (void)unused;
    pthread_mutex_lock(&watch.lock);
    while (watch.on)
        if (pthread_cond_timedwait(&watch.changed, &watch.lock, &watch.until) != 0 && watch.on) {
            watch.reached = true;
            watch.on = false;
            if (gpul_interrupt(watch.device) == GPUL_OK) break;
            if (!message_style.held)
                fprintf(
                    stderr,
                    "gpulaunch: error[GL%04d]: %s: '%s' has not ended after %g s\n"
                    "note: gave up waiting; the kernel ends with this process\n"
                    "hint: a larger --timeout, or look for a loop that does not end\n"
                    "hint: -d cpu --timeout  runs it on the CPU device, which says where the threads stand\n",
                    CODE_EXECUTE_TIMEOUT, layer_of(CODE_EXECUTE_TIMEOUT), watch.what,
                    watch.seconds);
            outputs_remove_unfinished();
            _exit(EXIT_TIMEOUT);
        }
    watch.running = false;
    pthread_mutex_unlock(&watch.lock);
    return NULL;
}

bool limit_time(double seconds, const char *what, gpul_device *device)
{
    pthread_mutex_lock(&watch.lock);
    bool reached = watch.reached;
    watch.on = seconds > 0;
    watch.device = device;
    watch.reached = false;
    if (watch.on) {
        clock_gettime(CLOCK_REALTIME, &watch.until);
        watch.until.tv_sec += (time_t)seconds;
        watch.until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
        if (watch.until.tv_nsec >= 1000000000) {
            watch.until.tv_nsec -= 1000000000;
            watch.until.tv_sec++;
        }
        watch.seconds = seconds;
        snprintf(watch.what, sizeof watch.what, "%s", what);
        pthread_t thread;
        if (!watch.running && pthread_create(&thread, NULL, watcher, NULL) == 0) {
            watch.running = true;
            pthread_detach(thread);
        }
    }
    pthread_cond_signal(&watch.changed);
    pthread_mutex_unlock(&watch.lock);
    return reached;
}

/* The same key, passed on by a parent such as timeout(1) as well, comes twice at once: that is one interrupt. */
static bool right_behind(void)
{
    static struct timespec last;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    double seconds =
        (double)(now.tv_sec - last.tv_sec) + (double)(now.tv_nsec - last.tv_nsec) / 1e9;
    last = now;
    return seconds < 0.25;
}

static void on_interrupt(int number)
{
    (void)number;
    bool again = right_behind();
    if (interrupted && again) return;
    if (held && !interrupted) {
        interrupted = 1;
        return;
    }
    static const char line[] = "\ngpulaunch: interrupted\n";
    ssize_t ignored = quiet ? 0 : write(STDERR_FILENO, line, sizeof line - 1);
    (void)ignored;
    outputs_remove_unfinished();
    _exit(EXIT_INTERRUPTED);
}

void interrupts_start(void)
{
    struct sigaction action = { .sa_handler = on_interrupt };
    sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_DFL);
}

void interrupts_quiet(void)
{
    held = 0;
    quiet = 1;
}

void interrupts_hold(bool hold)
{
    held = hold;
}
