/* Modules of others, and the variables of a module as buffers.  Loading and plain access to variables are in
 * gpulaunch.h.  SPDX-License-Identifier: MIT */
#ifndef GPULAUNCH_MODULE_H
#define GPULAUNCH_MODULE_H

#include <gpulaunch/gpulaunch.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A CUmodule of somebody else.  It must be of the device's context; it is never unloaded, and must live until
 * gpul_module_free.  Kernels are found by their symbols and launched with the sizes of their parameters
 * checked, which needs a driver of CUDA 12.4; types are not known. */
GPUL_API gpul_status gpul_module_adopt(gpul_module **out, gpul_device *device, void *module);

/* A __device__, __constant__ or __managed__ variable as a buffer, by the names that gpul_module_global takes:
 * to be copied, filled, viewed and given to kernels, with streams and without.  It keeps the module loaded.
 * A __managed__ variable has a host address (gpul_buffer_host) where the host reads and writes it, and takes
 * advice.  Of the options .type and .name count; NULL: the variable's name and any type. */
GPUL_API gpul_status gpul_module_variable(gpul_buffer **out, gpul_module *module, const char *name,
                                          const gpul_alloc_opts *opts);

#ifdef __cplusplus
}
#endif
#endif
