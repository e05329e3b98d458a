/* Options structs in place, as C and as C++: the headers test compiles this file as both.
 * SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>

bool all_options(gpul_device **device, gpul_image **image, gpul_module **module,
                 const gpul_kernel *kernel, gpul_stream **stream, gpul_buffer **buffer);

bool all_options(gpul_device **device, gpul_image **image, gpul_module **module,
                 const gpul_kernel *kernel, gpul_stream **stream, gpul_buffer **buffer)
{
    bool failed = gpul_open(device, gpul_device_opts(.device = "cpu", .checked = true)) != GPUL_OK;
    failed |= gpul_compile(image, "", GPUL_TEXT, gpul_compile_opts(.device = *device)) != GPUL_OK;
    failed |= gpul_load(module, *device, *image, gpul_load_opts(.line_info = true)) != GPUL_OK;
    failed |= gpul_stream_new(stream, *device, gpul_stream_opts(.priority = -1)) != GPUL_OK;
    failed |=
        gpul_alloc(buffer, *device, 64, gpul_alloc_opts(.type = GPUL_F32, .name = "x")) != GPUL_OK;
    failed |= GPUL_OK != gpul_launch(kernel,
                                     gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .shared = 64),
                                     gpul_args(1, 2.0f, gpul_in(*buffer), *buffer));
    failed |= GPUL_OK !=
              gpul_link(image, *device, NULL, 0,
                        gpul_link_opts(.name = "linked", .jit = gpul_load_opts(.debug = true)));
    gpul_array *array;
    gpul_texture *texture;
    failed |=
        gpul_array_new(&array, *device, gpul_array_opts(.type = GPUL_F32, .width = 4)) != GPUL_OK;
    failed |=
        gpul_texture_new(&texture, gpul_texture_opts(.array = array, .linear = true)) != GPUL_OK;
    return failed;
}
