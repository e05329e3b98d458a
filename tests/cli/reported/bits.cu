// Bit work, byte permutes, wide multiplies; and a texture.  SPDX-License-Identifier: MIT
extern "C" __global__ void bits(const unsigned *a, int *out)
{
    out[0] = (int)__funnelshift_r(a[0], a[0], 8);
    out[1] = (int)__byte_perm(a[0], a[1], 0x5140);
    out[2] = (int)__brev(a[0]);
    out[3] = __clz((int)a[2]);
    out[4] = __ffs((int)a[2]);
    out[5] = __popc(a[1]);
    out[6] = (int)__umulhi(a[1], a[0]);
    out[7] = (int)__dp4a(a[0], a[0], 1u);
    out[8] = (int)((a[0] ^ a[1]) & ~a[2]);
    out[9] = (int)__usad(a[2], 100u, 7u);
}
extern "C" __global__ void texel(cudaTextureObject_t t, float *out) { out[0] = tex1Dfetch<float>(t, 3); }
