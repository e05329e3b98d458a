/* Modules: loading with JIT options and logs, refusals, symbols, kernels' facts, libraries, linking.
 * SPDX-License-Identifier: MIT */
#include "cpu_test.h"

#define HEAD(version, target) ".version " version "\n.target " target "\n.address_size 64\n"

/* A load with both logs, its answers kept. */
static char info[4096], error[4096];
static size_t info_used, error_used;
static float wall;

static CUresult load_text(CUmodule *module, const void *image, bool verbose)
{
    CUjit_option options[] = { CU_JIT_INFO_LOG_BUFFER,  CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES,
                               CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                               CU_JIT_WALL_TIME,        CU_JIT_LOG_VERBOSE };
    void *values[] = { info, (void *)sizeof info,       error, (void *)sizeof error,
                       NULL, (void *)(uintptr_t)verbose };
    memset(info, 'x', sizeof info);
    memset(error, 'x', sizeof error);
    CUresult result = cu->ModuleLoadDataEx(module, image, 6, options, values);
    info_used = (uintptr_t)values[1];
    error_used = (uintptr_t)values[3];
    memcpy(&wall, &values[4], sizeof wall);
    assert_int_equal(strnlen(info, sizeof info), info_used);
    assert_int_equal(strnlen(error, sizeof error), error_used);
    return result;
}

static void logs(void **state)
{
    (void)state;
    char *text = read_kernels("kernels");
    CUmodule module;
    ok(load_text(&module, text, false));
    assert_int_equal(info_used, 0);
    assert_int_equal(error_used, 0);
    assert_true(wall > 0 && wall < 10000);
    ok(cu->ModuleUnload(module));
    ok(load_text(&module, text, true));
    assert_non_null(strstr(info, "Compiling entry function 'fill' for 'sm_90'"));
    assert_non_null(strstr(info, "registers"));
    assert_int_equal(error_used, 0);
    fails(INVALID_HANDLE, cu->ModuleUnload(NULL));
    ok(cu->ModuleUnload(module));
    fails(INVALID_HANDLE, cu->ModuleUnload(module));
    gpul__free(text);
}

/* A buffer that is too small gets what fits, and a NUL. */
static void short_logs(void **state)
{
    (void)state;
    char small[16];
    CUjit_option options[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { small, (void *)sizeof small };
    CUmodule module;
    fails(INVALID_PTX, cu->ModuleLoadDataEx(&module, HEAD("8.0", "sm_121"), 2, options, values));
    assert_int_equal(strlen(small), 15);
    assert_int_equal((uintptr_t)values[1], 15);
    values[0] = NULL;
    values[1] = 0;
    fails(INVALID_PTX, cu->ModuleLoadDataEx(&module, HEAD("8.0", "sm_121"), 2, options, values));
}

static void options(void **state)
{
    (void)state;
    char *text = read_kernels("kernels");
    CUmodule module;
    CUjit_option many[] = { CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_MAX_REGISTERS,
                            CU_JIT_THREADS_PER_BLOCK,  CU_JIT_GENERATE_LINE_INFO,
                            CU_JIT_CACHE_MODE,         CU_JIT_TARGET,
                            CU_JIT_FALLBACK_STRATEGY,  CU_JIT_GENERATE_DEBUG_INFO };
    void *values[] = { (void *)4, (void *)32, (void *)256, (void *)1,
                       (void *)2, (void *)80, NULL,        NULL };
    ok(cu->ModuleLoadDataEx(&module, text, 8, many, values));
    static const struct {
        CUjit_option option;
        uintptr_t value;
        CUresult result;
    } wrong[] = { { CU_JIT_OPTIMIZATION_LEVEL, 5, CUDA_ERROR_INVALID_VALUE },
                  { CU_JIT_CACHE_MODE, 3, CUDA_ERROR_INVALID_VALUE },
                  { CU_JIT_FALLBACK_STRATEGY, 2, CUDA_ERROR_INVALID_VALUE },
                  { CU_JIT_TARGET, 99, CUDA_ERROR_INVALID_VALUE },
                  { CU_JIT_TARGET, 120, CUDA_ERROR_NO_BINARY_FOR_GPU },
                  { (CUjit_option)77, 0, CUDA_ERROR_INVALID_VALUE } };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        CUjit_option option = wrong[i].option;
        void *value = (void *)wrong[i].value;
        assert_int_equal(cu->ModuleLoadDataEx(&module, text, 1, &option, &value), wrong[i].result);
        assert_int_equal(gpul__cpu_last_refusal()->result, wrong[i].result);
    }
    fails(INVALID_VALUE, cu->ModuleLoadDataEx(&module, text, 1, NULL, values));
    fails(INVALID_VALUE, cu->ModuleLoadDataEx(&module, NULL, 0, NULL, NULL));
    fails(INVALID_VALUE, cu->ModuleLoadDataEx(NULL, text, 0, NULL, NULL));
    gpul__free(text);
}

static void refused_images(void **state)
{
    (void)state;
    static const struct {
        const char *image;
        CUresult result;
        const char *log; /* part of the error log; NULL: it is empty */
    } images[] = {
        { "", CUDA_ERROR_INVALID_IMAGE, NULL },
        { "just some text", CUDA_ERROR_INVALID_IMAGE, NULL },
        { "__global__ void k() {}", CUDA_ERROR_INVALID_IMAGE, NULL },
        { "\177ELF\2\1\1\x41\x08 and so on", CUDA_ERROR_NO_BINARY_FOR_GPU, "runs PTX" },
        { HEAD("9.9", "sm_75"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "Unsupported .version 9.9" },
        { "// note\n" HEAD("12.0", "sm_75"), CUDA_ERROR_UNSUPPORTED_PTX_VERSION, "line 2" },
        { HEAD("9.0", "sm_121"), CUDA_ERROR_INVALID_PTX, "higher than default SM version" },
        { HEAD("8.6", "sm_100"), CUDA_ERROR_INVALID_PTX, "higher than default SM version" },
        { HEAD("8.0", "sm_75") ".entry k() { rotate.b32 %r1; }", CUDA_ERROR_INVALID_PTX, "line 4" },
        { HEAD("8.0", "sm_75") ".visible .entry k() { ret", CUDA_ERROR_INVALID_PTX, "error" },
    };
    for (size_t i = 0; i < sizeof images / sizeof *images; i++) {
        CUmodule module = NULL;
        CUresult result = load_text(&module, images[i].image, false);
        if (result != images[i].result) print_message("image %zu: %s\n", i, error);
        assert_int_equal(result, images[i].result);
        assert_null(module);
        assert_int_equal(gpul__cpu_last_refusal()->result, result);
        if (!images[i].log) assert_int_equal(error_used, 0);
        else if (!strstr(error, images[i].log)) fail_msg("image %zu: log '%s'", i, error);
    }
    /* A text that ends before its first kernel is a module without kernels. */
    CUmodule module;
    CUfunction function;
    unsigned count = 9;
    ok(load_text(&module, HEAD("9.0", "sm_75"), false));
    ok(cu->ModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 0);
    fails(NOT_FOUND, cu->ModuleGetFunction(&function, module, "k"));
}

/* Correct PTX that the device does not run: kernel, line and instruction are named. */
static void unsupported_instruction(void **state)
{
    (void)state;
    static const char text[] = HEAD("8.0", "sm_80") ".visible .entry frames()\n"
                                                    "{\n"
                                                    "    .reg .b32 %r<4>;\n"
                                                    "    alloca.u32 %r1, %r2;\n"
                                                    "    ret;\n"
                                                    "}\n";
    CUmodule module;
    fails(INVALID_PTX, load_text(&module, text, false));
    const gpul__cpu_refusal *refusal = gpul__cpu_last_refusal();
    assert_int_equal(refusal->result, CUDA_ERROR_INVALID_PTX);
    assert_true(refusal->unsupported);
    assert_int_equal(refusal->line, 7);
    assert_string_equal(refusal->kernel, "frames");
    assert_non_null(strstr(refusal->opcode, "alloca.u32"));
    assert_non_null(strstr(error, "frames"));
    assert_non_null(strstr(error, "alloca.u32"));
    assert_non_null(strstr(error, "line 7"));
}

/* PTX for one architecture alone. */
static void targets(void **state)
{
    (void)state;
    CUmodule module;
    ok(load_text(&module, HEAD("8.0", "sm_90a"), false));
    fails(INVALID_PTX, load_text(&module, HEAD("8.6", "sm_100a"), false));
    ok(cu->CtxDestroy(test_context));
    assert_int_equal(gpul__cpu_configure(&(gpul_cpu_opts){ .compute_capability = 103 }), GPUL_OK);
    ok(cu->CtxCreate(&test_context, 0, 0));
    ok(load_text(&module, HEAD("8.6", "sm_100"), false));
    ok(load_text(&module, HEAD("8.8", "sm_100f"), false));
    fails(INVALID_PTX, load_text(&module, HEAD("8.6", "sm_100a"), false));
    assert_non_null(strstr(error, "sm_100a"));
    fails(INVALID_PTX, load_text(&module, HEAD("8.0", "sm_90a"), false));
    ok(cu->CtxDestroy(test_context));
    assert_int_equal(gpul__cpu_configure(NULL), GPUL_OK);
    ok(cu->CtxCreate(&test_context, 0, 0));
}

static void symbols(void **state)
{
    (void)state;
    CUmodule module = load("kernels"), back;
    CUfunction functions[64], function;
    CUdeviceptr address;
    size_t bytes;
    unsigned count;
    const char *name;
    CUmoduleLoadingMode mode;
    CUfunctionLoadingState loaded;
    ok(cu->ModuleGetFunctionCount(&count, module));
    assert_int_equal(count, 16);
    ok(cu->ModuleEnumerateFunctions(functions, count, module));
    for (unsigned i = 0; i < count; i++) {
        ok(cu->FuncGetName(&name, functions[i]));
        assert_ptr_equal(kernel(module, name), functions[i]);
    }
    fails(NOT_FOUND, cu->ModuleGetFunction(&function, module, "fil"));
    fails(INVALID_VALUE, cu->ModuleGetFunction(&function, module, NULL));
    fails(INVALID_HANDLE, cu->ModuleGetFunction(&function, (CUmodule)functions[0], "fill"));
    ok(cu->FuncGetModule(&back, functions[0]));
    assert_ptr_equal(back, module);
    ok(cu->FuncIsLoaded(&loaded, functions[0]));
    assert_int_equal(loaded, CU_FUNCTION_LOADING_STATE_LOADED);
    ok(cu->FuncLoad(functions[0]));
    ok(cu->ModuleGetLoadingMode(&mode));
    assert_int_equal(mode, CU_MODULE_EAGER_LOADING);

    ok(cu->ModuleGetGlobal(&address, &bytes, module, "counter"));
    assert_int_equal(bytes, 4);
    assert_int_equal(read_int(address), 7);
    ok(cu->ModuleGetGlobal(&address, &bytes, module, "table"));
    assert_int_equal(bytes, 16);
    ok(cu->ModuleGetGlobal(NULL, &bytes, module, "table"));
    fails(NOT_FOUND, cu->ModuleGetGlobal(&address, &bytes, module, "tabl"));
    fails(INVALID_VALUE, cu->ModuleGetGlobal(NULL, NULL, module, "table"));
    fails(INVALID_VALUE, cu->MemFree(address)); /* a variable is not freed */
    ok(cu->ModuleUnload(module));
    fails(INVALID_HANDLE, cu->FuncGetName(&name, functions[0]));
    fails(INVALID_VALUE, cu->MemcpyDtoH(&count, address, 4));
}

static void parameters(void **state)
{
    (void)state;
    static const size_t offsets[] = { 0, 24, 28, 40, 48, 56 };
    static const size_t sizes[] = { 24, 1, 12, 8, 2, 8 };
    CUfunction function = kernel(load("kernels"), "params");
    size_t offset, size;
    for (size_t i = 0; i < 6; i++) {
        ok(cu->FuncGetParamInfo(function, i, &offset, &size));
        assert_int_equal(offset, offsets[i]);
        assert_int_equal(size, sizes[i]);
    }
    ok(cu->FuncGetParamInfo(function, 1, &offset, NULL));
    fails(INVALID_VALUE, cu->FuncGetParamInfo(function, 6, &offset, &size));
    fails(INVALID_VALUE, cu->FuncGetParamInfo(function, 0, NULL, &size));
    fails(INVALID_HANDLE, cu->FuncGetParamInfo(NULL, 0, &offset, &size));
}

static int attribute(CUfunction function, CUfunction_attribute which)
{
    int value = -99;
    ok(cu->FuncGetAttribute(&value, which, function));
    return value;
}

static void kernel_attributes(void **state)
{
    (void)state;
    CUmodule module = load("kernels"), clusters = load("cluster");
    CUfunction fill = kernel(module, "fill"), fixed = kernel(module, "fixed");
    CUfunction pair = kernel(clusters, "pair"), any = kernel(clusters, "any");
    int value;
    for (int i = 0; i <= 15; i++) attribute(fill, (CUfunction_attribute)i);
    fails(INVALID_VALUE, cu->FuncGetAttribute(&value, (CUfunction_attribute)16, fill));
    fails(INVALID_VALUE, cu->FuncGetAttribute(NULL, (CUfunction_attribute)0, fill));
    assert_int_equal(attribute(fill, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK), 1024);
    assert_int_equal(attribute(kernel(module, "bounded"), CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK),
                     64);
    assert_int_equal(attribute(fixed, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 4096);
    assert_int_equal(attribute(fill, CU_FUNC_ATTRIBUTE_PTX_VERSION), 75);
    assert_int_equal(attribute(fill, CU_FUNC_ATTRIBUTE_BINARY_VERSION), 90);
    assert_true(attribute(fill, CU_FUNC_ATTRIBUTE_NUM_REGS) > 0);
    assert_int_equal(attribute(pair, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 2);
    assert_int_equal(attribute(any, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH), 0);

    CUfunction_attribute cap = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    ok(cu->FuncSetAttribute(fill, cap, 232448));
    assert_int_equal(attribute(fill, cap), 232448);
    fails(INVALID_VALUE, cu->FuncSetAttribute(fill, cap, 232449));
    fails(INVALID_VALUE, cu->FuncSetAttribute(fill, cap, -1));
    fails(INVALID_VALUE, cu->FuncSetAttribute(fixed, cap, 232448 - 4096 + 1));
    fails(INVALID_VALUE, cu->FuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_NUM_REGS, 4));
    ok(cu->FuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 50));
    fails(INVALID_VALUE,
          cu->FuncSetAttribute(fill, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 101));
    fails(INVALID_VALUE, cu->FuncSetAttribute(pair, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4));
    ok(cu->FuncSetCacheConfig(fill, CU_FUNC_CACHE_PREFER_SHARED));
    fails(INVALID_VALUE, cu->FuncSetCacheConfig(fill, (CUfunc_cache)7));
}

static void library(void **state)
{
    (void)state;
    char *text = read_kernels("kernels");
    CUlibrary library, back;
    CUkernel found, kernels[64];
    CUfunction function;
    CUmodule module;
    CUdeviceptr address;
    size_t size, offset;
    unsigned count;
    const char *name;
    int value;
    ok(cu->LibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    gpul__free(text); /* the library keeps its own copy */
    ok(cu->LibraryGetKernelCount(&count, library));
    assert_int_equal(count, 16);
    ok(cu->LibraryEnumerateKernels(kernels, count, library));
    ok(cu->LibraryGetKernel(&found, library, "fill"));
    fails(NOT_FOUND, cu->LibraryGetKernel(&found, library, "none"));
    ok(cu->KernelGetName(&name, found));
    assert_string_equal(name, "fill");
    ok(cu->KernelGetLibrary(&back, found));
    assert_ptr_equal(back, library);
    ok(cu->KernelGetFunction(&function, found));
    ok(cu->LibraryGetModule(&module, library));
    assert_ptr_equal(kernel(module, "fill"), function);
    ok(cu->KernelGetParamInfo(found, 1, &offset, &size));
    assert_int_equal(offset, 8);
    ok(cu->KernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000, found, 0));
    ok(cu->KernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, found, 0));
    assert_int_equal(value, 100000);
    fails(INVALID_DEVICE, cu->KernelGetAttribute(&value, (CUfunction_attribute)0, found, 5));
    ok(cu->LibraryGetGlobal(&address, &size, library, "counter"));
    ok(cu->LibraryGetManaged(&address, &size, library, "shared_number"));
    fails(NOT_FOUND, cu->LibraryGetManaged(&address, &size, library, "counter"));
    /* A kernel is accepted where a function is, also in another context. */
    CUcontext second;
    ok(cu->CtxCreate(&second, 0, 0));
    ok(cu->FuncGetAttribute(&value, (CUfunction_attribute)0, (CUfunction)found));
    ok(cu->CtxDestroy(second));
    ok(cu->LibraryUnload(library));
    fails(INVALID_HANDLE, cu->LibraryUnload(library));
    fails(INVALID_HANDLE, cu->KernelGetName(&name, found));
    fails(INVALID_HANDLE, cu->FuncGetName(&name, function));
    fails(FILE_NOT_FOUND,
          cu->LibraryLoadFromFile(&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
    fails(INVALID_IMAGE, cu->LibraryLoadData(&library, "text", NULL, NULL, 0, NULL, NULL, 0));
}

static void linking(void **state)
{
    (void)state;
    char *main_text = read_kernels("link_main"), *part = read_kernels("link_part");
    char junk[] = "junk";
    CUlinkState link;
    CUmodule module;
    void *image;
    size_t size;
    fails(INVALID_PTX, load_text(&module, main_text, false)); /* twice() is nowhere */
    assert_non_null(strstr(error, "'linked'"));
    CUjit_option wanted[] = { CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES };
    void *values[] = { error, (void *)sizeof error };
    ok(cu->LinkCreate(2, wanted, values, &link));
    fails(INVALID_VALUE, cu->LinkComplete(link, &image, &size));
    ok(cu->LinkAddData(link, CU_JIT_INPUT_PTX, main_text, strlen(main_text) + 1, "main", 0, NULL,
                       NULL));
    ok(cu->LinkAddData(link, CU_JIT_INPUT_PTX, part, strlen(part) + 1, "part", 0, NULL, NULL));
    fails(NO_BINARY_FOR_GPU,
          cu->LinkAddData(link, CU_JIT_INPUT_CUBIN, part, 9, "cubin", 0, NULL, NULL));
    assert_non_null(strstr(error, "'cubin'"));
    fails(INVALID_IMAGE, cu->LinkAddData(link, CU_JIT_INPUT_PTX, junk, 5, "x", 0, NULL, NULL));
    ok(cu->LinkComplete(link, &image, &size));
    assert_true(size > strlen(main_text) + strlen(part));
    ok(cu->ModuleLoadDataEx(&module, image, 0, NULL, NULL));
    ok(cu->LinkDestroy(link));
    fails(INVALID_HANDLE, cu->LinkDestroy(link));
    CUdeviceptr out = alloc(4);
    int value = 21;
    ok(launch(kernel(module, "linked"), 1, 1, NULL, &out, &value));
    assert_int_equal(read_int(out), 42);
    gpul__free(main_text);
    gpul__free(part);
}

/* A fat binary that is not compressed: its PTX is taken. */
static void fat_binaries(void **state)
{
    (void)state;
    static const char ptx[] = HEAD("8.0", "sm_75") ".visible .entry inside() { ret; }\n";
    unsigned char bytes[512] = { 0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0 };
    uint64_t size = (sizeof ptx + 7) / 8 * 8, all = 64 + size;
    uint32_t header = 64, arch = 75, compressed = 20;
    memcpy(bytes + 8, &all, 8);
    bytes[16] = 1; /* PTX */
    memcpy(bytes + 20, &header, 4);
    memcpy(bytes + 24, &size, 8);
    memcpy(bytes + 16 + 28, &arch, 4);
    memcpy(bytes + 80, ptx, sizeof ptx);
    CUmodule module;
    ok(load_text(&module, bytes, false));
    kernel(module, "inside");
    memcpy(bytes + 32, &compressed, 4);
    fails(NO_BINARY_FOR_GPU, load_text(&module, bytes, false));
    assert_non_null(strstr(error, "compressed"));
    arch = 100; /* newer than the device */
    memcpy(bytes + 16 + 28, &arch, 4);
    fails(NO_BINARY_FOR_GPU, load_text(&module, bytes, false));
    assert_non_null(strstr(error, "holds none"));
    bytes[6] = 3; /* a header too short to be one */
    fails(INVALID_IMAGE, load_text(&module, bytes, false));
    bytes[6] = 16;
    size = 1 << 20; /* longer than all */
    memcpy(bytes + 24, &size, 8);
    fails(INVALID_IMAGE, load_text(&module, bytes, false));
}

GPUL_TEST_MAIN("CPU device: modules", in_context(logs), in_context(short_logs), in_context(options),
               in_context(refused_images), in_context(unsupported_instruction), in_context(targets),
               in_context(symbols), in_context(parameters), in_context(kernel_attributes),
               in_context(library), in_context(linking), in_context(fat_binaries));
