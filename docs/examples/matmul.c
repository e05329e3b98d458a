/* Matrix multiply, naive and tiled, for sizes that are no multiples of the tile; both are compared
 * with the host's result.  SPDX-License-Identifier: MIT */
#include "example.h"

#include <math.h>

static void multiply(gpul_device *device, gpul_module *module, int rows, int inner, int columns)
{
    size_t na = (size_t)rows * (size_t)inner, nb = (size_t)inner * (size_t)columns,
           nc = (size_t)rows * (size_t)columns;
    float *a = malloc(na * sizeof *a), *b = malloc(nb * sizeof *b), *c = malloc(nc * sizeof *c);
    if (!a || !b || !c) exit(1);
    for (size_t i = 0; i < na; i++) a[i] = (float)(i % 17) * 0.25f - 2;
    for (size_t i = 0; i < nb; i++) b[i] = (float)(i % 13) * 0.5f - 3;
    gpul_buffer *da, *db, *dc;
    CHECK(gpul_alloc(&da, device, na * sizeof *a, gpul_alloc_opts(.init = a, .type = GPUL_F32)));
    CHECK(gpul_alloc(&db, device, nb * sizeof *b, gpul_alloc_opts(.init = b, .type = GPUL_F32)));
    CHECK(gpul_alloc(&dc, device, nc * sizeof *c, gpul_alloc_opts(.type = GPUL_F32)));
    static const char *const names[] = { "matmul_naive", "matmul_tiled" };
    for (int k = 0; k < 2; k++) {
        const gpul_kernel *kernel;
        CHECK(gpul_module_kernel(&kernel, module, names[k]));
        CHECK(gpul_fill(dc, 0, nc * sizeof *c, &(uint32_t){ 0xffffffff }, 4, NULL));
        CHECK(gpul_launch(
            kernel,
            gpul_launch_opts(.grid = { ((uint64_t)columns + 15) / 16, ((uint64_t)rows + 15) / 16 },
                             .block = { 16, 16 }),
            gpul_args(gpul_in(da), gpul_in(db), dc, rows, inner, columns)));
        CHECK(gpul_read(c, dc, 0, nc * sizeof *c, NULL));
        for (int y = 0; y < rows; y++)
            for (int x = 0; x < columns; x++) {
                double sum = 0;
                for (int i = 0; i < inner; i++)
                    sum += (double)a[y * inner + i] * (double)b[i * columns + x];
                float got = c[y * columns + x];
                if (fabs(got - sum) <= 1e-4 * (1 + fabs(sum))) continue;
                fprintf(stderr, "%s %dx%dx%d: C[%d][%d] is %g, not %g\n", names[k], rows, inner,
                        columns, y, x, got, sum);
                exit(1);
            }
    }
    gpul_buffer_free(&da);
    gpul_buffer_free(&db);
    gpul_buffer_free(&dc);
    free(a);
    free(b);
    free(c);
}

int main(void)
{
    gpul_device *device;
    gpul_image *image;
    gpul_module *module;
    CHECK(gpul_open(&device, NULL));
    CHECK(gpul_compile_file(&image, KERNELS "matmul.cu", gpul_compile_opts(.device = device)));
    CHECK(gpul_load(&module, device, image, NULL));
    multiply(device, module, 64, 64, 64);
    multiply(device, module, 50, 70, 90);
    multiply(device, module, 1, 1, 1);
    multiply(device, module, 17, 33, 5);
    gpul_module_free(&module);
    gpul_image_free(&image);
    gpul_device_free(&device);
    puts("Test PASSED");
    return 0;
}
