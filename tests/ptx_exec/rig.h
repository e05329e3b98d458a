/* What the tests of the engine share: a device with one program, buffers, launches with an expected
 * outcome.  Each test runs with every instruction set that this machine has.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PTX_EXEC_RIG_H
#define TESTS_PTX_EXEC_RIG_H

#include "runner.h"

#include "base/str.h"
#include "ptx/engine.h"

typedef struct rig {
    ptx_memory *memory;
    ptx_engine *engine;
    ptx_module *module;
    ptx_program *program;
    ptx_report report; /* of the last launch */
    gpul__str printed; /* by the last launch */
} rig;

/* Opens a device with the kernels of a file in tests/ptx_exec/kernels, or of a text. */
rig rig_open(const char *file, ptx_isa isa, uint32_t threads);
/* The text of such a file; freed with free(). */
char *rig_read_kernels(const char *name, size_t *length);
rig rig_open_text(const char *text, ptx_isa isa, uint32_t threads);
void rig_close(rig *r);

typedef struct buffer {
    uint64_t address;
    void *host;
} buffer;
buffer rig_buffer(rig *r, size_t size);

/* Launches and keeps the report. */
ptx_launch_status rig_launch_grid(rig *r, const char *kernel, ptx_grid grid, const void *params,
                                  size_t size);
ptx_launch_status rig_launch(rig *r, const char *kernel, uint32_t blocks, uint32_t threads,
                             const void *params, size_t size);
/* The same, and it must succeed without any finding. */
void rig_run(rig *r, const char *kernel, uint32_t blocks, uint32_t threads, const void *params,
             size_t size);
/* The first finding must be of this kind, with this result; returns it. */
const ptx_finding *rig_expect_fault(rig *r, ptx_fault_kind kind, int result);
void rig_expect_text(const char *text, const char *part);

/* Parameters in a row: a struct of the kernel's parameter types. */
#define PARAMS(...) &(__VA_ARGS__), sizeof(__VA_ARGS__)

/* Runs a test for each instruction set, with one worker and with three. */
typedef void rig_test(ptx_isa isa, uint32_t threads);
void rig_everywhere(rig_test *test);
#define RIG_TEST(name)                                                                             \
    static void name##_with(ptx_isa isa, uint32_t threads);                                        \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        rig_everywhere(name##_with);                                                               \
    }                                                                                              \
    static void name##_with(ptx_isa isa, uint32_t threads)

#endif
