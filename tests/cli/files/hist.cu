__global__ void hist(uint32_t *bins, const unsigned char *in, int n)
{
  int i = threadIdx.x; if (i < n) atomicAdd(&bins[in[i]], 1);
}
