/* Two devices: one makes data, a copy takes it to the other, which works on it.  Skips where there is one
 * device only; the CPU device is opened as two.  SPDX-License-Identifier: MIT */
#include "example.h"

#include <string.h>

int main(void)
{
    enum { N = 1 << 20 };
    const char *named = getenv("GPULAUNCH_DEVICE");
    bool cpu = named && strncmp(named, "cpu", 3) == 0;
    const char *const names[2] = { cpu ? "cpu:0" : "cuda:0", cpu ? "cpu:1" : "cuda:1" };
    gpul_device *devices[2];
    gpul_image *image;
    gpul_module *modules[2];
    gpul_buffer *buffers[2];
    gpul_event *start, *end;
    gpul_stream *stream;
    gpul_peer_info peer;
    int count;
    float one = 1, ms;
    CHECK(gpul_open(&devices[0], gpul_device_opts(.device = names[0], .cpu = { .devices = 2 })));
    CHECK(gpul_device_count(&count, cpu ? "cpu" : "cuda"));
    if (count < 2) example_skip("there is one device only");
    CHECK(gpul_open(&devices[1], gpul_device_opts(.device = names[1])));
    CHECK(gpul_image_from_file(&image, KERNELS "scale.ptx"));
    const gpul_kernel *scale[2];
    for (int i = 0; i < 2; i++) {
        CHECK(gpul_load(&modules[i], devices[i], image, NULL));
        CHECK(gpul_module_kernel(&scale[i], modules[i], "scale"));
        CHECK(gpul_alloc(&buffers[i], devices[i], N * sizeof(float),
                         gpul_alloc_opts(.type = GPUL_F32)));
    }
    CHECK(gpul_fill(buffers[0], 0, N * sizeof(float), &one, 4, NULL));
    CHECK(gpul_launch(scale[0], gpul_launch_opts(.grid = { N / 256 }, .block = { 256 }),
                      gpul_args(buffers[0], (int)N, 3.0f)));
    CHECK(gpul_copy(buffers[1], 0, buffers[0], 0, N * sizeof(float), NULL));
    CHECK(gpul_launch(scale[1], gpul_launch_opts(.grid = { N / 256 }, .block = { 256 }),
                      gpul_args(buffers[1], (int)N, 5.0f)));
    float *got = malloc(N * sizeof *got);
    if (!got) return 1;
    CHECK(gpul_read(got, buffers[1], 0, N * sizeof *got, NULL));
    for (int i = 0; i < N; i++) {
        if (got[i] == 15) continue;
        fprintf(stderr, "got[%d] is %g, not 15\n", i, got[i]);
        return 1;
    }
    free(got);
    /* The second copy in a stream, with its time. */
    CHECK(gpul_stream_new(&stream, devices[0], NULL));
    CHECK(gpul_event_new(&start, devices[0]));
    CHECK(gpul_event_new(&end, devices[0]));
    CHECK(gpul_event_record(start, stream));
    CHECK(gpul_copy(buffers[1], 0, buffers[0], 0, N * sizeof(float), stream));
    CHECK(gpul_event_record(end, stream));
    CHECK(gpul_event_elapsed(&ms, start, end));
    CHECK(gpul_peer_describe(&peer, devices[0], devices[1]));
    printf("%s, %.1f GB/s\n", peer.access ? "directly" : "through the host",
           N * sizeof(float) / (1e6 * (double)ms));
    gpul_event_free(&start);
    gpul_event_free(&end);
    gpul_stream_free(&stream);
    for (int i = 0; i < 2; i++) {
        gpul_buffer_free(&buffers[i]);
        gpul_module_free(&modules[i]);
        gpul_device_free(&devices[i]);
    }
    gpul_image_free(&image);
    puts("Test PASSED");
    return 0;
}
