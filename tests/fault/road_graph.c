/* The road of prepared launches, sequences and captures.  SPDX-License-Identifier: MIT */
#include "road.h"

#include <string.h>

static const char ptx[] =
    ".version 7.8\n.target sm_80\n.address_size 64\n"
    ".visible .entry fill(.param .u64 out, .param .u32 n, .param .f32 by)\n{\n    ret;\n}\n";

typedef struct graphs {
    gpul_image *image;
    gpul_module *module;
    gpul_buffer *buffer, *other;
    gpul_stream *stream;
    gpul_prepared *prepared, *special;
    gpul_sequence *sequence, *captured;
} graphs;

static gpul_status record_steps(graphs *g, const gpul_kernel *fill, void *host)
{
    TRY(gpul_sequence_write(g->sequence, g->buffer, 0, host, 64));
    TRY(gpul_sequence_name(g->sequence, "input"));
    TRY(gpul_sequence_fill(g->sequence, g->other, 0, 64, "ab", 2));
    TRY(gpul_sequence_launch(g->sequence, fill,
                             gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .cooperative = true),
                             gpul_args(g->buffer, 8, 2.0f)));
    TRY(gpul_sequence_name(g->sequence, "filling"));
    TRY(gpul_sequence_copy(g->sequence, g->other, 0, g->buffer, 0, 32));
    return gpul_sequence_read(g->sequence, host, g->other, 0, 64);
}

static gpul_status go(graphs *g, gpul_device *device)
{
    static char host[64], second[64];
    const gpul_kernel *fill;
    TRY(gpul_image_from_memory(&g->image, ptx, sizeof ptx - 1, "road.ptx"));
    TRY(gpul_load(&g->module, device, g->image, NULL));
    TRY(gpul_module_kernel(&fill, g->module, "fill"));
    TRY(gpul_alloc(&g->buffer, device, 64, NULL));
    TRY(gpul_alloc(&g->other, device, 64, NULL));
    TRY(gpul_stream_new(&g->stream, device, NULL));
    const gpul_launch_opts *one =
        gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .stream = g->stream);
    TRY(gpul_prepare(&g->prepared, fill, one, gpul_args(g->buffer, 8, 2.0f)));
    TRY(gpul_prepared_launch(g->prepared));
    TRY(gpul_prepared_set(g->prepared, 0, gpul_argument(g->other)));
    TRY(gpul_prepared_launch(g->prepared));
    TRY(gpul_prepare(&g->special, fill,
                     gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .cooperative = true),
                     gpul_args(g->buffer, 8, 2.0f)));
    TRY(gpul_prepared_launch(g->special));
    TRY(gpul_sequence_new(&g->sequence, device));
    TRY(record_steps(g, fill, host));
    for (int i = 0; i < 2; i++) TRY(gpul_sequence_play(g->sequence, g->stream));
    TRY(gpul_sequence_set(g->sequence, 2, 1, gpul_argument(9)));
    TRY(gpul_sequence_set_host(g->sequence, 0, second));
    TRY(gpul_sequence_play(g->sequence, g->stream));
    TRY(gpul_sequence_fill(g->sequence, g->other, 0, 64, "c", 1));
    TRY(gpul_sequence_play(g->sequence, NULL));
    TRY(gpul_stream_sync(g->stream));
    TRY(gpul_capture_begin(g->stream));
    gpul_status status = gpul_prepared_launch(g->prepared);
    if (status == GPUL_OK) status = gpul_sequence_play(g->sequence, g->stream);
    if (status == GPUL_OK) status = gpul_capture_end(&g->captured, g->stream);
    TRY(status);
    TRY(gpul_sequence_play(g->captured, g->stream));
    return gpul_sync(device);
}

gpul_status travel_graphs(gpul_device *device)
{
    graphs g = { 0 };
    gpul_status status = go(&g, device);
    gpul_module_free(&g.module);
    gpul_buffer_free(&g.buffer);
    gpul_stream_free(&g.stream);
    gpul_prepared_free(&g.prepared);
    gpul_prepared_free(&g.special);
    gpul_sequence_free(&g.captured);
    gpul_sequence_free(&g.sequence);
    gpul_buffer_free(&g.other);
    gpul_image_free(&g.image);
    return status;
}
