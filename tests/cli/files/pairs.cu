// Two kernels with the same name, and vectors.
__global__ void twice(float *v) { v[threadIdx.x] *= 2; }
__global__ void twice(int *v) { v[threadIdx.x] *= 2; }
__global__ void turn(float4 *v, float2 by) { v[threadIdx.x] = make_float4(v[threadIdx.x].y, v[threadIdx.x].x, by.x, by.y); }
