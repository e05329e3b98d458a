// Kernels with a known verdict of the checkers.  Each takes (int *out, int *in): 65,536 words each, in[i] = i % 7,
// out all zero.  "@now K" marks the line that a finding of kernel K names first, "@then K" the earlier access.
// SPDX-License-Identifier: MIT
#define KERNEL extern "C" __global__ void
#define ALL 0xffffffffu

// ---------------------------------------------------------------- races between warps
KERNEL race_ahead(int *out, int *in)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    box[t] = 3 * t; // @then race_ahead
    out[t] = t >= 32 ? box[t - 32] : box[t]; // @now race_ahead
}
KERNEL race_behind(int *out, int *in)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    if (t < 32) out[t] = ((volatile int *)box)[t + 32]; // @then race_behind
    else box[t] = 5 * t; // @now race_behind
}
KERNEL race_loop(int *out, int *in)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    for (int r = 0; r < 2; r++) {
        box[t] = in[64 * r + t]; // @now race_loop
        __syncthreads();
        if (t == 0) {
            int s = 0;
            #pragma unroll 1
            for (int k = 0; k < 64; k++) s += box[k]; // @then race_loop
            out[r] = s;
        }
    }
}
KERNEL race_tile(int *out, int *in)
{
    __shared__ int tile[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16, sum = 0;
    #pragma unroll 1
    for (int k = 0; k < 4; k++) {
        tile[y][x] = in[k * 256 + threadIdx.x]; // @now race_tile
        __syncthreads();
        sum += tile[x][y]; // @then race_tile
    }
    out[threadIdx.x] = sum;
}
KERNEL race_double_buffer(int *out, int *in)
{
    __shared__ int two[2][64];
    int t = threadIdx.x, sum = 0;
    two[0][t] = in[t];
    #pragma unroll 1
    for (int k = 0; k < 6; k++) {
        __syncthreads();
        two[(k + 1) % 2][t] = two[k % 2][63 - t] + 1; // @then race_double_buffer
        sum += two[(k + 1) % 2][63 - t]; // @now race_double_buffer
    }
    out[t] = sum;
}
KERNEL race_one_word(int *out, int *in)
{
    __shared__ int last;
    if (threadIdx.x % 32 == 0) last = threadIdx.x; // @now race_one_word @then race_one_word
    __syncthreads();
    out[threadIdx.x] = last;
}
KERNEL race_atomic_plain(int *out, int *in)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&count, in[threadIdx.x]); // @then race_atomic_plain
    else out[threadIdx.x] = count; // @now race_atomic_plain
}
KERNEL race_plain_atomic(int *out, int *in)
{
    __shared__ int count;
    if (threadIdx.x == 0) count = 0; // @then race_plain_atomic
    atomicAdd(&count, in[threadIdx.x]); // @now race_plain_atomic
    __syncthreads();
    out[threadIdx.x] = count;
}
KERNEL race_vector(int *out, int *in)
{
    __shared__ int4 box[64];
    int t = threadIdx.x;
    box[t] = make_int4(t, t + 1, in[t], 4); // @then race_vector
    int4 v = box[63 - t]; // @now race_vector
    out[t] = v.x + v.y + v.z + v.w;
}
KERNEL race_double(int *out, int *in)
{
    __shared__ double box[64];
    int t = threadIdx.x;
    box[t] = t; // @then race_double
    out[t] = (int)box[63 - t]; // @now race_double
}
KERNEL race_generic(int *out, int *in)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    int *p = in[t] < 100 ? box : out;
    p[t] = t; // @then race_generic
    out[t] = p[63 - t]; // @now race_generic
}
KERNEL race_lock_without_fence(int *out, int *in)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        sum += in[threadIdx.x]; // @now race_lock_without_fence @then race_lock_without_fence
        atomicExch(&lock, 0);
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}
KERNEL race_dynamic(int *out, int *in)
{
    extern __shared__ int room[];
    int t = threadIdx.x;
    room[t] = in[t]; // @then race_dynamic
    out[t] = room[63 - t]; // @now race_dynamic
}
__device__ __noinline__ int fetch(volatile int *from, int at) { return from[at]; } // @now race_in_call
KERNEL race_in_call(int *out, int *in)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    box[t] = in[t]; // @then race_in_call
    out[t] = fetch(box, 63 - t);
}
// ---------------------------------------------------------------- races inside a warp
KERNEL warp_neighbour(int *out, int *in)
{
    __shared__ int box[32];
    int t = threadIdx.x;
    box[t] = in[t]; // @then warp_neighbour
    out[t] = box[31 - t]; // @now warp_neighbour
}
KERNEL warp_reduction(int *out, int *in)
{
    __shared__ int box[64];
    volatile int *s = box;
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        #pragma unroll 1
        for (int d = 32; d; d >>= 1) s[t] = s[t] + s[t + d]; // @now warp_reduction @then warp_reduction
        if (t == 0) out[0] = s[0];
    }
}
KERNEL warp_part_sync(int *out, int *in)
{
    __shared__ int box[32];
    int t = threadIdx.x;
    box[t] = in[t]; // @then warp_part_sync
    if (t < 16) __syncwarp(0xffff);
    else __syncwarp(0xffff0000);
    out[t] = box[31 - t]; // @now warp_part_sync
}
KERNEL warp_clash(int *out, int *in)
{
    __shared__ int last;
    last = threadIdx.x; // @now warp_clash @then warp_clash
    __syncthreads();
    out[threadIdx.x] = last;
}
KERNEL warp_clash_some(int *out, int *in)
{
    __shared__ int box[32];
    int t = threadIdx.x;
    box[t] = 0;
    __syncwarp();
    box[t / 2] = t; // @now warp_clash_some @then warp_clash_some
    __syncwarp();
    out[t] = box[t];
}
// ---------------------------------------------------------------- nothing was written
KERNEL init_read(int *out, int *in)
{
    __shared__ int box[64];
    if (in[0] == 1) box[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = box[threadIdx.x] + 1; // @now init_read
}
KERNEL init_edge(int *out, int *in)
{
    __shared__ int box[66];
    box[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = box[threadIdx.x] * 2 + box[threadIdx.x + 1]; // @now init_edge
}
KERNEL init_heap(int *out, int *in)
{
    int *p = (int *)malloc(8 * sizeof *p);
    if (!p) return;
    p[in[0] % 4] = 1;
    out[threadIdx.x] = p[5] * 3; // @now init_heap
    free(p);
}
KERNEL init_local(int *out, int *in)
{
    volatile int own[8];
    for (int k = 0; k < 4; k++) own[k] = in[k];
    if (own[4 + threadIdx.x % 4] > 2) out[threadIdx.x] = 1; // @now init_local
}
KERNEL good_local(int *out, int *in)
{
    volatile int own[8];
    for (int k = 0; k < 8; k++) own[k] = in[k];
    if (own[4 + threadIdx.x % 4] > 2) out[threadIdx.x] = 1;
}
struct Padded {
    char letter;
    int number;
};
KERNEL good_padding(int *out, int *in)
{
    __shared__ Padded box[64];
    Padded *heap = (Padded *)malloc(sizeof *heap);
    if (!heap) return;
    box[threadIdx.x].letter = (char)in[threadIdx.x];
    box[threadIdx.x].number = 2;
    __syncthreads();
    *heap = box[63 - threadIdx.x]; // all eight bytes are copied
    out[threadIdx.x] = heap->letter + heap->number;
    free(heap);
}
KERNEL init_counter(int *out, int *in)
{
    __shared__ int count;
    atomicAdd(&count, 1); // @now init_counter
    __syncthreads();
    out[threadIdx.x] = count;
}
KERNEL init_broadcast(int *out, int *in)
{
    __shared__ int flag;
    if (in[threadIdx.x] > 100) flag = in[1];
    __syncthreads();
    out[threadIdx.x] = flag * 3; // @now init_broadcast
}
// ---------------------------------------------------------------- races between blocks
KERNEL blocks_one_word(int *out, int *in)
{
    if (threadIdx.x == 0) out[0] = in[blockIdx.x]; // @now blocks_one_word @then blocks_one_word
}
KERNEL blocks_neighbour(int *out, int *in)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    int next = (k + blockDim.x) % (gridDim.x * blockDim.x);
    out[k] = in[k]; // @then blocks_neighbour
    out[1024 + k] = out[next]; // @now blocks_neighbour
}
KERNEL blocks_no_fence(int *out, int *in)
{
    if (threadIdx.x) return;
    out[1 + blockIdx.x] = in[blockIdx.x]; // @then blocks_no_fence
    if (atomicAdd(&out[1000], 1) != (int)gridDim.x - 1) return;
    for (int k = 0; k < gridDim.x; k++) out[0] += ((volatile int *)out)[1 + k]; // @now blocks_no_fence
}
KERNEL blocks_counter(int *out, int *in)
{
    if (threadIdx.x == 0) out[0] += 1; // @now blocks_counter @then blocks_counter
}
// ---------------------------------------------------------------- correct ones
KERNEL good_barrier(int *out, int *in)
{
    __shared__ int box[64];
    int t = threadIdx.x;
    box[t] = in[t];
    __syncthreads();
    out[t] = box[63 - t];
}
KERNEL good_pingpong(int *out, int *in)
{
    __shared__ int cell[64];
    int t = threadIdx.x;
    cell[t] = t;
    __syncthreads();
    for (int k = 0; k < 5; k++) {
        int v = cell[63 - t];
        __syncthreads();
        cell[t] = v;
        __syncthreads();
    }
    out[t] = cell[t];
}
KERNEL good_double_buffer(int *out, int *in)
{
    __shared__ int two[2][64];
    int t = threadIdx.x, sum = 0;
    two[0][t] = in[t];
    #pragma unroll 1
    for (int k = 0; k < 6; k++) {
        __syncthreads();
        two[(k + 1) % 2][t] = two[k % 2][63 - t] + 1;
        sum += two[k % 2][t];
    }
    out[t] = sum;
}
KERNEL good_tile(int *out, int *in)
{
    __shared__ float a[16][16], b[16][16];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        a[y][x] = in[k * 256 + threadIdx.x];
        b[y][x] = in[1024 + k * 256 + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 16; j++) sum += a[y][j] * b[j][x];
        __syncthreads();
    }
    out[threadIdx.x] = (int)sum;
}
KERNEL good_reduction(int *out, int *in)
{
    __shared__ int box[256];
    int t = threadIdx.x;
    box[t] = in[t];
    __syncthreads();
    for (int d = 128; d; d >>= 1) {
        if (t < d) box[t] += box[t + d];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = box[0];
}
KERNEL good_shuffle_reduction(int *out, int *in)
{
    __shared__ int part[32];
    int t = threadIdx.x, v = in[t];
    for (int d = 16; d; d >>= 1) v += __shfl_down_sync(ALL, v, d);
    if (t % 32 == 0) part[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < blockDim.x / 32 ? part[t] : 0;
        for (int d = 16; d; d >>= 1) v += __shfl_down_sync(ALL, v, d);
        if (t == 0) out[blockIdx.x] = v;
    }
}
KERNEL good_warp_reduction(int *out, int *in)
{
    __shared__ int box[64];
    volatile int *s = box;
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d; d >>= 1) {
            int a = s[t], b = t + d < 64 ? s[t + d] : 0;
            __syncwarp();
            s[t] = a + b;
            __syncwarp();
        }
        if (t == 0) out[0] = s[0];
    }
}
KERNEL good_histogram(int *out, int *in)
{
    __shared__ int h[7];
    int t = threadIdx.x;
    if (t < 7) h[t] = 0;
    __syncthreads();
    atomicAdd(&h[in[t]], 1);
    __syncthreads();
    if (t < 7) out[t] = h[t];
}
KERNEL good_scan(int *out, int *in)
{
    __shared__ int two[2][256];
    int t = threadIdx.x, from = 0;
    two[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        two[1 - from][t] = two[from][t] + (t >= d ? two[from][t - d] : 0);
        from = 1 - from;
        __syncthreads();
    }
    out[t] = two[from][t];
}
KERNEL good_scan_in_place(int *out, int *in)
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        int v = t >= d ? s[t - d] : 0;
        __syncthreads();
        s[t] += v;
        __syncthreads();
    }
    out[t] = s[t];
}
KERNEL good_lock(int *out, int *in)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1) != 0)
            ;
        __threadfence_block();
        sum += in[threadIdx.x];
        __threadfence_block();
        atomicExch(&lock, 0);
    }
    __syncthreads();
    out[threadIdx.x] = sum;
}
KERNEL good_lock_per_lane(int *out, int *in)
{
    __shared__ int lock, sum;
    if (threadIdx.x == 0) lock = sum = 0;
    __syncthreads();
    bool done = false;
    while (!done)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence_block();
            *(volatile int *)&sum = *(volatile int *)&sum + 1;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    __syncthreads();
    out[threadIdx.x] = sum;
}
KERNEL good_flag(int *out, int *in)
{
    __shared__ volatile int flag;
    __shared__ int data[32];
    int t = threadIdx.x;
    if (t == 0) flag = 0;
    __syncthreads();
    if (t < 32) {
        data[t] = in[t];
        __syncwarp();
        if (t == 0) {
            __threadfence_block();
            flag = 1;
        }
    } else {
        if (t == 32)
            while (flag == 0)
                ;
        __syncwarp();
        out[t] = data[t - 32];
    }
}
KERNEL good_same_value(int *out, int *in)
{
    __shared__ int found;
    if (threadIdx.x == 0) found = 0;
    __syncwarp();
    if (in[threadIdx.x] == 3) found = 1;
    __syncwarp();
    out[threadIdx.x] = found;
}
KERNEL good_part_sync(int *out, int *in)
{
    __shared__ int box[32];
    int t = threadIdx.x;
    box[t] = in[t];
    if (t < 16) __syncwarp(0xffff);
    else __syncwarp(0xffff0000);
    out[t] = box[t ^ 15];
}
KERNEL good_exits(int *out, int *in)
{
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t >= 40) return;
    s[t] = in[t];
    __syncthreads();
    out[t] = s[39 - t];
}
KERNEL good_named(int *out, int *in)
{
    __shared__ int a[64], b[64];
    int t = threadIdx.x;
    if (t < 64) {
        a[t] = in[t];
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = a[63 - t];
    } else {
        b[t - 64] = in[t];
        asm volatile("bar.sync 2, 64;" ::: "memory");
        out[t] = b[127 - t];
    }
}
KERNEL good_vote(int *out, int *in)
{
    __shared__ int box[32];
    int t = threadIdx.x;
    box[t] = in[t];
    unsigned which = __ballot_sync(ALL, in[t] & 1);
    out[t] = box[31 - t] + (int)which;
}
KERNEL good_exchange(int *out, int *in)
{
    __shared__ int box;
    if (threadIdx.x == 0) atomicExch(&box, in[0]);
    __syncthreads();
    out[threadIdx.x] = box;
}
KERNEL good_transpose(int *out, int *in)
{
    __shared__ int tile[32][33];
    int x = threadIdx.x % 32, y = threadIdx.x / 32;
    for (int k = y; k < 32; k += 8) tile[k][x] = in[k * 32 + x];
    __syncthreads();
    for (int k = y; k < 32; k += 8) out[k * 32 + x] = tile[x][k];
}
KERNEL good_blocks(int *out, int *in)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    out[k] = in[k] + out[k];
}
KERNEL good_block_lock(int *out, int *in)
{
    if (threadIdx.x) return;
    while (atomicCAS(&out[100], 0, 1) != 0)
        ;
    __threadfence();
    out[0] += in[blockIdx.x];
    __threadfence();
    atomicExch(&out[100], 0);
}
KERNEL good_block_flags(int *out, int *in)
{
    volatile int *flag = out + 512;
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        out[0] = in[5];
        __threadfence();
        flag[0] = 1;
    } else {
        while (flag[0] == 0)
            ;
        __threadfence();
        out[blockIdx.x] = out[0] + 1;
    }
}
KERNEL good_block_histogram(int *out, int *in)
{
    atomicAdd(&out[in[blockIdx.x * blockDim.x + threadIdx.x]], 1);
}
