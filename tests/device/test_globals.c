/* Variables of a module as buffers, managed variables, and modules of others.  SPDX-License-Identifier: MIT */
#include "suite.h"

static void variables_are_buffers(void **state)
{
    (void)state;
    gpul_module *module = load_kernels("globals");
    gpul_buffer *table, *counter, *none = (gpul_buffer *)1;
    gpul_stream *stream;
    float got[5];
    int number = 100;
    assert_ok(gpul_stream_new(&stream, device, NULL));
    assert_ok(gpul_module_variable(&table, module, "table", gpul_alloc_opts(.type = GPUL_F32)));
    assert_ok(gpul_module_variable(&counter, module, "app::counter", NULL));
    assert_int_equal(gpul_buffer_size(table), 16);
    assert_int_equal(gpul_buffer_size(counter), sizeof(int));
    assert_int_equal(gpul_buffer_memory(counter), GPUL_MEMORY_FOREIGN);
    assert_null(gpul_buffer_host(counter));
    assert_ok(gpul_write(table, 0, (const float[]){ 9, 8, 7, 6 }, 16, stream));
    assert_ok(gpul_write(counter, 0, &number, sizeof number, stream));
    gpul_buffer *out = buffer_of(sizeof got, NULL);
    const gpul_kernel *use = kernel_of(module, "use_globals");
    assert_ok(gpul_launch(use, gpul_launch_opts(.grid = { 1 }, .block = { 32 }, .stream = stream),
                          gpul_args(out)));
    assert_ok(gpul_read(got, out, 0, sizeof got, stream));
    assert_ok(gpul_stream_sync(stream));
    assert_true(got[0] == 9 && got[3] == 6 && got[4] == 100);
    /* A __device__ variable of one int as the kernel's own output. */
    assert_code(gpul_write(counter, 0, got, sizeof got, NULL), 810, "app::counter", "4 bytes");
    assert_code(gpul_module_variable(&none, module, "tabel", NULL), 610, "table");
    assert_null(none);
    assert_code(gpul_module_variable(&none, NULL, "table", NULL), 314, "module");
    assert_code(gpul_module_variable(&none, module, NULL, NULL), 314, "name");
    assert_code(
        gpul_module_variable(&none, module, "table", gpul_alloc_opts(.type = (gpul_type)99)), 315,
        "99");
    /* The variable keeps its module loaded. */
    gpul_module_free(&module);
    assert_ok(gpul_read(&number, counter, 0, sizeof number, NULL));
    assert_int_equal(number, 105);
    gpul_buffer_free(&table);
    gpul_buffer_free(&counter);
    gpul_buffer_free(&out);
    gpul_stream_free(&stream);
}

/* One image loaded twice: the variables of the two modules are apart, also after the first is gone. */
static void loads_of_one_image_are_apart(void **state)
{
    (void)state;
    gpul_image *image;
    gpul_module *one, *two;
    int first = 1000, second = 0;
    assert_ok(gpul_image_from_file(&image, "ptx/kernels/globals.ptx"));
    assert_ok(gpul_load(&one, device, image, NULL));
    assert_ok(gpul_load(&two, device, image, NULL));
    assert_ok(gpul_global_read(&second, two, "app::counter", 0, sizeof second));
    int before = second;
    assert_int_not_equal(before, first);
    assert_ok(gpul_global_write(one, "app::counter", 0, &first, sizeof first));
    assert_ok(gpul_global_read(&second, two, "app::counter", 0, sizeof second));
    assert_int_equal(second, before);
    gpul_module_free(&one);
    assert_ok(gpul_global_read(&second, two, "app::counter", 0, sizeof second));
    assert_int_equal(second, before);
    gpul_module_free(&two);
    gpul_image_free(&image);
}

static void managed_variables_are_the_hosts_too(void **state)
{
    (void)state;
    if (!gpul_device_describe(device)->managed) skip_because("no managed memory here");
    gpul_module *module = load_kernels("managed");
    gpul_buffer *count;
    assert_ok(gpul_module_variable(&count, module, "shared_count", NULL));
    assert_int_equal(gpul_buffer_memory(count), GPUL_MEMORY_MANAGED);
    int *host = gpul_buffer_host(count);
    assert_non_null(host);
    assert_int_equal(*host, 3);
    *host = 40;
    assert_ok(gpul_launch(kernel_of(module, "count_up"),
                          gpul_launch_opts(.grid = { 1 }, .block = { 32 }), gpul_args(2)));
    assert_ok(gpul_sync(device));
    assert_int_equal(*host, 42);
    gpul_buffer_free(&count);
    gpul_module_free(&module);
}

static void modules_of_others_are_adopted(void **state)
{
    (void)state;
    gpul_module *own = load_kernels("scale"), *adopted, *none = (gpul_module *)1;
    const gpul_kernel *scale;
    float values[4] = { 1, 2, 3, 4 };
    gpul_buffer *buffer = buffer_of(sizeof values, values);
    assert_ok(gpul_module_adopt(&adopted, device, gpul_module_handle(own)));
    assert_ptr_equal(gpul_module_handle(adopted), gpul_module_handle(own));
    assert_string_equal(gpul_module_describe(adopted)->choice, "adopted");
    gpul_status status = gpul_module_kernel(&scale, adopted, "scale");
    if (status == GPUL_E_UNSUPPORTED) {
        assert_code(status, 715, "12.4");
    } else {
        assert_ok(status);
        assert_ok(gpul_launch(scale, gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                              gpul_args(buffer, 4, 2.0f)));
        assert_ok(gpul_read(values, buffer, 0, sizeof values, NULL));
        assert_true(values[0] == 2 && values[3] == 8);
        assert_code(gpul_launch(scale, gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                                gpul_args(buffer, 4)),
                    303, "2");
    }
    gpul_module_free(&adopted);
    assert_ok(gpul_module_kernel(&scale, own, "scale")); /* still loaded */
    assert_ok(gpul_launch(scale, gpul_launch_opts(.grid = { 1 }, .block = { 32 }),
                          gpul_args(buffer, 4, 2.0f)));
    assert_ok(gpul_sync(device));
    assert_code(gpul_module_adopt(&none, device, NULL), 314, "handle");
    assert_null(none);
    gpul_module_free(&own);
    gpul_buffer_free(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(variables_are_buffers),
        cmocka_unit_test(loads_of_one_image_are_apart),
        cmocka_unit_test(managed_variables_are_the_hosts_too),
        cmocka_unit_test(modules_of_others_are_adopted),
    };
    return gpul_run_tests("device globals", tests, open_device, close_device);
}
