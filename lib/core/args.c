/* The table of a kernel's parameters, and the rules that decide what fits.  SPDX-License-Identifier: MIT */
#include "core/args.h"

static bool is_integer(gpul_type type)
{
    return type >= GPUL_I8 && type <= GPUL_U64;
}

static bool is_signed(gpul_type type)
{
    return type == GPUL_I8 || type == GPUL_I16 || type == GPUL_I32 || type == GPUL_I64;
}

static bool is_float(gpul_type type)
{
    return type >= GPUL_F16 && type <= GPUL_F64;
}

static uint64_t head_of(gpul_arg arg)
{
    uint64_t head;
    memcpy(&head, &arg, sizeof head);
    return head;
}

/* What a pointer's buffer must hold; a vector type counts as its lanes, and structs as anything. */
static gpul_type element_of(const gpul_member *pointee)
{
    gpul_type type = pointee->lanes > 1 ? pointee->element : pointee->type;
    return type == GPUL_BOOL || is_integer(type) || is_float(type) ? type : GPUL_TYPE_UNKNOWN;
}

void gpul__slot_make(gpul__slot *out, const gpul_param *param, gpul_source_of_types types)
{
    const gpul_member *value = &param->value;
    *out = (gpul__slot){ .offset = value->offset, .size = value->size, .rule = GPUL__RULE_SIZED };
    out->keep = value->size < sizeof out->keep ? ((uint64_t)1 << 8 * value->size) - 1 : UINT64_MAX;
    out->expect = head_of((gpul_arg){ .size = value->size });
    out->mask = head_of((gpul_arg){ .size = UINT32_MAX });
    bool pointer = param->is_pointer || value->type == GPUL_POINTER;
    if (pointer && value->size == sizeof(CUdeviceptr)) {
        out->rule = GPUL__RULE_POINTER;
        out->expect = head_of((gpul_arg){ .kind = GPUL_ARG_BUFFER, .size = value->size });
        out->mask = head_of((gpul_arg){ .kind = UINT8_MAX, .size = UINT32_MAX });
        if (types != GPUL_TYPES_COMPILER || !param->pointee) return;
        out->writes = !param->is_const;
        if (out->writes) out->mask |= head_of((gpul_arg){ .is_const = UINT8_MAX });
        out->element = (uint8_t)element_of(param->pointee);
        return;
    }
    if (types != GPUL_TYPES_COMPILER) return;
    out->expect = 1, out->mask = 0;
    if (value->lanes > 1 || value->type == GPUL_STRUCT) {
        out->rule = GPUL__RULE_BYTES;
    } else if (value->type == GPUL_BOOL) {
        out->rule = GPUL__RULE_BOOL;
    } else if (is_integer(value->type)) {
        out->rule = GPUL__RULE_SCALAR;
        out->is_signed = is_signed(value->type);
        out->expect = head_of(gpul_arg_make(GPUL_ARG_INT, out->is_signed, value->size, 0));
        out->mask = UINT64_MAX;
    } else if (is_float(value->type)) {
        gpul_arg arg = gpul_arg_make(GPUL_ARG_FLOAT, 1, value->size, 0);
        if (value->type == GPUL_BF16) arg.format = GPUL_FORMAT_BFLOAT;
        out->rule = GPUL__RULE_SCALAR;
        out->expect = head_of(arg);
        out->mask = UINT64_MAX;
    }
}

static int check_buffer(const gpul__slot *slot, const gpul_arg *arg, const gpul_device *device)
{
    const gpul_buffer *buffer = arg->v.buffer;
    if (!buffer) return GPUL__ARGS_NULL;
    if (buffer->device != device) return GPUL__ARGS_FOREIGN;
    if (arg->is_const && slot->writes) return GPUL__ARGS_CONST;
    if (slot->element && buffer->type && buffer->type != slot->element) return GPUL__ARGS_ELEMENT;
    return 0;
}

static int check_pointer(const gpul__slot *slot, const gpul_arg *arg, const gpul_device *device)
{
    switch (arg->kind) {
    case GPUL_ARG_BUFFER: return check_buffer(slot, arg, device);
    case GPUL_ARG_ADDRESS: return 0;
    default: return GPUL__ARGS_TYPE;
    }
}

/* Same size, other signedness: the value decides. */
static int check_integer(const gpul__slot *slot, const gpul_arg *arg)
{
    if (arg->size != slot->size) return GPUL__ARGS_SIZE;
    if (arg->is_signed == slot->is_signed) return 0;
    if (slot->is_signed) return arg->v.bits >> (8 * slot->size - 1) ? GPUL__ARGS_RANGE : 0;
    return (int64_t)arg->v.bits < 0 ? GPUL__ARGS_RANGE : 0;
}

static int check_scalar(const gpul__slot *slot, const gpul_arg *arg)
{
    gpul_arg expected;
    memcpy(&expected, &slot->expect, sizeof slot->expect);
    if (expected.kind == GPUL_ARG_INT)
        return arg->kind == GPUL_ARG_INT ? check_integer(slot, arg) : GPUL__ARGS_TYPE;
    /* A half travels as its two bytes: a host that has a type of its own for it may pass that. */
    if (arg->kind == GPUL_ARG_BYTES && slot->size == 2) return arg->size == 2 ? 0 : GPUL__ARGS_SIZE;
    bool same =
        arg->kind == GPUL_ARG_FLOAT && arg->size == slot->size && arg->format == expected.format;
    return same ? 0 : GPUL__ARGS_TYPE;
}

static int check_sized(const gpul__slot *slot, const gpul_arg *arg, const gpul_device *device)
{
    if (arg->kind == GPUL_ARG_BUFFER) {
        int code = check_buffer(slot, arg, device);
        if (code) return code;
    }
    return arg->size == slot->size ? 0 : GPUL__ARGS_SIZE;
}

int gpul__arg_check(const gpul__slot *slot, const gpul_arg *arg, const gpul_device *device)
{
    if (arg->kind < GPUL_ARG_INT || arg->kind > GPUL_ARG_BYTES) return GPUL__ARGS_INVALID;
    if (arg->kind == GPUL_ARG_BYTES && !arg->v.bytes) return GPUL__ARGS_NULL;
    if (arg->kind != GPUL_ARG_BYTES && arg->size > sizeof arg->v) return GPUL__ARGS_INVALID;
    switch ((gpul__rule)slot->rule) {
    case GPUL__RULE_SCALAR: return check_scalar(slot, arg);
    case GPUL__RULE_BOOL:
        if (arg->kind != GPUL_ARG_INT) return GPUL__ARGS_TYPE;
        return arg->v.bits > 1 ? GPUL__ARGS_RANGE : 0;
    case GPUL__RULE_POINTER: return check_pointer(slot, arg, device);
    case GPUL__RULE_BYTES:
        if (arg->kind != GPUL_ARG_BYTES) return GPUL__ARGS_TYPE;
        return arg->size == slot->size ? 0 : GPUL__ARGS_SIZE;
    case GPUL__RULE_SIZED: return check_sized(slot, arg, device);
    }
    return GPUL__ARGS_INVALID;
}

void gpul__arg_store(const gpul__slot *slot, const gpul_arg *arg, unsigned char *buffer)
{
    unsigned char *place = buffer + slot->offset;
    switch (arg->kind) {
    case GPUL_ARG_BYTES: memcpy(place, arg->v.bytes, slot->size); break;
    case GPUL_ARG_BUFFER: memcpy(place, &arg->v.buffer->address, slot->size); break;
    default: memcpy(place, &arg->v.bits, slot->size); break;
    }
}
