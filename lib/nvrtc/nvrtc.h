/* NVRTC at run time: one table of its entries for each library that was opened, the search for
 * libraries, and the choice of the one that suits device and driver.  Libraries are opened once a
 * process and never closed.  What the headers are that NVRTC gets is in headers.h.
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_NVRTC_NVRTC_H
#define GPUL_NVRTC_NVRTC_H

#include <gpulaunch/gpulaunch.h>

#include "base/alloc.h"

typedef int nvrtcResult;
typedef struct nvrtcProgram_ *nvrtcProgram;
typedef struct nvrtcBundledHeadersInfo {
    int available;
    size_t compressed_size, uncompressed_size;
    int cuda_major, cuda_minor;
    unsigned int file_count;
} nvrtcBundledHeadersInfo;

enum {
    NVRTC_SUCCESS = 0,
    NVRTC_ERROR_OUT_OF_MEMORY = 1,
    NVRTC_ERROR_INVALID_OPTION = 5,
    NVRTC_ERROR_COMPILATION = 6,
    NVRTC_ERROR_BUILTIN_OPERATION_FAILURE = 7,
    NVRTC_ERROR_CANCELLED = 16,
};

enum { GPUL__NVRTC_ARCHS = 64 };

/* One file as stat tells of it; times in nanoseconds.  All zero: not known. */
typedef struct gpul__nvrtc_file {
    uint64_t device, inode, size, modified, changed;
} gpul__nvrtc_file;

typedef struct gpul__nvrtc {
    const char *path; /* real path; never NULL */
    gpul__nvrtc_file file;
    gpul__nvrtc_file builtins; /* the one beside it; not known: the loader finds it */
    int major, minor;
    bool recalled;         /* known from an earlier process and not opened: it has no entries */
    bool reports_progress; /* it has SetFlowCallback */
    int archs
        [GPUL__NVRTC_ARCHS]; /* 75, 80 ... in ascending order; from a table of ours before 11.2 */
    int arch_count;
#define X(field, symbol, need, params) nvrtcResult(*field) params;
#include "nvrtc/nvrtc.def"
} gpul__nvrtc;

/* What earlier processes saw when they opened a library.  It is asked for by the file, so that a file that changed is not known. */
typedef struct gpul__nvrtc_memory {
    /* Fills in what is not about `path` and `file`; false: not known. */
    bool (*find)(gpul__nvrtc *nvrtc, const char *path, const gpul__nvrtc_file *file);
    void (*keep)(const gpul__nvrtc *nvrtc);
} gpul__nvrtc_memory;

/* What the compiler is wanted for; zeros are "not known". */
typedef struct gpul__nvrtc_want {
    const gpul__nvrtc_memory
        *memory;        /* the choice opens no library that it knows; NULL: none is known */
    const char *path;   /* this library and no other; NULL: $GPULAUNCH_NVRTC, else searched */
    int arch;           /* 90: the device's compute capability, or the architecture asked for */
    int driver_version; /* 13000: the CUDA version of the driver; 0 also for the CPU device */
} gpul__nvrtc_want;

/* The same library, opened; NULL when it is no longer what was recalled, and then the choice is made again without memory. */
const gpul__nvrtc *gpul__nvrtc_ready(const gpul__nvrtc *nvrtc);

/* The library that suits best.  GL1008 with each candidate and its reason as details; GL1009 when only
 * its builtins are missing.  Thread-safe. */
gpul_status gpul__nvrtc_choose(const gpul__nvrtc **out, const gpul__nvrtc_want *want);

typedef enum gpul__nvrtc_verdict {
    GPUL__NVRTC_CHOSEN = 0, /* the first of the list when there is one */
    GPUL__NVRTC_USABLE,     /* works, another suits better */
    GPUL__NVRTC_FAILED      /* cannot be used */
} gpul__nvrtc_verdict;

/* One library file that was found. */
typedef struct gpul__nvrtc_candidate {
    const char *path;   /* as it was found */
    const char *origin; /* "GPULAUNCH_NVRTC", "VIRTUAL_ENV", "ldconfig" ... */
    int major, minor;   /* 0 when it does not open */
    gpul__nvrtc_verdict verdict;
    const char *reason;       /* one sentence; never NULL */
    const gpul__nvrtc *nvrtc; /* NULL when FAILED */
    bool builtins_missing;
} gpul__nvrtc_candidate;

typedef struct gpul__nvrtc_candidates {
    gpul__arena arena;
    gpul__nvrtc_candidate *items; /* best first */
    size_t count, capacity;
    const char **searched; /* every folder and name looked at, in order */
    size_t searched_count, searched_capacity;
} gpul__nvrtc_candidates;

/* Opens and judges every candidate; for doctor and tests.  Succeeds whatever is found, E_MEMORY aside. */
gpul_status gpul__nvrtc_candidates_find(gpul__nvrtc_candidates *out, const gpul__nvrtc_want *want);
void gpul__nvrtc_candidates_free(gpul__nvrtc_candidates *candidates);

/* Every call of an entry goes through this macro, so that tests can make the n-th one fail. */
#define GPUL__NVRTC(nvrtc, field, ...)                                                             \
    (gpul__nvrtc_gate() ? gpul__nvrtc_injected : (nvrtc)->field(__VA_ARGS__))
/* For a call that frees: it takes place, and may then say that it failed. */
#define GPUL__NVRTC_FREE(nvrtc, field, ...) gpul__nvrtc_freed((nvrtc)->field(__VA_ARGS__))
bool gpul__nvrtc_gate(void);
extern nvrtcResult gpul__nvrtc_injected;
static inline nvrtcResult gpul__nvrtc_freed(nvrtcResult result)
{
    return gpul__nvrtc_gate() ? gpul__nvrtc_injected : result;
}

/* Tests: the n-th call from now is not made and gives `result` (1 is the next); 0 ends it.  Counted
 * in gpul__nvrtc_calls from here on. */
void gpul__nvrtc_fail_at(long n, nvrtcResult result);
long gpul__nvrtc_calls(void);

/* ---- Inside lib/nvrtc ---- */

/* Opens one file, once a process.  NULL: *reason (in the arena) says why, *builtins_missing whether it
 * is only that. */
const gpul__nvrtc *gpul__nvrtc_open(const char *path, gpul__arena *arena, const char **reason,
                                    bool *builtins_missing);

/* The file that `path` names; false, with errno, when there is none. */
bool gpul__nvrtc_look(gpul__nvrtc_file *out, const char *path);
bool gpul__nvrtc_same_file(const gpul__nvrtc_file *a, const gpul__nvrtc_file *b);

/* The builtins beside a library of this version; not known when there are none. */
gpul__nvrtc_file gpul__nvrtc_builtins(const char *path, int major, int minor);

/* The library of this file that the process has opened already; NULL: it has not. */
const gpul__nvrtc *gpul__nvrtc_opened(const gpul__nvrtc_file *file);

/* The library without opening it: opened already, or known from earlier; NULL when it must be opened. */
const gpul__nvrtc *gpul__nvrtc_recall(const char *path, const gpul__nvrtc_memory *memory);

/* A library that is searched for: how its files are called, newest first, and the folder of its wheel. */
enum { GPUL__LIBRARY_NAMES = 6 };
typedef struct gpul__library_names {
    const char *begin; /* of every name */
    const char *files[GPUL__LIBRARY_NAMES];
    const char *wheel;
} gpul__library_names;
extern const gpul__library_names gpul__nvrtc_names, gpul__jitlink_names;

/* Fills items with path and origin only, in the order of the search, each file once. */
bool gpul__library_search(gpul__nvrtc_candidates *out, const gpul__library_names *names);

/* The version that the file names around `path` promise: *major 0 when they promise nothing. */
void gpul__nvrtc_guess(const char *path, int *major, int *minor);

/* What every NVRTC of a version knows when it cannot be asked.  Returns the count. */
int gpul__nvrtc_known_archs(int major, int minor, int archs[GPUL__NVRTC_ARCHS]);

#endif
