/* The Driver API is for host code; here are the types that declarations may mention.
 * SPDX-License-Identifier: MIT */
#pragma once
#include <stdint.h>
typedef unsigned long long CUdeviceptr;
typedef int CUdevice;
typedef int CUresult;
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
enum { CUDA_SUCCESS = 0 };
