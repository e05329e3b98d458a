// Makes the contents of a buffer where it is (gen_device.c).  SPDX-License-Identifier: MIT
#include "gen_core.h"

// How a double is stored; GEN_DOUBLE and so on in gen_device.c.
static __device__ double store(unsigned char *to, int format, double value)
{
    if (format == 0) {
        *(double *)to = value;
        return value;
    }
    if (format == 1) {
        *(float *)to = (float)value;
        return (float)value;
    }
    int mantissa = format == 2 ? 10 : 7, lowest = format == 2 ? -14 : -126, highest = format == 2 ? 15 : 127;
    uint16_t bits = gen_narrow(value, mantissa, lowest, highest);
    *(uint16_t *)to = bits;
    return gen_widen(bits, mantissa, lowest, highest);
}

extern "C" __global__ void make_floats(unsigned char *out, uint64_t count, int format, int size, int random,
                                       uint64_t key, double first, double second)
{
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        unsigned char *to = out + i * size;
        if (!random) store(to, format, first + (double)i * second);
        else if (store(to, format, first + gen_core_unit(key, i) * (second - first)) >= second) store(to, format, first);
    }
}

// The range of a random value is second - first; 0: all 64 bits.
extern "C" __global__ void make_integers(unsigned char *out, uint64_t count, int is_bool, int size, int random,
                                         uint64_t key, uint64_t first, uint64_t second)
{
    uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
        unsigned char *to = out + i * size;
        uint64_t value = random ? first + gen_core_below(key, i, second - first) : first + i * second;
        if (is_bool) value = value != 0;
        if (size == 8) *(uint64_t *)to = value;
        else if (size == 4) *(uint32_t *)to = (uint32_t)value;
        else if (size == 2) *(uint16_t *)to = (uint16_t)value;
        else *to = (unsigned char)value;
    }
}
