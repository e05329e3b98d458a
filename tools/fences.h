/* Fences around buffers, and what can be said of a fault.  SPDX-License-Identifier: MIT */
#ifndef TOOLS_FENCES_H
#define TOOLS_FENCES_H

#include "execute.h"

bool fence_write(device_buffer *d, uint64_t bytes);

/* True when every fence is whole; else a message names kernel, buffer and bytes. */
bool fences_verify(const plan *p, const step *s);

/* The launch, its arguments, and a likely cause. */
void fault_notes(message *m, const step *s);

#endif
