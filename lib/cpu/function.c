/* Entries about kernels of modules.  SPDX-License-Identifier: MIT */
#include "cpu/function.h"

#include "cpu/context.h"
#include "cpu/entries.h"
#include "cpu/handle.h"

/* The size of cluster that a launch must have; 0 when the launch is free. */
static int required_cluster(const cpu_function *function, int axis)
{
    return function->info.cluster[axis] ? (int)function->info.cluster[axis]
                                        : function->cluster[axis];
}

CUresult gpul__cpu_function_get(const cpu_function *function, CUfunction_attribute attribute,
                                int *value)
{
    const ptx_kernel_info *info = &function->info;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = function->max_threads; break;
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = (int)info->static_shared; break;
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: *value = (int)info->constant; break;
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = (int)info->local; break;
    case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = (int)info->registers; break;
    case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = (int)function->module->ptx_target; break;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = gpul__cpu.limits->capability; break;
    case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = 0; break;
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = function->max_dynamic_shared;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = function->carveout; break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = function->cluster_must_be_set; break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
        *value = required_cluster(function, attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
        break;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = function->non_portable_cluster;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = function->cluster_policy;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_function_set(cpu_function *function, CUfunction_attribute attribute, int value)
{
    int most_shared = gpul__cpu.limits->shared_block - (int)function->info.static_shared;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        if (value < 0 || value > most_shared) return CUDA_ERROR_INVALID_VALUE;
        function->max_dynamic_shared = value;
        break;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        if (value < CU_SHAREDMEM_CARVEOUT_DEFAULT || value > CU_SHAREDMEM_CARVEOUT_MAX_SHARED)
            return CUDA_ERROR_INVALID_VALUE;
        function->carveout = value;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
        function->cluster_must_be_set = value != 0;
        break;
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
    case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: {
        int axis = attribute - CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
        if (value < 0 || function->info.cluster[axis]) return CUDA_ERROR_INVALID_VALUE;
        function->cluster[axis] = value;
        break;
    }
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        function->non_portable_cluster = value != 0;
        break;
    case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        if (value < CU_CLUSTER_SCHEDULING_POLICY_DEFAULT ||
            value > CU_CLUSTER_SCHEDULING_POLICY_LOAD_BALANCING)
            return CUDA_ERROR_INVALID_VALUE;
        function->cluster_policy = value;
        break;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

CUresult gpul__cpu_function_param(const cpu_function *function, size_t index, size_t *offset,
                                  size_t *size)
{
    ptx_param_info param;
    if (index >= function->info.param_count ||
        !ptx_kernel_param(function->kernel, (uint32_t)index, &param))
        return CUDA_ERROR_INVALID_VALUE;
    *offset = param.offset;
    if (size) *size = param.size;
    return CUDA_SUCCESS;
}

/* ---- entries ---------------------------------------------------------------------------- */

static CUresult enter_function(CUfunction handle, cpu_function **out)
{
    cpu_context *context;
    CUresult result = gpul__cpu_enter_context(&context);
    if (result) return result;
    result = gpul__cpu_function_find(out, context, handle);
    return result ? gpul__cpu_leave(result) : CUDA_SUCCESS;
}

CUresult gpul__cpu_FuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    if (!value) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave(gpul__cpu_function_get(function, attribute, value));
}

CUresult gpul__cpu_FuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    return gpul__cpu_leave(gpul__cpu_function_set(function, attribute, value));
}

/* There is no cache to be configured. */
CUresult gpul__cpu_FuncSetCacheConfig(CUfunction handle, CUfunc_cache config)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    return gpul__cpu_leave((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL ? CUDA_ERROR_INVALID_VALUE
                                                                         : CUDA_SUCCESS);
}

CUresult gpul__cpu_FuncGetModule(CUmodule *out, CUfunction handle)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    if (out) *out = function->module->handle;
    return gpul__cpu_leave(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_FuncGetName(const char **out, CUfunction handle)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    if (out) *out = function->info.name;
    return gpul__cpu_leave(out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_FuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    if (!offset) return gpul__cpu_leave(CUDA_ERROR_INVALID_VALUE);
    return gpul__cpu_leave(gpul__cpu_function_param(function, index, offset, size));
}

CUresult gpul__cpu_FuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    if (result) return result;
    if (state) *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return gpul__cpu_leave(state ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
}

CUresult gpul__cpu_FuncLoad(CUfunction handle)
{
    cpu_function *function;
    CUresult result = enter_function(handle, &function);
    return result ? result : gpul__cpu_leave(CUDA_SUCCESS);
}
