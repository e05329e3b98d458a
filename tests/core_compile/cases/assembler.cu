// A mistake that only the assembler sees (C12).  SPDX-License-Identifier: MIT
extern "C" __global__ void rotate(const int *in, int *out)
{
    unsigned r, v = (unsigned)in[0];
#ifdef RIGHT
    asm("shf.l.wrap.b32 %0, %1, %1, 1;" : "=r"(r) : "r"(v));
#else
    asm("rotate.left.u32 %0, %1, 1;" : "=r"(r) : "r"(v));
#endif
    out[0] = (int)r;
}
