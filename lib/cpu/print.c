/* Kernel printf: text is collected while kernels run and delivered by synchronising calls, to the hook
 * or the process's stdout.  What exceeds the context's printf buffer is delivered early instead of
 * being lost.  SPDX-License-Identifier: MIT */
#include "cpu/state.h"

#include "base/str.h"

#include <stdio.h>

/* Guards the text and keeps deliveries in order. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static gpul__str collected;
static _Thread_local bool delivering; /* this thread is inside the hook */

static void deliver(const char *text, size_t length)
{
    if (!length) return;
    pthread_mutex_lock(&gpul__cpu.lock);
    gpul_cpu_opts options = gpul__cpu.options;
    pthread_mutex_unlock(&gpul__cpu.lock);
    delivering = true;
    if (options.print) {
        options.print(options.print_user, text, length);
    } else {
        fwrite(text, 1, length, stdout);
        fflush(stdout);
    }
    delivering = false;
}

void gpul__cpu_print_take(void *limit, const char *text, size_t length)
{
    pthread_mutex_lock(&lock);
    gpul__str_addn(&collected, text, length);
    if (collected.failed || collected.length > (uintptr_t)limit) {
        /* After a failure the string holds what fitted, which is all but `text`. */
        bool failed = collected.failed;
        deliver(gpul__str_text(&collected), collected.length);
        if (failed) deliver(text, length);
        gpul__str_free(&collected);
        collected = (gpul__str){ 0 };
    }
    pthread_mutex_unlock(&lock);
}

void gpul__cpu_print_flush(void)
{
    if (delivering) return;
    pthread_mutex_lock(&lock);
    deliver(gpul__str_text(&collected), collected.length);
    gpul__str_free(&collected);
    collected = (gpul__str){ 0 };
    pthread_mutex_unlock(&lock);
}
