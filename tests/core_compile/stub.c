/* A libnvrtc made for the test: its version, architectures and gaps are set when it is built.
 * SPDX-License-Identifier: MIT */
#include <stddef.h>

#define EXPORT __attribute__((visibility("default")))
#ifndef STUB_MAJOR
#define STUB_MAJOR 12
#define STUB_MINOR 4
#endif

int EXPORT nvrtcVersion(int *major, int *minor);
int nvrtcVersion(int *major, int *minor)
{
#ifdef STUB_FAILING
    (void)major, (void)minor;
    return 11;
#else
    *major = STUB_MAJOR;
    *minor = STUB_MINOR;
    return 0;
#endif
}

#ifndef STUB_OLD
static const int archs[] = { STUB_ARCHS };
int EXPORT nvrtcGetNumSupportedArchs(int *count);
int nvrtcGetNumSupportedArchs(int *count)
{
    *count = (int)(sizeof archs / sizeof *archs);
    return 0;
}

int EXPORT nvrtcGetSupportedArchs(int *out);
int nvrtcGetSupportedArchs(int *out)
{
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) out[i] = archs[i];
    return 0;
}
#endif

#define REFUSE(name)                                                                               \
    int EXPORT name(void);                                                                         \
    int name(void)                                                                                 \
    {                                                                                              \
        return 1;                                                                                  \
    }
REFUSE(nvrtcCreateProgram)
REFUSE(nvrtcDestroyProgram)
REFUSE(nvrtcAddNameExpression)
REFUSE(nvrtcGetLoweredName)
REFUSE(nvrtcGetProgramLogSize)
REFUSE(nvrtcGetProgramLog)
REFUSE(nvrtcGetPTXSize)
REFUSE(nvrtcGetPTX)
#ifndef STUB_LACKING
REFUSE(nvrtcCompileProgram)
#endif
