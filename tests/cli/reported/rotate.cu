// An instruction that only the assembler refuses.  SPDX-License-Identifier: MIT
extern "C" __global__ void turn(const unsigned *in, unsigned *out)
{
    unsigned r;
#ifdef RIGHT
    asm("shf.l.wrap.b32 %0, %1, %1, 4;" : "=r"(r) : "r"(in[0]));
#else
    asm("rotl.b32 %0, %1, 4;" : "=r"(r) : "r"(in[0]));
#endif
    out[0] = r;
}
