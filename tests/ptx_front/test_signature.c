/* Signatures: parameters, launch directives, what kernels use, globals.  SPDX-License-Identifier: MIT */
#include "runner.h"

#include <stdlib.h>
#include <string.h>

#include "ptx/signature.h"
#include "samples.h"

static ptx_signature *read_sample(const char *name)
{
    size_t length;
    char *text = sample_text(name, &length);
    ptx_diags diags = { 0 };
    ptx_signature *signature = NULL;
    assert_int_equal(ptx_signature_read(&signature, text, length, &diags), PTX_OK);
    assert_int_equal(diags.count, 0);
    ptx_diags_free(&diags);
    free(text);
    return signature;
}

static const ptx_signature_kernel *kernel_of(const ptx_signature *signature, const char *name)
{
    const ptx_signature_kernel *kernel = ptx_signature_find(signature, name);
    if (!kernel) fail_msg("no kernel %s", name);
    return kernel;
}

static const ptx_signature_global *global_of(const ptx_signature *signature, const char *name)
{
    for (uint32_t i = 0; i < signature->global_count; i++)
        if (!strcmp(signature->globals[i].name, name)) return &signature->globals[i];
    fail_msg("no global %s", name);
    return NULL;
}

static void check_param(const ptx_signature_kernel *kernel, uint32_t index, uint64_t offset,
                        uint64_t size, ptx_param_kind kind)
{
    const ptx_signature_param *param = &kernel->params[index];
    assert_int_equal(param->index, index);
    assert_int_equal(param->offset, offset);
    assert_int_equal(param->size, size);
    assert_int_equal(param->kind, kind);
}

static void test_compiled(void **state)
{
    (void)state;
    for (int newer = 0; newer < 2; newer++) {
        ptx_signature *s = read_sample(newer ? "calls_sm100_lines.ptx" : "calls_sm90.ptx");
        assert_int_equal(s->version_major, 9);
        assert_int_equal(s->target_sm, newer ? 100 : 90);
        assert_string_equal(s->target, newer ? "sm_100" : "sm_90");
        assert_int_equal(s->address_size, 64);
        assert_int_equal(s->kernel_count, 5);
        ptx_param_kind pointer = newer ? PTX_PARAM_POINTER : PTX_PARAM_MAYBE_POINTER;

        const ptx_signature_kernel *k = kernel_of(s, "prints");
        assert_int_equal(k->param_count, 3);
        check_param(k, 0, 0, 8, pointer);
        check_param(k, 1, 8, 4, PTX_PARAM_FLOAT);
        check_param(k, 2, 12, 20, PTX_PARAM_BYTES);
        assert_int_equal(k->param_bytes, 32);
        assert_true(k->has_maxntid);
        assert_int_equal(k->maxntid[0], 128);
        assert_int_equal(k->maxntid[1], 1);
        assert_int_equal(k->minnctapersm, 2);
        assert_int_equal(k->uses, 0);
        assert_int_equal(k->linkage, PTX_LINKAGE_VISIBLE);

        k = kernel_of(s, "shared");
        assert_int_equal(k->param_count, 4);
        check_param(k, 0, 0, 8, pointer);
        assert_int_equal(k->params[1].size, 2);
        assert_int_equal(k->params[2].size, 1);
        check_param(k, 3, 16, 8, PTX_PARAM_FLOAT);
        assert_int_equal(k->param_bytes, 24);
        /* tid.y and ctaid.z are read in a function that it calls. */
        assert_int_equal(k->uses, PTX_USES_TID_Y | PTX_USES_CTAID_Z | PTX_USES_DYNAMIC_SHARED);
        assert_true(k->static_shared >= 33 * 4 + 8 && k->static_shared <= 33 * 4 + 8 + 16);
        assert_int_equal(kernel_of(s, "recursive")->static_shared, 0);

        const ptx_signature_global *g = global_of(s, "matrix");
        assert_int_equal(g->size, 48);
        assert_int_equal(g->space, PTX_SPACE_GLOBAL);
        assert_int_equal(g->align, 8);
        assert_int_equal(global_of(s, "table")->space, PTX_SPACE_CONST);
        assert_int_equal(global_of(s, "table")->size, 16);
        assert_int_equal(global_of(s, "dynamic")->size, 0);
        assert_null(ptx_signature_find(s, "nothing"));
        ptx_signature_free(s);
    }
    assert_int_equal(gpul__alloc_live(), 0);
}

static void test_handwritten(void **state)
{
    (void)state;
    ptx_signature *s = read_sample("handwritten_sm90.ptx");
    assert_int_equal(s->target_suffix, 'a');
    assert_int_equal(s->kernel_count, 1);
    const ptx_signature_kernel *k = &s->kernels[0];
    check_param(k, 0, 0, 8, PTX_PARAM_POINTER);
    assert_int_equal(k->params[0].pointee_space, PTX_SPACE_GLOBAL);
    assert_int_equal(k->params[0].pointee_align, 16);
    check_param(k, 2, 16, 24, PTX_PARAM_BYTES);
    check_param(k, 3, 40, 2, PTX_PARAM_SIGNED);
    assert_int_equal(k->param_bytes, 42);
    assert_int_equal(k->maxntid[1], 4);
    assert_true(k->has_reqnctapercluster);
    assert_int_equal(k->reqnctapercluster[0], 2);
    assert_int_equal(k->maxnreg, 64);
    assert_true(k->uses & PTX_USES_DYNAMIC_SHARED);
    assert_int_equal(k->static_shared, 16 * 17 * 4);
    assert_true(global_of(s, "managed_word")->managed);
    assert_int_equal(global_of(s, "later")->linkage, PTX_LINKAGE_VISIBLE);
    assert_int_equal(global_of(s, "doubles")->size, 24);
    ptx_signature_free(s);
    s = read_sample("old_sm50.ptx");
    k = kernel_of(s, "old");
    assert_int_equal(s->address_size, 32);
    assert_int_equal(k->params[0].kind, PTX_PARAM_UNSIGNED);
    assert_int_equal(k->params[1].kind, PTX_PARAM_UNKNOWN);
    assert_int_equal(k->uses, PTX_USES_CTAID_Y | PTX_USES_GRID_SYNC);
    ptx_signature_free(s);
    assert_int_equal(gpul__alloc_live(), 0);
}

/* Through a table of functions and through a call chain; shared memory counts once. */
static void test_reach(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n"
        ".shared .align 8 .b8 common[100];\n.extern .shared .b8 more[];\n"
        ".func leaf() { .reg .b32 %r<3>; mov.u32 %r1, %tid.z; mov.u32 %r2, common; ret; }\n"
        ".func middle() { .shared .align 4 .b8 own[12]; call leaf; call middle; ret; }\n"
        ".global .u64 functions[1] = {leaf};\n"
        ".entry a() { call middle; call leaf; ret; }\n"
        ".entry b() { .reg .b64 %d<2>; ld.global.u64 %d1, [functions]; ret; }\n"
        ".entry c() { .reg .b32 %r<9>; mov.v4.u32 {%r1, %r2, %r3, %r4}, %ctaid;\n"
        "  mov.u32 %r5, %tid.x; mov.u32 %r6, %cluster_ctarank; mov.u32 %r7, more; ret; }\n"
        ".entry d() { ret; }\n.entry declared();\n";
    ptx_diags diags = { 0 };
    ptx_signature *s = NULL;
    assert_int_equal(ptx_signature_read(&s, text, sizeof text - 1, &diags), PTX_OK);
    assert_int_equal(s->kernel_count, 4);
    assert_int_equal(kernel_of(s, "a")->uses, PTX_USES_TID_Z);
    assert_int_equal(kernel_of(s, "b")->uses, PTX_USES_TID_Z);
    assert_int_equal(kernel_of(s, "b")->static_shared, 100);
    assert_true(kernel_of(s, "a")->static_shared >= 112 && kernel_of(s, "a")->static_shared <= 128);
    assert_int_equal(kernel_of(s, "c")->uses, PTX_USES_CTAID_Y | PTX_USES_CTAID_Z |
                                                  PTX_USES_CLUSTER | PTX_USES_DYNAMIC_SHARED);
    assert_int_equal(kernel_of(s, "d")->uses, 0);
    assert_int_equal(kernel_of(s, "d")->static_shared, 0);
    ptx_signature_free(s);
    ptx_diags_free(&diags);
}

static void test_faults(void **state)
{
    (void)state;
    ptx_diags diags = { 0 };
    ptx_signature *s = NULL;
    assert_int_equal(ptx_signature_read(&s, "no ptx", 6, &diags), PTX_INVALID);
    assert_null(s);
    assert_int_equal(diags.errors, 1);
    ptx_diags_free(&diags);
    ptx_signature_free(NULL);
}

GPUL_TEST_MAIN("ptx: signatures", cmocka_unit_test(test_compiled),
               cmocka_unit_test(test_handwritten), cmocka_unit_test(test_reach),
               cmocka_unit_test(test_faults));
