/* Prepared launches, sequences and captures over the recording provider: what reaches the driver and when, and which
 * way is taken where the driver lacks something.  SPDX-License-Identifier: MIT */
#include "suite.h"

static gpul_buffer *data, *other;

static int open_buffers(void **state)
{
    open_all(state);
    assert_ok(gpul_alloc(&data, device, 64, NULL));
    assert_ok(gpul_alloc(&other, device, 64, NULL));
    gpul__record_forget();
    return 0;
}

static int close_buffers(void **state)
{
    gpul_buffer_free(&data);
    gpul_buffer_free(&other);
    return close_all(state);
}

static const gpul_launch_opts one_block = { .grid = { 2 }, .block = { 32 } };

/* The arguments of the last launch of scale(float *data, int n, float by). */
typedef struct scaled {
    uint64_t data;
    int n;
    float by;
} scaled;

static scaled last_scaled(bool from_graph)
{
    scaled s;
    const gpul__record_launch *launch = gpul__record_launch_at(-1);
    assert_non_null(launch);
    assert_string_equal(launch->kernel, "scale");
    assert_int_equal(launch->from_graph, from_graph);
    assert_int_equal(launch->grid[0], 2);
    assert_int_equal(launch->block[0], 32);
    assert_true(launch->size >= 16);
    memcpy(&s, launch->bytes, 16);
    return s;
}

static void a_prepared_launch_is_a_graph(void **state)
{
    (void)state;
    gpul_prepared *p;
    assert_ok(gpul_prepare(&p, kernel_of("scale"), &one_block, gpul_args(data, 16, 2.0f)));
    assert_true(gpul_prepared_is_graph(p));
    assert_int_equal(gpul__record_launches(), 0);
    for (int i = 0; i < 3; i++) assert_ok(gpul_prepared_launch(p));
    assert_int_equal(gpul__record_launches(), 3);
    scaled s = last_scaled(true);
    assert_true(s.data == gpul_buffer_address(data) && s.n == 16 && s.by == 2.0f);

    assert_ok(gpul_prepared_set(p, 1, gpul_argument(7)));
    assert_ok(gpul_prepared_set_named(p, "by", gpul_argument(3.5f)));
    assert_ok(gpul_prepared_set_named(p, "data", gpul_argument(other)));
    assert_ok(gpul_prepared_launch(p));
    s = last_scaled(true);
    assert_true(s.data == gpul_buffer_address(other) && s.n == 7 && s.by == 3.5f);
    gpul_prepared_free(&p);
    assert_null(p);
    gpul_prepared_free(&p);
}

static void wrong_arguments_change_nothing(void **state)
{
    (void)state;
    gpul_prepared *p;
    assert_code(gpul_prepare(&p, kernel_of("scale"), &one_block, gpul_args(data, 16)), 303, "3");
    assert_null(p);
    assert_code(gpul_prepare(&p, kernel_of("scale"), NULL, gpul_args(data, 16, 2.0f)), 704,
                "grid.x");
    assert_ok(gpul_prepare(&p, kernel_of("scale"), &one_block, gpul_args(data, 16, 2.0f)));
    assert_code(gpul_prepared_set(p, 2, gpul_argument(3)), 304, "by", "float");
    assert_code(gpul_prepared_set(p, 1, gpul_argument(3ll)), 310, "n");
    assert_code(gpul_prepared_set(p, 3, gpul_argument(3)), 303, "place 3", "3");
    assert_code(gpul_prepared_set_named(p, "nowhere", gpul_argument(3)), 315, "nowhere", "scale");
    assert_code(gpul_prepared_set(NULL, 0, gpul_argument(3)), 314, "prepared");
    assert_code(gpul_prepared_launch(NULL), 314, "prepared");
    assert_ok(gpul_prepared_launch(p));
    scaled s = last_scaled(true);
    assert_true(s.data == gpul_buffer_address(data) && s.n == 16 && s.by == 2.0f);
    gpul_prepared_free(&p);
}

/* What it uses lives as long as it does, whatever is freed before. */
static void what_is_used_is_kept(void **state)
{
    (void)state;
    gpul__record_counts before = gpul__record_live();
    gpul_buffer *first, *second;
    gpul_stream *stream;
    assert_ok(gpul_alloc(&first, device, 64, NULL));
    assert_ok(gpul_alloc(&second, device, 64, NULL));
    assert_ok(gpul_stream_new(&stream, device, NULL));
    gpul_launch_opts opts = one_block;
    opts.stream = stream;
    CUstream handle = gpul_stream_handle(stream);
    uint64_t address = gpul_buffer_address(second);
    gpul_prepared *p;
    assert_ok(gpul_prepare(&p, kernel_of("scale"), &opts, gpul_args(first, 16, 2.0f)));
    gpul_buffer_free(&first);
    assert_int_equal(gpul__record_live().allocations, before.allocations + 2);
    assert_ok(gpul_prepared_set(p, 0, gpul_argument(second)));
    assert_int_equal(gpul__record_live().allocations, before.allocations + 1);
    gpul_buffer_free(&second);
    gpul_stream_free(&stream);
    assert_int_equal(gpul__record_live().allocations, before.allocations + 1);
    assert_ok(gpul_prepared_launch(p));
    assert_true(last_scaled(true).data == address);
    assert_ptr_equal(gpul__record_launch_at(-1)->stream, handle);
    gpul_prepared_free(&p);
    gpul__record_counts after = gpul__record_live();
    assert_int_equal(after.allocations, before.allocations);
    assert_int_equal(after.streams, before.streams);
    assert_int_equal(after.graphs, before.graphs);
    assert_int_equal(after.execs, before.execs);
}

static void structs_by_value_are_kept_by_value(void **state)
{
    (void)state;
    struct {
        uint64_t a[4];
    } r = { { 1, 2, 3, 4 } };
    gpul_prepared *p;
    assert_ok(gpul_prepare(&p, kernel_of("c15_inner"), &one_block, gpul_args(gpul_value(r), data)));
    r.a[3] = 9;
    uint64_t got[5];
    assert_ok(gpul_prepared_launch(p));
    memcpy(got, gpul__record_launch_at(-1)->bytes, sizeof got);
    assert_true(got[3] == 4 && got[4] == gpul_buffer_address(data));
    assert_ok(gpul_prepared_set(p, 0, gpul_value(r)));
    memset(&r, 0, sizeof r);
    assert_ok(gpul_prepared_launch(p));
    memcpy(got, gpul__record_launch_at(-1)->bytes, sizeof got);
    assert_true(got[0] == 1 && got[3] == 9);
    gpul_prepared_free(&p);
}

static void capture_and_attributes_go_the_plain_way(void **state)
{
    (void)state;
    gpul_stream *stream;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    gpul_launch_opts opts = one_block;
    opts.stream = stream;
    gpul_prepared *p, *special;
    gpul_sequence *sequence;
    assert_ok(gpul_prepare(&p, kernel_of("scale"), &opts, gpul_args(data, 16, 2.0f)));
    assert_ok(gpul_capture_begin(stream));
    assert_ok(gpul_prepared_set(p, 1, gpul_argument(5)));
    assert_ok(gpul_prepared_launch(p));
    assert_int_equal(gpul__record_launches(), 0);
    assert_ok(gpul_capture_end(&sequence, stream));
    assert_true(gpul_prepared_is_graph(p));
    assert_ok(gpul_prepared_launch(p));
    assert_int_equal(last_scaled(true).n, 5);
    gpul_prepared_free(&p);
    assert_ok(gpul_sequence_play(sequence, NULL));
    assert_int_equal(last_scaled(true).n, 5);
    assert_code(gpul_sequence_set(sequence, 0, 0, gpul_argument(1)), 315, "step 0");
    assert_code(gpul_sequence_fill(sequence, data, 0, 4, "a", 1), 315, "captured");
    assert_true(gpul_sequence_is_graph(sequence));
    gpul_sequence_free(&sequence);

    opts.cooperative = true;
    assert_ok(gpul_prepare(&special, kernel_of("scale"), &opts, gpul_args(data, 16, 2.0f)));
    assert_false(gpul_prepared_is_graph(special));
    assert_ok(gpul_prepared_launch(special));
    last_scaled(false);
    assert_true(gpul__record_launch_at(-1)->cooperative);
    gpul_prepared_free(&special);
    gpul_stream_free(&stream);
}

/* Each entry that it needs: without it, and with it refusing. */
static void an_older_driver_launches_plainly(void **state)
{
    (void)state;
    static const char *const entries[] = { "cuGraphCreate", "cuGraphAddKernelNode_v2",
                                           "cuGraphInstantiateWithFlags",
                                           "cuGraphExecKernelNodeSetParams_v2", "cuGraphLaunch" };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        use_record(NULL);
        gpul__driver_override(gpul__fault_driver(gpul__record_driver()));
        gpul_device *d;
        gpul_module *m;
        gpul_buffer *b;
        gpul_prepared *p;
        const gpul_kernel *scale;
        for (int refuse = 0; refuse < 2; refuse++) {
            gpul__fault_without(refuse ? NULL : entries[i]);
            assert_ok(gpul_open(&d, NULL));
            gpul_image *image = image_of(kernels_ptx);
            assert_ok(gpul_load(&m, d, image, NULL));
            gpul_image_free(&image);
            assert_ok(gpul_module_kernel(&scale, m, "scale"));
            assert_ok(gpul_alloc(&b, d, 64, NULL));
            if (refuse) gpul__fault_entry(entries[i], 1, CUDA_ERROR_NOT_SUPPORTED);
            assert_ok(gpul_prepare(&p, scale, &one_block, gpul_args(b, 16, 2.0f)));
            assert_ok(gpul_prepared_set(p, 1, gpul_argument(6)));
            assert_ok(gpul_prepared_launch(p));
            assert_false(gpul_prepared_is_graph(p));
            assert_int_equal(last_scaled(false).n, 6);
            gpul__fault_entry(NULL, 0, CUDA_SUCCESS);
            gpul_prepared_free(&p);
            gpul_buffer_free(&b);
            gpul_module_free(&m);
            gpul_device_free(&d);
            assert_string_equal(gpul__record_leaks(), "");
        }
    }
    gpul__fault_without(NULL);
    gpul__driver_override(gpul__record_driver());
}

/* ---- Sequences ---- */

static void record_all(gpul_sequence *s, uint32_t in[16], uint32_t out[16])
{
    assert_ok(gpul_sequence_write(s, data, 0, in, 64));
    assert_ok(gpul_sequence_name(s, "input"));
    assert_ok(gpul_sequence_fill(s, other, 0, 32, "\1\0\0\0", 4));
    assert_ok(gpul_sequence_fill(s, other, 32, 16, "ab", 2));
    assert_ok(gpul_sequence_fill(s, other, 48, 8, "c", 1));
    assert_ok(gpul_sequence_launch(s, kernel_of("scale"), &one_block, gpul_args(data, 16, 2.0f)));
    assert_ok(gpul_sequence_name(s, "scaling"));
    assert_ok(gpul_sequence_copy(s, other, 56, data, 0, 8));
    assert_ok(gpul_sequence_read(s, out, other, 0, 64));
    assert_ok(gpul_sequence_fill(s, other, 0, 0, "c", 1));
    assert_int_equal(gpul_sequence_count(s), 8);
}

static void check_output(const uint32_t out[16], uint32_t first)
{
    for (int i = 0; i < 8; i++) assert_int_equal(out[i], 1);
    assert_memory_equal(out + 8, "abababababababab", 16);
    assert_memory_equal(out + 12, "cccccccc", 8);
    assert_int_equal(out[14], first);
}

static void a_sequence_plays_as_a_graph(void **state)
{
    (void)state;
    uint32_t in[16] = { 41 }, next[16] = { 43 }, out[16], last[16];
    gpul_sequence *s;
    size_t step;
    assert_ok(gpul_sequence_new(&s, device));
    assert_ok(gpul_sequence_play(s, NULL));
    record_all(s, in, out);
    assert_int_equal(gpul__record_launches(), 0);
    for (int i = 0; i < 2; i++) {
        memset(out, 0xff, sizeof out);
        assert_ok(gpul_sequence_play(s, NULL));
        assert_ok(gpul_sync(device));
        check_output(out, 41);
    }
    assert_true(gpul_sequence_is_graph(s));
    assert_int_equal(gpul__record_launches(), 2);
    assert_int_equal(last_scaled(true).n, 16);
    int graphs = gpul__record_live().graphs;

    assert_ok(gpul_sequence_set_named(s, "scaling", "n", gpul_argument(9)));
    assert_ok(gpul_sequence_find(&step, s, "input"));
    assert_int_equal(step, 0);
    assert_ok(gpul_sequence_set_host(s, step, next));
    assert_ok(gpul_sequence_set_host(s, 6, last));
    assert_ok(gpul_sequence_play(s, NULL));
    assert_int_equal(last_scaled(true).n, 9);
    check_output(last, 43);
    check_output(out, 41);

    assert_ok(gpul_sequence_launch(s, kernel_of("nothing"), &one_block, gpul_no_args));
    assert_ok(gpul_sequence_play(s, NULL));
    assert_string_equal(gpul__record_launch_at(-1)->kernel, "nothing");
    assert_int_equal(gpul__record_launches(), 5);
    assert_int_equal(gpul__record_live().graphs, graphs);
    gpul_sequence_free(&s);
}

static void a_sequence_in_a_capture_goes_step_by_step(void **state)
{
    (void)state;
    uint32_t in[16] = { 41 }, out[16] = { 0 };
    gpul_stream *stream;
    gpul_sequence *s, *captured;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_sequence_new(&s, device));
    record_all(s, in, out);
    assert_ok(gpul_capture_begin(stream));
    assert_ok(gpul_sequence_play(s, stream));
    assert_false(gpul_sequence_is_graph(s));
    assert_ok(gpul_capture_end(&captured, stream));
    assert_int_equal(out[0], 0);
    gpul_stream_free(&stream);
    assert_ok(gpul_sequence_play(captured, NULL));
    check_output(out, 41);
    last_scaled(true);
    gpul_sequence_free(&captured);
    gpul_sequence_free(&s);
}

static void special_launches_keep_their_attributes(void **state)
{
    (void)state;
    gpul_sequence *s;
    assert_ok(gpul_sequence_new(&s, device));
    assert_ok(
        gpul_sequence_launch(s, kernel_of("scale"),
                             gpul_launch_opts(.grid = { 4 }, .block = { 32 }, .cooperative = true),
                             gpul_args(data, 16, 2.0f)));
    assert_ok(gpul_sequence_launch(
        s, kernel_of("scale"),
        gpul_launch_opts(.grid = { 4 }, .block = { 32 }, .cluster = { 2 },
                         .extra = gpul_launch_extra(.has_priority = true, .priority = -1)),
        gpul_args(data, 16, 2.0f)));
    assert_ok(gpul_sequence_play(s, NULL));
    assert_true(gpul_sequence_is_graph(s));
    assert_true(gpul__record_launch_at(-2)->cooperative);
    const gpul__record_launch *last = gpul__record_launch_at(-1);
    assert_int_equal(last->cluster[0], 2);
    assert_int_equal(last->attribute_count, 2);
    assert_int_equal(last->attributes[1].id, CU_LAUNCH_ATTRIBUTE_PRIORITY);
    assert_int_equal(last->attributes[1].value.priority, -1);
    gpul_sequence_free(&s);
}

static void wrong_steps_are_refused(void **state)
{
    (void)state;
    uint32_t in[16] = { 0 }, out[16];
    gpul_sequence *s;
    gpul_stream *stream;
    assert_code(gpul_sequence_new(&s, NULL), 314, "device");
    assert_ok(gpul_sequence_new(&s, device));
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_code(gpul_sequence_name(s, "early"), 315, "early");
    assert_code(gpul_sequence_write(s, data, 60, in, 8), 810, "60");
    assert_code(gpul_sequence_read(s, out, data, 0, 65), 810, "65");
    assert_code(gpul_sequence_copy(s, data, 0, data, 4, 8), 815, "8 bytes");
    assert_code(gpul_sequence_fill(s, data, 0, 6, "abcd", 4), 813, "6");
    assert_code(gpul_sequence_launch(s, kernel_of("scale"), &one_block, gpul_args(data, 16)), 303,
                "3");
    assert_code(
        gpul_sequence_launch(s, kernel_of("scale"),
                             gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .stream = stream),
                             gpul_args(data, 16, 2.0f)),
        315, "gpul_sequence_play");
    assert_int_equal(gpul_sequence_count(s), 0);
    record_all(s, in, out);
    assert_code(gpul_sequence_name(s, "input"), 315, "input", "step 0");
    assert_code(gpul_sequence_set(s, 0, 0, gpul_argument(1)), 315, "step 0", "launch");
    assert_code(gpul_sequence_set(s, 8, 0, gpul_argument(1)), 315, "step 8", "8");
    assert_code(gpul_sequence_set(s, 4, 2, gpul_argument(1)), 304, "by");
    assert_code(gpul_sequence_set_named(s, "scaling", "m", gpul_argument(1)), 315, "'m'");
    assert_code(gpul_sequence_set_named(s, "none", "n", gpul_argument(1)), 315, "none");
    assert_code(gpul_sequence_set_host(s, 4, in), 315, "host memory");
    size_t step = 7;
    assert_code(gpul_sequence_find(&step, s, "none"), 315, "none");
    assert_int_equal(step, 0);
    gpul_stream_free(&stream);
    gpul_sequence_free(&s);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_buffers, close_buffers)
GPUL_TEST_MAIN("graphs of the core", TEST(a_prepared_launch_is_a_graph),
               TEST(wrong_arguments_change_nothing), TEST(what_is_used_is_kept),
               TEST(structs_by_value_are_kept_by_value),
               TEST(capture_and_attributes_go_the_plain_way),
               TEST(an_older_driver_launches_plainly), TEST(a_sequence_plays_as_a_graph),
               TEST(a_sequence_in_a_capture_goes_step_by_step),
               TEST(special_launches_keep_their_attributes), TEST(wrong_steps_are_refused));
