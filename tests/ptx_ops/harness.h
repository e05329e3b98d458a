/* Running a row of the tables and checking what it wrote.  SPDX-License-Identifier: MIT */
#ifndef TESTS_PTX_OPS_HARNESS_H
#define TESTS_PTX_OPS_HARNESS_H

#include "ptx/exec/isa.h"
#include "ptx/exec/warp.h"
#include "ref.h"

enum { HARNESS_SHOWN = 25 }; /* mistakes that are printed */

/* Registers and a warp for one variant, and how many results were wrong so far. */
typedef struct harness {
    const isa_variant *isa;
    const op_entry *row;
    insn code;
    warp *warp;
    uint8_t *regs;
    unsigned bad;
} harness;

bool harness_start(harness *out);
void harness_end(harness *h);

/* Whether lowering makes a form out of several rows: set, and some conversions (lower_convert.c).  These are
 * compared with what hardware gave by `ptx_record --replay`, which goes through lowering. */
bool harness_in_steps(const form *f);

/* Finds the row of a form in h->isa; NULL when there is none or its operands are of other kinds. */
const op_entry *harness_row(harness *h, const form *f);

/* Runs h->row on 32 rows of inputs for the lanes of `mask`, and checks them against the reference and the
 * other lanes for being left alone. `in_place`: the result goes into the slot of the first source. */
void harness_run(harness *h, const form *f, uint64_t (*rows)[4], uint32_t mask, bool in_place,
                 const char *how);

/* Whether the result can go into the slot of the first source. */
bool harness_fits_in_place(const form *f);

#endif
