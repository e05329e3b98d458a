/* Adds two vectors of 50,000 random floats, takes the kernel's time by events and verifies the
 * result.  Try other sizes and block sizes: vector_add [N] [THREADS].  SPDX-License-Identifier: MIT */
#include "example.h"

#include <math.h>

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 50000;
    int threads = argc > 2 ? atoi(argv[2]) : 256;
    if (n < 1 || threads < 1) {
        fprintf(stderr, "usage: vector_add [N] [THREADS]\n");
        return 2;
    }
    size_t bytes = (size_t)n * sizeof(float);
    float *a = malloc(bytes), *b = malloc(bytes), *c = malloc(bytes);
    if (!a || !b || !c) return 1;
    srand(1);
    for (int i = 0; i < n; i++)
        a[i] = (float)rand() / (float)RAND_MAX, b[i] = (float)rand() / (float)RAND_MAX;

    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    const gpul_kernel *kernel;
    gpul_buffer *da, *db, *dc;
    gpul_event *start, *stop;
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "vector_add.cu", gpul_compile_opts(.device = device)));
    CHECK(gpul_load(&module, device, image, NULL));
    CHECK(gpul_module_kernel(&kernel, module, "vector_add"));
    CHECK(gpul_alloc(&da, device, bytes, gpul_alloc_opts(.init = a, .type = GPUL_F32)));
    CHECK(gpul_alloc(&db, device, bytes, gpul_alloc_opts(.init = b, .type = GPUL_F32)));
    CHECK(gpul_alloc(&dc, device, bytes, gpul_alloc_opts(.type = GPUL_F32)));
    CHECK(gpul_event_new(&start, device));
    CHECK(gpul_event_new(&stop, device));

    uint64_t blocks = ((uint64_t)n + (uint64_t)threads - 1) / (uint64_t)threads;
    printf("%d elements, %llu blocks of %d threads\n", n, (unsigned long long)blocks, threads);
    CHECK(gpul_event_record(start, NULL));
    CHECK(gpul_launch(kernel, gpul_launch_opts(.grid = { blocks }, .block = { (uint64_t)threads }),
                      gpul_args(gpul_in(da), gpul_in(db), dc, n)));
    CHECK(gpul_event_record(stop, NULL));
    float ms;
    CHECK(gpul_event_elapsed(&ms, start, stop));
    CHECK(gpul_read(c, dc, 0, bytes, NULL));
    printf("kernel time %.3f ms\n", ms);

    for (int i = 0; i < n; i++) {
        if (fabsf(a[i] + b[i] - c[i]) <= 1e-5f) continue;
        fprintf(stderr, "c[%d] is %g, not %g\n", i, c[i], a[i] + b[i]);
        return 1;
    }
    gpul_event_free(&start);
    gpul_event_free(&stop);
    gpul_buffer_free(&da);
    gpul_buffer_free(&db);
    gpul_buffer_free(&dc);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    free(a);
    free(b);
    free(c);
    puts("Test PASSED");
    return 0;
}
