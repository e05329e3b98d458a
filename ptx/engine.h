/* The engine that runs PTX on the CPU: its device memory, compiled programs, launches and what is
 * reported about them.  Everything the CPU device (lib/cpu) needs from ptx/ to execute is here; the
 * parser is in ptx.h.
 *
 * Threads: a ptx_memory may be used from any thread at any time, also while kernels run.  Creating
 * and destroying an engine or a program must not overlap with its use; several launches of one
 * engine may run at the same time, but they take turns on its workers.
 *
 * Order of life: memory, engine (uses a memory), programs (use an engine).  The engine prints
 * nothing.  SPDX-License-Identifier: MIT */
#ifndef PTX_ENGINE_H
#define PTX_ENGINE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/alloc.h"
#include "ptx/ptx.h"

/* ------------------------------------------------------------------ device memory */

/* A reserved range of addresses holds all device allocations.  The bytes of a device address D are
 * at the host address D - delta: neither address works on the other side, as with a GPU.  Pinned
 * and managed host memory is registered instead and has one address on both sides. */
typedef struct ptx_memory ptx_memory;

typedef enum ptx_allocation_kind {
    PTX_MEMORY_DEVICE,  /* from ptx_memory_alloc */
    PTX_MEMORY_GLOBAL,  /* a variable of a program */
    PTX_MEMORY_HEAP,    /* from malloc in a kernel */
    PTX_MEMORY_HOST,    /* registered: pinned host memory */
    PTX_MEMORY_MANAGED, /* registered: managed memory */
} ptx_allocation_kind;

enum { PTX_NAME_SIZE = 64 };

/* What is known about one allocation; a copy, so that it never dangles. */
typedef struct ptx_allocation {
    uint64_t address; /* as a kernel sees it */
    uint64_t size;    /* exactly what was asked for */
    uint64_t id;      /* counts up from 1 over the life of the memory */
    uint64_t owner;   /* the caller's own number, for instance a device or context */
    ptx_allocation_kind kind;
    bool read_only;           /* a kernel's write is a fault */
    bool freed;               /* still remembered, to recognise use after free */
    char name[PTX_NAME_SIZE]; /* "" when it has none */
} ptx_allocation;

typedef struct ptx_memory_options {
    uint64_t capacity;   /* bytes that can be in use; 0: 16 GiB */
    uint64_t quarantine; /* bytes of freed memory kept from reuse; 0: 64 MiB */
    bool poison;         /* fill new and freed memory with `poison_byte` */
    uint8_t poison_byte;
    bool track; /* remember which bytes were written, in one bit each: for PTX_CHECK_INIT */
} ptx_memory_options;

/* The byte that memory which nobody wrote is filled with under a seed. */
static inline uint8_t ptx_poison(uint64_t seed)
{
    return (uint8_t)(0xa5 ^ seed);
}

/* `options` may be NULL.  PTX_OUT_OF_MEMORY when no address space can be reserved. */
ptx_status ptx_memory_create(ptx_memory **out, const ptx_memory_options *options);
void ptx_memory_destroy(ptx_memory *memory); /* accepts NULL; everything in it is gone */

/* `request`: size, kind, owner, read_only and name are taken from it; `alignment` is a power of
 * two, at least 256 is given.  New memory is zeroed or poisoned.  A size of 0 is PTX_INVALID. */
ptx_status ptx_memory_alloc(ptx_memory *memory, const ptx_allocation *request, uint64_t alignment,
                            uint64_t *address);
typedef enum ptx_free_result {
    PTX_FREED,
    PTX_FREE_UNKNOWN, /* not the start of an allocation */
    PTX_FREE_TWICE,
} ptx_free_result;
ptx_free_result ptx_memory_free(ptx_memory *memory, uint64_t address);

/* Makes [host, host + request->size) known under the address it has. */
ptx_status ptx_memory_register(ptx_memory *memory, void *host, const ptx_allocation *request);
bool ptx_memory_unregister(ptx_memory *memory, void *host);

/* The allocation that holds the address (live ones, then freed ones); false when none does. */
bool ptx_memory_find(ptx_memory *memory, uint64_t address, ptx_allocation *out);
/* Host view of [address, address + size) when it lies inside one live allocation, else NULL. */
void *ptx_memory_host(ptx_memory *memory, uint64_t address, uint64_t size);
/* True for an address inside the device's reserved range, allocated or not. */
bool ptx_memory_is_device_address(const ptx_memory *memory, uint64_t address);
/* With `track`: what the host has written through ptx_memory_host, and what it has copied from one
 * place to another.  Addresses that are not in the device's range are allowed.  Variables of
 * programs count as written from the start, as does registered memory. */
void ptx_memory_note_write(ptx_memory *memory, uint64_t address, uint64_t size);
void ptx_memory_note_copy(ptx_memory *memory, uint64_t to, uint64_t from, uint64_t size);
bool ptx_memory_set_read_only(ptx_memory *memory, uint64_t address, bool read_only);
void ptx_memory_usage(ptx_memory *memory, uint64_t *used, uint64_t *capacity);
/* Calls `each` for every live allocation in order of address, under the memory's lock: it must not
 * call back.  Stops when `each` returns false. */
void ptx_memory_each(ptx_memory *memory, bool (*each)(void *user, const ptx_allocation *a),
                     void *user);

/* ------------------------------------------------------------------ the engine */

typedef struct ptx_engine ptx_engine;

typedef enum ptx_isa {
    PTX_ISA_AUTO, /* the best that this processor has */
    PTX_ISA_GENERIC,
    PTX_ISA_V2, /* x86-64 levels */
    PTX_ISA_V3,
    PTX_ISA_V4,
} ptx_isa;

typedef struct ptx_engine_options {
    uint32_t threads; /* workers; 0: as many as the processors this process may use */
    ptx_isa isa;      /* PTX_INVALID when this machine or build lacks it */
    /* What the device claims to be, for special registers and limits; 0: the default in brackets. */
    uint32_t compute_capability;  /* 90 */
    uint32_t multiprocessors;     /* 132 */
    uint32_t max_resident_blocks; /* per multiprocessor, 32 */
    uint32_t max_shared;          /* bytes a block can have, 232448 */
    uint32_t checks;              /* PTX_CHECK_*, besides what is always checked */
    uint64_t seed;                /* not 0: blocks and warps run in an order of its own */
} ptx_engine_options;

/* Checkers of ptx_engine_options.  Their findings never change what a launch does. */
enum {
    PTX_CHECK_RACES = 1,  /* in shared memory, between the threads of a block */
    PTX_CHECK_INIT = 2,   /* uses of shared, local and global memory that nothing has written */
    PTX_CHECK_BLOCKS = 4, /* races in global memory, between blocks */
};

ptx_status ptx_engine_create(ptx_engine **out, ptx_memory *memory,
                             const ptx_engine_options *options);
void ptx_engine_destroy(ptx_engine *engine);               /* accepts NULL */
const char *ptx_engine_isa_name(const ptx_engine *engine); /* "x86-64-v3", "generic" */
uint32_t ptx_engine_threads(const ptx_engine *engine);
ptx_memory *ptx_engine_memory(const ptx_engine *engine);

/* ------------------------------------------------------------------ programs */

typedef struct ptx_program ptx_program;
typedef struct ptx_kernel ptx_kernel;

typedef struct ptx_program_options {
    bool defer_unsupported; /* refuse a kernel when it is launched, not the module when loaded */
    uint64_t owner;         /* of the allocations made for its variables */
} ptx_program_options;

/* Compiles modules that were parsed without errors; several are linked (a symbol that one declares
 * .extern is found in another).  The modules must outlive the program.  PTX_INVALID: diags say why
 * (unsupported instructions, undefined symbols). */
ptx_status ptx_program_create(ptx_program **out, ptx_engine *engine, ptx_module *const *modules,
                              size_t count, const ptx_program_options *options, ptx_diags *diags);
void ptx_program_destroy(ptx_program *program); /* accepts NULL; frees its variables */

typedef struct ptx_global_info {
    const char *name;
    uint64_t address, size;
    ptx_space space; /* GLOBAL or CONST */
    bool managed;
} ptx_global_info;
size_t ptx_program_global_count(const ptx_program *program);
bool ptx_program_global(const ptx_program *program, size_t index, ptx_global_info *out);
bool ptx_program_find_global(const ptx_program *program, const char *name, ptx_global_info *out);

typedef struct ptx_kernel_info {
    const char *name;
    uint32_t registers;     /* 32-bit ones a thread would need: an estimate from liveness */
    uint32_t static_shared; /* bytes */
    uint32_t local;         /* bytes a thread, without called functions that recur */
    uint32_t constant;      /* bytes of .const variables of the program */
    uint32_t max_threads;   /* from .maxntid or .reqntid, else 1024 */
    uint32_t required[3];   /* .reqntid, or zeros */
    uint32_t max_block[3];  /* .maxntid, or zeros */
    uint32_t cluster[3];    /* .reqnctapercluster, or zeros */
    bool uses_grid_sync;    /* reads the workspace of a cooperative launch */
    uint32_t param_count;
    uint32_t param_size; /* of the whole parameter buffer, without tail padding */
    uint32_t warp_state; /* bytes that one warp of it holds */
    bool refused;        /* with defer_unsupported: cannot run, `refusal` says why */
    const char *refusal;
} ptx_kernel_info;
typedef struct ptx_param_info {
    const char *name;
    uint32_t offset, size, align;
    ptx_type type;
    bool is_array, is_pointer;
} ptx_param_info;

size_t ptx_program_kernel_count(const ptx_program *program);
const ptx_kernel *ptx_program_kernel(const ptx_program *program, size_t index);
const ptx_kernel *ptx_program_find_kernel(const ptx_program *program, const char *name);
void ptx_kernel_describe(const ptx_kernel *kernel, ptx_kernel_info *out);
bool ptx_kernel_param(const ptx_kernel *kernel, uint32_t index, ptx_param_info *out);

/* ------------------------------------------------------------------ launches */

/* Whole calls of printf, in order of the blocks; called by one thread at a time. */
typedef void ptx_print_hook(void *user, const char *text, size_t length);

typedef struct ptx_grid {
    uint32_t grid[3], block[3];
    uint32_t cluster[3]; /* zeros: no cluster, or the kernel's own */
    uint32_t dynamic_shared;
    bool cooperative;
    uint64_t instruction_budget; /* warp instructions in all; 0: no limit */
    uint32_t stack_size;         /* bytes a thread for calls and recursion; 0: 1024 */
    uint64_t heap_size;          /* bytes for malloc in kernels; 0: 8 MiB */
    ptx_print_hook *print;       /* NULL: text is dropped */
    void *print_user;
    atomic_bool *cancel; /* set by another thread to end the launch, or NULL */
} ptx_grid;

typedef enum ptx_fault_kind {
    PTX_FAULT_NONE,
    PTX_FAULT_OUT_OF_BOUNDS, /* no allocation, or past the end of one */
    PTX_FAULT_NULL,
    PTX_FAULT_FREED,        /* use after free */
    PTX_FAULT_HOST_ADDRESS, /* an address of ordinary host memory */
    PTX_FAULT_READ_ONLY,    /* write to a read-only buffer, constant or parameter */
    PTX_FAULT_MISALIGNED,
    PTX_FAULT_ADDRESS_SPACE, /* an atomic on local memory and the like */
    PTX_FAULT_ASSERT,
    PTX_FAULT_TRAP,
    PTX_FAULT_BREAKPOINT,
    PTX_FAULT_INVALID_CALL, /* indirect call to what is no function, or one of another shape */
    PTX_FAULT_STACK_OVERFLOW,
    PTX_FAULT_BARRIER,   /* divergent or mismatched barrier */
    PTX_FAULT_DEADLOCK,  /* nothing can run any more */
    PTX_FAULT_LANE_MASK, /* a lane executes a collective whose mask does not name it */
    PTX_FAULT_GRID_SYNC, /* grid synchronisation outside a cooperative launch */
    PTX_FAULT_BUDGET,    /* instruction budget used up */
    PTX_FAULT_CANCELLED,
    PTX_FAULT_INVALID_FREE,  /* free of what malloc in a kernel did not give, or twice */
    PTX_FAULT_OUT_OF_MEMORY, /* the engine itself */
    PTX_FAULT_EXITED_LANES,  /* warning: a mask names lanes that have exited */
    /* Of the checkers; the launch goes on. */
    PTX_FAULT_RACE,          /* shared memory, between warps */
    PTX_FAULT_WARP_RACE,     /* shared memory, between lanes of a warp; a warning */
    PTX_FAULT_STORE_CLASH,   /* lanes store different values to one place in one instruction */
    PTX_FAULT_UNINITIALISED, /* use of what was read from memory that nothing has written */
    PTX_FAULT_BLOCK_RACE,    /* global memory, between blocks; a warning */
    PTX_FAULT_KIND_COUNT
} ptx_fault_kind;
const char *ptx_fault_name(ptx_fault_kind kind); /* "out of bounds", ... */

/* One finding: the first thread that did it, and how many did the same at the same instruction. */
typedef struct ptx_finding {
    ptx_fault_kind kind;
    bool warning; /* the launch goes on and does not fail because of it */
    bool defect;  /* of a checker, and as bad as an error although the launch goes on */
    uint32_t block[3], thread[3];
    uint64_t threads;     /* that did the same, at least 1; a launch with very many ends early */
    const char *function; /* the function it stands in, may be called by the kernel */
    const char *text;     /* the PTX instruction, or "" */
    uint32_t ptx_line;    /* 0: not at an instruction */
    const char *file;     /* from .loc, or NULL */
    uint32_t line;        /* in `file` */
    const char *action;   /* "reads", "writes", "atomically changes", or "" */
    uint32_t size;        /* bytes of the access */
    uint64_t address;
    ptx_space space;     /* the window the address falls in */
    bool has_allocation; /* `allocation` is the one it hits or follows */
    ptx_allocation allocation;
    int64_t offset; /* of the access from the allocation's start */
    /* The variable in shared memory; NULL: none is known, or memory that the launch added. */
    const char *variable;
    uint64_t variable_offset;
    /* Of a race: the earlier access.  Of an uninitialised read: where its value is used first. */
    bool has_other, other_known; /* other_known: its thread is */
    uint32_t other_block[3], other_thread[3];
    const char *other_action; /* "reads", "writes", "atomically changes", "uses" */
    const char *other_text, *other_file;
    uint32_t other_ptx_line, other_line;
    const char *message; /* a complete sentence: all of the above in words */
    const char *brief;   /* the same without kernel, file, line and instruction */
} ptx_finding;

/* Where a group of threads stands when a launch is stopped or stuck. */
typedef struct ptx_position {
    uint32_t block[3], thread[3]; /* the first of them */
    uint64_t threads;             /* in how many threads, over all blocks */
    const char *state;            /* "runs", "waits at barrier 0", ... */
    const char *function, *text, *file;
    uint32_t ptx_line, line;
} ptx_position;

typedef struct ptx_report {
    int result;            /* as the driver would say: 0, 700, 702, 710, 714 to 719, ... */
    const char *kernel;    /* its name */
    ptx_finding *findings; /* the first is the one that `result` comes from, unless a warning */
    size_t finding_count, finding_capacity;
    ptx_position *positions;
    size_t position_count, position_capacity;
    uint64_t warp_instructions, thread_instructions;
    gpul__arena arena; /* of all texts */
} ptx_report;
void ptx_report_free(ptx_report *report); /* leaves an empty one */
/* All findings and positions as lines of text. */
void ptx_report_render(const ptx_report *report, gpul__str *out);

typedef enum ptx_launch_status {
    PTX_LAUNCH_OK,
    PTX_LAUNCH_FAULT,   /* report->result is not 0 */
    PTX_LAUNCH_INVALID, /* grid, block, shared or parameter size: report->findings is empty and
                                 report->result is 1, 701, 720 or 912 */
    PTX_LAUNCH_REFUSED, /* an unsupported kernel of a deferred program */
    PTX_LAUNCH_OUT_OF_MEMORY, /* nothing was run */
} ptx_launch_status;

/* Runs to the end.  `params` are the kernel's parameters at their own offsets, `size` bytes. */
ptx_launch_status ptx_launch(const ptx_kernel *kernel, const ptx_grid *grid, const void *params,
                             size_t size, ptx_report *report);

#endif
