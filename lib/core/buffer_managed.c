/* Managed memory: advice, and moving it before it is needed.  SPDX-License-Identifier: MIT */
#include "core/buffer.h"
#include "core/context.h"
#include "core/device_failure.h"

static gpul_status check(const char *call, const gpul_buffer *buffer, size_t offset, size_t size,
                         const gpul_device *where)
{
    if (buffer->memory != GPUL_MEMORY_MANAGED) {
        gpul__str title = { 0 };
        gpul__buffer_title(&title, buffer);
        gpul__fail(GPUL__MEMORY_KIND, (.call = call), "%s: %s is not managed memory", call,
                   gpul__str_text(&title));
        gpul__str_free(&title);
        return gpul__hint("allocate it with .memory = GPUL_MEMORY_MANAGED");
    }
    if (where && where->driver != buffer->device->driver)
        return gpul__fail(GPUL__ARGS_FOREIGN, (.call = call),
                          "%s: a GPU and the CPU device share no managed memory", call);
    return gpul__check_range(call, "buffer", buffer, offset, size);
}

static CUmemLocation location_of(const gpul_device *where)
{
    return (CUmemLocation){ where ? CU_MEM_LOCATION_TYPE_DEVICE : CU_MEM_LOCATION_TYPE_HOST,
                            where ? where->handle : 0 };
}

gpul_status gpul_advise(gpul_buffer *buffer, size_t offset, size_t size, gpul_advice advice,
                        gpul_device *where)
{
    GPUL__NEED(buffer);
    if (advice < GPUL_ADVICE_READ_MOSTLY || advice > GPUL_ADVICE_NOT_ACCESSED_BY)
        return gpul__fail(GPUL__ARGS_INVALID, (.call = "gpul_advise"),
                          "advice is %d, which is none of gpul_advice", (int)advice);
    gpul_status status = check("gpul_advise", buffer, offset, size, where);
    if (status != GPUL_OK || size == 0) return status;
    bool pushed;
    status = gpul__enter(buffer->device, &pushed, "gpul_advise");
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(buffer->device);
    CUdeviceptr at = buffer->address + offset;
    CUmem_advise what = (CUmem_advise)advice; /* the same numbers */
    CUresult result =
        driver->MemAdvise_v2
            ? driver->MemAdvise_v2(at, size, what, location_of(where))
            : GPUL__CALL(driver, MemAdvise, at, size, what, where ? where->handle : CU_DEVICE_CPU);
    return gpul__leave_with(buffer->device, pushed, GPUL__MEMORY_FAILED, result, "cuMemAdvise",
                            "advice for managed memory");
}

gpul_status gpul_prefetch(gpul_buffer *buffer, size_t offset, size_t size, gpul_device *where,
                          gpul_stream *stream)
{
    GPUL__NEED(buffer);
    gpul_status status = check("gpul_prefetch", buffer, offset, size, where);
    if (status != GPUL_OK || size == 0) return status;
    gpul__transfer t = { .call = "gpul_prefetch",
                         .device = buffer->device,
                         .caller_stream = stream };
    status = gpul__transfer_begin(&t);
    if (status != GPUL_OK) return status;
    const gpul__driver *driver = gpul__api(t.device);
    CUdeviceptr at = buffer->address + offset;
    CUresult result = driver->MemPrefetchAsync_v2
                          ? driver->MemPrefetchAsync_v2(at, size, location_of(where), 0, t.stream)
                          : GPUL__CALL(driver, MemPrefetchAsync, at, size,
                                       where ? where->handle : CU_DEVICE_CPU, t.stream);
    return gpul__transfer_finish(&t, result, "cuMemPrefetchAsync");
}
