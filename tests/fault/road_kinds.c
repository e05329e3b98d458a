/* A way off the main road: every kind of memory, two dimensions, pools; streams and events beyond the
 * common; launch attributes and occupancy.  SPDX-License-Identifier: MIT */
#include "road.h"

#include <string.h>

typedef struct kinds {
    gpul_buffer *managed, *pinned, *pooled, *growing, *plain, *registered, *foreign, *theirs, *rows;
    gpul_pool *pool;
    gpul_stream *stream, *adopted;
    gpul_event *event, *second;
    gpul_image *image;
    gpul_module *module;
} kinds;

static void nothing(void *user)
{
    (void)user;
}

static gpul_status queue(kinds *k, gpul_device *device)
{
    gpul_stream_info info;
    gpul_shared_event shared;
    int least;
    bool done;
    TRY(gpul_device_priorities(device, &least, NULL));
    TRY(gpul_stream_describe(&info, k->stream));
    TRY(gpul_stream_adopt(&k->adopted, device, gpul_stream_handle(k->stream)));
    TRY(gpul_stream_call(device, k->adopted, nothing, NULL));
    TRY(gpul_stream_attach(k->stream, k->managed, GPUL_ATTACH_SINGLE));
    TRY(gpul_event_make(&k->event, device, gpul_event_opts(.no_timing = true, .shared = true)));
    TRY(gpul_event_record(k->event, k->adopted));
    TRY(gpul_event_done(&done, k->event));
    TRY(gpul_event_share(&shared, k->event));
    TRY(gpul_event_adopt(&k->second, device, gpul_event_handle(k->event)));
    return gpul_event_sync(k->second);
}

static gpul_status attributes(kinds *k, gpul_device *device)
{
    static const char ptx[] = ".version 7.8\n.target sm_80\n.address_size 64\n"
                              ".visible .entry step(.param .u32 n)\n{\n    ret;\n}\n";
    const gpul_kernel *step;
    int number;
    size_t bytes;
    TRY(gpul_image_from_memory(&k->image, ptx, sizeof ptx - 1, "attributes.ptx"));
    TRY(gpul_load(&k->module, device, k->image, NULL));
    TRY(gpul_module_kernel(&step, k->module, "step"));
    TRY(gpul_stream_set(k->stream, gpul_launch_extra(.sync = GPUL_SCHEDULE_SPIN)));
    TRY(gpul_launch(step,
                    gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .stream = k->stream,
                                     .extra = gpul_launch_extra(.has_priority = true)),
                    gpul_args(1)));
    TRY(gpul_kernel_prefer(step, gpul_kernel_prefs(.cache = GPUL_CACHE_L1, .carveout = 10)));
    TRY(gpul_kernel_suggest(&number, NULL, step, NULL));
    TRY(gpul_kernel_fitting_shared(&bytes, step, 1, 64));
    TRY(gpul_kernel_max_cluster(&number, step, gpul_launch_opts(.block = { 32 })));
    return gpul_kernel_active_clusters(&number, step,
                                       gpul_launch_opts(.block = { 32 }, .cluster = { 2 }));
}

static gpul_status go(kinds *k, gpul_device *device)
{
    static char memory[4096], got[64];
    gpul_shared shared;
    gpul_pool_info info;
    size_t pitch;
    TRY(gpul_stream_new(&k->stream, device, NULL));
    TRY(gpul_alloc(&k->managed, device, 64, gpul_alloc_opts(.memory = GPUL_MEMORY_MANAGED)));
    TRY(gpul_advise(k->managed, 0, 64, GPUL_ADVICE_PREFERRED, device));
    TRY(gpul_prefetch(k->managed, 0, 64, NULL, NULL));
    TRY(gpul_alloc(&k->pinned, device, 64, gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED)));
    TRY(queue(k, device));
    TRY(attributes(k, device));
    TRY(gpul_pool_new(&k->pool, device, gpul_pool_opts(.keep = 4096)));
    TRY(gpul_alloc(&k->pooled, device, 64,
                   gpul_alloc_opts(.memory = GPUL_MEMORY_POOL, .pool = k->pool, .stream = k->stream,
                                   .init = memory)));
    TRY(gpul_pool_describe(&info, k->pool));
    TRY(gpul_pool_trim(k->pool, 0));
    TRY(gpul_alloc(&k->growing, device, 64,
                   gpul_alloc_opts(.memory = GPUL_MEMORY_GROWING, .reserve = 32 << 20)));
    for (size_t size = 2 << 20; size <= (size_t)32 << 20; size *= 2)
        TRY(gpul_buffer_grow(k->growing, size));
    TRY(gpul_alloc(&k->plain, device, 64, NULL));
    TRY(gpul_register(&k->registered, device, memory, sizeof memory, NULL));
    TRY(gpul_wrap(&k->foreign, device, gpul_buffer_address(k->plain), 64,
                  gpul_alloc_opts(.name = "theirs")));
    TRY(gpul_buffer_share(&shared, k->plain));
    shared.offset = 16;
    shared.size = 16;
    TRY(gpul_open_shared(&k->theirs, device, &shared, NULL));
    TRY(gpul_alloc_2d(&k->rows, &pitch, device, 8, 4, gpul_alloc_opts(.init = memory)));
    TRY(gpul_fill_2d(k->rows, 0, pitch, 8, 4, "ab", 2, k->stream));
    TRY(gpul_copy_2d(gpul_plane(.host = got), gpul_plane(.buffer = k->rows, .pitch = pitch), 8, 4,
                     NULL));
    TRY(gpul_copy_3d(gpul_box(.host = got), gpul_box(.buffer = k->rows, .pitch = pitch, .rows = 2),
                     8, 2, 2, k->stream));
    TRY(gpul_buffer_free_on(&k->pooled, NULL));
    return gpul_sync(device);
}

gpul_status travel_kinds(gpul_device *device)
{
    kinds k = { 0 };
    gpul_status status = go(&k, device);
    gpul_buffer **all[] = { &k.theirs,  &k.managed,    &k.pinned, &k.pooled, &k.growing,
                            &k.foreign, &k.registered, &k.plain,  &k.rows };
    gpul_pool_free(&k.pool);
    gpul_module_free(&k.module);
    gpul_image_free(&k.image);
    gpul_event_free(&k.second);
    gpul_event_free(&k.event);
    gpul_stream_free(&k.adopted);
    gpul_stream_free(&k.stream);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) gpul_buffer_free(all[i]);
    return status;
}
