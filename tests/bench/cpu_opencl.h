/* The kernels of cpu_kernels.cl on an OpenCL processor, one thread.  SPDX-License-Identifier: MIT */
#ifndef GPUL_BENCH_CPU_OPENCL_H
#define GPUL_BENCH_CPU_OPENCL_H

/* Best time of one run in seconds of processor time; 0: there is no such kernel, or no OpenCL. */
double opencl_time(const char *name, int repeats);
/* What runs it: "pocl ...", or "none". */
const char *opencl_platform(void);

#endif
