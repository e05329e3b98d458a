// A helper and a table without annotation (C02).  SPDX-License-Identifier: MIT
static const int place[4] = { 1, 10, 100, 1000 };

int weigh_one(int v, int lane) { return v * place[lane & 3]; }

extern "C" __global__ void weigh(const int *in, int *out, int n)
{
    int i = threadIdx.x;
    if (i < n) out[i] = weigh_one(in[i], i);
}
