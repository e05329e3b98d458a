// A variable that host and device share.
__managed__ int shared_count = 3;
__device__ float scratch[8];

extern "C" __global__ void count_up(int by)
{
    if (threadIdx.x == 0) shared_count += by;
    if (threadIdx.x < 8) scratch[threadIdx.x] = (float)(by * (int)threadIdx.x);
}
