/* Copies of pageable memory, in GB/s: the driver's own and ours, to the device and from it, by size, interleaved, medians of
 * the pairs; and a file to the device, read whole and written beside streamed.  Needs a GPU.  SPDX-License-Identifier: MIT
 *
 *     build/tests/bench/copy_rate                                                                 */
#include <gpulaunch/gpulaunch.h>
#include <string.h>
#include <unistd.h>

#include "raw_cuda.h"

enum { PAIRS = 9 };
static const size_t sizes[] = { 4 << 20, 16 << 20, 64 << 20, 256 << 20 };

static result (*to_device)(address, const void *, size_t);
static result (*to_host)(void *, address, size_t);
static gpul_device *device;
static gpul_buffer *buffer;
static char *memory;
static FILE *file;

static void check(gpul_status status)
{
    if (status == GPUL_OK) return;
    fprintf(stderr, "%s\n", gpul_last_error()->message);
    exit(1);
}

static void raw_write(size_t size)
{
    RAW(to_device(gpul_buffer_address(buffer), memory, size));
}

static void our_write(size_t size)
{
    check(gpul_write(buffer, 0, memory, size, NULL));
}

static void raw_read(size_t size)
{
    RAW(to_host(memory, gpul_buffer_address(buffer), size));
}

static void our_read(size_t size)
{
    check(gpul_read(memory, buffer, 0, size, NULL));
}

static void raw_file(size_t size)
{
    if (pread(fileno(file), memory, size, 0) != (ssize_t)size) exit(1);
    raw_write(size);
}

static void our_file(size_t size)
{
    check(gpul_write_file(buffer, 0, fileno(file), 0, size));
}

static double rate(void (*copy)(size_t), size_t size)
{
    uint64_t start = now_ns();
    copy(size);
    return (double)size / (double)(now_ns() - start);
}

static void compare(const char *what, void (*raw)(size_t), void (*ours)(size_t), size_t size)
{
    double r[PAIRS], o[PAIRS], ratio[PAIRS];
    rate(raw, size);
    rate(ours, size);
    for (int i = 0; i < PAIRS; i++) {
        if (i % 2) o[i] = rate(ours, size), r[i] = rate(raw, size);
        else r[i] = rate(raw, size), o[i] = rate(ours, size);
        ratio[i] = o[i] / r[i];
    }
    double q = median(ratio, PAIRS);
    printf("%-16s %4zu MiB  driver %5.1f GB/s  ours %5.1f GB/s  ratio %.2f\n", what, size >> 20,
           median(r, PAIRS), median(o, PAIRS), q);
    fflush(stdout);
}

int main(void)
{
    size_t count = sizeof sizes / sizeof *sizes, largest = sizes[count - 1];
    void *cuda = dlopen("libcuda.so.1", RTLD_NOW);
    *(void **)&to_device = raw_symbol(cuda, "cuMemcpyHtoD_v2");
    *(void **)&to_host = raw_symbol(cuda, "cuMemcpyDtoH_v2");
    check(gpul_open(&device, gpul_device_opts(.device = "cuda")));
    check(gpul_alloc(&buffer, device, largest, NULL));
    memory = malloc(largest);
    file = tmpfile();
    if (!memory || !file) return 1;
    memset(memory, 7, largest);
    if (fwrite(memory, 1, largest, file) != largest || fflush(file)) return 1;
    uint64_t start = now_ns();
    our_write(largest);
    printf("%s; first copy of %zu MiB, pinned memory and threads made: %.1f GB/s\n",
           gpul_device_describe(device)->name, largest >> 20,
           (double)largest / (double)(now_ns() - start));
    for (size_t i = 0; i < count; i++) {
        compare("to the device", raw_write, our_write, sizes[i]);
        compare("from the device", raw_read, our_read, sizes[i]);
        compare("file to device", raw_file, our_file, sizes[i]);
    }
    fclose(file);
    free(memory);
    gpul_buffer_free(&buffer);
    gpul_device_free(&device);
    return 0;
}
