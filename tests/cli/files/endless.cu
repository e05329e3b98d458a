extern "C" __global__ void endless(volatile int *x) { while (*x == 0) { } }
