/* nvJitLink at run time: a table of its entries, and the choice of the library.  It is found where NVRTC
 * is, opened once a process and never closed.  SPDX-License-Identifier: MIT */
#ifndef GPUL_NVRTC_JITLINK_H
#define GPUL_NVRTC_JITLINK_H

#include <gpulaunch/gpulaunch.h>

typedef struct nvJitLink *nvJitLinkHandle;

enum {
    NVJITLINK_INPUT_CUBIN = 1,
    NVJITLINK_INPUT_PTX,
    NVJITLINK_INPUT_LTOIR,
    NVJITLINK_INPUT_FATBIN,
    NVJITLINK_INPUT_OBJECT,
    NVJITLINK_INPUT_LIBRARY
};

/* Every one is needed; nvJitLinkVersion came with 12.3. */
// clang-format off
#define GPUL__JITLINK_ENTRIES(X)                                                                     \
    X(Version, (unsigned *major, unsigned *minor))                                                   \
    X(Create, (nvJitLinkHandle *handle, uint32_t count, const char **options))                       \
    X(Destroy, (nvJitLinkHandle *handle))                                                            \
    X(AddData, (nvJitLinkHandle handle, int kind, const void *data, size_t size, const char *name))  \
    X(Complete, (nvJitLinkHandle handle))                                                            \
    X(GetLinkedCubinSize, (nvJitLinkHandle handle, size_t *size))                                    \
    X(GetLinkedCubin, (nvJitLinkHandle handle, void *cubin))                                         \
    X(GetLinkedPtxSize, (nvJitLinkHandle handle, size_t *size))                                      \
    X(GetLinkedPtx, (nvJitLinkHandle handle, char *ptx))                                             \
    X(GetErrorLogSize, (nvJitLinkHandle handle, size_t *size))                                       \
    X(GetErrorLog, (nvJitLinkHandle handle, char *log))                                              \
    X(GetInfoLogSize, (nvJitLinkHandle handle, size_t *size))                                        \
    X(GetInfoLog, (nvJitLinkHandle handle, char *log))
// clang-format on

typedef struct gpul__jitlink {
    const char *path;
    unsigned major, minor;
#define X(name, params) int(*name) params;
    GPUL__JITLINK_ENTRIES(X)
#undef X
} gpul__jitlink;

/* The newest library that is no newer than `major` (of the driver; 0: any); `path` and
 * $GPULAUNCH_NVJITLINK name one and no other.  GL1013 with the places searched. */
gpul_status gpul__jitlink_choose(const gpul__jitlink **out, const char *path, unsigned major);

/* "NVJITLINK_ERROR_PTX_COMPILE"; "unknown" for a number that is none. */
const char *gpul__jitlink_error(int result);

#endif
