// A helper and a table without annotation, as in headers that are shared with C.  SPDX-License-Identifier: MIT
static const int scale[3] = { 1, 100, 10000 };

int scaled(int value, int place) { return value * scale[place % 3]; }

extern "C" __global__ void weigh(const int *in, int *out, int n)
{
    int i = threadIdx.x;
    if (i < n) out[i] = scaled(in[i], i);
}
