/* The ten-line program of README, with its error handling.  SPDX-License-Identifier: MIT */
#include <gpulaunch/gpulaunch.h>
#include <stdio.h>

static const char source[] =
    "extern \"C\" __global__ void saxpy(int n, float a, const float *x, float *y)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n";

int main(void)
{
    enum { N = 1000 };
    float x[N], y[N];
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = 1;
    gpul_device *dev = NULL;
    gpul_image *image = NULL;
    gpul_module *module = NULL;
    gpul_buffer *dx = NULL, *dy = NULL;
    const gpul_kernel *saxpy;

    bool bad = gpul_open(&dev, NULL) ||
               gpul_compile(&image, source, GPUL_TEXT, gpul_compile_opts(.device = dev)) ||
               gpul_load(&module, dev, image, NULL) ||
               gpul_module_kernel(&saxpy, module, "saxpy") ||
               gpul_alloc(&dx, dev, sizeof x, gpul_alloc_opts(.init = x, .type = GPUL_F32)) ||
               gpul_alloc(&dy, dev, sizeof y, gpul_alloc_opts(.init = y, .type = GPUL_F32)) ||
               gpul_launch(saxpy, gpul_launch_opts(.grid = { (N + 255) / 256 }, .block = { 256 }),
                           gpul_args(N, 2.0f, gpul_in(dx), dy)) ||
               gpul_read(y, dy, 0, sizeof y, NULL);
    if (bad) fprintf(stderr, "saxpy: %s\n", gpul_last_error()->message);
    else printf("y[999] = %g\n", y[999]);

    gpul_buffer_free(&dy);
    gpul_buffer_free(&dx);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&dev);
    return bad;
}
