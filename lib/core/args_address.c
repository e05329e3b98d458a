/* Checked mode: what kind of address a pointer argument is, asked of the driver and of this process
 * before the launch.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>

#include "core/kernel.h"
#include "core/launch_mistakes.h"

/* Whether this process itself could read the address: then it is a host address. */
static bool is_host_address(uint64_t address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    if (!maps) return false;
    bool found = false;
    unsigned long long from, to;
    char rights[8], line[512];
    while (!found && fgets(line, sizeof line, maps))
        found = sscanf(line, "%llx-%llx %7s", &from, &to, rights) == 3 && rights[0] == 'r' &&
                address >= from && address < to;
    fclose(maps);
    return found;
}

/* What is wrong with the address; NULL: nothing. */
static const char *judge(const gpul_device *device, uint64_t address, const char **hint)
{
    const gpul__driver *driver = gpul__api(device);
    unsigned type = 0;
    int ordinal = device->handle;
    CUresult result = driver->PointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address);
    if (result == CUDA_SUCCESS) {
        unsigned managed = 0;
        driver->PointerGetAttribute(&managed, CU_POINTER_ATTRIBUTE_IS_MANAGED, address);
        driver->PointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, address);
        *hint = "copy the data to this device first";
        bool other = type == CU_MEMORYTYPE_DEVICE && !managed && ordinal != device->handle;
        return other ? "memory of another device" : NULL;
    }
    if (is_host_address(address)) {
        *hint = "host memory goes into a buffer: gpul_alloc with .init, or gpul_write";
        return "a host address";
    }
    *hint = "the memory was freed, or the address was computed wrongly";
    return "no address of live device memory: it was freed or never given out";
}

gpul_status gpul__args_check_addresses(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                                       gpul_arglist args)
{
    gpul__mistakes mistakes = { 0 };
    for (size_t i = 0; i < args.count; i++) {
        const gpul_arg *arg = &args.items[i];
        const gpul_param *param = &kernel->info.params[i];
        if (arg->kind != GPUL_ARG_ADDRESS || !arg->v.bits) continue;
        const char *hint = NULL, *wrong = judge(kernel->device, arg->v.bits, &hint);
        if (!wrong) continue;
        const char *name = param->value.name && *param->value.name ? param->value.name : NULL;
        gpul__mistake_add(&mistakes, GPUL__ARGS_ADDRESS, param, hint,
                          "argument %zu of '%s'%s%s%s: 0x%" PRIx64 " is %s", i + 1,
                          kernel->info.name, name ? " ('" : "", name ? name : "", name ? "')" : "",
                          arg->v.bits, wrong);
    }
    if (!mistakes.count && !mistakes.failed) return GPUL_OK;
    return gpul__mistakes_fail(&mistakes, opts->caller_file, opts->caller_line,
                               "several pointer arguments are no addresses of this device");
}
