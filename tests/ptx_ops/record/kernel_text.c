/* Writes one kernel per instruction: load the operands, apply, store.  SPDX-License-Identifier: MIT */
#include "kernel_text.h"

unsigned kernel_text_width(const form *f, form_type type)
{
    unsigned bits = form_bits(type);
    if (type == TYPE_PRED || bits > 8) return bits;
    return f->d == TYPE_BF16 || f->source[0] == TYPE_BF16 ? 8 : 32;
}

static const char *prefix_of(const form *f, form_type type)
{
    switch (kernel_text_width(f, type)) {
    case 1: return "%p";
    case 8: return "%b";
    case 16: return "%h";
    case 32: return "%r";
    default: return "%d";
    }
}

static void instruction(FILE *out, const form *f)
{
    const char *three = strstr(f->words[0], "3");
    if (three != NULL && strcmp(f->words[0], "lop3") != 0) /* min3, max3: our names for min, max */
        fprintf(out, "    %.3s%s ", f->words[0], f->name + strlen(f->words[0]));
    else fprintf(out, "    %s ", f->name);
    if (f->d == TYPE_PRED) fputs(f->pair ? "%p0|%p1" : "%p0", out);
    else fprintf(out, "%s0", prefix_of(f, f->d));
    for (unsigned i = 0; i < f->source_count; i++)
        fprintf(out, ", %s%u", prefix_of(f, f->source[i]), i + 1);
    if (f->immediate) fprintf(out, ", %u", (unsigned)f->constant);
    fputs(";\n", out);
}

static void kernel(FILE *out, const form *f, size_t index)
{
    fprintf(
        out,
        ".visible .entry op%zu(.param .u64 .ptr .global .align 8 inputs,\n"
        "    .param .u64 .ptr .global .align 8 outputs)\n"
        "{\n"
        "    .reg .pred %%p<4>;\n    .reg .b8 %%b<4>;\n    .reg .b16 %%h<8>;\n    .reg .b32 %%r<16>;\n"
        "    .reg .b64 %%d<16>;\n"
        "    ld.param.u64 %%d8, [inputs];\n    ld.param.u64 %%d9, [outputs];\n"
        "    cvta.to.global.u64 %%d8, %%d8;\n    cvta.to.global.u64 %%d9, %%d9;\n"
        "    mov.u32 %%r8, %%tid.x;\n    mov.u32 %%r9, %%ctaid.x;\n    mov.u32 %%r10, %%ntid.x;\n"
        "    mad.lo.u32 %%r8, %%r9, %%r10, %%r8;\n"
        "    mul.wide.u32 %%d10, %%r8, 32;\n    add.u64 %%d8, %%d8, %%d10;\n"
        "    mul.wide.u32 %%d10, %%r8, 8;\n    add.u64 %%d9, %%d9, %%d10;\n",
        index);
    for (unsigned i = 0; i < f->source_count; i++) {
        unsigned width = kernel_text_width(f, f->source[i]);
        if (width == 8) /* from and to memory by way of 16 bits */
            fprintf(out, "    ld.global.b16 %%h1, [%%d8+%u];\n    mov.b16 {%%b1, %%b2}, %%h1;\n",
                    i * 8);
        else
            fprintf(out, "    ld.global.b%u %s%u, [%%d8+%u];\n", width, prefix_of(f, f->source[i]),
                    i + 1, i * 8);
    }
    instruction(out, f);
    switch (kernel_text_width(f, f->d)) {
    case 1:
        fputs("    selp.b64 %d0, 1, 0, %p0;\n", out);
        if (f->pair) fputs("    selp.b64 %d1, 2, 0, %p1;\n    or.b64 %d0, %d0, %d1;\n", out);
        break;
    case 8: fputs("    mov.b16 %h0, {%b0, 0};\n    cvt.u64.u16 %d0, %h0;\n", out); break;
    case 16: fputs("    cvt.u64.u16 %d0, %h0;\n", out); break;
    case 32: fputs("    cvt.u64.u32 %d0, %r0;\n", out); break;
    default: break;
    }
    fputs("    st.global.b64 [%d9], %d0;\n    ret;\n}\n\n", out);
}

void kernel_text_module(FILE *out, const form *forms, size_t count, unsigned arch)
{
    fprintf(out, ".version %s\n.target sm_%u\n.address_size 64\n\n", arch > 90 ? "8.8" : "8.1",
            arch);
    for (size_t i = 0; i < count; i++) kernel(out, &forms[i], i);
}
