/* Files of recorded results: a head of text lines, then one entry per instruction.
 * SPDX-License-Identifier: MIT */
#ifndef TESTS_PTX_OPS_RECORDING_H
#define TESTS_PTX_OPS_RECORDING_H

#include <stdio.h>

#include "../form.h"

/* The lines of the head after the first, without their names. */
typedef struct recording_head {
    char device[256], compute[32], driver[96], date[40];
} recording_head;

/* The results of one instruction; `key` is its name, and "#table" more for lop3. */
typedef struct recording_entry {
    char key[FORM_NAME + 8];
    uint32_t input_hash; /* of the inputs it was recorded with */
    unsigned count;
    uint64_t results[FORM_INPUTS];
} recording_entry;

void recording_key(char *out, size_t room, const form *form);
uint32_t recording_hash(const uint64_t (*inputs)[4], unsigned count);

bool recording_write_head(FILE *file, const recording_head *head);
bool recording_write(FILE *file, const recording_entry *entry, unsigned bytes_each);
bool recording_read_head(FILE *file, recording_head *head);
int recording_read(FILE *file, recording_entry *entry); /* 1: read; 0: the end; -1: damaged */

#endif
