/* Kernels give the same bits whatever rounding and flush modes the calling program has set, and leave it
 * its modes and exception flags.  SPDX-License-Identifier: MIT */
#include "rig.h"

#include <fenv.h>
#include <string.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

enum { THREADS = 64, BLOCKS = 32, VALUES = 6 };

static const char text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 out, .param .f32 one, .param .f32 three, .param .f32 tiny)\n{\n"
    ".reg .u32 %r<4>; .reg .u64 %o; .reg .f32 %f<9>; .reg .f64 %d<3>;\n"
    "ld.param.u64 %o, [out]; ld.param.f32 %f1, [one]; ld.param.f32 %f2, [three];\n"
    "ld.param.f32 %f3, [tiny];\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mad.lo.u32 %r1, %r2, 64, %r1;\n"
    "mad.wide.u32 %o, %r1, 24, %o;\n"
    "div.rn.f32 %f4, %f1, %f2; st.global.f32 [%o], %f4;\n"
    "add.f32 %f5, %f3, %f3; st.global.f32 [%o+4], %f5;\n"
    "sub.f32 %f6, %f4, %f2; mul.f32 %f6, %f6, %f4; st.global.f32 [%o+8], %f6;\n"
    "add.f32 %f7, %f1, 0.1; st.global.f32 [%o+12], %f7;\n"
    "cvt.f64.f32 %d1, %f2; sqrt.rn.f64 %d1, %d1; cvt.rn.f32.f64 %f8, %d1;\n"
    "st.global.f32 [%o+16], %f8;\n"
    "add.rz.f32 %f8, %f1, 0f33800000; mul.ftz.f32 %f7, %f3, %f2; add.f32 %f8, %f8, %f7;\n"
    "st.global.f32 [%o+20], %f8;\nret;\n}\n";

/* What the kernel computes, each value by the rule of its instruction. */
static const uint32_t expected[VALUES] = {
    0x3eaaaaab, /* 1/3 to nearest */
    0x00000002, /* twice the smallest subnormal */
    0xbf638e3a, /* (1/3 - 3) * 1/3 */
    0x3f8ccccd, /* 1 + 0.1 */
    0x3fddb3d7, /* the root of 3 */
    0x3f800000, /* towards zero, and a flushed product */
};

static void run_once(ptx_isa isa, uint32_t threads)
{
    rig r = rig_open_text(text, isa, threads);
    buffer out = rig_buffer(&r, sizeof expected * THREADS * BLOCKS);
    struct {
        uint64_t out;
        float one, three;
        uint32_t tiny;
    } p = { out.address, 1, 3, 1 };
    feclearexcept(FE_ALL_EXCEPT);
    rig_run(&r, "k", BLOCKS, THREADS, &p, 20);
    assert_int_equal(fetestexcept(FE_ALL_EXCEPT), 0);
    for (int t = 0; t < THREADS * BLOCKS; t++)
        assert_memory_equal((const uint8_t *)out.host + sizeof expected * (size_t)t, expected,
                            sizeof expected);
    rig_close(&r);
}

RIG_TEST(callers_modes_do_not_matter)
{
    static const int modes[] = { FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO };
    for (int k = 0; k < 4; k++) {
        assert_int_equal(fesetround(modes[k]), 0);
#if defined(__x86_64__)
        unsigned before = _mm_getcsr();
        _mm_setcsr(before | 0x8040); /* flush results and sources */
        run_once(isa, threads);
        assert_int_equal(_mm_getcsr() & ~0x3fu, (before | 0x8040) & ~0x3fu);
        _mm_setcsr(before);
#else
        run_once(isa, threads);
#endif
        assert_int_equal(fegetround(), modes[k]);
    }
    fesetround(FE_TONEAREST);
}

GPUL_TEST_MAIN("ptx-exec-environment", cmocka_unit_test(callers_modes_do_not_matter));
