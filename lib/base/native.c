/* Names, meanings and remedies of CUresult, nvrtcResult and errno values, from tables of our own so that they are there
 * without a driver and in any C library.  SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <errno.h>
#include <stddef.h>

struct row {
    int number;
    const char *name, *text;
};

static const struct row cuda_rows[] = {
#define X(number, name, text) { number, "CUDA_" #name, text },
#include "base/native_cuda.def"
#undef X
};

static const struct row nvrtc_rows[] = {
#define X(number, name, text) { number, "NVRTC_" #name, text },
#include "base/native_nvrtc.def"
#undef X
};

// clang-format off
static const struct row errno_rows[] = {
#define X(name, text) { name, #name, text },
    X(EPERM,        "not permitted")                    X(ENOENT,    "no such file or folder")
    X(EINTR,        "interrupted by a signal")          X(EIO,       "input or output failed")
    X(ENXIO,        "no such device or address")        X(E2BIG,     "the argument list is too long")
    X(ENOEXEC,      "not an executable")                X(EBADF,     "bad file descriptor")
    X(ECHILD,       "no child process")                 X(EAGAIN,    "not possible at the moment")
    X(ENOMEM,       "out of host memory")               X(EACCES,    "permission denied")
    X(EFAULT,       "bad address")                      X(EBUSY,     "in use")
    X(EEXIST,       "exists already")                   X(EXDEV,     "on another file system")
    X(ENODEV,       "no such device")                   X(ENOTDIR,   "not a folder")
    X(EISDIR,       "is a folder")                      X(EINVAL,    "not valid")
    X(ENFILE,       "the system has too many open files")
    X(EMFILE,       "the process has too many open files")
    X(ETXTBSY,      "the program file is in use")       X(EFBIG,     "the file would be too large")
    X(ENOSPC,       "no space left")                    X(ESPIPE,    "not seekable")
    X(EROFS,        "the file system is read-only")     X(EMLINK,    "too many links")
    X(EPIPE,        "nobody reads the pipe")            X(ERANGE,    "out of range")
    X(EDEADLK,      "would wait for ever")              X(ENAMETOOLONG, "the name is too long")
    X(ENOLCK,       "no locks left")                    X(ENOSYS,    "the system does not have the call")
    X(ENOTEMPTY,    "the folder is not empty")          X(ELOOP,     "too many symbolic links")
    X(ELIBACC,      "a shared library cannot be reached")
    X(ELIBBAD,      "a shared library is damaged")      X(EILSEQ,    "not valid text")
    X(EOVERFLOW,    "too large for its type")           X(ENOTSUP,   "not supported")
    X(ETIMEDOUT,    "took too long")                    X(ESTALE,    "the network file is gone")
    X(EDQUOT,       "the disk quota is used up")
#undef X
};
// clang-format on

#define FIND(rows, native) find(rows, sizeof rows / sizeof *rows, native)

static const struct row *find(const struct row *rows, size_t count, int native)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].number == native) return &rows[i];
    static const struct row unknown = { 0, "unknown", "unknown" };
    return &unknown;
}

static const struct row *lookup(gpul_native_kind kind, int native)
{
    switch (kind) {
    case GPUL_NATIVE_CUDA: return FIND(cuda_rows, native);
    case GPUL_NATIVE_NVRTC: return FIND(nvrtc_rows, native);
    case GPUL_NATIVE_ERRNO: return FIND(errno_rows, native);
    case GPUL_NATIVE_NONE: break;
    }
    return find(NULL, 0, 0);
}

const char *gpul_native_name(gpul_native_kind kind, int native)
{
    return lookup(kind, native)->name;
}

const char *gpul_native_text(gpul_native_kind kind, int native)
{
    return lookup(kind, native)->text;
}

/* By the number of the result; the names are in the tables above. */
struct remedy {
    int number;
    const char *hint;
};

static const struct remedy cuda_hints[] = {
    { 1,
      "look at the values that this call was given: the driver does not say which one it refuses" },
    { 2, "free what is not needed, or take a device with more memory" },
    { 3,
      "a child of fork() has no driver: open the device after the fork, or start a new process" },
    { 4, "the driver is shutting down: free devices before the process ends" },
    { 46,
      "another process holds the device, or its compute mode forbids sharing it; gpulaunch doctor "
      "tells" },
    { 100, "gpulaunch doctor tells which devices there are and what hides the others" },
    { 101,
      "gpulaunch devices lists the devices; $CUDA_VISIBLE_DEVICES may have changed their numbers" },
    { 200, "the file is no CUBIN, fatbin or PTX that this driver reads: write it again" },
    { 201,
      "other code in this process has destroyed or replaced the context: open the device again" },
    { 224, "leave the share of the multiprocessors out, or take a device that supports it" },
    { 302, "a library that the image needs is not there: link it into the image" },
    { 303, "a library that the image needs did not start: look at the driver's log" },
    { 400, "the object was freed already, or it belongs to another context" },
    { 401, "it is in a state that forbids the call: look at what ran before it" },
    { 800, "this process may not do that: run it with the rights it needs, or leave it out" },
    { 900, "this call cannot be recorded: make it before the recording begins" },
    { 901, "an earlier call broke the recording: begin again without it" },
    { 903, "end the recording on the stream on which it began" },
    { 912, "make the cluster smaller: 8 blocks fit every device that has clusters" },
    { 999, "gpulaunch doctor looks at the driver; the kernel's log (dmesg) may have an Xid line" },
};

static const struct remedy nvrtc_hints[] = {
    { 1, "compile fewer sources at a time" },
    { 2, "the compiler could not begin: see whether memory is left" },
    { 5, "leave the option out, or take an NVRTC that knows it: gpulaunch doctor lists them" },
    { 7,
      "libnvrtc-builtins must lie beside libnvrtc and have its version; gpulaunch doctor shows both" },
    { 11, "try another NVRTC (GPULAUNCH_NVRTC=PATH); gpulaunch doctor lists those that are here" },
};

#define HINT_OF(rows, native) hint_of(rows, sizeof rows / sizeof *rows, native)

static const char *hint_of(const struct remedy *rows, size_t count, int native)
{
    for (size_t i = 0; i < count; i++)
        if (rows[i].number == native) return rows[i].hint;
    return NULL;
}

const char *gpul__native_hint(gpul_native_kind kind, int native)
{
    switch (kind) {
    case GPUL_NATIVE_CUDA: return HINT_OF(cuda_hints, native);
    case GPUL_NATIVE_NVRTC: return HINT_OF(nvrtc_hints, native);
    case GPUL_NATIVE_ERRNO:
    case GPUL_NATIVE_NONE: break;
    }
    return NULL;
}
