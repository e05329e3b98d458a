/* The C++ convenience header: a struct by value, a failure as an exception, owners in containers.
 * SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.hpp>

#include <cstdio>

#ifndef KERNELS
#define KERNELS "ptx/kernels/"
#endif

int main()
try {
    constexpr int n = 1000;
    auto device = gpul::open();
    auto image = gpul::read_image(KERNELS "scale.ptx");
    auto module = gpul::load(device, image);
    const gpul_kernel *scale = gpul::kernel(module, "scale");

    std::vector<float> x(n);
    for (int i = 0; i < n; i++) x[i] = float(i);
    std::vector<gpul::buffer> buffers;
    for (int i = 0; i < 3; i++) buffers.push_back(gpul::alloc(device, x));
    for (auto &buffer : buffers) gpul::launch(scale, { (n + 255) / 256 }, { 256 }, buffer, n, 2.0f);
    for (auto &buffer : buffers) {
        std::vector<float> y = gpul::read<float>(buffer);
        for (int i = 0; i < n; i++)
            if (y[i] != 2 * x[i]) {
                std::fprintf(stderr, "y[%d] is %g, not %g\n", i, y[i], 2 * x[i]);
                return 1;
            }
    }

    auto stream = gpul::new_stream(device);
    auto moved = std::move(stream);
    gpul_launch_opts opts = {};
    opts.grid[0] = 4;
    opts.block[0] = 256;
    opts.stream = moved;
    gpul::launch(scale, opts, buffers[0], n, 0.5f);
    gpul::check(gpul_stream_sync(moved));
    if (stream || gpul::read<float>(buffers[0]) != x) return 1;

    /* A C function beside it: an owner is its pointer. */
    gpul::prepared twice;
    gpul_buffer *first = buffers[0];
    gpul::check(gpul_prepare(twice.out(), scale, &opts, gpul_args(first, n, 2.0f)));
    gpul::check(gpul_prepared_launch(twice));
    gpul::check(gpul_prepared_launch(twice));
    gpul::check(gpul_stream_sync(moved));
    if (gpul::read<float>(buffers[0])[1] != 4) return 1;

    try {
        gpul::launch(scale, { 0 }, { 256 }, buffers[0], n, 2.0f);
        std::fprintf(stderr, "a grid of zero was not refused\n");
        return 1;
    } catch (const gpul::error &e) {
        if (e.code != 704 || e.status != GPUL_E_GEOMETRY) throw;
    }
    std::puts("Test PASSED");
    return 0;
} catch (const gpul::error &e) {
    std::fprintf(stderr, "GL%04d: %s\n%s\n", e.code, e.what(), e.log.c_str());
    return 1;
}
