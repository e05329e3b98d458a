/* The tracer: one line for each call, nothing when nobody listens, and letters that fit the parameters.
 * SPDX-License-Identifier: MIT */
#include "runner.h"

#include "driver/record.h"

#include <stdio.h>
#include <string.h>

static char last[4096];
static int lines, warnings;

static void listen(void *user, gpul_level level, const char *message)
{
    (void)user;
    if (level == GPUL_LOG_TRACE) {
        lines++;
        snprintf(last, sizeof last, "%s", message);
    }
    if (level == GPUL_LOG_WARN) warnings++;
}

static int set_up(void **state)
{
    (void)state;
    const gpul__driver *d = gpul__record_driver();
    CUcontext context;
    gpul__record_reset(NULL);
    lines = warnings = 0;
    last[0] = 0;
    return d->Init(0) || d->CtxCreate(&context, 0, 0);
}

static int tear_down(void **state)
{
    (void)state;
    gpul_set_log((gpul_log){ 0 });
    gpul__record_reset(NULL);
    return 0;
}

#define assert_last(format, ...)                                                                   \
    do {                                                                                           \
        char expected_[1024];                                                                      \
        snprintf(expected_, sizeof expected_, format, __VA_ARGS__);                                \
        if (strncmp(last, expected_, strlen(expected_)) != 0)                                      \
            fail_msg("\"%s\" instead of \"%s\"", last, expected_);                                 \
    } while (0)

static void nobody_listens_and_nothing_is_wrapped(void **state)
{
    (void)state;
    const gpul__driver *d = gpul__record_driver();
    assert_ptr_equal(gpul__driver_traced(d), d);
    gpul_set_log((gpul_log){ .fn = listen, .level = GPUL_LOG_DEBUG });
    assert_ptr_equal(gpul__driver_traced(d), d);
}

static void each_call_is_one_line(void **state)
{
    (void)state;
    gpul_set_log((gpul_log){ .fn = listen, .level = GPUL_LOG_TRACE });
    const gpul__driver *d = gpul__driver_traced(gpul__record_driver());
    assert_ptr_not_equal(d, gpul__record_driver());
    assert_ptr_equal(gpul__driver_traced(gpul__record_driver()), d);
    assert_ptr_equal(gpul__driver_traced(d), d);
    assert_string_equal(d->name, gpul__record_driver()->name);
    assert_null(d->LogsCurrent);

    CUdeviceptr address = 0;
    int value;
    char name[64];
    CUmodule module;
    CUstream stream;
    assert_int_equal(d->MemAlloc(&address, 4096), CUDA_SUCCESS);
    assert_last("cuMemAlloc_v2(address=0x%llx, bytes=4096) = CUDA_SUCCESS, ", address);
    assert_non_null(strstr(last, " ns"));
    assert_int_equal(d->MemFree(1), CUDA_ERROR_INVALID_VALUE);
    assert_last("cuMemFree_v2(address=0x1) = CUDA_ERROR_INVALID_VALUE, %s", "");
    assert_int_equal(d->CtxSynchronize(), CUDA_SUCCESS);
    assert_last("cuCtxSynchronize() = %s, ", "CUDA_SUCCESS");
    assert_int_equal(d->DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_SUCCESS);
    assert_last("cuDeviceGetAttribute(value=32, attribute=10, device=%d) = ", 0);
    assert_int_equal(d->DeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 7),
                     CUDA_ERROR_INVALID_DEVICE);
    assert_last(
        "cuDeviceGetAttribute(value=?, attribute=10, device=%d) = CUDA_ERROR_INVALID_DEVICE", 7);
    assert_int_equal(d->DeviceGetName(name, sizeof name, 0), CUDA_SUCCESS);
    assert_last("cuDeviceGetName(name=\"NVIDIA H200\", length=64, device=%d) = ", 0);
    assert_int_equal(d->MemsetD8(address, 0xff, 4096), CUDA_SUCCESS);
    assert_last("cuMemsetD8_v2(address=0x%llx, value=255, count=4096) = ", address);
    assert_int_equal(d->StreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -2),
                     CUDA_SUCCESS);
    assert_last("cuStreamCreateWithPriority(stream=%p, flags=0x1, priority=-2) = ", (void *)stream);
    CUmemLocation location = { CU_MEM_LOCATION_TYPE_DEVICE, 3 };
    assert_int_equal(d->MemPrefetchAsync_v2(address, 8, location, 0, NULL),
                     CUDA_ERROR_INVALID_DEVICE);
    assert_last(
        "cuMemPrefetchAsync_v2(address=0x%llx, bytes=8, location={1, 3}, flags=0x0, stream=(nil)) = ",
        address);
    static const char text[] = ".version 8.0\n.target sm_80\n.entry k() { ret; }";
    assert_int_equal(d->ModuleLoadDataEx(&module, text, 0, NULL, NULL), CUDA_SUCCESS);
    CUfunction f;
    assert_int_equal(d->ModuleGetFunction(&f, module, "line\nbreak"), CUDA_ERROR_NOT_FOUND);
    assert_last("cuModuleGetFunction(function=?, module=%p, name=\"line.break\") = ",
                (void *)module);
    assert_int_equal(d->ModuleGetFunction(&f, module, "k"), CUDA_SUCCESS);
    int before = lines;
    assert_int_equal(d->LaunchKernel(f, 1, 2, 3, 4, 5, 6, 7, stream, NULL, NULL), CUDA_SUCCESS);
    assert_last(
        "cuLaunchKernel(function=%p, grid_x=1, grid_y=2, grid_z=3, block_x=4, block_y=5, block_z=6, shared=7, "
        "stream=%p, params=(nil), extra=(nil)) = CUDA_SUCCESS, ",
        (void *)f, (void *)stream);
    assert_int_equal(lines, before + 1);
    gpul_set_log((gpul_log){ .fn = listen, .level = GPUL_LOG_INFO });
    assert_int_equal(d->CtxSynchronize(), CUDA_SUCCESS);
    assert_int_equal(lines, before + 1);
}

/* The letter that a parameter's type calls for; several may do for a pointer. */
static bool letter_fits(char letter, const char *type)
{
    size_t length = strlen(type);
    bool pointer = length && type[length - 1] == '*';
    bool constant = strncmp(type, "const ", 6) == 0;
    if (!pointer) {
        static const struct {
            const char *type, *letters;
        } rows[] = {
            { "unsigned int", "ux" },
            { "unsigned char", "i" },
            { "unsigned short", "i" },
            { "int", "i" },
            { "CUdevice", "i" },
            { "size_t", "z" },
            { "unsigned long long", "q" },
            { "cuuint64_t", "q" },
            { "cuuint32_t", "u" },
            { "CUdeviceptr", "d" },
            { "CUtexObject", "q" },
            { "CUsurfObject", "q" },
            { "CUmemGenericAllocationHandle", "q" },
            { "CUmemLocation", "L" },
            { "CUipcMemHandle", "H" },
            { "CUipcEventHandle", "H" },
            { "CUcontext", "p" },
            { "CUmodule", "p" },
            { "CUfunction", "p" },
            { "CUlibrary", "p" },
            { "CUkernel", "p" },
            { "CUarray", "p" },
            { "CUmipmappedArray", "p" },
            { "CUevent", "p" },
            { "CUstream", "p" },
            { "CUgraph", "p" },
            { "CUgraphNode", "p" },
            { "CUgraphExec", "p" },
            { "CUmemoryPool", "p" },
            { "CUlinkState", "p" },
            { "CUgreenCtx", "p" },
            { "CUdevResourceDesc", "p" },
            { "CUlogsCallbackHandle", "p" },
            { "CUhostFn", "p" },
            { "CUstreamCallback", "p" },
            { "CUoccupancyB2DSize", "p" },
            { "CUlogsCallback", "p" },
        };
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
            if (strcmp(rows[i].type, type) == 0) return strchr(rows[i].letters, letter) != NULL;
        return letter == 'i'; /* what is left are enumerations */
    }
    if (letter == 'p') return true;
    if (strcmp(type, "const char *") == 0) return letter == 's';
    if (strcmp(type, "const char **") == 0) return letter == 'C';
    if (constant && strcmp(type, "const CUgraphNode **") != 0) return false;
    static const struct {
        const char *type;
        char letter;
    } written[] = { { "size_t *", 'Z' },
                    { "unsigned int *", 'U' },
                    { "CUlogIterator *", 'U' },
                    { "float *", 'F' },
                    { "CUdeviceptr *", 'D' },
                    { "char *", 'S' },
                    { "CUtexObject *", 'Q' },
                    { "CUsurfObject *", 'Q' },
                    { "unsigned long long *", 'Q' },
                    { "cuuint64_t *", 'Q' },
                    { "CUmemGenericAllocationHandle *", 'Q' } };
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        if (strcmp(written[i].type, type) == 0) return written[i].letter == letter;
    return letter == 'I' || letter == 'P';
}

static void every_letter_fits_its_parameter(void **state)
{
    (void)state;
    static const struct {
        const char *symbol, *params, *letters;
    } rows[] = {
#define X(field, symbol, need, params, args, letters) { #symbol, #params, letters },
#include "driver/driver.def"
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s", rows[i].params + 1);
        text[strlen(text) - 1] = 0;
        const char *letter = rows[i].letters;
        if (strcmp(text, "void") == 0) text[0] = 0;
        char *rest, *param = strtok_r(text, ",", &rest);
        for (; param; param = strtok_r(NULL, ",", &rest)) {
            while (*param == ' ') param++;
            char *end = param + strlen(param);
            while (end > param && end[-1] != ' ' && end[-1] != '*') end--;
            while (end > param && end[-1] == ' ') end--;
            *end = 0;
            if (!*letter) fail_msg("%s: too few letters", rows[i].symbol);
            if (!letter_fits(*letter, param))
                fail_msg("%s: letter %c for %s", rows[i].symbol, *letter, param);
            letter++;
        }
        if (*letter) fail_msg("%s: too many letters", rows[i].symbol);
    }
}

#define case_of(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

GPUL_TEST_MAIN("driver trace", case_of(nobody_listens_and_nothing_is_wrapped),
               case_of(each_call_is_one_line), case_of(every_letter_fits_its_parameter));
