extern "C" __global__ void kinds(bool b, char c, unsigned char u, short s, long long l, double d, double *out)
{
    out[0] = b; out[1] = c; out[2] = u; out[3] = s; out[4] = l; out[5] = d;
}
