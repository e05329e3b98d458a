/* Arguments: each kernel has a compact table of what its parameters take, and a launch packs its
 * arguments by that table into the buffer that the driver gets.  What does not fit is told by
 * args_explain.c.  SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_ARGS_H
#define GPUL_CORE_ARGS_H

#include <string.h>

#include "base/str.h"
#include "core/buffer.h"

/* What a parameter takes. */
typedef enum gpul__rule {
    GPUL__RULE_SCALAR,  /* an integer or float of its own size and kind */
    GPUL__RULE_BOOL,    /* an integer of any size that is 0 or 1 */
    GPUL__RULE_POINTER, /* a buffer or a device address */
    GPUL__RULE_BYTES,   /* a struct of its size */
    GPUL__RULE_SIZED    /* anything of its size: no more is known of it */
} gpul__rule;

/* One parameter.  `expect` is what the first eight bytes of a gpul_arg are that fits at once: kind,
 * signedness, const, format and size. */
typedef struct gpul__slot {
    uint64_t keep; /* the bits of a word that belong to it; sizes up to eight bytes */
    uint64_t expect,
        mask; /* mask: what of them must be so; with 0 and expect 1, nothing fits at once */
    uint32_t offset, size;
    uint8_t rule;      /* gpul__rule */
    uint8_t is_signed; /* of an integer */
    uint8_t writes;    /* a pointer to what is not const */
    uint8_t element;   /* gpul_type that a pointer points at; 0: any */
} gpul__slot;

/* The slot of a parameter; `types` says how much is known of it. */
void gpul__slot_make(gpul__slot *out, const gpul_param *param, gpul_source_of_types types);

/* 0 when the argument fits, else the code of the mistake. */
int gpul__arg_check(const gpul__slot *slot, const gpul_arg *arg, const gpul_device *device);

/* Writes an argument that fits at its place. */
void gpul__arg_store(const gpul__slot *slot, const gpul_arg *arg, unsigned char *buffer);

/* The sizes that scalars have; false for any other. */
static inline bool gpul__arg_put(unsigned char *place, const gpul_arg *arg, uint32_t size)
{
    switch (size) {
    case 4: memcpy(place, &arg->v.bits, 4); return true;
    case 8: memcpy(place, &arg->v.bits, 8); return true;
    case 2: memcpy(place, &arg->v.bits, 2); return true;
    case 1: memcpy(place, &arg->v.bits, 1); return true;
    default: return false;
    }
}

static inline bool gpul__arg_pack_buffer(const gpul__slot *slot, const gpul_arg *arg,
                                         const gpul_device *device, unsigned char *place)
{
    const gpul_buffer *b = arg->v.buffer;
    if (!b || b->device != device || (arg->is_const & slot->writes)) return false;
    if (slot->element && b->type && b->type != slot->element) return false;
    memcpy(place, &b->address, 8);
    return true;
}

/* The common cases; false: not one of them, which does not mean that it does not fit. */
static inline bool gpul__arg_pack(const gpul__slot *slot, const gpul_arg *arg,
                                  const gpul_device *device, unsigned char *buffer)
{
    unsigned char *place = buffer + slot->offset;
    uint64_t head;
    switch ((gpul__rule)slot->rule) {
    case GPUL__RULE_SCALAR:
        memcpy(&head, arg, sizeof head);
        return head == slot->expect && gpul__arg_put(place, arg, slot->size);
    case GPUL__RULE_POINTER:
        return arg->kind == GPUL_ARG_BUFFER && gpul__arg_pack_buffer(slot, arg, device, place);
    case GPUL__RULE_SIZED:
        if (arg->size != slot->size) return false;
        if (arg->kind == GPUL_ARG_INT || arg->kind == GPUL_ARG_FLOAT)
            return gpul__arg_put(place, arg, slot->size);
        return arg->kind == GPUL_ARG_BUFFER && arg->size == 8 &&
               gpul__arg_pack_buffer(slot, arg, device, place);
    default: return false;
    }
}

/* Packs `count` arguments, as many as there are slots; false when one of them does not fit. */
static inline bool gpul__args_pack(const gpul__slot *slots, const gpul_arg *args, size_t count,
                                   const gpul_device *device, unsigned char *buffer)
{
    for (size_t i = 0; i < count; i++) {
        if (gpul__arg_pack(&slots[i], &args[i], device, buffer)) continue;
        if (gpul__arg_check(&slots[i], &args[i], device)) return false;
        gpul__arg_store(&slots[i], &args[i], buffer);
    }
    return true;
}

/* The same for parameters of at most eight bytes, in fewer steps: whole words are stored, which zeroes gaps, and the
 * next parameter overwrites what is too much of them, so that the buffer needs eight bytes more than the parameters.  False: one is not of the
 * common cases; nothing is said of whether it fits. */
static inline bool gpul__args_pack_quickly(const gpul__slot *slots, const gpul_arg *args,
                                           size_t count, const gpul_device *device,
                                           unsigned char *buffer)
{
    for (const gpul__slot *slot = slots, *end = slots + count; slot < end; slot++, args++) {
        uint64_t head, word = args->v.bits;
        memcpy(&head, args, sizeof head);
        if ((head & slot->mask) != slot->expect) return false;
        if (args->kind >= GPUL_ARG_BUFFER) {
            const gpul_buffer *b = args->v.buffer;
            if (args->kind != GPUL_ARG_BUFFER || !b || b->device != device ||
                (slot->element && b->type && b->type != slot->element))
                return false;
            word = b->address;
        }
        word &= slot->keep;
        memcpy(buffer + slot->offset, &word, sizeof word);
    }
    return true;
}

/* Makes the record for a list that does not fit. */
gpul_status gpul__args_explain(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                               gpul_arglist args);

/* "1. x: const float *, 8 bytes at offset 0" for every parameter, as notes of the record. */
void gpul__args_table(const gpul_kernel_info *info);

/* Checked mode: GL0316 for a pointer argument that is no address of this device's memory.  Needs the
 * context current. */
gpul_status gpul__args_check_addresses(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                                       gpul_arglist args);

#endif
