/* Why the driver did not load an image: version, architecture, syntax, a missing JIT, or something else;
 * each with both sides of the mismatch.  SPDX-License-Identifier: MIT */
#include <elf.h>
#include <stdio.h>
#include <string.h>

#include "core/device_failure.h"
#include "core/module.h"
#include "core/module_log.h"
#ifdef GPUL_HAVE_CPU
#include "cpu/cpu.h"
#endif

/* What is needed to make the record. */
typedef struct refusal {
    const gpul__load *load;
    const gpul_device_info *device;
    const gpul_image_info *image;
    gpul__str log;
    char arch[24]; /* "sm_90": the device's */
} refusal;

#define FAIL(r, code, ...)                                                                         \
    gpul__fail(code,                                                                               \
               (.call = "cuModuleLoadDataEx", .native_kind = GPUL_NATIVE_CUDA,                     \
                .native = (int)(r)->load->result, .log = gpul__str_text(&(r)->log),                \
                .caller_file = (r)->load->opts->caller_file,                                       \
                .caller_line = (r)->load->opts->caller_line),                                      \
               __VA_ARGS__)

static const char *name_of(const refusal *r)
{
    return r->image->name && *r->image->name ? r->image->name : "the image";
}

/* The driver's JIT says which version is current; else our table knows. */
static bool newest_ptx(const refusal *r, int *major, int *minor)
{
    const char *said = strstr(r->load->error_log, "current version is '");
    if (said && sscanf(said, "current version is '%d.%d'", major, minor) == 2) return true;
    int known = gpul__ptx_of_driver(r->device->driver_version);
    *major = known / 10;
    *minor = known % 10;
    return known != 0;
}

static void ptx_version(const refusal *r)
{
    int major = 0, minor = 0, cuda = r->device->driver_version;
    bool known = newest_ptx(r, &major, &minor);
    const char *release = r->device->driver_release;
    const gpul_image_info *image = r->image;
    char reads[64] = "";
    if (known) snprintf(reads, sizeof reads, " reads PTX up to %d.%d", major, minor);
    FAIL(r, GPUL__LOAD_PTX_VERSION, "the PTX of %s is version %d.%d, and %s (CUDA %d.%d%s%s)%s",
         name_of(r), image->ptx_major, image->ptx_minor,
         r->device->backend == GPUL_BACKEND_CPU ? "the CPU device" : "this driver", cuda / 1000,
         cuda % 1000 / 10, *release ? ", release " : "", release,
         known ? reads : " does not read it");
    if (image->nvrtc_major)
        gpul__hint("NVRTC %d.%d is newer than the driver: compile for %s, whose machine code needs "
                   "no PTX, and give no JIT option; or update the driver",
                   image->nvrtc_major, image->nvrtc_minor, r->arch);
    else if (r->device->backend == GPUL_BACKEND_CPU)
        gpul__hint("make the PTX with a compiler of CUDA %d.%d or older, or run it on a GPU whose "
                   "driver is newer",
                   cuda / 1000, cuda % 1000 / 10);
    else
        gpul__hint("update the driver; or compile the source for %s, whose machine code needs no "
                   "PTX; or make the PTX with a compiler of CUDA %d.%d or older",
                   r->arch, cuda / 1000, cuda % 1000 / 10);
}

static void architecture(const refusal *r)
{
    char own[24];
    bool ptx = r->load->form.format == GPUL_IMAGE_PTX;
    gpul__arch arch = ptx ? r->load->image->ptx_target : r->load->image->arch;
    const char *is = arch.number ? gpul__arch_text(own, arch) : "another architecture";
    FAIL(r, GPUL__LOAD_ARCH, "%s is %s for %s, and the device, %s, is %s", name_of(r),
         ptx ? "PTX" : "machine code", is, r->device->name, r->arch);
    if (ptx)
        gpul__hint(
            "PTX runs on its own architecture and later ones: compile for %s or an older one",
            r->arch);
    else
        gpul__hint("compile for %s; or for compute_%d, whose PTX later devices run as well",
                   r->arch, r->device->compute_major * 10 + r->device->compute_minor);
}

static void jit_missing(const refusal *r)
{
    if (r->load->result == CUDA_ERROR_JIT_COMPILATION_DISABLED) {
        FAIL(r, GPUL__LOAD_JIT_MISSING,
             "%s is PTX, and the driver's JIT is switched off (CUDA_DISABLE_JIT or "
             "CUDA_DISABLE_PTX_JIT)",
             name_of(r));
        gpul__hint("unset the variable, or compile for %s, which needs no JIT", r->arch);
        return;
    }
    FAIL(r, GPUL__LOAD_JIT_MISSING,
         "%s is PTX, and the driver does not find its JIT compiler "
         "(libnvidia-ptxjitcompiler.so.1)",
         name_of(r));
    gpul__hint("install the driver's whole compute package; in a container set "
               "NVIDIA_DRIVER_CAPABILITIES=compute,utility; or compile for %s, which needs no JIT",
               r->arch);
}

static const char *ptx_of(const refusal *r)
{
    return r->load->form.format == GPUL_IMAGE_PTX ? r->load->form.data : r->image->ptx;
}

static void add_log_lines(const refusal *r)
{
    /* PTX that came as such is a file of its own; ours has the name of its source. */
    gpul__log_details(r->load->error_log, ptx_of(r), r->image->nvrtc_major ? NULL : r->image->name);
}

static void syntax(const refusal *r)
{
    const char *log = r->load->error_log, *said = strstr(log, ": ");
    size_t length = said ? strcspn(said + 2, "\r\n") : 0;
    if (length)
        FAIL(r, GPUL__LOAD_PTX, "the PTX of %s is refused: %.*s", name_of(r), (int)length,
             said + 2);
    else
        FAIL(r, GPUL__LOAD_PTX, "the PTX of %s is refused, and the JIT gives no reason",
             name_of(r));
    add_log_lines(r);
    if (strstr(log, "which is defined nowhere") || strstr(log, "Undefined reference") ||
        strstr(log, "Unresolved extern"))
        gpul__hint("link it with the PTX that defines the symbol");
    else if (r->image->nvrtc_major)
        gpul__hint("NVRTC does not read asm statements: look there; compiled for %s, the assembler "
                   "would have told it at compile time",
                   r->arch);
    else if (!length)
        gpul__hint(
            "the CPU device reads PTX too and names the line that it refuses: device \"cpu\"");
}

#ifdef GPUL_HAVE_CPU
#define NOT_ON_CPU                                                                                 \
    "run it on a GPU (device \"cuda\"), or compile a form of the kernel without the instruction"

/* The CPU device says by itself what it cannot run. */
static bool unsupported(const refusal *r)
{
    const gpul__cpu_refusal *why = gpul__cpu_last_refusal();
    if (r->device->backend != GPUL_BACKEND_CPU || !why->unsupported) return false;
    FAIL(r, GPUL__LOAD_UNSUPPORTED, "the CPU device cannot run %s: %s%s%s%s", name_of(r),
         why->sentence, *why->kernel ? " in '" : "", why->kernel, *why->kernel ? "'" : "");
    add_log_lines(r);
    gpul__hint(NOT_ON_CPU);
    return true;
}

bool gpul__kernel_refused(const gpul_module *module, const char *kernel, CUresult result)
{
    const gpul__cpu_refusal *why = gpul__cpu_last_refusal();
    if (!module->device->is_cpu || result != CUDA_ERROR_NOT_SUPPORTED || !why->unsupported)
        return false;
    const gpul_image_info *image = &module->image->info;
    gpul__fail(
        GPUL__LOAD_UNSUPPORTED,
        (.call = "gpul_module_kernel", .native_kind = GPUL_NATIVE_CUDA, .native = (int)result),
        "the CPU device cannot run '%s': %s", kernel, why->sentence);
    gpul__str log = { 0 };
    gpul__str_printf(&log, "ptxas application ptx input, line %u; error   : %s\n", why->line,
                     why->sentence);
    if (why->line)
        gpul__log_details(gpul__str_text(&log), image->ptx,
                          image->nvrtc_major ? NULL : image->name);
    gpul__str_free(&log);
    gpul__hint(NOT_ON_CPU);
    return true;
}
#else
bool gpul__kernel_refused(const gpul_module *module, const char *kernel, CUresult result)
{
    (void)module, (void)kernel, (void)result;
    return false;
}

static bool unsupported(const refusal *r)
{
    (void)r;
    return false;
}
#endif

static bool targets_more(const refusal *r)
{
    gpul__arch target = r->load->image->ptx_target;
    int device = r->device->compute_major * 10 + r->device->compute_minor;
    return target.number > device || (target.suffix && target.number != device) ||
           strstr(r->load->error_log, "higher than default SM version") != NULL;
}

/* An ELF file whose section table lies beyond its end was cut off. */
static bool is_cut(const gpul__image_form *form)
{
    Elf64_Ehdr head;
    if (form->format != GPUL_IMAGE_CUBIN) return false;
    if (form->size < sizeof head) return true;
    memcpy(&head, form->data, sizeof head);
    return head.e_shoff + (uint64_t)head.e_shnum * head.e_shentsize > form->size;
}

static void invalid_image(const refusal *r)
{
    if (is_cut(&r->load->form)) {
        FAIL(r, GPUL__IMAGE_EMPTY, "%s is a CUBIN that is cut off after %zu bytes", name_of(r),
             r->load->form.size);
        gpul__hint("write the file again");
    } else {
        FAIL(r, GPUL__LOAD_FAILED, "the driver takes the %zu bytes of %s for no module",
             r->load->form.size, name_of(r));
    }
}

/* The linker's line about a symbol that nobody defines. */
static const char *unresolved(const char *log, size_t *length)
{
    const char *at = strcasestr(log, "undefined reference");
    *length = at ? strcspn(at, "\r\n") : 0;
    return at;
}

static void anything_else(const refusal *r)
{
    size_t length;
    const char *symbol = unresolved(r->load->error_log, &length);
    if (symbol)
        FAIL(r, GPUL__LOAD_FAILED, "%s does not load: %.*s", name_of(r), (int)length, symbol);
    else
        FAIL(r, GPUL__LOAD_FAILED, "%s does not load: %s", name_of(r),
             gpul_native_text(GPUL_NATIVE_CUDA, (int)r->load->result));
    add_log_lines(r);
    if (symbol) gpul__hint("define the symbol in this module: modules are not linked together");
}

static void tell(const refusal *r)
{
    bool ptx = r->load->form.format == GPUL_IMAGE_PTX;
    switch ((int)r->load->result) {
    case CUDA_ERROR_UNSUPPORTED_PTX_VERSION: ptx_version(r); break;
    case CUDA_ERROR_JIT_COMPILER_NOT_FOUND:
    case CUDA_ERROR_JIT_COMPILATION_DISABLED: jit_missing(r); break;
    case CUDA_ERROR_NO_BINARY_FOR_GPU:
        if (ptx && !*r->load->error_log) jit_missing(r);
        else architecture(r);
        break;
    case CUDA_ERROR_INVALID_PTX:
    case CUDA_ERROR_INVALID_SOURCE:
        if (unsupported(r)) break;
        if (ptx && targets_more(r)) architecture(r);
        else syntax(r);
        break;
    case CUDA_ERROR_INVALID_IMAGE: invalid_image(r); break;
    default: anything_else(r); break;
    }
}

gpul_status gpul__load_refused(const gpul__load *load)
{
    gpul_device *device = load->device;
    switch ((int)load->result) {
    case CUDA_ERROR_OUT_OF_MEMORY:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_NOT_INITIALIZED:
    case CUDA_ERROR_DEINITIALIZED: break;
    default:
        if (gpul__is_sticky(load->result) || atomic_load(&device->fault)) break;
        refusal r = { .load = load, .device = &device->info, .image = &load->image->info };
        snprintf(r.arch, sizeof r.arch, "sm_%d%d", device->info.compute_major,
                 device->info.compute_minor);
        gpul__str_add(&r.log, load->error_log);
        gpul__str_add(&r.log, load->info_log);
        char *log = gpul__driver_log(device->driver);
        if (log) gpul__str_add(&r.log, log);
        gpul__free(log);
        tell(&r);
        gpul__str_free(&r.log);
        return gpul_last_error()->status;
    }
    return gpul__refused(device,
                         &(gpul__refusal){ GPUL__LOAD_FAILED, load->result, "cuModuleLoadDataEx",
                                           load->opts->caller_file, load->opts->caller_line },
                         "%s does not load",
                         load->image->info.name && *load->image->info.name ? load->image->info.name
                                                                           : "the image");
}
