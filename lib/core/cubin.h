/* Machine code images read without a driver: CUBINs (ELF) and fatbins.  Everything is checked against the
 * size of the data, as files may be cut or hostile.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_CUBIN_H
#define GPUL_CORE_CUBIN_H

#include "core/image.h"

typedef struct gpul__cubin_param {
    uint32_t ordinal, offset, size;
} gpul__cubin_param;

typedef struct gpul__cubin_kernel {
    const char *symbol;
    gpul__cubin_param *params; /* by ordinal */
    uint32_t param_count, param_bytes;
    int registers, shared_bytes, local_bytes; /* -1: not said */
    int bound_threads[3];                     /* .maxntid or .reqntid; 0: none */
    bool bound_exact;
} gpul__cubin_kernel;

typedef struct gpul__cubin_global {
    const char *symbol;
    uint64_t size;
    bool is_constant;
} gpul__cubin_global;

/* Tables are in the arena that was given; strings point into the data. */
typedef struct gpul__cubin {
    gpul__arch arch;
    bool is_relocatable; /* -rdc: not linked, cannot be loaded */
    uint64_t constant_bytes;
    gpul__cubin_kernel *kernels;
    size_t kernel_count;
    gpul__cubin_global *globals;
    size_t global_count;
} gpul__cubin;

typedef enum gpul__read {
    GPUL__READ_OK = 0,
    GPUL__READ_CUT,     /* begins right and ends too early */
    GPUL__READ_FOREIGN, /* an ELF file of another kind, or no such file at all */
    GPUL__READ_NO_MEMORY
} gpul__read;

/* *whole_size (may be NULL) gets how many bytes the file would have to have, as far as is known. */
gpul__read gpul__cubin_read(gpul__cubin *out, gpul__arena *arena, const void *data, size_t size,
                            uint64_t *whole_size);

/* A fatbin is a head and entries, each with a head of its own before a form of the module; all little-endian.  What
 * is not named here was zero in every one that was seen. */
typedef struct gpul__fatbin_head {
    uint32_t magic;
    uint16_t version, head_size;
    uint64_t size; /* of what follows */
} gpul__fatbin_head;

typedef struct gpul__fatbin_entry {
    uint16_t kind, version;
    uint32_t head_size;
    uint64_t size; /* of the form, padded */
    uint32_t compressed_size, options_offset;
    uint16_t minor, major; /* of the PTX ISA; of a CUBIN's ELF: 1 and its ABI */
    uint32_t arch;
    uint32_t name_offset, name_size;
    uint64_t flags;              /* GPUL__FATBIN_* */
    uint64_t unused, whole_size; /* when it is compressed; older ones end before them */
} gpul__fatbin_entry;

enum {
    GPUL__FATBIN_PTX = 1, /* kinds */
    GPUL__FATBIN_CUBIN = 2,
    GPUL__FATBIN_64_BIT = 0x1, /* flags */
    GPUL__FATBIN_LINUX = 0x10,
    GPUL__FATBIN_LZ4 = 0x2000,
    GPUL__FATBIN_ZSTD = 0x8000,
    GPUL__FATBIN_ARCH_A = 0x100000, /* sm_90a */
    GPUL__FATBIN_ARCH_F = 0x200000  /* sm_100f */
};

#define GPUL__FATBIN_MAGIC   0xBA55ED50u
#define GPUL__FATBIN_WRAPPER 0x466243B1u
gpul__read gpul__fatbin_read(gpul__fat_entry **entries, size_t *count, gpul__arena *arena,
                             const void *data, size_t size, uint64_t *whole_size);

#endif
