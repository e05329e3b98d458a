/* The thread's error record.  SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/alloc.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const gpul__code_row rows[] = {
#define X(number, name, layer, status, title) { number, GPUL_LAYER_##layer, GPUL_##status, title },
#include "base/codes.def"
#undef X
};

const gpul__code_row *gpul__code_row_at(size_t index)
{
    return index < sizeof rows / sizeof *rows ? &rows[index] : NULL;
}

const gpul__code_row *gpul__code_row_find(int code)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == code) return &rows[i];
    return NULL;
}

/* The record with its memory.  The public part points into the arena. */
struct record {
    gpul_error error;
    gpul__arena arena;
    gpul_detail *details;
    size_t capacity;
};

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const gpul_error nothing = { .call = "", .message = "no call has failed", .log = "" };

static void free_record(void *pointer)
{
    struct record *record = pointer;
    gpul__arena_free(&record->arena);
    gpul__free(record->details);
    free(record);
}

static void make_key(void)
{
    pthread_key_create(&key, free_record);
}

/* The last resort of a thread that has no memory for a record of its own. */
static const gpul_error no_memory = {
    .status = GPUL_E_MEMORY,
    .layer = GPUL_LAYER_MEMORY,
    .code = GPUL__MEMORY_HOST,
    .call = "malloc",
    .message = "out of host memory",
    .log = "",
};
static _Thread_local bool without_record;

/* The record itself comes from plain malloc: the failure of an allocation is reported through it, and
 * it outlives every object that a leak count looks at. */
static struct record *record_of_thread(bool make)
{
    pthread_once(&once, make_key);
    struct record *record = pthread_getspecific(key);
    if (!record && make) {
        record = calloc(1, sizeof *record);
        if (record && pthread_setspecific(key, record) != 0) {
            free(record);
            record = NULL;
        }
    }
    return record;
}

const gpul_error *gpul_last_error(void)
{
    if (without_record) return &no_memory;
    struct record *record = record_of_thread(false);
    return record && record->error.status ? &record->error : &nothing;
}

static const char *keep(struct record *record, const char *text)
{
    return text ? gpul__arena_strndup(&record->arena, text, strlen(text)) : NULL;
}

gpul_status gpul__fail_memory(const char *function)
{
    (void)function;
    without_record = true;
    return GPUL_E_MEMORY;
}

gpul_status gpul__fail_at(int code, const char *function, const gpul__failure *failure,
                          const char *format, ...)
{
    struct record *record = record_of_thread(true);
    if (!record) return gpul__fail_memory(function);

    /* The old record is let go last: the new sentence may quote it. */
    gpul__arena old = record->arena;
    gpul__free(record->details);
    record->arena = (gpul__arena){ 0 };
    record->details = NULL;
    record->capacity = 0;
    without_record = false;

    const gpul__code_row *row = gpul__code_row_find(code);
    char text[2048];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *longer = NULL;
    if (length >= (int)sizeof text) {
        longer = gpul__arena_alloc(&record->arena, (size_t)length + 1);
        va_start(args, format);
        if (longer) vsnprintf(longer, (size_t)length + 1, format, args);
        va_end(args);
    }
    gpul_error *error = &record->error;
    *error = (gpul_error){
        .status = failure->status ? failure->status
                  : row           ? row->status
                                  : GPUL_E_INTERNAL,
        .layer = row ? row->layer : GPUL_LAYER_INTERNAL,
        .code = code,
        .native_kind = failure->native_kind,
        .native = failure->native,
        .native_name = keep(record, failure->native_name),
        .call = keep(record, failure->call ? failure->call : function),
        .message = longer ? longer : keep(record, text),
        .hint = keep(record, failure->hint),
        .log = failure->log && *failure->log ? keep(record, failure->log) : "",
        .caller_file = keep(record, failure->caller_file),
        .caller_line = failure->caller_line,
    };
    if (error->native_kind && !error->native_name)
        error->native_name = gpul_native_name(error->native_kind, error->native);
    if (!error->hint) error->hint = gpul__native_hint(error->native_kind, error->native);
    gpul__arena_free(&old);
    if (!error->call || !error->message || !error->log) return gpul__fail_memory(function);
    return error->status;
}

gpul_status gpul__detail(const gpul_detail *detail)
{
    const gpul_error *last = gpul_last_error();
    struct record *record = record_of_thread(false);
    if (!record || last != &record->error) return last->status;
    gpul_error *error = &record->error;
    if (!gpul__grow(&record->details, &record->capacity, error->detail_count,
                    sizeof *record->details))
        return error->status;
    gpul_detail copy = *detail;
    copy.file = keep(record, detail->file);
    copy.parameter = keep(record, detail->parameter);
    copy.text = keep(record, detail->text ? detail->text : "");
    copy.source = keep(record, detail->source);
    if (!copy.severity) copy.severity = GPUL_NOTE;
    error->details = record->details;
    if (!copy.text) return error->status;
    record->details[error->detail_count++] = copy;
    return error->status;
}

gpul_status gpul__note(const char *format, ...)
{
    const gpul_error *last = gpul_last_error();
    struct record *record = record_of_thread(false);
    if (!record || last != &record->error) return last->status;
    va_list args;
    va_start(args, format);
    char *text = gpul__arena_vprintf(&record->arena, format, args);
    va_end(args);
    return text ? gpul__detail(&(gpul_detail){ .severity = GPUL_NOTE, .text = text })
                : last->status;
}

gpul_status gpul__hint(const char *format, ...)
{
    const gpul_error *last = gpul_last_error();
    struct record *record = record_of_thread(false);
    if (!record || last != &record->error) return last->status;
    va_list args;
    va_start(args, format);
    char *text = gpul__arena_vprintf(&record->arena, format, args);
    va_end(args);
    if (text) record->error.hint = text;
    return last->status;
}

const char *gpul_status_text(gpul_status status)
{
    switch (status) {
#define X(name, value, text)                                                                       \
    case GPUL_##name: return text;
        GPUL_STATUS_MAP(X)
#undef X
    }
    return "unknown status";
}

const char *gpul_layer_text(gpul_layer layer)
{
    switch (layer) {
    case GPUL_LAYER_NONE: break;
#define X(name, value, text)                                                                       \
    case GPUL_LAYER_##name: return text;
        GPUL_LAYER_MAP(X)
#undef X
    }
    return "none";
}
