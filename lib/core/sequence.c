/* Sequences: recording steps, changing them, playing them; and streams that are captured.  How they become a
 * graph is in sequence_graph.c.  SPDX-License-Identifier: MIT */
#include "core/sequence.h"

#include "core/context.h"
#include "core/device_failure.h"
#include "core/stream.h"

/* ---- Life ---- */

gpul_sequence *gpul__sequence_new(gpul_device *device)
{
    gpul_sequence *sequence = gpul__calloc(1, sizeof *sequence);
    if (!sequence) return NULL;
    gpul__device_take(device);
    sequence->device = device;
    sequence->label = "a sequence";
    return sequence;
}

gpul_status gpul_sequence_new(gpul_sequence **out, gpul_device *device)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(device);
    *out = gpul__sequence_new(device);
    return *out ? GPUL_OK : gpul__no_memory();
}

static void clear_step(gpul__step *step)
{
    gpul__kept_launch_free(step->launch);
    gpul_buffer_free(&step->to);
    gpul_buffer_free(&step->from);
    gpul__free(step->name);
}

void gpul_sequence_free(gpul_sequence **sequence)
{
    gpul_sequence *s = sequence ? *sequence : NULL;
    if (!s) return;
    *sequence = NULL;
    bool pushed;
    if ((s->graph || s->exec) && gpul__enter_quietly(s->device, &pushed)) {
        gpul__sequence_drop_graph(s);
        gpul__leave(s->device, pushed);
    }
    for (size_t i = 0; i < s->count; i++) clear_step(&s->steps[i]);
    gpul__free(s->steps);
    gpul__device_drop(s->device);
    gpul__free(s);
}

/* ---- Recording ---- */

static gpul_status check_open(const gpul_sequence *sequence, const char *call)
{
    if (!sequence->captured) return GPUL_OK;
    return gpul__fail(
        GPUL__ARGS_INVALID,
        (.call = call, .hint = "record the steps with gpul_sequence_launch and its kin"),
        "%s: the sequence was captured: it has no steps that can be changed", call);
}

/* Takes the step over. */
static gpul_status add(gpul_sequence *s, gpul__step *step)
{
    if (!gpul__grow(&s->steps, &s->capacity, s->count, sizeof *s->steps)) {
        clear_step(step);
        return gpul__no_memory();
    }
    s->steps[s->count++] = *step;
    return GPUL_OK;
}

gpul_status gpul_sequence_launch(gpul_sequence *sequence, const gpul_kernel *kernel,
                                 const gpul_launch_opts *opts, gpul_arglist args)
{
    static const char call[] = "gpul_sequence_launch";
    GPUL__NEED(sequence);
    GPUL__NEED(kernel);
    gpul_status status = check_open(sequence, call);
    if (status != GPUL_OK) return status;
    if (kernel->device != sequence->device)
        return gpul__fail(GPUL__ARGS_FOREIGN, (.call = call),
                          "%s: '%s' belongs to another device than the sequence", call,
                          kernel->info.name);
    if (opts && opts->stream)
        return gpul__fail(GPUL__ARGS_INVALID,
                          (.call = call, .hint = "give it to gpul_sequence_play"),
                          "%s: a launch in a sequence has no stream of its own", call);
    gpul__step step = { .kind = GPUL__STEP_LAUNCH };
    status = gpul__kept_launch_new(&step.launch, kernel, opts, args, call);
    return status == GPUL_OK ? add(sequence, &step) : status;
}

/* A buffer of the sequence's device, and a range inside it. */
static gpul_status check_buffer(const gpul_sequence *sequence, const gpul_buffer *buffer,
                                const char *role, size_t offset, size_t size, const char *call)
{
    gpul_status status = check_open(sequence, call);
    if (status != GPUL_OK) return status;
    if (buffer->device != sequence->device)
        return gpul__fail(GPUL__ARGS_FOREIGN, (.call = call),
                          "%s: the %s belongs to another device than the sequence", call, role);
    return gpul__check_range(call, role, buffer, offset, size);
}

gpul_status gpul_sequence_write(gpul_sequence *sequence, gpul_buffer *destination, size_t offset,
                                const void *source, size_t size)
{
    GPUL__NEED(sequence);
    GPUL__NEED(destination);
    if (size) GPUL__NEED(source);
    gpul_status status =
        check_buffer(sequence, destination, "destination", offset, size, "gpul_sequence_write");
    if (status != GPUL_OK) return status;
    return add(sequence, &(gpul__step){ .kind = GPUL__STEP_WRITE,
                                        .to = gpul__buffer_take(destination),
                                        .to_offset = offset,
                                        .size = size,
                                        .host = (void *)(uintptr_t)source });
}

gpul_status gpul_sequence_read(gpul_sequence *sequence, void *destination,
                               const gpul_buffer *source, size_t offset, size_t size)
{
    GPUL__NEED(sequence);
    GPUL__NEED(source);
    if (size) GPUL__NEED(destination);
    gpul_status status =
        check_buffer(sequence, source, "source", offset, size, "gpul_sequence_read");
    if (status != GPUL_OK) return status;
    return add(sequence, &(gpul__step){ .kind = GPUL__STEP_READ,
                                        .from = gpul__buffer_take(source),
                                        .from_offset = offset,
                                        .size = size,
                                        .host = destination });
}

gpul_status gpul_sequence_copy(gpul_sequence *sequence, gpul_buffer *destination,
                               size_t destination_offset, const gpul_buffer *source,
                               size_t source_offset, size_t size)
{
    static const char call[] = "gpul_sequence_copy";
    GPUL__NEED(sequence);
    GPUL__NEED(destination);
    GPUL__NEED(source);
    gpul_status status =
        check_buffer(sequence, destination, "destination", destination_offset, size, call);
    if (status == GPUL_OK)
        status = check_buffer(sequence, source, "source", source_offset, size, call);
    if (status != GPUL_OK) return status;
    CUdeviceptr to = destination->address + destination_offset;
    CUdeviceptr from = source->address + source_offset;
    if (size) status = gpul__check_overlap(call, to, from, size);
    if (status != GPUL_OK) return status;
    return add(sequence, &(gpul__step){ .kind = GPUL__STEP_COPY,
                                        .to = gpul__buffer_take(destination),
                                        .from = gpul__buffer_take(source),
                                        .to_offset = destination_offset,
                                        .from_offset = source_offset,
                                        .size = size });
}

gpul_status gpul_sequence_fill(gpul_sequence *sequence, gpul_buffer *destination, size_t offset,
                               size_t size, const void *pattern, size_t pattern_size)
{
    GPUL__NEED(sequence);
    GPUL__NEED(destination);
    GPUL__NEED(pattern);
    gpul_status status =
        check_buffer(sequence, destination, "destination", offset, size, "gpul_sequence_fill");
    if (status == GPUL_OK) status = gpul__check_pattern(destination, offset, size, pattern_size);
    if (status != GPUL_OK) return status;
    gpul__step step = { .kind = GPUL__STEP_FILL,
                        .to = gpul__buffer_take(destination),
                        .to_offset = offset,
                        .size = size,
                        .pattern_size = pattern_size };
    memcpy(step.pattern, pattern, pattern_size);
    return add(sequence, &step);
}

/* ---- Finding and changing ---- */

size_t gpul_sequence_count(const gpul_sequence *sequence)
{
    return sequence ? sequence->count : 0;
}

bool gpul_sequence_is_graph(const gpul_sequence *sequence)
{
    return sequence && sequence->exec && !sequence->one_by_one;
}

static gpul_status find(size_t *out, const gpul_sequence *sequence, const char *name,
                        const char *call)
{
    for (size_t i = 0; i < sequence->count; i++) {
        if (!sequence->steps[i].name || strcmp(sequence->steps[i].name, name) != 0) continue;
        *out = i;
        return GPUL_OK;
    }
    return gpul__fail(GPUL__ARGS_INVALID,
                      (.call = call, .hint = "gpul_sequence_name names the step before it"),
                      "%s: no step of the sequence has the name '%s'", call, name);
}

gpul_status gpul_sequence_find(size_t *out, const gpul_sequence *sequence, const char *name)
{
    GPUL__OUT(out, 0);
    GPUL__NEED(sequence);
    GPUL__NEED(name);
    return find(out, sequence, name, "gpul_sequence_find");
}

gpul_status gpul_sequence_name(gpul_sequence *sequence, const char *name)
{
    static const char call[] = "gpul_sequence_name";
    GPUL__NEED(sequence);
    GPUL__NEED(name);
    if (!sequence->count)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                          "%s: there is no step yet that '%s' could name", call, name);
    for (size_t i = 0; i + 1 < sequence->count; i++)
        if (sequence->steps[i].name && strcmp(sequence->steps[i].name, name) == 0)
            return gpul__fail(GPUL__ARGS_INVALID, (.call = call),
                              "%s: step %zu has the name '%s' already", call, i, name);
    char *copy = gpul__strdup(name);
    if (!copy) return gpul__no_memory();
    gpul__step *step = &sequence->steps[sequence->count - 1];
    gpul__free(step->name);
    step->name = copy;
    return GPUL_OK;
}

/* A step that can be changed as asked. */
static gpul_status step_of(gpul__step **out, gpul_sequence *sequence, size_t step, bool launch,
                           const char *call)
{
    if (step >= sequence->count)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call, .hint = "steps count from 0"),
                          "%s: there is no step %zu: the sequence has %zu", call, step,
                          sequence->count);
    gpul__step *found = &sequence->steps[step];
    bool host = found->kind == GPUL__STEP_WRITE || found->kind == GPUL__STEP_READ;
    if (launch ? found->kind != GPUL__STEP_LAUNCH : !host)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = call), "%s: step %zu is no %s", call, step,
                          launch ? "launch" : "copy from or to host memory");
    *out = found;
    return GPUL_OK;
}

static void note_change(gpul_sequence *sequence, gpul__step *step)
{
    size_t index = (size_t)(step - sequence->steps);
    if (step->changed || index >= sequence->built || !sequence->exec) return;
    step->changed = true;
    sequence->changed++;
}

gpul_status gpul_sequence_set(gpul_sequence *sequence, size_t step, size_t index, gpul_arg arg)
{
    static const char call[] = "gpul_sequence_set";
    GPUL__NEED(sequence);
    gpul__step *found;
    gpul_status status = step_of(&found, sequence, step, true, call);
    if (status == GPUL_OK) status = gpul__kept_launch_set(found->launch, index, &arg, call);
    if (status == GPUL_OK) note_change(sequence, found);
    return status;
}

gpul_status gpul_sequence_set_named(gpul_sequence *sequence, const char *step,
                                    const char *parameter, gpul_arg arg)
{
    static const char call[] = "gpul_sequence_set_named";
    GPUL__NEED(sequence);
    GPUL__NEED(step);
    GPUL__NEED(parameter);
    size_t number, index;
    gpul__step *found;
    gpul_status status = find(&number, sequence, step, call);
    if (status == GPUL_OK) status = step_of(&found, sequence, number, true, call);
    if (status == GPUL_OK) status = gpul__kept_launch_find(&index, found->launch, parameter, call);
    return status == GPUL_OK ? gpul_sequence_set(sequence, number, index, arg) : status;
}

gpul_status gpul_sequence_set_host(gpul_sequence *sequence, size_t step, void *memory)
{
    GPUL__NEED(sequence);
    GPUL__NEED(memory);
    gpul__step *found;
    gpul_status status = step_of(&found, sequence, step, false, "gpul_sequence_set_host");
    if (status != GPUL_OK) return status;
    found->host = memory;
    if (found->size) note_change(sequence, found);
    return GPUL_OK;
}

/* ---- Playing ---- */

/* The typed calls themselves, in the stream. */
static gpul_status play_step(const gpul__step *step, gpul_stream *stream)
{
    gpul_launch_opts opts;
    switch (step->kind) {
    case GPUL__STEP_LAUNCH:
        opts = step->launch->opts;
        opts.stream = stream;
        return gpul_launch(step->launch->kernel, &opts, gpul__kept_launch_args(step->launch));
    case GPUL__STEP_WRITE:
        return gpul_write(step->to, step->to_offset, step->host, step->size, stream);
    case GPUL__STEP_READ:
        return gpul_read(step->host, step->from, step->from_offset, step->size, stream);
    case GPUL__STEP_COPY:
        return gpul_copy(step->to, step->to_offset, step->from, step->from_offset, step->size,
                         stream);
    case GPUL__STEP_FILL:
        return gpul_fill(step->to, step->to_offset, step->size, step->pattern, step->pattern_size,
                         stream);
    }
    return GPUL_OK;
}

static gpul_status play_steps(gpul_sequence *s, gpul_stream *stream)
{
    gpul_status status = GPUL_OK;
    s->one_by_one = true;
    for (size_t i = 0; i < s->count && status == GPUL_OK; i++)
        status = play_step(&s->steps[i], stream);
    return status;
}

static const gpul__kept_launch *first_launch(const gpul_sequence *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->steps[i].launch) return s->steps[i].launch;
    return NULL;
}

/* "scale", or "a sequence of 4 launches from scale on": what a late fault is told with. */
static void make_label(gpul_sequence *s)
{
    const gpul__kept_launch *first = first_launch(s);
    if (!first) return;
    size_t launches = 0;
    for (size_t i = 0; i < s->count; i++) launches += s->steps[i].launch != NULL;
    gpul__str text = { 0 };
    if (launches == 1) gpul__str_add(&text, first->kernel->info.name);
    else
        gpul__str_printf(&text, "a sequence of %zu launches from %s on", launches,
                         first->kernel->info.name);
    const char *kept =
        text.failed ? NULL : gpul__device_keep_name(s->device, gpul__str_text(&text));
    if (kept) s->label = kept;
    gpul__str_free(&text);
}

/* The replay stands in the ring as one launch, with the geometry of its first kernel. */
static CUresult play_graph(gpul_sequence *s, CUstream stream, uint64_t id)
{
    static const uint32_t none[3];
    gpul_device *device = s->device;
    const gpul__kept_launch *first = first_launch(s);
    uint64_t number = gpul__ring_enter(
        &device->ring, s->label, id, first ? first->geometry.grid : none,
        first ? first->geometry.block : none, first ? first->geometry.shared : 0,
        first ? first->opts.caller_file : NULL, first ? first->opts.caller_line : 0);
    CUresult result = gpul__api(device)->GraphLaunch(s->exec, stream);
    if (result != CUDA_SUCCESS) {
        gpul__ring_withdraw(&device->ring, number);
        return result;
    }
    gpul__ring_submitted(&device->ring, number, gpul__native_launch(device));
    return result;
}

/* With the context current: makes the graph where that is due, and launches it. */
static CUresult play(gpul_sequence *s, CUstream stream, uint64_t id, const char **entry)
{
    CUresult result = CUDA_SUCCESS;
    bool fresh = !s->captured && (!s->exec || s->built != s->count);
    if (fresh || s->changed) result = gpul__sequence_build(s, entry);
    if (result != CUDA_SUCCESS) {
        gpul__sequence_drop_graph(s);
        if (!gpul__is_sticky(result)) s->refused = s->count;
        return result;
    }
    if (fresh) make_label(s);
    *entry = "cuGraphLaunch";
    result = play_graph(s, stream, id);
    if (result == CUDA_SUCCESS && s->device->checked) {
        *entry = "cuStreamSynchronize";
        result = gpul__stream_wait(s->device, stream, id);
    }
    return result;
}

gpul_status gpul_sequence_play(gpul_sequence *sequence, gpul_stream *stream)
{
    static const char call[] = "gpul_sequence_play";
    GPUL__NEED(sequence);
    gpul_device *device = sequence->device;
    CUstream handle;
    uint64_t id;
    gpul_status status = gpul__stream_of(&handle, &id, device, stream, call);
    if (status != GPUL_OK || (!sequence->captured && !sequence->count)) return status;
    if (!sequence->captured &&
        (!gpul__sequence_can_build(sequence) || sequence->refused == sequence->count))
        return play_steps(sequence, stream);
    bool pushed;
    status = gpul__enter(device, &pushed, call);
    if (status != GPUL_OK) return status;
    bool steps = !sequence->captured && gpul__stream_is_captured(gpul__api(device), handle);
    const char *entry = NULL;
    CUresult result = steps ? CUDA_SUCCESS : play(sequence, handle, id, &entry);
    gpul__leave(device, pushed);
    if (steps) return play_steps(sequence, stream);
    if (!sequence->captured && sequence->refused == sequence->count) {
        gpul__log(GPUL_LOG_INFO,
                  "a sequence of %zu steps: %s gave %s, so they are queued one by one",
                  sequence->count, entry, gpul_native_name(GPUL_NATIVE_CUDA, (int)result));
        return play_steps(sequence, stream);
    }
    sequence->one_by_one = false;
    if (result != CUDA_SUCCESS)
        return gpul__refused(device,
                             &(gpul__refusal){ GPUL__LAUNCH_REFUSED, result, entry, NULL, 0 },
                             "a sequence of %zu steps", sequence->count);
    return GPUL_OK;
}

/* ---- Capture ---- */

static gpul_status refused(gpul_device *device, CUresult result, const char *entry,
                           const char *what)
{
    return gpul__refused(device, &(gpul__refusal){ GPUL__EXECUTE_FAILED, result, entry, NULL, 0 },
                         "%s", what);
}

gpul_status gpul_capture_begin(gpul_stream *stream)
{
    GPUL__NEED(stream);
    gpul_device *device = stream->device;
    const gpul__driver *driver = gpul__api(device);
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_capture_begin");
    if (status != GPUL_OK) return status;
    bool able = driver->StreamEndCapture && driver->GraphInstantiate && driver->GraphLaunch &&
                driver->GraphDestroy && driver->GraphExecDestroy;
    CUresult result = able ? GPUL__CALL(driver, StreamBeginCapture, stream->handle,
                                        CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
                           : CUDA_ERROR_NOT_SUPPORTED;
    gpul__leave(device, pushed);
    if (result == CUDA_SUCCESS) return GPUL_OK;
    return refused(device, result, "cuStreamBeginCapture", "the stream cannot be captured");
}

gpul_status gpul_capture_end(gpul_sequence **out, gpul_stream *stream)
{
    GPUL__OUT(out, NULL);
    GPUL__NEED(stream);
    gpul_device *device = stream->device;
    gpul_sequence *sequence = gpul__sequence_new(device);
    bool pushed;
    gpul_status status = gpul__enter(device, &pushed, "gpul_capture_end");
    if (status != GPUL_OK) {
        gpul_sequence_free(&sequence);
        return status;
    }
    const gpul__driver *driver = gpul__api(device);
    CUgraph graph = NULL;
    const char *entry = "cuStreamEndCapture";
    CUresult result = GPUL__CALL(driver, StreamEndCapture, stream->handle, &graph);
    if (sequence) {
        sequence->captured = true;
        sequence->graph = graph;
        sequence->label = "a captured sequence";
        if (result == CUDA_SUCCESS) {
            entry = "cuGraphInstantiateWithFlags";
            result = driver->GraphInstantiate(&sequence->exec, graph, 0);
        }
    } else if (graph) {
        driver->GraphDestroy(graph);
    }
    gpul__leave(device, pushed);
    if (sequence && result == CUDA_SUCCESS) {
        *out = sequence;
        return GPUL_OK;
    }
    bool memory = !sequence;
    gpul_sequence_free(&sequence);
    if (memory) return gpul__no_memory();
    return refused(device, result, entry, "the captured stream gives no sequence");
}
