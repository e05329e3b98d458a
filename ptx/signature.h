/* What a PTX text offers, without a tree of its instructions: its kernels with their parameters and
 * launch directives, and its globals.  The library reads it for images on both devices; it is much
 * faster than ptx_parse and checks no instruction.  SPDX-License-Identifier: MIT */
#ifndef PTX_SIGNATURE_H
#define PTX_SIGNATURE_H

#include "ptx/ptx.h"

/* What a parameter is, as far as PTX tells.  A structure passed by value is an array of bytes. */
typedef enum ptx_param_kind {
    PTX_PARAM_UNKNOWN,  /* .b32 and the like: anything of that size */
    PTX_PARAM_UNSIGNED, /* NVVM writes .u8 to .u64 for every integer, signed or not */
    PTX_PARAM_SIGNED,
    PTX_PARAM_FLOAT,
    PTX_PARAM_POINTER,       /* it has .ptr */
    PTX_PARAM_MAYBE_POINTER, /* 64-bit integer without .ptr: older compilers write pointers so */
    PTX_PARAM_BYTES,
    PTX_PARAM_OPAQUE, /* texref, samplerref, surfref */
} ptx_param_kind;

typedef struct ptx_signature_param {
    const char *name;
    uint32_t index, align;
    uint64_t size, offset; /* in the parameter buffer, laid out in order by size and alignment */
    ptx_param_kind kind;
    ptx_type type;
    ptx_space pointee_space; /* of .ptr; GENERIC when not given */
    uint32_t pointee_align;  /* of .ptr; 0 when not given */
} ptx_signature_param;

/* Bits of ptx_signature_kernel.uses: what the kernel and every function it can reach mention. */
enum {
    PTX_USES_TID_Y = 1 << 0,
    PTX_USES_TID_Z = 1 << 1,
    PTX_USES_CTAID_Y = 1 << 2,
    PTX_USES_CTAID_Z = 1 << 3,
    PTX_USES_CLUSTER = 1 << 4,        /* a cluster special register */
    PTX_USES_DYNAMIC_SHARED = 1 << 5, /* an `.extern .shared` array */
    PTX_USES_GRID_SYNC = 1 << 6,      /* %envreg1 or %envreg2: a cooperative grid */
};

typedef struct ptx_signature_kernel {
    const char *name;
    ptx_linkage linkage;
    ptx_signature_param *params;
    uint32_t param_count;
    uint64_t param_bytes; /* up to the end of the last parameter, without tail padding */
    bool has_maxntid, has_reqntid, has_reqnctapercluster;
    uint32_t maxntid[3], reqntid[3], reqnctapercluster[3];
    uint32_t minnctapersm, maxnreg, maxclusterrank;
    uint32_t uses;
    uint64_t static_shared; /* bytes, with alignment in order of declaration */
    uint32_t line;
} ptx_signature_kernel;

typedef struct ptx_signature_global {
    const char *name;
    ptx_space space; /* GLOBAL, CONST or SHARED */
    ptx_linkage linkage;
    ptx_type type; /* of one element */
    uint64_t size; /* bytes; 0 for an open array */
    uint32_t align;
    bool managed;
} ptx_signature_global;

typedef struct ptx_signature {
    gpul__arena arena;
    uint32_t version_major, version_minor;
    const char *target; /* "sm_90a" */
    uint32_t target_sm;
    char target_suffix; /* 'a', 'f' or 0 */
    uint32_t address_size;
    ptx_signature_kernel *kernels; /* those with a body, in order */
    ptx_signature_global *globals;
    uint32_t kernel_count, global_count;
} ptx_signature;

/* On failure *out is NULL and diags say why. */
ptx_status ptx_signature_read(ptx_signature **out, const char *text, size_t length,
                              ptx_diags *diags);
void ptx_signature_free(ptx_signature *signature); /* accepts NULL */
const ptx_signature_kernel *ptx_signature_find(const ptx_signature *signature, const char *name);

#endif
