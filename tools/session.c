/* Opening the device, the library's log, and where output goes.  SPDX-License-Identifier: MIT */
#include "session.h"

#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "timeline.h"

FILE *summary_stream;

/* ---- The library's log ---- */

static struct {
    pthread_mutex_t lock;
    char **lines; /* of warnings, malloc'd: the hook is called from any thread */
    size_t count, capacity;
} pending = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void keep_warning(const char *line)
{
    if (pending.count == pending.capacity) {
        size_t wanted = pending.capacity ? pending.capacity * 2 : 8;
        char **larger = realloc(pending.lines, wanted * sizeof *larger);
        if (!larger) return;
        pending.lines = larger;
        pending.capacity = wanted;
    }
    char *copy = strdup(line);
    if (copy) pending.lines[pending.count++] = copy;
}

static gpul_level shown_level;

static void on_log(void *user, gpul_level level, const char *line)
{
    (void)user;
    pthread_mutex_lock(&pending.lock);
    if (level == GPUL_LOG_TRACE) timeline_call(line);
    if (level <= GPUL_LOG_WARN) keep_warning(line);
    else if (level <= shown_level) /* --trace asks for more than is shown */
        fprintf(stderr, "gpulaunch: %s: %s\n",
                level == GPUL_LOG_INFO    ? "info"
                : level == GPUL_LOG_DEBUG ? "debug"
                                          : "trace",
                line);
    pthread_mutex_unlock(&pending.lock);
}

void log_start(int verbose)
{
    gpul_level level = verbose >= 3   ? GPUL_LOG_TRACE
                       : verbose == 2 ? GPUL_LOG_DEBUG
                       : verbose == 1 ? GPUL_LOG_INFO
                                      : GPUL_LOG_WARN;
    shown_level = level;
    if (timeline_on()) level = GPUL_LOG_TRACE;
    gpul_set_log((gpul_log){ .fn = on_log, .level = level });
}

void log_drain(const plan *p)
{
    pthread_mutex_lock(&pending.lock);
    for (size_t i = 0; i < pending.count; i++) {
        const char *line = pending.lines[i];
        if (!finding_message(p, line))
            inform(0, "%s", starts_with(line, "device: ") ? line + strlen("device: ") : line);
        free(pending.lines[i]);
    }
    pending.count = 0;
    free(pending.lines);
    pending.lines = NULL;
    pending.capacity = 0;
    pthread_mutex_unlock(&pending.lock);
    messages_flush();
}

/* ---- Kernel printf ---- */

static struct {
    pthread_mutex_t lock;
    char *data; /* of the CPU device; malloc'd, as its threads write */
    size_t length, capacity;
    int saved; /* CUDA: the real stdout while kernels run */
    FILE *file;
} printed = { .lock = PTHREAD_MUTEX_INITIALIZER, .saved = -1 };

static void on_print(void *user, const char *piece, size_t length)
{
    (void)user;
    pthread_mutex_lock(&printed.lock);
    if (printed.length + length > printed.capacity) {
        size_t wanted = (printed.length + length) * 2;
        char *larger = realloc(printed.data, wanted);
        if (!larger) {
            pthread_mutex_unlock(&printed.lock);
            return;
        }
        printed.data = larger;
        printed.capacity = wanted;
    }
    memcpy(printed.data + printed.length, piece, length);
    printed.length += length;
    pthread_mutex_unlock(&printed.lock);
}

FILE *printf_stream(void)
{
    return summary_stream ? summary_stream : stderr;
}

void capture_begin(const session *s)
{
    if (s->info->backend != GPUL_BACKEND_CUDA || printed.saved >= 0) return;
    fflush(stdout);
    printed.file = tmpfile();
    if (!printed.file) return;
    printed.saved = dup(STDOUT_FILENO);
    if (printed.saved >= 0) dup2(fileno(printed.file), STDOUT_FILENO);
}

void capture_end(const session *s, FILE *to)
{
    if (s->info->backend == GPUL_BACKEND_CPU) {
        pthread_mutex_lock(&printed.lock);
        if (printed.length && to) fwrite(printed.data, 1, printed.length, to);
        printed.length = printed.capacity = 0;
        free(printed.data);
        printed.data = NULL;
        pthread_mutex_unlock(&printed.lock);
        return;
    }
    if (printed.saved < 0) return;
    fflush(stdout);
    dup2(printed.saved, STDOUT_FILENO);
    close(printed.saved);
    printed.saved = -1;
    rewind(printed.file);
    char piece[4096];
    for (size_t got; (got = fread(piece, 1, sizeof piece, printed.file)) > 0;)
        if (to) fwrite(piece, 1, got, to);
    fclose(printed.file);
}

/* ---- The device ---- */

/* What is done while the context is made. */
typedef struct beside {
    void (*call)(void *user, session *s);
    void *user;
} beside;

static void on_chosen(void *user, gpul_device *device)
{
    const beside *b = user;
    session s = { device, gpul_device_describe(device) };
    b->call(b->user, &s);
}

bool session_open_meanwhile(session *out, const option_use *device, bool require_gpu,
                            void (*meanwhile)(void *user, session *s), void *user)
{
    beside b = { meanwhile, user };
    *out = (session){ 0 };
    if (require_gpu) setenv("GPULAUNCH_REQUIRE_GPU", "1", 1);
    const char *named = device ? device->text : getenv("GPULAUNCH_DEVICE");
    bool automatic = !named || !*named;
    gpul_device_opts opts = { .device = automatic ? "auto" : named, .cpu = { .print = on_print } };
    if (meanwhile) {
        opts.meanwhile = on_chosen;
        opts.meanwhile_user = &b;
    }
    if (gpul_open(&out->device, &opts)) {
        log_drain(NULL);
        message *m = library_message(NULL);
        if (device && m->at.kind == PLACE_NONE) message_at(m, place_of_option(device));
        if (!automatic && starts_with(named, "cuda") && !require_gpu)
            message_note(m, "without -d the CPU device would run this");
        return false;
    }
    out->info = gpul_device_describe(out->device);
    log_drain(NULL);
    return true;
}

bool session_open(session *out, const option_use *device, bool require_gpu)
{
    return session_open_meanwhile(out, device, require_gpu, NULL, NULL);
}

void session_close(session *s)
{
    gpul_device_free(&s->device);
}

const char *device_shown(const gpul_device_info *info)
{
    if (info->backend == GPUL_BACKEND_CPU)
        return info->ordinal ? mem_format("cpu:%d %s", info->ordinal, info->name)
                             : mem_format("cpu  %s", info->name);
    return mem_format("%d %s", info->ordinal, info->name);
}

const char *arch_shown(const gpul_device_info *info)
{
    return mem_format("sm_%d%d", info->compute_major, info->compute_minor);
}
