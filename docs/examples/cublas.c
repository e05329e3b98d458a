/* Beside another library: cuBLAS works on the same buffers, in the same stream, because both use the device's
 * primary context.  It is opened at run time, so that nothing is linked; GPUs only.
 * SPDX-License-Identifier: MIT */
#include "example.h"

#include <dlfcn.h>

typedef struct cublasContext *cublasHandle_t;

typedef struct cublas {
    int (*create)(cublasHandle_t *handle);
    int (*destroy)(cublasHandle_t handle);
    int (*set_stream)(cublasHandle_t handle, void *stream);
    int (*saxpy)(cublasHandle_t handle, int n, const float *alpha, const float *x, int x_step,
                 float *y, int y_step);
} cublas;

static bool load_cublas(cublas *out)
{
    static const char *const names[] = { "libcublas.so.13", "libcublas.so.12", "libcublas.so" };
    void *library = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) return false;
    *(void **)&out->create = dlsym(library, "cublasCreate_v2");
    *(void **)&out->destroy = dlsym(library, "cublasDestroy_v2");
    *(void **)&out->set_stream = dlsym(library, "cublasSetStream_v2");
    *(void **)&out->saxpy = dlsym(library, "cublasSaxpy_v2");
    return out->create && out->destroy && out->set_stream && out->saxpy;
}

static void check_cublas(int status, const char *call)
{
    if (status == 0) return;
    fprintf(stderr, "%s: %d\n", call, status);
    exit(1);
}

/* Device pointers are numbers here and pointers there. */
static float *pointer_of(const gpul_buffer *buffer)
{
    return (float *)(uintptr_t)gpul_buffer_address(buffer);
}

int main(void)
{
    enum { N = 1 << 12 };
    static float x[N], y[N], got[N];
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *scale;
    gpul_buffer *dx, *dy;
    gpul_stream *stream;
    cublas blas;
    cublasHandle_t handle;
    float alpha = 3;
    for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = (float)(N - i);
    CHECK(gpul_open(&device, gpul_device_opts(.context_kind = GPUL_CONTEXT_PRIMARY)));
    if (!example_on_gpu(device)) example_skip("cuBLAS needs a GPU");
    if (!load_cublas(&blas)) example_skip("no cuBLAS here");
    CHECK(gpul_image_from_file(&image, KERNELS "scale.ptx"));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&scale, module, "scale"));
    CHECK(gpul_stream_new(&stream, device, NULL));
    CHECK(gpul_alloc(&dx, device, sizeof x, gpul_alloc_opts(.init = x, .type = GPUL_F32)));
    CHECK(gpul_alloc(&dy, device, sizeof y, gpul_alloc_opts(.init = y, .type = GPUL_F32)));
    check_cublas(blas.create(&handle), "cublasCreate");
    check_cublas(blas.set_stream(handle, gpul_stream_handle(stream)), "cublasSetStream");

    /* Ours, theirs, ours, in one stream: y = 2 (3 (2 x) + y). */
    CHECK(gpul_launch(scale,
                      gpul_launch_opts(.grid = { N / 256 }, .block = { 256 }, .stream = stream),
                      gpul_args(dx, (int)N, 2.0f)));
    check_cublas(blas.saxpy(handle, N, &alpha, pointer_of(dx), 1, pointer_of(dy), 1),
                 "cublasSaxpy");
    CHECK(gpul_launch(scale,
                      gpul_launch_opts(.grid = { N / 256 }, .block = { 256 }, .stream = stream),
                      gpul_args(dy, (int)N, 2.0f)));
    CHECK(gpul_read(got, dy, 0, sizeof got, stream));
    CHECK(gpul_stream_sync(stream));
    for (int i = 0; i < N; i++) {
        float expected = 2 * (6 * x[i] + y[i]);
        if (got[i] == expected) continue;
        fprintf(stderr, "got[%d] is %g, not %g\n", i, got[i], expected);
        return 1;
    }
    check_cublas(blas.destroy(handle), "cublasDestroy");
    gpul_buffer_free(&dx);
    gpul_buffer_free(&dy);
    gpul_stream_free(&stream);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
