/* Memory kinds: managed, pinned, pooled, growing, registered, foreign, shared; two dimensions.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

#include <sys/wait.h>
#include <unistd.h>

static gpul_buffer *kind_of(gpul_memory memory, size_t size, const void *init)
{
    gpul_buffer *buffer;
    assert_ok(gpul_alloc(&buffer, device, size, gpul_alloc_opts(.memory = memory, .init = init)));
    assert_int_equal(gpul_buffer_memory(buffer), memory);
    assert_int_equal(gpul_buffer_size(buffer), size);
    return buffer;
}

/* Runs scale(data, n, by) of ptx/kernels/scale.ptx on a buffer of floats. */
static void scale(gpul_buffer *data, int n, float by, gpul_stream *stream)
{
    gpul_module *module = load_kernels("scale");
    assert_ok(gpul_launch(
        kernel_of(module, "scale"),
        gpul_launch_opts(.grid = { (uint64_t)(n + 63) / 64 }, .block = { 64 }, .stream = stream),
        gpul_args(data, n, by)));
    if (stream) assert_ok(gpul_stream_sync(stream));
    else assert_ok(gpul_sync(device));
    gpul_module_free(&module);
}

static void check_floats(gpul_buffer *buffer, int n, float by)
{
    float *got = malloc((size_t)n * sizeof *got);
    assert_non_null(got);
    assert_ok(gpul_read(got, buffer, 0, (size_t)n * sizeof *got, NULL));
    for (int i = 0; i < n; i++) assert_float_equal(got[i], (float)i * by, 0);
    free(got);
}

enum { N = 1000 };
static float ramp[N];

static void host_and_device_share_managed_memory(void **state)
{
    (void)state;
    if (!gpul_device_describe(device)->managed) skip_because("no managed memory here");
    gpul_buffer *buffer = kind_of(GPUL_MEMORY_MANAGED, sizeof ramp, ramp);
    float *host = gpul_buffer_host(buffer);
    assert_non_null(host);
    assert_int_equal((uintptr_t)host, gpul_buffer_address(buffer));
    scale(buffer, N, 3, NULL);
    for (int i = 0; i < N; i++) assert_float_equal(host[i], (float)i * 3, 0);
    if (gpul_device_describe(device)->concurrent_managed) {
        assert_ok(gpul_advise(buffer, 0, sizeof ramp, GPUL_ADVICE_PREFERRED, device));
        assert_ok(gpul_advise(buffer, 0, sizeof ramp, GPUL_ADVICE_ACCESSED_BY, NULL));
        assert_ok(gpul_advise(buffer, 0, sizeof ramp, GPUL_ADVICE_READ_MOSTLY, NULL));
        assert_ok(gpul_advise(buffer, 0, sizeof ramp, GPUL_ADVICE_NOT_READ_MOSTLY, NULL));
        assert_ok(gpul_prefetch(buffer, 0, sizeof ramp, device, NULL));
        assert_ok(gpul_prefetch(buffer, 0, sizeof ramp, NULL, NULL));
    }
    assert_code(gpul_advise(buffer, 0, sizeof ramp + 1, GPUL_ADVICE_PREFERRED, device), 810,
                "4001");
    assert_code(gpul_prefetch(buffer, 4000, 4, device, NULL), 810, "offset 4000");
    assert_code(gpul_advise(buffer, 0, 4, (gpul_advice)9, NULL), 315, "9");
    gpul_buffer *view, *plain = buffer_of(16, NULL);
    assert_ok(gpul_view(&view, buffer, 400, 400));
    assert_ptr_equal(gpul_buffer_host(view), host + 100);
    assert_int_equal(gpul_buffer_memory(view), GPUL_MEMORY_MANAGED);
    assert_code(gpul_advise(plain, 0, 4, GPUL_ADVICE_PREFERRED, device), 822, "not managed");
    assert_code(gpul_prefetch(plain, 0, 4, device, NULL), 822, "GPUL_MEMORY_MANAGED");
    assert_null(gpul_buffer_host(plain));
    gpul_buffer_free(&plain);
    gpul_buffer_free(&buffer);
    gpul_buffer_free(&view);
}

static void kernels_reach_pinned_memory(void **state)
{
    (void)state;
    gpul_buffer *buffer = kind_of(GPUL_MEMORY_PINNED, sizeof ramp, ramp), *combined;
    float *host = gpul_buffer_host(buffer);
    assert_non_null(host);
    assert_float_equal(host[N - 1], N - 1, 0);
    scale(buffer, N, 2, NULL);
    for (int i = 0; i < N; i++) assert_float_equal(host[i], (float)i * 2, 0);
    assert_ok(gpul_alloc(
        &combined, device, 64,
        gpul_alloc_opts(.memory = GPUL_MEMORY_PINNED, .portable = true, .write_combined = true)));
    memcpy(gpul_buffer_host(combined), "0123456789", 10);
    gpul_buffer *plain = buffer_of(64, NULL);
    char got[64];
    assert_ok(gpul_copy(plain, 0, combined, 0, 64, NULL));
    assert_ok(gpul_read(got, plain, 0, 10, NULL));
    assert_memory_equal(got, "0123456789", 10);
    gpul_buffer_free(&plain);
    gpul_buffer_free(&combined);
    gpul_buffer_free(&buffer);
}

static void pools_follow_a_stream(void **state)
{
    (void)state;
    if (!gpul_device_describe(device)->memory_pools) skip_because("no memory pools here");
    gpul_stream *stream;
    gpul_pool *pool, *common;
    gpul_pool_info info;
    gpul_buffer *buffer, *other, *view;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_pool_new(&pool, device, gpul_pool_opts(.keep = 1 << 20)));
    assert_ok(gpul_pool_new(&common, device, gpul_pool_opts(.device_default = true)));
    assert_ok(gpul_alloc(
        &buffer, device, sizeof ramp,
        gpul_alloc_opts(.memory = GPUL_MEMORY_POOL, .pool = pool, .stream = stream, .init = ramp)));
    assert_ok(gpul_alloc(&other, device, sizeof ramp,
                         gpul_alloc_opts(.memory = GPUL_MEMORY_POOL, .stream = stream)));
    assert_ok(gpul_copy(other, 0, buffer, 0, sizeof ramp, stream));
    scale(other, N, 5, stream);
    check_floats(other, N, 5);
    assert_ok(gpul_pool_describe(&info, pool));
    assert_true(info.used >= sizeof ramp && info.used_peak >= info.used);
    assert_int_equal(info.keep, 1 << 20);
    assert_ok(gpul_view(&view, buffer, 0, 16));
    assert_ok(gpul_buffer_free_on(&buffer, stream));
    assert_null(buffer);
    gpul_buffer_free(&other);
    gpul_buffer_free(&view);
    assert_ok(gpul_stream_sync(stream));
    assert_ok(gpul_pool_trim(pool, 0));
    assert_ok(gpul_pool_trim(common, 0));
    assert_ok(gpul_pool_describe(&info, pool));
    assert_int_equal(info.used, 0);
    /* The buffer keeps pool and stream. */
    assert_ok(
        gpul_alloc(&buffer, device, 64,
                   gpul_alloc_opts(.memory = GPUL_MEMORY_POOL, .pool = pool, .stream = stream)));
    gpul_pool_free(&pool);
    gpul_stream_free(&stream);
    gpul_buffer_free(&buffer);
    gpul_pool_free(&common);
    gpul_pool_free(&common);
    buffer = buffer_of(16, NULL);
    assert_ok(gpul_buffer_free_on(&buffer, NULL));
    assert_ok(gpul_buffer_free_on(&buffer, NULL));
}

static void buffers_grow_in_place(void **state)
{
    (void)state;
    gpul_buffer *buffer = (gpul_buffer *)1, *view;
    const size_t most = (size_t)64 << 20;
    const gpul_alloc_opts *opts =
        gpul_alloc_opts(.memory = GPUL_MEMORY_GROWING, .init = ramp, .reserve = most);
    if (!gpul_device_describe(device)->virtual_memory) {
        assert_code(gpul_alloc(&buffer, device, sizeof ramp, opts), 820, "CPU device");
        assert_null(buffer);
        return;
    }
    assert_ok(gpul_alloc(&buffer, device, sizeof ramp, opts));
    uint64_t address = gpul_buffer_address(buffer);
    scale(buffer, N, 2, NULL);
    assert_ok(gpul_buffer_grow(buffer, sizeof ramp + 4));
    assert_ok(gpul_buffer_grow(buffer, (size_t)20 << 20));
    assert_ok(gpul_buffer_grow(buffer, most));
    assert_int_equal(gpul_buffer_size(buffer), most);
    assert_int_equal(gpul_buffer_address(buffer), address);
    check_floats(buffer, N, 2);
    assert_ok(gpul_write(buffer, most - 4, "tail", 4, NULL));
    assert_code(gpul_buffer_grow(buffer, most - 1), 810, "at most");
    assert_code(gpul_buffer_grow(buffer, most * 2), 810, "at most");
    assert_ok(gpul_view(&view, buffer, 0, 16));
    assert_code(gpul_buffer_grow(view, 32), 822, "whole");
    gpul_buffer_free(&view);
    gpul_buffer_free(&buffer);
}

static void host_memory_is_registered(void **state)
{
    (void)state;
    enum { BYTES = 1 << 16 };
    float *memory = aligned_alloc(4096, BYTES);
    assert_non_null(memory);
    memcpy(memory, ramp, sizeof ramp);
    gpul_buffer *buffer, *again = (gpul_buffer *)1;
    assert_ok(gpul_register(&buffer, device, memory, BYTES, gpul_alloc_opts(.portable = true)));
    assert_int_equal(gpul_buffer_memory(buffer), GPUL_MEMORY_REGISTERED);
    assert_ptr_equal(gpul_buffer_host(buffer), memory);
    scale(buffer, N, 4, NULL);
    for (int i = 0; i < N; i++) assert_float_equal(memory[i], (float)i * 4, 0);
    assert_code(gpul_register(&again, device, memory, BYTES, NULL), 814, "registered already");
    assert_null(again);
    gpul_buffer_free(&buffer);
    assert_ok(gpul_register(&buffer, device, memory, BYTES, NULL));
    gpul_buffer_free(&buffer);
    assert_code(gpul_register(&again, device, NULL, BYTES, NULL), 314, "memory");
    assert_code(gpul_register(&again, device, memory, 0, NULL), 811, "zero");
    assert_code(gpul_register(&again, device, memory, SIZE_MAX, NULL), 810, "past the end");
    assert_code(gpul_register(&again, device, memory, BYTES, gpul_alloc_opts(.init = ramp)), 315,
                ".name");
    free(memory);
}

static void foreign_addresses_become_buffers(void **state)
{
    (void)state;
    gpul_buffer *owner = buffer_of(sizeof ramp, ramp), *wrapped, *bad = (gpul_buffer *)1;
    uint64_t address = gpul_buffer_address(owner);
    assert_ok(gpul_wrap(&wrapped, device, address + 400, 400,
                        gpul_alloc_opts(.type = GPUL_F32, .name = "theirs")));
    assert_int_equal(gpul_buffer_memory(wrapped), GPUL_MEMORY_FOREIGN);
    float first;
    assert_ok(gpul_read(&first, wrapped, 0, sizeof first, NULL));
    assert_float_equal(first, 100, 0);
    assert_code(gpul_read(&first, wrapped, 400, 4, NULL), 810, "theirs", "400");
    gpul_buffer_free(&wrapped);
    assert_ok(gpul_read(&first, owner, 4, sizeof first, NULL)); /* the memory is still there */
    assert_float_equal(first, 1, 0);
    assert_code(gpul_wrap(&bad, device, address, (size_t)1 << 40, NULL), 810, "allocation");
    assert_null(bad);
    assert_code(gpul_wrap(&bad, device, 64, 4, NULL), 316, "0x40");
    assert_code(gpul_wrap(&bad, device, address, 0, NULL), 811, "zero");
    gpul_buffer_free(&owner);
}

/* The other process opens the handle that comes through a pipe, multiplies and leaves. */
static int run_other_process(int in)
{
    gpul_shared shared;
    gpul_buffer *buffer;
    float values[4];
    if (read(in, &shared, sizeof shared) != (ssize_t)sizeof shared) return 2;
    if (gpul_open(&device, NULL) != GPUL_OK) return 3;
    if (gpul_open_shared(&buffer, device, &shared, NULL) != GPUL_OK) return 4;
    if (gpul_read(values, buffer, 0, sizeof values, NULL) != GPUL_OK) return 5;
    for (int i = 0; i < 4; i++) values[i] *= 10;
    if (gpul_write(buffer, 0, values, sizeof values, NULL) != GPUL_OK) return 6;
    gpul_buffer_free(&buffer);
    gpul_device_free(&device);
    return 0;
}

static int other_in = -1, other_out = -1;
static pid_t other;

/* Before any device is opened: a context does not survive a fork. */
static void start_other_process(void)
{
    int ends[2];
    if (pipe(ends) != 0) return;
    other = fork();
    if (other == 0) {
        close(ends[1]);
        _exit(run_other_process(ends[0]));
    }
    other_in = ends[0];
    other_out = ends[1];
}

static void memory_is_shared_with_a_process(void **state)
{
    (void)state;
    gpul_buffer *buffer = buffer_of(sizeof ramp, ramp), *view;
    gpul_shared shared;
    float got[5];
    assert_ok(gpul_view(&view, buffer, 400, 16));
    gpul_status status = gpul_buffer_share(&shared, view);
    if (status == GPUL_E_UNSUPPORTED) {
        assert_code(status, 820, "shared");
        gpul_buffer *none = (gpul_buffer *)1;
        assert_code(gpul_open_shared(&none, device, &shared, NULL), 811, "zero");
        assert_null(none);
        shared.size = 16;
        none = (gpul_buffer *)1;
        assert_code(gpul_open_shared(&none, device, &shared, NULL), 820, "another process");
        assert_null(none);
        gpul_buffer_free(&view);
        gpul_buffer_free(&buffer);
        return;
    }
    assert_ok(status);
    assert_int_equal(shared.size, 16);
    int result = -1;
    assert_int_equal(write(other_out, &shared, sizeof shared), (ssize_t)sizeof shared);
    assert_int_equal(waitpid(other, &result, 0), other);
    other = 0;
    assert_int_equal(result, 0);
    assert_ok(gpul_read(got, buffer, 400, sizeof got, NULL));
    for (int i = 0; i < 4; i++) assert_float_equal(got[i], (float)(100 + i) * 10, 0);
    assert_float_equal(got[4], 104, 0);
    gpul_buffer *pinned = kind_of(GPUL_MEMORY_PINNED, 64, NULL);
    assert_code(gpul_buffer_share(&shared, pinned), 822, "GPUL_MEMORY_DEVICE");
    gpul_buffer_free(&pinned);
    gpul_buffer_free(&view);
    gpul_buffer_free(&buffer);
}

static void boxes_are_copied(void **state)
{
    (void)state;
    enum { W = 5, H = 4, D = 3, PITCH = 8, ROWS = 6, SIZE = PITCH * ROWS * D };
    unsigned char put[D][H][W], got[D][H][W], flat[SIZE], part[2][2][2];
    for (int i = 0; i < D * H * W; i++) put[0][0][i] = (unsigned char)(i + 1);
    gpul_buffer *buffer = buffer_of(SIZE, NULL);
    assert_ok(gpul_fill(buffer, 0, SIZE, &(uint8_t){ 0 }, 1, NULL));
    const gpul_box *there = gpul_box(.buffer = buffer, .pitch = PITCH, .rows = ROWS);
    assert_ok(gpul_copy_3d(there, gpul_box(.host = put), W, H, D, NULL));
    assert_ok(gpul_read(flat, buffer, 0, SIZE, NULL));
    for (int z = 0; z < D; z++)
        for (int y = 0; y < ROWS; y++)
            for (int x = 0; x < PITCH; x++)
                assert_int_equal(flat[(z * ROWS + y) * PITCH + x],
                                 x < W && y < H ? put[z][y][x] : 0);
    gpul_stream *stream;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_copy_3d(gpul_box(.host = got), there, W, H, D, stream));
    assert_ok(gpul_stream_sync(stream));
    assert_memory_equal(put, got, sizeof put);
    gpul_stream_free(&stream);
    /* A box from inside: offset is the place of its first byte. */
    size_t inside = ((size_t)1 * ROWS + 2) * PITCH + 3;
    const gpul_box *inner =
        gpul_box(.buffer = buffer, .offset = inside, .pitch = PITCH, .rows = ROWS);
    assert_ok(gpul_copy_3d(gpul_box(.host = part), inner, 2, 2, 2, NULL));
    for (int i = 0; i < 8; i++)
        assert_int_equal(part[0][0][i], put[1 + i / 4][2 + i / 2 % 2][3 + i % 2]);
    /* Below the rows in use and beside them there is room for boxes that share nothing. */
    const gpul_box *below =
        gpul_box(.buffer = buffer, .offset = 4 * PITCH, .pitch = PITCH, .rows = ROWS);
    const gpul_box *beside = gpul_box(.buffer = buffer, .offset = 5, .pitch = PITCH, .rows = ROWS);
    assert_ok(gpul_copy_3d(below, there, 5, 2, D, NULL));
    assert_ok(gpul_copy_3d(beside, there, 3, H, D, NULL));
    assert_ok(gpul_read(flat, buffer, 0, SIZE, NULL));
    assert_int_equal(flat[(2 * ROWS + 5) * PITCH + 4], put[2][1][4]);
    assert_int_equal(flat[(2 * ROWS + 3) * PITCH + 7], put[2][3][2]);
    assert_code(gpul_copy_3d(below, there, 5, 3, 2, NULL), 815, "overlap");
    assert_code(gpul_copy_3d(below, there, 5, 4, 2, NULL), 815, "4 rows of 5 bytes");
    assert_code(gpul_copy_3d(beside, there, 6, H, 2, NULL), 815, "5 bytes apart");
    assert_code(gpul_copy_3d(inner, there, 4, 3, 2, NULL), 815, "overlap");
    assert_ok(gpul_copy_3d(inner, there, 2, 2, 2, NULL));
    assert_code(gpul_copy_3d(beside, gpul_box(.buffer = buffer, .pitch = PITCH), 1, H, 2, NULL),
                815, "overlap");
    /* Outside, in every direction, and what no memory has. */
    assert_code(gpul_copy_3d(gpul_box(.host = got), there, W, H, D + 1, NULL), 810, "source");
    assert_code(gpul_copy_3d(there, gpul_box(.host = got), W, ROWS + 1, 1, NULL), 810,
                "layers of 7 rows");
    assert_code(gpul_copy_3d(there, gpul_box(.host = got), PITCH + 1, H, 1, NULL), 810,
                "pitch of 8");
    assert_code(gpul_copy_3d(gpul_box(.host = got), there, W, H, SIZE_MAX, NULL), 810,
                "more of the destination");
    assert_code(gpul_copy_3d(gpul_box(.host = got, .rows = SIZE_MAX), there, W, H, 2, NULL), 810,
                "more of the destination");
    assert_code(gpul_copy_3d(gpul_box(.host = got, .row = 1), there, W, H, D, NULL), 315,
                "first row");
    assert_code(gpul_copy_3d(gpul_box(.host = got, .layer = 1), there, W, H, D, NULL), 315,
                "first layer");
    assert_code(gpul_copy_3d(gpul_box(.buffer = buffer, .host = got), there, W, H, D, NULL), 315,
                "exactly one");
    assert_code(gpul_copy_3d(gpul_box(.host = got), gpul_box(.host = put), W, H, D, NULL), 315,
                "both sides");
    assert_code(gpul_copy_3d(NULL, there, W, H, D, NULL), 314, "destination");
    assert_code(gpul_copy_3d(there, NULL, W, H, D, NULL), 314, "source");
    assert_ok(gpul_copy_3d(gpul_box(0), gpul_box(0), W, H, 0, NULL));
    gpul_buffer_free(&buffer);
}

static void rectangles_are_copied(void **state)
{
    (void)state;
    enum { W = 13, H = 7 };
    unsigned char image[H][W], got[H][W], corner[2][3];
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) image[y][x] = (unsigned char)(y * 16 + x);
    size_t pitch;
    gpul_buffer *rows, *none = (gpul_buffer *)1;
    assert_ok(gpul_alloc_2d(&rows, &pitch, device, W, H, gpul_alloc_opts(.init = image)));
    assert_true(pitch >= W && gpul_buffer_size(rows) == pitch * H);
    const gpul_plane *there = gpul_plane(.buffer = rows, .pitch = pitch);
    assert_ok(gpul_copy_2d(gpul_plane(.host = got), there, W, H, NULL));
    assert_memory_equal(got, image, sizeof image);
    assert_ok(gpul_copy_2d(gpul_plane(.host = corner),
                           gpul_plane(.buffer = rows, .offset = 2 * pitch + 4, .pitch = pitch), 3,
                           2, NULL));
    assert_int_equal(corner[1][2], 3 * 16 + 6);
    /* Side by side in one buffer: the rows interleave and share nothing. */
    gpul_buffer *flat = buffer_of(64, NULL);
    assert_ok(gpul_fill(flat, 0, 64, &(uint8_t){ 9 }, 1, NULL));
    assert_ok(gpul_copy_2d(gpul_plane(.buffer = flat, .pitch = 8), there, 4, 3, NULL));
    assert_ok(gpul_copy_2d(gpul_plane(.buffer = flat, .offset = 4, .pitch = 8),
                           gpul_plane(.buffer = flat, .pitch = 8), 4, 3, NULL));
    assert_ok(gpul_read(got, flat, 0, 32, NULL));
    for (int i = 0; i < 24; i++) assert_int_equal(((unsigned char *)got)[i], i / 8 * 16 + i % 4);
    assert_int_equal(((unsigned char *)got)[24], 9);
    assert_code(gpul_copy_2d(gpul_plane(.buffer = flat, .offset = 3, .pitch = 8),
                             gpul_plane(.buffer = flat, .pitch = 8), 4, 3, NULL),
                815, "overlap");
    assert_code(gpul_copy_2d(gpul_plane(.buffer = flat, .offset = 12, .pitch = 8),
                             gpul_plane(.buffer = flat, .pitch = 8), 5, 3, NULL),
                815, "3 rows of 5 bytes");
    assert_code(gpul_copy_2d(there, there, W, H, NULL), 815, "overlap");
    /* Out of bounds, in every direction. */
    assert_code(gpul_copy_2d(gpul_plane(.host = got), there, W, H + 1, NULL), 810, "source");
    assert_code(gpul_copy_2d(gpul_plane(.host = got), there, W, SIZE_MAX, NULL), 810, "rows");
    assert_code(gpul_copy_2d(gpul_plane(.host = got), there, SIZE_MAX, 2, NULL), 810, "");
    assert_code(gpul_copy_2d(gpul_plane(.host = got, .pitch = 3), there, W, H, NULL), 810,
                "pitch of 3");
    assert_code(gpul_copy_2d(gpul_plane(.host = got, .row = 1), there, W, H, NULL), 315, "row");
    assert_code(gpul_copy_2d(gpul_plane(0), there, W, H, NULL), 315, "exactly one");
    assert_code(gpul_copy_2d(gpul_plane(.host = got), gpul_plane(.host = image), W, H, NULL), 315,
                "both sides");
    assert_code(gpul_copy_2d(NULL, there, W, H, NULL), 314, "destination");
    assert_ok(gpul_copy_2d(gpul_plane(.host = got), there, 0, H, NULL));
    /* Fills. */
    assert_ok(gpul_fill_2d(rows, pitch, pitch, 4, 2, &(uint16_t){ 0xabcd }, 2, NULL));
    assert_ok(gpul_fill_2d(rows, 0, pitch, 1, 1, &(uint8_t){ 0x77 }, 1, NULL));
    assert_ok(gpul_fill_2d(rows, 4 * pitch, pitch, 8, 1, &(uint32_t){ 0x01020304 }, 4, NULL));
    assert_ok(gpul_copy_2d(gpul_plane(.host = got), there, W, H, NULL));
    assert_int_equal(got[0][0], 0x77);
    assert_int_equal(got[0][1], 1);
    assert_memory_equal(got[1], "\xcd\xab\xcd\xab\x14", 5);
    assert_memory_equal(got[4], "\4\3\2\1\4\3\2\1\x48", 9);
    assert_code(gpul_fill_2d(rows, 0, pitch, 3, 2, &(uint16_t){ 1 }, 2, NULL), 813, "3 bytes");
    assert_code(gpul_fill_2d(rows, 0, 5, 4, 2, &(uint16_t){ 1 }, 2, NULL), 813, "pitch of 5");
    assert_code(gpul_fill_2d(rows, 0, 2, 4, 2, &(uint16_t){ 1 }, 2, NULL), 810, "pitch of 2");
    assert_code(gpul_fill_2d(rows, 0, pitch, 4, H + 1, &(uint16_t){ 1 }, 2, NULL), 810, "outside");
    assert_code(gpul_alloc_2d(&none, &pitch, device, 0, 3, NULL), 811, "0 bytes");
    assert_code(gpul_alloc_2d(&none, &pitch, device, SIZE_MAX / 2, 3, NULL), 810, "addressed");
    assert_null(none);
    gpul_buffer_free(&flat);
    gpul_buffer_free(&rows);
}

static void wrong_options_are_refused(void **state)
{
    (void)state;
    gpul_buffer *none = (gpul_buffer *)1;
#define REFUSED(code, words, ...)                                                                  \
    assert_code(gpul_alloc(&none, device, 64, gpul_alloc_opts(__VA_ARGS__)), code, words)
    REFUSED(315, "portable", .portable = true);
    REFUSED(315, "GPUL_MEMORY_PINNED", .memory = GPUL_MEMORY_MANAGED, .write_combined = true);
    REFUSED(315, "attach_host", .memory = GPUL_MEMORY_PINNED, .attach_host = true);
    REFUSED(315, "reserve", .reserve = 128);
    REFUSED(315, "less than", .memory = GPUL_MEMORY_GROWING, .reserve = 63);
    REFUSED(315, "6", .memory = GPUL_MEMORY_FOREIGN);
    REFUSED(315, "77", .memory = (gpul_memory)77);
    gpul_device *second;
    gpul_stream *stream;
    gpul_pool *pool;
    assert_ok(gpul_open(&second, NULL));
    assert_ok(gpul_stream_new(&stream, second, NULL));
    REFUSED(313, "stream", .memory = GPUL_MEMORY_POOL, .stream = stream);
    REFUSED(315, "stream", .stream = stream);
    if (gpul_device_describe(device)->memory_pools) {
        assert_ok(gpul_pool_new(&pool, second, NULL));
        REFUSED(313, "pool", .memory = GPUL_MEMORY_POOL, .pool = pool);
        gpul_pool_free(&pool);
    }
    gpul_stream_free(&stream);
    gpul_device_free(&second);
#undef REFUSED
}

static int open_kinds(void **state)
{
    for (int i = 0; i < N; i++) ramp[i] = (float)i;
    start_other_process();
    return open_device(state);
}

static int close_kinds(void **state)
{
    close(other_out);
    close(other_in);
    if (other > 0) waitpid(other, NULL, 0);
    return close_device(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_and_device_share_managed_memory),
        cmocka_unit_test(kernels_reach_pinned_memory),
        cmocka_unit_test(pools_follow_a_stream),
        cmocka_unit_test(buffers_grow_in_place),
        cmocka_unit_test(host_memory_is_registered),
        cmocka_unit_test(foreign_addresses_become_buffers),
        cmocka_unit_test(memory_is_shared_with_a_process),
        cmocka_unit_test(boxes_are_copied),
        cmocka_unit_test(rectangles_are_copied),
        cmocka_unit_test(wrong_options_are_refused),
    };
    return gpul_run_tests("device kinds", tests, open_kinds, close_kinds);
}
