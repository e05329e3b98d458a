// SPDX-License-Identifier: MIT
// Inline assembly: scopes with their own registers and labels, modifiers in odd orders.
extern "C" __global__ void scopes(unsigned *out, const unsigned *in)
{
    unsigned a = in[0], b = in[1], c;
    asm volatile("{\n\t.reg .pred p;\n\t.reg .b32 t<3>;\n\tsetp.lt.u32 p, %1, %2;\n\tmov.b32 t1, %1;\n\t@p add.u32 t1, t1, 1;\n\t@!p bra again;\n\tadd.u32 t1, t1, 2;\nagain:\n\tmov.b32 %0, t1;\n\t}" : "=r"(c) : "r"(a), "r"(b));
    asm volatile("{ .reg .pred p; .reg .b32 t<3>; setp.ge.u32 p|_, %1, %2; selp.b32 t2, %1, %2, p; @p bra again; xor.b32 t2, t2, 5; again: { .reg .b32 t<3>; not.b32 t2, t2; mov.b32 %0, t2; } add.u32 %0, %0, t2; }" : "=&r"(out[0]) : "r"(c), "r"(b));
    asm volatile("atom.global.sys.add.relaxed.u32 %0, [%1], 1;" : "=r"(c) : "l"(out) : "memory");
    asm volatile("ld.global.acquire.gpu.u32 %0, [%1+4];" : "=r"(a) : "l"(out) : "memory");
    asm volatile("st.global.release.gpu.b32 [%0], %1;" :: "l"(out), "r"(a + c) : "memory");
    asm volatile("ld.global.nc.L1::no_allocate.L2::128B.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(in));
    asm volatile("vote.ballot.sync.b32 %0, 1, 0xffffffff;" : "=r"(c));
    asm volatile("red.relaxed.gpu.global.add.u32 [%0], %1;" :: "l"(out), "r"(a ^ b ^ c) : "memory");
    unsigned long long w;
    asm("mov.b64 %0, {%1, %2};" : "=l"(w) : "r"(a), "r"(b));
    asm("mov.b64 {%0, _}, %1;" : "=r"(a) : "l"(w));
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(c) : "r"(a), "r"(b), "r"(c));
    out[1] = a + b + c;
    asm volatile("prefetch.global.L2 [%0]; bar.sync 0; barrier.sync 1, 64; exit;" :: "l"(in));
}
