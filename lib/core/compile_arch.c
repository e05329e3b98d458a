/* Architectures: spellings, and which one a compile is for.  SPDX-License-Identifier: MIT */
#include "core/compile.h"
#include "core/image.h"

#include "base/error.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gpul__arch_parse(gpul__arch *out, const char *text)
{
    *out = (gpul__arch){ 0 };
    if (gpul__starts(text, "compute_")) {
        out->is_virtual = true;
        text += 8;
    } else if (gpul__starts(text, "sm_")) {
        text += 3;
    } else {
        return false;
    }
    int digits = 0;
    for (; isdigit((unsigned char)*text) && digits < 4; text++, digits++)
        out->number = out->number * 10 + (*text - '0');
    if (digits < 2 || digits > 3) return false;
    if (*text == 'a' || *text == 'f') out->suffix = *text++;
    return *text == 0;
}

const char *gpul__arch_text(char out[24], gpul__arch arch)
{
    char suffix[2] = { arch.suffix, 0 };
    snprintf(out, 24, "%s%d%s", arch.is_virtual ? "compute_" : "sm_", arch.number, suffix);
    return out;
}

bool gpul__arch_runs(gpul__arch arch, int compute_major, int compute_minor)
{
    int major = arch.number / 10, minor = arch.number % 10;
    if (arch.suffix == 'a') return major == compute_major && minor == compute_minor;
    return major == compute_major && minor <= compute_minor;
}

static bool knows(const gpul__nvrtc *nvrtc, int number)
{
    for (int i = 0; i < nvrtc->arch_count; i++)
        if (nvrtc->archs[i] == number) return true;
    return false;
}

/* What somebody who wrote `text` meant: the first number in it. */
static int number_in(const char *text)
{
    while (*text && !isdigit((unsigned char)*text)) text++;
    int number = 0;
    for (int digits = 0; digits < 4 && (isdigit((unsigned char)*text) || *text == '.'); text++)
        if (*text != '.') number = number * 10 + (*text - '0'), digits++;
    return number;
}

gpul_status gpul__fail_arch(const gpul__nvrtc *nvrtc, const char *text)
{
    gpul__arch parsed;
    bool spelled = gpul__arch_parse(&parsed, text);
    int first = nvrtc->archs[0], last = nvrtc->archs[nvrtc->arch_count - 1];
    int number = spelled ? parsed.number : number_in(text);
    if (spelled && !knows(nvrtc, number))
        gpul__fail(GPUL__COMPILE_ARCH, (.call = "gpul_compile"),
                   "this NVRTC (%d.%d) cannot make code for %s; it knows sm_%d to sm_%d",
                   nvrtc->major, nvrtc->minor, text, first, last);
    else if (spelled)
        gpul__fail(GPUL__COMPILE_ARCH, (.call = "gpul_compile"),
                   "this NVRTC (%d.%d) has no form '%c' of sm_%d", nvrtc->major, nvrtc->minor,
                   parsed.suffix ? parsed.suffix : ' ', number);
    else
        gpul__fail(GPUL__COMPILE_ARCH, (.call = "gpul_compile"),
                   "'%s' is no architecture; this NVRTC (%d.%d) knows sm_%d to sm_%d", text,
                   nvrtc->major, nvrtc->minor, first, last);
    gpul__str list = { 0 };
    for (int i = 0; i < nvrtc->arch_count; i++)
        gpul__str_printf(&list, "%s%d", i ? " " : "", nvrtc->archs[i]);
    gpul__note("numbers for sm_ (machine code and PTX) and compute_ (PTX): %s",
               gpul__str_text(&list));
    gpul__str_free(&list);
    if (spelled && number > last)
        return gpul__hint(
            "use a newer NVRTC, or compute_%d: a newer device's driver translates PTX", last);
    if (spelled && number < first)
        return gpul__hint("leave the architecture out, or use an older NVRTC "
                          "(GPULAUNCH_NVRTC=/path/libnvrtc.so.%d)",
                          number < 50 ? 11 : 12);
    if (knows(nvrtc, number)) return gpul__hint("write sm_%d", number);
    return gpul__hint("write sm_%d, or leave the architecture out for the device's own", last);
}

/* The device's own architecture, or what can be made for it. */
static gpul_status for_device(gpul__arch *out, gpul__str *choice, const gpul__nvrtc *nvrtc,
                              const gpul_device_info *device)
{
    int own = device->compute_major * 10 + device->compute_minor, best = 0, sibling = 0;
    for (int i = 0; i < nvrtc->arch_count; i++) {
        if (nvrtc->archs[i] <= own) best = nvrtc->archs[i];
        if (nvrtc->archs[i] <= own && nvrtc->archs[i] / 10 == device->compute_major)
            sibling = nvrtc->archs[i];
    }
    int driver = device->driver_version / 1000 * 100 + device->driver_version % 1000 / 10;
    bool ptx_usable = device->backend == GPUL_BACKEND_CPU || !device->driver_version ||
                      nvrtc->major * 100 + nvrtc->minor <= driver;
    if (device->backend == GPUL_BACKEND_CPU) {
        if (!best) best = nvrtc->archs[0];
        *out = (gpul__arch){ .number = best, .is_virtual = true };
        gpul__str_printf(choice, "compute_%d: the CPU device runs PTX", best);
        return GPUL_OK;
    }
    if (best == own) {
        *out = (gpul__arch){ .number = own };
        gpul__str_printf(choice, "sm_%d: the device's own architecture", own);
        if (!ptx_usable)
            gpul__str_printf(choice,
                             "; only the machine code is of use, as NVRTC %d.%d is newer than the "
                             "driver's CUDA %d.%d",
                             nvrtc->major, nvrtc->minor, driver / 100, driver % 100);
        return GPUL_OK;
    }
    if (!best) {
        gpul__fail(
            GPUL__COMPILE_ARCH, (.call = "gpul_compile"),
            "%s is sm_%d, which this NVRTC (%d.%d) no longer knows: it makes code for sm_%d to "
            "sm_%d",
            device->name, own, nvrtc->major, nvrtc->minor, nvrtc->archs[0],
            nvrtc->archs[nvrtc->arch_count - 1]);
        return gpul__hint("install an NVRTC of CUDA %d and name it in GPULAUNCH_NVRTC",
                          own < 50 ? 11 : 12);
    }
    if (ptx_usable || !sibling) {
        *out = (gpul__arch){ .number = best, .is_virtual = true };
        gpul__str_printf(choice,
                         "compute_%d: NVRTC %d.%d does not know the device's sm_%d, so the driver "
                         "translates PTX",
                         best, nvrtc->major, nvrtc->minor, own);
        return GPUL_OK;
    }
    *out = (gpul__arch){ .number = sibling };
    gpul__str_printf(
        choice,
        "sm_%d: its machine code runs on the device's sm_%d, and PTX of NVRTC %d.%d is too "
        "new for the driver",
        sibling, own, nvrtc->major, nvrtc->minor);
    return GPUL_OK;
}

gpul_status gpul__arch_choose(gpul__arch *out, gpul__str *choice, const gpul__nvrtc *nvrtc,
                              const gpul_device_info *device, const char *requested)
{
    bool native = requested && strcmp(requested, "native") == 0;
    if (requested && !native) {
        if (!gpul__arch_parse(out, requested) || !knows(nvrtc, out->number) ||
            (out->suffix == 'a' && out->number < 90) || (out->suffix == 'f' && out->number < 100))
            return gpul__fail_arch(nvrtc, requested);
        gpul__str_printf(choice, "%s: as asked for", requested);
        return GPUL_OK;
    }
    if (device) return for_device(out, choice, nvrtc, device);
    if (native) {
        gpul__fail(GPUL__COMPILE_ARCH, (.call = "gpul_compile"),
                   "the architecture 'native' is that of the device, and there is none");
        return gpul__hint("name one: sm_90, or compute_90 for PTX that fits later devices too");
    }
    /* Without a device: what the CPU device and the data-centre GPUs of its time take. */
    int number = nvrtc->archs[nvrtc->arch_count - 1];
    if (knows(nvrtc, GPUL__DEFAULT_ARCH)) number = GPUL__DEFAULT_ARCH;
    *out = (gpul__arch){ .number = number };
    gpul__str_printf(choice, "sm_%d: there is no device and none was asked for", number);
    return GPUL_OK;
}
