extern "C" __global__ void blur(const unsigned char *in, unsigned char *out,
                                int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int s = 0, k = 0;
    for (int j = max(y - 1, 0); j <= min(y + 1, h - 1); ++j)
        for (int i = max(x - 1, 0); i <= min(x + 1, w - 1); ++i, ++k)
            s += in[j * w + i];
    out[y * w + x] = s / k;
}
