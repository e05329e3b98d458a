/* Images from bytes: kinds told by content, damage, kernels, which form a device gets, saving.
 * SPDX-License-Identifier: MIT */
#include "suite.h"

#include "core/cubin.h"
#include "core/image.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const text =
    "struct P { int n; double d; };\n"
    "__constant__ float coef[4];\n"
    "__device__ int counter;\n"
    "extern \"C\" __global__ void __launch_bounds__(64) first(int *x, P p, char c)\n"
    "{ __shared__ int s[33]; s[threadIdx.x % 33] = p.n; __syncthreads(); *x = s[1] + c + coef[1]; }\n"
    "namespace n { __global__ void second(float *y) { *y = counter; } }\n";

static gpul_image *from_memory(const void *data, size_t size)
{
    gpul_image *image;
    gpul_status status = gpul_image_from_memory(&image, data, size, "bytes");
    return compiled(status, image);
}

static void refuse_bytes(const void *data, size_t size, int code, const char *message)
{
    gpul_image *image;
    gpul_status status = gpul_image_from_memory(&image, data, size, "bytes");
    refused(status, image, code, message);
}

static void ptx_by_content(void **state)
{
    (void)state;
    static const char ptx[] =
        "// a comment\n/* another */\n.version 8.0\n.target sm_80\n.address_size 64\n"
        ".global .align 4 .b8 table[12];\n"
        ".visible .entry _Z5scalePfi(.param .u64 .ptr .global p0, .param .u32 p1)\n{\n ret;\n}\n";
    gpul_image *image = from_memory(ptx, sizeof ptx - 1);
    const gpul_image_info *info = gpul_image_describe(image);
    assert_int_equal(info->ptx_major, 8);
    assert_string_equal(info->arch, "sm_80");
    const gpul_kernel_info *k = kernel(image, "scale");
    assert_string_equal(k->signature, "scale(float *, int)");
    assert_int_equal(k->types, GPUL_TYPES_PTX);
    assert_int_equal(k->params[0].pointee->type, GPUL_F32);
    assert_int_equal(k->param_bytes, 12);
    assert_int_equal(gpul_image_global_count(image), 1);
    gpul_image_free(&image);
    /* Cut behind .address_size it is a module with nothing in it. */
    image = from_memory(ptx, (size_t)(strstr(ptx, ".global") - ptx));
    assert_int_equal(gpul_image_kernel_count(image), 0);
    gpul_image_free(&image);
    /* PTX that the front end does not know is kept, with its complaint. */
    image = from_memory(".version 99.9\n.target sm_90\n.address_size 64\n",
                        strlen(".version 99.9\n.target sm_90\n.address_size 64\n"));
    assert_non_null(gpul_image_describe(image)->ptx);
    gpul_image_free(&image);
}

static void cubin_by_content(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *source = compile_text(text, AT("sm_80", .line_info = false));
    const gpul_image_info *info = gpul_image_describe(source);
    gpul_image *image = from_memory(info->cubin, info->cubin_size);
    assert_string_equal(gpul_image_describe(image)->arch, "sm_80");
    assert_int_equal(gpul_image_kernel_count(image), 2);
    const gpul_kernel_info *first = kernel(image, "first");
    assert_int_equal(first->types, GPUL_TYPES_NONE);
    assert_int_equal(first->param_count, 3);
    assert_int_equal(first->params[1].value.offset, 8);
    assert_int_equal(first->params[1].value.size, 16);
    assert_int_equal(first->params[2].value.size, 1);
    assert_int_equal(first->param_bytes, 25);
    assert_int_equal(first->bound_threads[0], 64);
    assert_int_equal(first->registers, kernel(source, "first")->registers);
    assert_true(first->registers > 0);
    assert_in_range(first->shared_bytes, 132, 144);
    const gpul_kernel_info *second = kernel(image, "n::second");
    assert_int_equal(second->params[0].pointee->type, GPUL_F32);
    assert_int_equal(gpul_image_global_count(image), 2);
    gpul_image_free(&image);

    /* Cut anywhere, or with a byte changed, it is refused or read; never worse. */
    unsigned char *bytes = malloc(info->cubin_size);
    for (size_t size = 1; size < info->cubin_size; size += size < 200 ? 1 : 97) {
        memcpy(bytes, info->cubin, size);
        gpul_status status = gpul_image_from_memory(&image, bytes, size, "cut");
        assert_int_not_equal(status, GPUL_OK);
        assert_true(gpul_last_error()->code == 607 || gpul_last_error()->code == 601);
    }
    srand(1);
    for (int i = 0; i < 3000; i++) {
        memcpy(bytes, info->cubin, info->cubin_size);
        for (int k = 0; k < 3; k++)
            bytes[(size_t)rand() % info->cubin_size] = (unsigned char)rand();
        if (gpul_image_from_memory(&image, bytes, info->cubin_size, "bad") == GPUL_OK)
            gpul_image_free(&image);
    }
    free(bytes);
    refuse_bytes(info->cubin, 1000, 607, "cut off");
    gpul_image_free(&source);
}

static void other_bytes_are_named(void **state)
{
    (void)state;
    refuse_bytes("", 0, 607, "empty");
    refuse_bytes("__global__ void k() {}", 22, 601, "CUDA source");
    refuse_bytes("hello", 5, 601, "text, but no PTX");
    refuse_bytes("PK\3\4....", 8, 601, "zip");
    refuse_bytes("\x1f\x8b\x08\0", 4, 601, "gzip");
    refuse_bytes("\1\2\3\4", 4, 601, "unknown kind");
    gpul_image *image;
    gpul_status status = gpul_image_from_file(&image, "/proc/self/exe");
    refused(status, image, 601, "an ELF file for the host");
    status = gpul_image_from_file(&image, "/tmp");
    refused(status, image, 401, "/tmp is a folder");
    status = gpul_image_from_file(&image, "/no/such/image.cubin");
    refused(status, image, 401, "/no/such/image.cubin");
    assert_int_equal(gpul_image_from_memory(NULL, "", 0, NULL), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_image_from_memory(&image, NULL, 0, NULL), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_image_from_file(&image, NULL), GPUL_E_ARGUMENT);
}

/* A fatbin of a CUBIN and a PTX, made by hand. */
static size_t make_fatbin(unsigned char *out, const void *cubin, size_t cubin_size, const char *ptx)
{
    struct {
        uint16_t kind, version;
        uint32_t head, size_low, size_high, compressed, options;
        uint16_t minor, major;
        uint32_t arch, name, name_size, flags[2], more[4];
    } entry = { .version = 0x101, .head = 64 };
    size_t at = 16, ptx_size = (strlen(ptx) + 8) / 8 * 8;
    entry.kind = 2;
    entry.arch = 80;
    entry.size_low = (uint32_t)cubin_size;
    memcpy(out + at, &entry, 64);
    memcpy(out + at + 64, cubin, cubin_size);
    at += 64 + cubin_size;
    entry.kind = 1;
    entry.size_low = (uint32_t)ptx_size;
    memcpy(out + at, &entry, 64);
    memset(out + at + 64, 0, ptx_size);
    memcpy(out + at + 64, ptx, strlen(ptx));
    at += 64 + ptx_size;
    uint32_t magic = GPUL__FATBIN_MAGIC;
    uint16_t words[2] = { 1, 16 };
    uint64_t size = at - 16;
    memcpy(out, &magic, 4);
    memcpy(out + 4, words, 4);
    memcpy(out + 8, &size, 8);
    return at;
}

static gpul_device_info device_of(gpul_backend backend, int major, int minor, int driver)
{
    return (gpul_device_info){ .backend = backend,
                               .name = "a device",
                               .compute_major = major,
                               .compute_minor = minor,
                               .driver_version = driver };
}

static void fatbin_by_content(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *source = compile_text(text, AT("sm_80", .line_info = false)), *image;
    const gpul_image_info *info = gpul_image_describe(source);
    unsigned char *bytes = malloc(info->cubin_size + info->ptx_size + 256);
    size_t size = make_fatbin(bytes, info->cubin, info->cubin_size, info->ptx);
    image = from_memory(bytes, size);
    assert_int_equal(gpul_image_describe(image)->fatbin_size, size);
    assert_text_has(gpul_image_describe(image)->choice, "CUBIN sm_80, PTX compute_80");
    assert_int_equal(image->entry_count, 2);
    assert_int_equal(gpul_image_kernel_count(image), 2);
    assert_int_equal(kernel(image, "first")->types, GPUL_TYPES_PTX);

    gpul__arena arena = { 0 };
    gpul__image_form form;
    gpul_device_info cuda = device_of(GPUL_BACKEND_CUDA, 8, 6, 13000),
                     cpu = device_of(GPUL_BACKEND_CPU, 9, 0, 0);
    assert_int_equal(gpul__image_choose(&form, image, &cuda, false, &arena), GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_FATBIN);
    assert_int_equal(gpul__image_choose(&form, image, &cpu, false, &arena), GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_PTX);
    assert_string_equal(form.data, info->ptx);
    gpul__arena_free(&arena);
    gpul_image_free(&image);

    /* The wrapper of an executable: a pointer to the fatbin. */
    struct {
        uint32_t magic, version;
        const void *data, *unused;
    } wrapper = { GPUL__FATBIN_WRAPPER, 1, bytes, NULL };
    image = from_memory(&wrapper, sizeof wrapper);
    assert_int_equal(gpul_image_describe(image)->fatbin_size, size);
    gpul_image_free(&image);
    for (size_t cut = 4; cut < size; cut += cut < 200 ? 1 : 97)
        refuse_bytes(bytes, cut, 607, "cut off");
    for (int i = 0; i < 2000; i++) {
        unsigned char kept = bytes[(size_t)i % size];
        bytes[(size_t)i % size] = (unsigned char)rand();
        if (gpul_image_from_memory(&image, bytes, size, "bad") == GPUL_OK) gpul_image_free(&image);
        bytes[(size_t)i % size] = kept;
    }
    free(bytes);
    gpul_image_free(&source);
}

#define PARTS(...)       ((const gpul_fat_part[]){ __VA_ARGS__ })
#define PART_COUNT(...)  (sizeof PARTS(__VA_ARGS__) / sizeof *PARTS(__VA_ARGS__))
#define BUNDLE(out, ...) gpul_fatbin(out, PARTS(__VA_ARGS__), PART_COUNT(__VA_ARGS__), "bundle")

/* The head of an entry, as fatbinary of CUDA 13.0 writes it. */
static const char *check_entry(const char *at, int kind, unsigned arch, unsigned flags,
                               unsigned major, unsigned minor)
{
    gpul__fatbin_entry entry;
    memcpy(&entry, at, sizeof entry);
    assert_int_equal(entry.kind, kind);
    assert_int_equal(entry.version, 0x101);
    /* PTX has a record of its options, which are empty; the driver (580) crashes where it lacks. */
    uint64_t options[2] = { 0 };
    if (kind == 1) memcpy(options, at + 64, sizeof options);
    assert_int_equal(entry.head_size, kind == 1 ? 80 : 64);
    assert_int_equal(entry.options_offset, kind == 1 ? 64 : 0);
    assert_true(options[0] == (kind == 1 ? 72 : 0) && !options[1]);
    assert_int_equal(entry.size % 8, 0);
    assert_int_equal(entry.compressed_size, 0);
    assert_int_equal(entry.major, major);
    assert_int_equal(entry.minor, minor);
    assert_int_equal(entry.arch, arch);
    assert_int_equal(entry.flags, flags);
    return at + entry.head_size + entry.size;
}

static void fatbins_are_made(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *a = compile_text(text, AT("sm_80")), *b = compile_text(text, AT("sm_90a"));
    gpul_image *image, *whole, *none;
    const gpul_image_info *old = gpul_image_describe(a), *info;
    assert_int_equal(BUNDLE(&image, { a, GPUL_IMAGE_CUBIN }, { b, 0 }), GPUL_OK);
    info = gpul_image_describe(image);
    assert_text_has(info->choice, "CUBIN sm_80, CUBIN sm_90a, PTX compute_90a");
    assert_string_equal(info->name, "bundle");
    const char *bytes = info->fatbin, *at = bytes;
    gpul__fatbin_head head;
    memcpy(&head, bytes, sizeof head);
    assert_int_equal(head.size + 16, info->fatbin_size);
    assert_memory_equal(at + 16 + 64, old->cubin, old->cubin_size);
    unsigned abi = ((const unsigned char *)old->cubin)[8];
    at = check_entry(at + 16, 2, 80, 0x11, 1, abi);
    at = check_entry(at, 2, 90, 0x100011, 1, abi);
    assert_string_equal(at + 80, gpul_image_describe(b)->ptx);
    at = check_entry(at, 1, 90, 0x100011, (unsigned)gpul_image_describe(b)->ptx_major,
                     (unsigned)gpul_image_describe(b)->ptx_minor);
    assert_ptr_equal(at, bytes + info->fatbin_size);
    /* What the compiler said of the kernels is not lost, and outlives the parts. */
    gpul_image_free(&b);
    assert_int_equal(kernel(image, "first")->types, GPUL_TYPES_COMPILER);
    assert_string_equal(kernel(image, "first")->params[0].value.name, "x");
    /* A fatbin in a fatbin. */
    gpul_image *ptx = compile_text(text, AT("compute_75"));
    assert_int_equal(BUNDLE(&whole, { image, GPUL_IMAGE_FATBIN }, { ptx, GPUL_IMAGE_PTX }),
                     GPUL_OK);
    assert_text_has(gpul_image_describe(whole)->choice, "PTX compute_90a, PTX compute_75");
    char path[] = "/tmp/gpul-fatbin-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    assert_int_equal(gpul_image_save(whole, path, GPUL_IMAGE_FATBIN), GPUL_OK);
    gpul_image *read;
    assert_int_equal(gpul_image_from_file(&read, path), GPUL_OK);
    assert_int_equal(read->entry_count, 4);
    unlink(path);
    gpul_image_free(&read);
    gpul_status status = BUNDLE(&none, { whole, 0 }, { a, GPUL_IMAGE_CUBIN });
    refused(status, none, 315, "both machine code for sm_80");
    status = BUNDLE(&none, { a, 0 }, { NULL, 0 });
    refused(status, none, 315, "part 1 is NULL");
    status = BUNDLE(&none, { a, (gpul_format)9 });
    refused(status, none, 315, "9, of part 0");
    status = BUNDLE(&none, { ptx, GPUL_IMAGE_CUBIN });
    refused(status, none, 606, "has no CUBIN");
    status = gpul_fatbin(&none, PARTS({ a, 0 }), 0, NULL);
    refused(status, none, 315, "no parts");
    status = gpul_fatbin(&none, NULL, 1, NULL);
    refused(status, none, 314, "parts");
    assert_int_equal(gpul_fatbin(NULL, PARTS({ a, 0 }), 1, NULL), GPUL_E_ARGUMENT);
    for (long n = 1;; n++) {
        gpul__alloc_fail_at(n);
        status = BUNDLE(&none, { whole, 0 }, { ptx, GPUL_IMAGE_PTX });
        gpul__alloc_fail_at(0);
        if (status == GPUL_E_ARGUMENT) break; /* compute_75 is there twice: memory sufficed */
        assert_int_equal(status, GPUL_E_MEMORY);
    }
    for (long n = 1;; n++) {
        gpul__alloc_fail_at(n);
        status = BUNDLE(&none, { image, 0 }, { ptx, GPUL_IMAGE_PTX });
        gpul__alloc_fail_at(0);
        if (status == GPUL_OK) break;
        assert_int_equal(status, GPUL_E_MEMORY);
        assert_null(none);
    }
    gpul_image_free(&none);
    gpul_image_free(&whole);
    gpul_image_free(&ptx);
    gpul_image_free(&image);
    gpul_image_free(&a);
}

static void fatbins_are_compiled(void **state)
{
    (void)state;
    need_nvrtc();
    gpul_image *image, *none;
    const gpul_compile_opts opts = { .no_cache = true, .name = "both.cu" };
    gpul_status status =
        gpul_compile_fatbin(&image, text, GPUL_TEXT, LIST("sm_80", "sm_90", "compute_90"), &opts);
    compiled(status, image);
    const gpul_image_info *info = gpul_image_describe(image);
    assert_text_has(info->choice, "CUBIN sm_80, CUBIN sm_90, PTX compute_90");
    assert_true(info->nvrtc_major > 0 && info->compile_ns > 0);
    assert_string_equal(info->name, "both.cu");
    assert_int_equal(kernel(image, "n::second")->types, GPUL_TYPES_COMPILER);
    gpul_image_free(&image);
    status = gpul_compile_fatbin(&none, text, GPUL_TEXT, LIST("sm_80", "sm_80"), &opts);
    refused(status, none, 315, "both machine code for sm_80");
    status = gpul_compile_fatbin(&none, text, GPUL_TEXT, LIST("hopper"), &opts);
    refused(status, none, 315, "\"hopper\"");
    status = gpul_compile_fatbin(&none, text, GPUL_TEXT, LIST(NULL), &opts);
    refused(status, none, 315, "names none");
    status = gpul_compile_fatbin(&none, text, GPUL_TEXT, LIST("sm_80"), AT("sm_90"));
    refused(status, none, 315, "the options have arch");
    status = gpul_compile_fatbin(&none, "nonsense", GPUL_TEXT, LIST("sm_80"), &opts);
    assert_int_equal(status, GPUL_E_SOURCE);
    assert_null(none);
    status = gpul_compile_fatbin(&none, NULL, 0, LIST("sm_80"), NULL);
    refused(status, none, 314, "source");
    status = gpul_compile_fatbin(&none, text, GPUL_TEXT, NULL, NULL);
    refused(status, none, 314, "archs");
}

static gpul_status choose(gpul__image_form *form, const gpul_image *image, gpul_device_info device,
                          bool jit)
{
    static gpul__arena arena;
    gpul__arena_free(&arena);
    return gpul__image_choose(form, image, &device, jit, &arena);
}

static void the_right_form_for_a_device(void **state)
{
    (void)state;
    need_nvrtc();
    gpul__image_form form;
    gpul_image *both = compile_text(text, AT("sm_80", .line_info = false));
    const gpul_image_info *info = gpul_image_describe(both);
    int newest = info->nvrtc_major * 1000 + info->nvrtc_minor * 10;
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CUDA, 8, 0, newest), false),
                     GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_CUBIN);
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CUDA, 8, 6, newest), false),
                     GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_CUBIN);
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CUDA, 8, 0, newest), true),
                     GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_PTX);
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CUDA, 9, 0, newest), false),
                     GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_PTX);
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CPU, 9, 0, 0), false), GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_PTX);
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CUDA, 7, 5, newest), false),
                     GPUL_E_IMAGE);
    assert_int_equal(gpul_last_error()->code, 603);
    assert_text_has(gpul_last_error()->message, "sm_80");
    assert_text_has(gpul_last_error()->message, "sm_75");
    /* PTX too new for the driver: the machine code still serves, PTX alone does not. */
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CUDA, 8, 0, 11020), false),
                     GPUL_OK);
    assert_int_equal(form.format, GPUL_IMAGE_CUBIN);
    assert_int_equal(choose(&form, both, device_of(GPUL_BACKEND_CUDA, 9, 0, 11020), false),
                     GPUL_E_IMAGE);
    assert_int_equal(gpul_last_error()->code, 602);
    assert_text_has(gpul_last_error()->message, "up to 7.2");

    gpul_image *cubin = from_memory(info->cubin, info->cubin_size);
    assert_int_equal(choose(&form, cubin, device_of(GPUL_BACKEND_CUDA, 9, 0, newest), false),
                     GPUL_E_IMAGE);
    assert_text_has(gpul_last_error()->message, "machine code for sm_80");
    assert_int_equal(choose(&form, cubin, device_of(GPUL_BACKEND_CPU, 9, 0, 0), false),
                     GPUL_E_IMAGE);
    assert_text_has(gpul_last_error()->message, "the CPU device runs PTX");
    assert_int_equal(choose(&form, cubin, device_of(GPUL_BACKEND_CUDA, 8, 0, newest), true),
                     GPUL_E_IMAGE);
    assert_int_equal(gpul_last_error()->code, 606);
    gpul_image_free(&cubin);
    gpul_image_free(&both);
}

static void architectures_are_read_and_compared(void **state)
{
    (void)state;
    gpul__arch arch;
    char out[24];
    assert_true(gpul__arch_parse(&arch, "sm_90a"));
    assert_int_equal(arch.number, 90);
    assert_int_equal(arch.suffix, 'a');
    assert_string_equal(gpul__arch_text(out, arch), "sm_90a");
    assert_true(gpul__arch_runs(arch, 9, 0));
    assert_false(gpul__arch_runs(arch, 10, 0));
    assert_true(gpul__arch_parse(&arch, "compute_120"));
    assert_true(arch.is_virtual);
    assert_true(gpul__arch_parse(&arch, "sm_80"));
    assert_true(gpul__arch_runs(arch, 8, 9));
    assert_false(gpul__arch_runs(arch, 9, 0));
    static const char *const wrong[] = { "",        "sm_",   "sm_9",         "sm_90b",
                                         "sm_9000", "SM_90", "compute_90aa", "90" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(gpul__arch_parse(&arch, wrong[i]));
    assert_int_equal(gpul__ptx_of_driver(13000), 90);
    assert_int_equal(gpul__ptx_of_driver(12040), 84);
    assert_int_equal(gpul__ptx_of_driver(0), 0);
}

static void images_are_saved_by_form(void **state)
{
    (void)state;
    need_nvrtc();
    char folder[] = "/tmp/gpulaunch-images-XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    gpul_image *image = compile_text(text, AT("sm_80", .line_info = false)), *again;
    static const char *const names[] = { "a.ptx", "a.cubin", "a" };
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        assert_int_equal(gpul_image_save(image, path, GPUL_IMAGE_AUTO), GPUL_OK);
        assert_int_equal(gpul_image_from_file(&again, path), GPUL_OK);
        assert_int_equal(gpul_image_describe(again)->ptx != NULL, i == 0);
        assert_int_equal(gpul_image_kernel_count(again), 2);
        gpul_image_free(&again);
        unlink(path);
    }
    assert_int_equal(gpul_image_save(image, path, GPUL_IMAGE_FATBIN), GPUL_E_IMAGE);
    assert_int_equal(gpul_last_error()->code, 606);
    assert_int_equal(gpul_image_save(image, "/no/such/folder/a.ptx", GPUL_IMAGE_AUTO),
                     GPUL_E_SYSTEM);
    assert_int_equal(gpul_image_save(image, NULL, GPUL_IMAGE_AUTO), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_image_save(NULL, path, GPUL_IMAGE_AUTO), GPUL_E_ARGUMENT);
    assert_int_equal(gpul_image_save(image, path, (gpul_format)9), GPUL_E_ARGUMENT);
    gpul_image_free(&image);
    image = compile_text(text, AT("compute_80", .line_info = false));
    assert_int_equal(gpul_image_save(image, path, GPUL_IMAGE_CUBIN), GPUL_E_IMAGE);
    assert_text_has(gpul_last_error()->hint, "sm_80");
    gpul_image_free(&image);
    assert_int_equal(rmdir(folder), 0);
}

static void nothing_is_described_as_nothing(void **state)
{
    (void)state;
    assert_string_equal(gpul_image_describe(NULL)->name, "");
    assert_int_equal(gpul_image_kernel_count(NULL), 0);
    assert_null(gpul_image_kernel(NULL, 0));
    assert_int_equal(gpul_image_global_count(NULL), 0);
    assert_null(gpul_image_global(NULL, 0));
    assert_int_equal(gpul_image_diagnostic_count(NULL), 0);
    assert_null(gpul_image_diagnostic(NULL, 0));
}

GPUL_TEST_MAIN("images", cmocka_unit_test(ptx_by_content), cmocka_unit_test(cubin_by_content),
               cmocka_unit_test(other_bytes_are_named), cmocka_unit_test(fatbin_by_content),
               cmocka_unit_test(fatbins_are_made), cmocka_unit_test(fatbins_are_compiled),
               cmocka_unit_test(the_right_form_for_a_device),
               cmocka_unit_test(architectures_are_read_and_compared),
               cmocka_unit_test(images_are_saved_by_form),
               cmocka_unit_test(nothing_is_described_as_nothing));
