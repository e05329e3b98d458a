/* An image that is loaded on a device.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_MODULE_H
#define GPUL_CORE_MODULE_H

#include "core/device.h"
#include "core/image.h"

struct gpul_module {
    gpul__refs refs;
    gpul_device *device; /* a reference */
    gpul_image *image;   /* a reference */
    CUmodule handle;
    bool adopted;      /* never unloaded */
    gpul__arena arena; /* logs and the like */
    gpul_module_info info;
    pthread_mutex_t lock;     /* guards what follows */
    gpul_kernel *kernels;     /* those that were asked for */
    gpul_kernel_info *listed; /* what the driver lists, when the image lists nothing */
    size_t listed_count;
};

static inline void gpul__module_take(gpul_module *module)
{
    gpul__refs_take(&module->refs);
}

/* Everything about one load: the form, the options and what came back. */
typedef struct gpul__load {
    gpul_device *device;
    gpul_image *image;
    const gpul_load_opts *opts;
    gpul__image_form form;
    CUmodule module;
    CUresult result;
    char *info_log, *error_log; /* in the arena; never NULL after gpul__load_call */
    double jit_ms;
    uint64_t load_ns;
} gpul__load;

/* Options of the JIT and the linker as the driver takes them: names, and values of which some are
 * written to.  Both logs are `logs`, GPUL__JIT_LOG_ROOM bytes each. */
enum { GPUL__JIT_LOG_ROOM = 256 * 1024 };
typedef struct gpul__jit_options {
    CUjit_option names[20];
    void *values[20];
    unsigned count, wall_time; /* where the time comes back */
} gpul__jit_options;
void gpul__jit_fill(gpul__jit_options *o, const gpul_load_opts *opts, char *logs);

/* A log as it came back; cut where the driver cut it, which is said.  NULL: no memory. */
char *gpul__jit_keep_log(gpul__arena *arena, const char *log);

/* Which options make the JIT necessary: "max_registers, verbose"; false: none.  `list` may be NULL. */
bool gpul__load_wants_jit(const gpul_load_opts *opts, gpul__str *list);

/* GL0613 for an option that is out of range. */
gpul_status gpul__load_check_options(const gpul_load_opts *opts, const gpul_device_info *device);

/* cuModuleLoadDataEx with the options, both logs and the time; the context is current.  The result is
 * in load->result; a failing status means that the host's memory ran out. */
gpul_status gpul__load_call(gpul__load *load, gpul__arena *arena);

/* Makes the record for a load that the driver refused; module_refusal.c. */
gpul_status gpul__load_refused(const gpul__load *load);

/* The record for a kernel, not a whole module, with an instruction that the CPU device lacks.  False: the
 * result means something else. */
bool gpul__kernel_refused(const gpul_module *module, const char *kernel, CUresult result);

#endif
