// One parameter of each kind that a host passes: what arrives is written out, byte for byte.
struct alignas(16) Wide {
    float4 v;
    int n;
};

extern "C" __global__ void every_type(bool flag, char c, signed char sc, unsigned char uc, short s,
                                      unsigned short us, int i, unsigned u, long l,
                                      unsigned long ul, long long ll, unsigned long long ull,
                                      float f, double d, float3 f3, int2 i2, Wide wide,
                                      const int *in, double *out)
{
    out[0] = flag;
    out[1] = c;
    out[2] = sc;
    out[3] = uc;
    out[4] = s;
    out[5] = us;
    out[6] = i;
    out[7] = u;
    out[8] = (double)l;
    out[9] = (double)ul;
    out[10] = (double)ll;
    out[11] = (double)ull;
    out[12] = f;
    out[13] = d;
    out[14] = f3.x + f3.y + f3.z;
    out[15] = i2.x + i2.y;
    out[16] = wide.v.x + wide.v.y + wide.v.z + wide.v.w + wide.n;
    out[17] = in ? in[0] : -1;
}
