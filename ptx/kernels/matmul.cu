// gpulaunch: args A=70x50:rand B=90x70:rand C=90x50 rows=A.h inner=A.w columns=B.w
// gpulaunch: case tiled -k matmul_tiled --block 16,16 --over C --expect-kernel C=matmul_naive
// C = A * B for row-major matrices of any size: A is rows x inner, B is inner x columns.
#define TILE 16

extern "C" __global__ void matmul_naive(const float *A, const float *B, float *C, int rows,
                                        int inner, int columns)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows || column >= columns) return;
    float sum = 0;
    for (int k = 0; k < inner; k++) sum += A[row * inner + k] * B[k * columns + column];
    C[row * columns + column] = sum;
}

/* Threads outside the matrices load zeros, so that every thread reaches every barrier. */
extern "C" __global__ void matmul_tiled(const float *A, const float *B, float *C, int rows,
                                        int inner, int columns)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int row = blockIdx.y * TILE + y, column = blockIdx.x * TILE + x;
    float sum = 0;
    for (int k = 0; k < inner; k += TILE) {
        a[y][x] = row < rows && k + x < inner ? A[row * inner + k + x] : 0.0f;
        b[y][x] = k + y < inner && column < columns ? B[(k + y) * columns + column] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += a[y][i] * b[i][x];
        __syncthreads();
    }
    if (row < rows && column < columns) C[row * columns + column] = sum;
}
