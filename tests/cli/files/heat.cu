extern "C" __global__ void heat(const float *cur, float *next, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= w - 1 || y >= h - 1) return;
    int i = y * w + x;
    next[i] = cur[i] + 0.2f * (cur[i-1] + cur[i+1] + cur[i-w] + cur[i+w] - 4.0f * cur[i]);
}
