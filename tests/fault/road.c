/* The road itself.  SPDX-License-Identifier: MIT */
#include "road.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

static const char ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter;\n"
    ".visible .entry fill(.param .u64 out, .param .u32 n, .param .f32 by)\n{\n    ret;\n}\n"
    ".visible .entry step(.param .u64 out, .param .u32 n)\n{\n    ret;\n}\n";

static const char source[] = "__device__ unsigned counter;\n"
                             "extern \"C\" __global__ void fill(float *out, int n, float by)\n"
                             "{ if ((int)threadIdx.x < n) out[threadIdx.x] = by; }\n"
                             "extern \"C\" __global__ void step(float *out, int n)\n"
                             "{ if (n) out[0] += 1, counter++; }\n";

/* Every object of the road; what was not made stays NULL. */
typedef struct objects {
    gpul_device *device;
    gpul_image *image;
    gpul_module *module, *adopted;
    const gpul_kernel *fill, *step;
    gpul_buffer *buffer, *other, *view, *variable;
    gpul_stream *stream;
    gpul_event *start, *end;
} objects;

static gpul_status prepare(objects *o, bool compile)
{
    float init[64] = { 0 };
    uint64_t bytes;
    TRY(gpul_open(&o->device, gpul_device_opts(.device = "cuda")));
    if (compile)
        TRY(gpul_compile(&o->image, source, GPUL_TEXT,
                         gpul_compile_opts(.device = o->device, .no_cache = true)));
    else TRY(gpul_image_from_memory(&o->image, ptx, sizeof ptx - 1, "road.ptx"));
    TRY(gpul_load(&o->module, o->device, o->image, gpul_load_opts(.level = GPUL_JIT_O2)));
    TRY(gpul_module_kernel(&o->fill, o->module, "fill"));
    TRY(gpul_module_kernel(&o->step, o->module, "step"));
    TRY(gpul_alloc(&o->buffer, o->device, sizeof init,
                   gpul_alloc_opts(.init = init, .type = GPUL_F32, .name = "buffer")));
    TRY(gpul_alloc(&o->other, o->device, sizeof init, NULL));
    TRY(gpul_view(&o->view, o->other, 16, 32));
    TRY(gpul_stream_new(&o->stream, o->device, NULL));
    TRY(gpul_event_new(&o->start, o->device));
    TRY(gpul_event_new(&o->end, o->device));
    return gpul_device_memory(o->device, &bytes, NULL);
}

static gpul_status work(objects *o)
{
    float got[64];
    uint64_t most, address;
    size_t size;
    int threads;
    bool done;
    float ms;
    uint32_t counter = 0;
    const gpul_launch_opts *one =
        gpul_launch_opts(.grid = { 4 }, .block = { 64 }, .stream = o->stream);
    TRY(gpul_event_record(o->start, o->stream));
    TRY(gpul_launch(o->fill, one, gpul_args(o->buffer, 64, 2.0f)));
    TRY(gpul_event_record(o->end, o->stream));
    TRY(gpul_stream_wait(NULL, o->end));
    TRY(gpul_launch(
        o->step,
        gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .shared = 100000, .cooperative = true),
        gpul_args(o->view, 1)));
    TRY(gpul_copy(o->other, 0, o->buffer, 0, 128, NULL));
    TRY(gpul_fill(o->other, 128, 64, &counter, 4, o->stream));
    TRY(gpul_event_elapsed(&ms, o->start, o->end));
    TRY(gpul_stream_done(&done, o->stream));
    TRY(gpul_stream_sync(o->stream));
    TRY(gpul_read(got, o->buffer, 0, sizeof got, NULL));
    TRY(gpul_module_global(&address, &size, o->module, "counter"));
    TRY(gpul_module_variable(&o->variable, o->module, "counter", NULL));
    TRY(gpul_module_adopt(&o->adopted, o->device, gpul_module_handle(o->module)));
    TRY(gpul_global_write(o->module, "counter", 0, &counter, sizeof counter));
    TRY(gpul_global_read(&counter, o->module, "counter", 0, sizeof counter));
    TRY(gpul_kernel_occupancy(&threads, o->fill, 64, 0));
    TRY(gpul_kernel_suggest_block(&threads, o->fill, 0));
    TRY(gpul_kernel_max_cooperative(&most, o->step, gpul_launch_opts(.block = { 32 })));
    return gpul_sync(o->device);
}

static void free_all(objects *o)
{
    gpul_device_free(&o->device);
    gpul_buffer_free(&o->other);
    gpul_module_free(&o->module);
    gpul_module_free(&o->adopted);
    gpul_buffer_free(&o->variable);
    gpul_event_free(&o->end);
    gpul_image_free(&o->image);
    gpul_stream_free(&o->stream);
    gpul_buffer_free(&o->buffer);
    gpul_event_free(&o->start);
    gpul_buffer_free(&o->view);
}

static void copy(char *to, size_t size, const char *text)
{
    snprintf(to, size, "%s", text ? text : "");
}

static route chosen;

static gpul_status off_the_road(gpul_status (*side)(gpul_device *device))
{
    gpul_device *device = NULL;
    TRY(gpul_open(&device, gpul_device_opts(.device = "cuda")));
    gpul_status status = side(device);
    gpul_device_free(&device);
    return status;
}

static void *go(void *pointer)
{
    journey *j = pointer;
    objects o = { 0 };
    switch (chosen) {
    case KINDS: j->status = off_the_road(travel_kinds); break;
    case GRAPHS: j->status = off_the_road(travel_graphs); break;
    default:
        j->status = prepare(&o, chosen == FROM_SOURCE);
        if (j->status == GPUL_OK) j->status = work(&o);
    }
    /* Planned failures go on while things are freed: that must do no harm either. */
    j->error = *gpul_last_error();
    copy(j->message, sizeof j->message, j->error.message);
    copy(j->call, sizeof j->call, j->error.call);
    copy(j->hint, sizeof j->hint, j->error.hint);
    copy(j->native_name, sizeof j->native_name, j->error.native_name);
    free_all(&o);
    return NULL;
}

void travel(journey *out, route way)
{
    pthread_t thread;
    memset(out, 0, sizeof *out);
    chosen = way;
    long before = gpul__alloc_live();
    assert_int_equal(pthread_create(&thread, NULL, go, out), 0);
    pthread_join(thread, NULL);
    gpul__alloc_fail_at(0);
    out->leaked = gpul__alloc_live() - before;
    copy(out->leaks, sizeof out->leaks, gpul__record_leaks());
}

void check_clean(const journey *j, const char *what)
{
    if (j->leaked) fail_msg("%s: %ld allocations left (%s)", what, j->leaked, j->message);
    if (*j->leaks) fail_msg("%s: %s left (%s)", what, j->leaks, j->message);
}

void check_failure(const journey *j, const char *what)
{
    if (j->status != j->error.status)
        fail_msg("%s: status %d, record %d (%s)", what, j->status, j->error.status, j->message);
    if (!*j->message || !*j->call) fail_msg("%s: a record without words", what);
    /* The driver that denies a parameter contradicts us; nothing else may be called our mistake. */
    if (j->error.code == GPUL__INTERNAL && strcmp(j->call, "cuFuncGetParamInfo") != 0)
        fail_msg("%s: taken for our mistake: %s", what, j->message);
    const gpul_code_info *info = gpul_code_find(j->error.code);
    if (!info || info->layer != j->error.layer)
        fail_msg("%s: GL%04d of layer %d", what, j->error.code, (int)j->error.layer);
    check_clean(j, what);
}
