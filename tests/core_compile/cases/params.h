// A struct that host and device share.  SPDX-License-Identifier: MIT
#ifndef PARAMS_H
#define PARAMS_H
struct SharedParams {
    float2 origin;
    unsigned short steps[3];
};
extern "C" __global__ void from_header(SharedParams s, int *o)
{
    *o = s.steps[1];
}
#endif
