/* What is said about arguments that do not fit: each one with its parameter, both types and sizes, the
 * place of the declaration and what to write instead.  SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/kernel.h"
#include "core/launch_mistakes.h"

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- Names of types and arguments ---- */

/* "float", "const float *", or what is known without a type: "a pointer", "4 bytes of unknown type". */
static void say_type(gpul__str *out, const gpul_param *param, gpul_source_of_types types)
{
    const char *name = param->value.type_name;
    if (name && *name && types == GPUL_TYPES_COMPILER) gpul__str_add(out, name);
    else if (param->is_pointer) gpul__str_add(out, "a pointer");
    else if (types == GPUL_TYPES_PTX && param->value.type >= GPUL_F16 &&
             param->value.type <= GPUL_F64)
        gpul__str_add(out, gpul_type_name(param->value.type));
    else gpul__str_add(out, "of unknown type");
}

/* "argument 3 of 'scale' ('by')"; without the name where it is not known. */
static void say_place(gpul__str *out, const gpul_kernel *kernel, size_t index)
{
    const char *name = kernel->info.params[index].value.name;
    gpul__str_printf(out, "argument %zu of '%s'", index + 1, kernel->info.name);
    if (name && *name) gpul__str_printf(out, " ('%s')", name);
}

static const char *integer_name(const gpul_arg *arg)
{
    static const char *const names[2][4] = {
        { "unsigned char", "unsigned short", "unsigned", "unsigned long" },
        { "signed char", "short", "int", "long" },
    };
    int row = arg->is_signed ? 1 : 0;
    switch (arg->size) {
    case 1: return names[row][0];
    case 2: return names[row][1];
    case 4: return names[row][2];
    case 8: return names[row][3];
    default: return "integer";
    }
}

static double value_of(const gpul_arg *arg)
{
    float single;
    double value;
    if (arg->size == 8) {
        memcpy(&value, &arg->v.bits, sizeof value);
        return value;
    }
    memcpy(&single, &arg->v.bits, sizeof single);
    return (double)single;
}

/* The shortest decimal that reads back as the same number, with a point or an exponent in it. */
static void say_number(char out[40], double value, bool single)
{
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(out, 32, "%.*g", digits, value);
        double back = strtod(out, NULL);
        if (single ? (float)back == (float)value : back == value) break;
    }
    if (!strpbrk(out, ".en")) strcat(out, ".0");
}

static void say_integer(gpul__str *out, const gpul_arg *arg)
{
    if (arg->is_signed) gpul__str_printf(out, "%" PRId64, (int64_t)arg->v.bits);
    else gpul__str_printf(out, "%" PRIu64, arg->v.bits);
}

static void say_argument(gpul__str *out, const gpul_arg *arg)
{
    char number[40];
    switch (arg->kind) {
    case GPUL_ARG_INT:
        gpul__str_printf(out, "%s ", integer_name(arg));
        say_integer(out, arg);
        break;
    case GPUL_ARG_FLOAT:
        if (arg->size == 2) {
            gpul__str_add(out, arg->format == GPUL_FORMAT_BFLOAT ? "a bfloat16" : "a half");
            break;
        }
        say_number(number, value_of(arg), arg->size == 4);
        gpul__str_printf(out, "%s %s", arg->size == 4 ? "float" : "double", number);
        break;
    case GPUL_ARG_BUFFER:
        if (arg->v.buffer) gpul__buffer_title(out, arg->v.buffer);
        else gpul__str_add(out, "a NULL buffer");
        break;
    case GPUL_ARG_ADDRESS:
        if (arg->v.bits) gpul__str_printf(out, "device address 0x%" PRIx64, arg->v.bits);
        else gpul__str_add(out, "a null pointer");
        break;
    case GPUL_ARG_BYTES: gpul__str_add(out, "a struct"); break;
    default: gpul__str_add(out, "something that no gpul_arg function made"); return;
    }
    gpul__str_printf(out, " (%u byte%s)", arg->size, plural(arg->size));
}

/* ---- What to write instead ---- */

static const char *hint_for_float(gpul__arena *arena, gpul_type type, const gpul_arg *arg)
{
    char number[40];
    if (type == GPUL_F16) return "pass the 16 bits of the number with gpul_half(bits)";
    if (type == GPUL_BF16) return "pass the 16 bits of the number with gpul_bfloat16(bits)";
    const char *name = type == GPUL_F32 ? "float" : "double", *suffix = type == GPUL_F32 ? "f" : "";
    if (arg->kind == GPUL_ARG_INT && (int64_t)arg->v.bits >= -9999 && (int64_t)arg->v.bits <= 9999)
        return gpul__arena_printf(arena, "write %" PRId64 ".0%s, or cast it: (%s)value",
                                  (int64_t)arg->v.bits, suffix, name);
    if (arg->kind == GPUL_ARG_FLOAT && arg->size >= 4) {
        say_number(number, value_of(arg), type == GPUL_F32 || arg->size == 4);
        return gpul__arena_printf(arena, "write %s%s, or cast it: (%s)value", number, suffix, name);
    }
    if (arg->kind == GPUL_ARG_INT || arg->kind == GPUL_ARG_FLOAT)
        return gpul__arena_printf(arena, "cast it: (%s)value", name);
    return "this parameter is a number: pass its value";
}

static const char *hint_for_integer(gpul__arena *arena, const gpul_param *param,
                                    const gpul_arg *arg)
{
    const char *name = param->value.type_name;
    if (arg->kind != GPUL_ARG_INT && arg->kind != GPUL_ARG_FLOAT)
        return "this parameter is a number: pass its value";
    if (param->value.is_enum) return "cast it to the enumeration's own integer type";
    return gpul__arena_printf(arena, "cast it: (%s)value", name && *name ? name : "int");
}

static const char *hint_for_pointer(const gpul_arg *arg)
{
    if (arg->kind == GPUL_ARG_INT && arg->v.bits == 0) return "write gpul_null for a null pointer";
    return "pass a gpul_buffer, gpul_address(a) for a raw device address, or gpul_null";
}

static const char *hint_for(gpul__arena *arena, int code, const gpul__slot *slot,
                            const gpul_param *param, const gpul_arg *arg)
{
    gpul_type type = param->value.type;
    switch (code) {
    case GPUL__ARGS_NULL:
        return arg->kind == GPUL_ARG_BUFFER
                   ? "write gpul_null if a null pointer is meant; else the buffer's gpul_alloc "
                     "failed or it was freed"
                   : "gpul_value takes an object";
    case GPUL__ARGS_FOREIGN:
        return "make all objects of a launch from one gpul_device; to bring the data over, read it and "
               "write it to a buffer of this device";
    case GPUL__ARGS_CONST:
        return "pass the buffer itself, without gpul_in; or add const to the kernel's parameter if "
               "it only reads";
    case GPUL__ARGS_ELEMENT:
        return "make the buffer with the parameter's element type, or with type 0";
    case GPUL__ARGS_RANGE:
        return "use a value that the parameter's type can hold, or declare it wider";
    case GPUL__ARGS_INVALID: return "make arguments with gpul_args or the gpul_arg functions only";
    default: break;
    }
    if (slot->rule == GPUL__RULE_POINTER) return hint_for_pointer(arg);
    if (slot->rule == GPUL__RULE_BYTES)
        return code == GPUL__ARGS_SIZE
                   ? "compare the host's struct with the members that gpulaunch inspect prints"
                   : "pass the whole struct: gpul_value(object)";
    if (slot->rule == GPUL__RULE_BOOL) return "pass true or false";
    if (slot->rule == GPUL__RULE_SCALAR)
        return type >= GPUL_F16 && type <= GPUL_F64 ? hint_for_float(arena, type, arg)
                                                    : hint_for_integer(arena, param, arg);
    if (arg->kind == GPUL_ARG_FLOAT && arg->size == 8 && slot->size == 4)
        return hint_for_float(arena, GPUL_F32, arg);
    return "cast it to the parameter's own type, so that its size is the same";
}

/* ---- One mistake ---- */

static void say_range(gpul__str *out, const gpul__slot *slot)
{
    unsigned bits = 8 * slot->size;
    if (slot->rule == GPUL__RULE_BOOL) gpul__str_add(out, " (0 or 1)");
    else if (slot->is_signed)
        gpul__str_printf(out, " (%" PRId64 " to %" PRId64 ")",
                         bits == 64 ? INT64_MIN : -((int64_t)1 << (bits - 1)),
                         bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1);
    else
        gpul__str_printf(out, " (0 to %" PRIu64 ")",
                         bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1);
}

#define ADD(...) gpul__mistake_add(mistakes, code, param, hint, __VA_ARGS__)

static void add_mistake(gpul__mistakes *mistakes, int code, const gpul_kernel *kernel, size_t index,
                        const gpul_arg *arg)
{
    const gpul_param *param = &kernel->info.params[index];
    const gpul__slot *slot = &kernel->slots[index];
    gpul__str given = { 0 }, type = { 0 }, place = { 0 };
    say_argument(&given, arg);
    say_type(&type, param, kernel->info.types);
    say_place(&place, kernel, index);
    gpul__str_printf(&type, " (%u byte%s)", slot->size, plural(slot->size));
    if (code == GPUL__ARGS_RANGE) say_range(&type, slot);
    const char *hint = hint_for(&mistakes->arena, code, slot, param, arg);
    const char *g = gpul__str_text(&given), *t = gpul__str_text(&type), *p = gpul__str_text(&place);
    switch (code) {
    case GPUL__ARGS_RANGE: ADD("%s: %s does not fit in %s", p, g, t); break;
    case GPUL__ARGS_CONST:
        ADD("%s: %s may only be read, and %s is no pointer to const", p, g, t);
        break;
    case GPUL__ARGS_ELEMENT:
        ADD("%s: %s holds %s, and %s points at %s", p, g, gpul_type_name(arg->v.buffer->type), t,
            gpul_type_name((gpul_type)slot->element));
        break;
    case GPUL__ARGS_FOREIGN: ADD("%s: %s belongs to another device than the kernel", p, g); break;
    case GPUL__ARGS_NULL:
        ADD("%s: a NULL %s for %s", p, arg->kind == GPUL_ARG_BUFFER ? "buffer" : "object", t);
        break;
    default: ADD("%s is %s, got %s", p, t, g); break;
    }
    if (given.failed || type.failed || place.failed) mistakes->failed = true;
    gpul__str_free(&given);
    gpul__str_free(&type);
    gpul__str_free(&place);
}
#undef ADD

/* Two arguments of which each fits in the other's place. */
static bool find_swapped(const gpul_kernel *kernel, gpul_arglist args, size_t *a, size_t *b)
{
    for (*a = 0; *a < args.count; ++*a) {
        if (!gpul__arg_check(&kernel->slots[*a], &args.items[*a], kernel->device)) continue;
        for (*b = *a + 1; *b < args.count; ++*b)
            if (gpul__arg_check(&kernel->slots[*b], &args.items[*b], kernel->device) &&
                !gpul__arg_check(&kernel->slots[*a], &args.items[*b], kernel->device) &&
                !gpul__arg_check(&kernel->slots[*b], &args.items[*a], kernel->device))
                return true;
    }
    return false;
}

void gpul__args_table(const gpul_kernel_info *info)
{
    for (size_t i = 0; i < info->param_count; i++) {
        const gpul_param *p = &info->params[i];
        gpul__str text = { 0 };
        gpul__str_printf(&text, "parameter %zu: ", i + 1);
        if (p->value.name && *p->value.name) gpul__str_printf(&text, "%s, ", p->value.name);
        say_type(&text, p, info->types);
        gpul__str_printf(&text, ", %u byte%s at offset %u", p->value.size, plural(p->value.size),
                         p->value.offset);
        gpul__detail(&(gpul_detail){ .severity = GPUL_NOTE,
                                     .file = p->file && *p->file ? p->file : NULL,
                                     .line = p->line,
                                     .column = p->column,
                                     .end_column = p->end_column,
                                     .parameter = p->value.name,
                                     .text = gpul__str_text(&text) });
        gpul__str_free(&text);
    }
}

static gpul_status explain_count(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                                 gpul_arglist args)
{
    gpul__str sizes = { 0 };
    for (uint32_t i = 0; i < kernel->slot_count; i++)
        gpul__str_printf(&sizes, "%s%u", i ? " " : "", kernel->slots[i].size);
    bool more = args.count > kernel->slot_count;
    gpul__fail(
        GPUL__ARGS_COUNT,
        (.call = "gpul_launch", .caller_file = opts->caller_file, .caller_line = opts->caller_line),
        "'%s' takes %u argument%s%s%s%s, got %zu", kernel->info.name, kernel->slot_count,
        plural(kernel->slot_count), kernel->slot_count ? " (" : "", gpul__str_text(&sizes),
        kernel->slot_count ? " bytes)" : "", args.count);
    gpul__str_free(&sizes);
    gpul__args_table(&kernel->info);
    for (size_t i = 0; i < args.count; i++) {
        gpul__str given = { 0 };
        say_argument(&given, &args.items[i]);
        gpul__note("argument %zu: %s", i + 1, gpul__str_text(&given));
        gpul__str_free(&given);
    }
    if (!kernel->slot_count) return gpul__hint("write gpul_no_args");
    if (more)
        return gpul__hint("leave out what the kernel does not take; a struct by value is one "
                          "argument");
    return gpul__hint("give one argument for each parameter; gpul_null for a null pointer");
}

gpul_status gpul__args_explain(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                               gpul_arglist args)
{
    if (args.count && !args.items)
        return gpul__fail(GPUL__ARGS_NULL, (.call = "gpul_launch"),
                          "gpul_launch: the argument list has %zu items and no memory", args.count);
    if (args.count != kernel->slot_count) return explain_count(kernel, opts, args);
    gpul__mistakes mistakes = { 0 };
    for (size_t i = 0; i < args.count; i++) {
        int code = gpul__arg_check(&kernel->slots[i], &args.items[i], kernel->device);
        if (code) add_mistake(&mistakes, code, kernel, i, &args.items[i]);
    }
    gpul__str summary = { 0 };
    gpul__str_printf(&summary, "%zu arguments of '%s' do not fit", mistakes.count,
                     kernel->info.name);
    size_t a = 0, b = 0;
    bool swapped = find_swapped(kernel, args, &a, &b);
    gpul_status status = gpul__mistakes_fail(&mistakes, opts->caller_file, opts->caller_line,
                                             gpul__str_text(&summary));
    gpul__str_free(&summary);
    if (swapped && status != GPUL_E_MEMORY)
        return gpul__hint("arguments %zu and %zu seem to be swapped", a + 1, b + 1);
    return status;
}
