// SPDX-License-Identifier: MIT
// What the CPU device parses and refuses: tensor cores, cp.async, textures, carry chains, video instructions; and one kernel it runs.
#include <mma.h>
#include <cuda_fp16.h>
extern "C" __global__ void tensor(const __half *a, const __half *b, float *c)
{
    using namespace nvcuda;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> x;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> y;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> z;
    wmma::fill_fragment(z, 0.0f);
    wmma::load_matrix_sync(x, a, 16);
    wmma::load_matrix_sync(y, b, 16);
    wmma::mma_sync(z, x, y, z);
    wmma::store_matrix_sync(c, z, 16, wmma::mem_row_major);
}
extern "C" __global__ void asynchronous(const int4 *in, int4 *out)
{
    __shared__ int4 s[32];
    unsigned to = (unsigned)__cvta_generic_to_shared(&s[threadIdx.x]);
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;\n\tcp.async.commit_group;\n\tcp.async.wait_group 0;" :: "r"(to), "l"(in + threadIdx.x) : "memory");
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
extern "C" __global__ void textures(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2D<float>(t, threadIdx.x, 0.5f); }
extern "C" __global__ void carries(unsigned *x)
{
    asm volatile("add.cc.u32 %0, %0, %1;\n\taddc.u32 %2, %2, 0;" : "+r"(x[0]) : "r"(x[1]), "r"(x[2]));
}
extern "C" __global__ void video(unsigned *x) { x[0] = __vabsdiffu4(x[1], x[2]) + __vsadu4(x[3], x[4]); }
extern "C" __global__ void plain(int *x) { x[threadIdx.x] += 1; }
