// gpulaunch: args n=y.len x=rand
// gpulaunch: case good y=16 --expect y=iota
// gpulaunch: case short y=16 n=12 --expect y=iota
// gpulaunch: case wrong y=16 --expect y=ones
// gpulaunch: case later y=16
// gpulaunch: require cc>=20.0
// gpulaunch: case fault y=16 n=1000
// gpulaunch: case expected y=16 n=100000
// gpulaunch: fails GL0802
// gpulaunch: case unexpected y=16 --expect y=iota
// gpulaunch: fails GL0802
// gpulaunch: case bad z=16
// gpulaunch: case golden y=8 --expect y=@golden.npy
extern "C" __global__ void iota(float *y, const float *x, int n)
{ int i = blockIdx.x*blockDim.x+threadIdx.x; if (i < n) y[i] = i; }
