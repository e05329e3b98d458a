/* The process's log hook.  SPDX-License-Identifier: MIT */
#include "base/log.h"

#include "base/str.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpul_log hook;
atomic_int gpul__log_level;

void gpul_set_log(gpul_log log)
{
    pthread_mutex_lock(&lock);
    hook = log;
    int level = log.level ? (int)log.level : GPUL_LOG_WARN;
    atomic_store_explicit(&gpul__log_level, log.fn ? level : 0, memory_order_relaxed);
    pthread_mutex_unlock(&lock);
}

void gpul__log(gpul_level level, const char *format, ...)
{
    if (!gpul__log_on(level)) return;
    gpul__str text = { 0 };
    va_list args;
    va_start(args, format);
    gpul__str_vprintf(&text, format, args);
    va_end(args);
    pthread_mutex_lock(&lock);
    if (hook.fn && !text.failed) hook.fn(hook.user, level, gpul__str_text(&text));
    pthread_mutex_unlock(&lock);
    gpul__str_free(&text);
}
