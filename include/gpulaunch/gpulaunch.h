/* gpulaunch: compile, load and launch CUDA kernels through the Driver API alone.
 * SPDX-License-Identifier: MIT
 *
 * This header is the manual.  Its rules, once:
 *  - A function that can fail returns gpul_status; GPUL_OK is 0.  What went wrong is in
 *    gpul_last_error() of the same thread.  A result comes back through `out`, the first parameter,
 *    which is set to NULL (or zero) on failure.
 *  - A pointer to non-const that comes back is yours: give it to the _free function of its type,
 *    which takes its address, sets it to NULL and accepts NULL.  A pointer to const is borrowed and
 *    lives as long as what it came from.
 *  - Objects keep their parents alive, so any order of _free is right.  Using an object after its
 *    _free is the caller's error, as in any C library.
 *  - An options struct means its defaults when it is all zero; NULL is the same.  It need only live
 *    until the call returns.  gpul_launch_opts(.grid = {n}) and its kin build one in place.
 *  - Strings are UTF-8 and end in NUL; sizes and offsets are bytes unless said otherwise; times are
 *    nanoseconds in integers and milliseconds in floats.
 *  - Thread-safety is said for each object: "safe" may be used by several threads at once; "one at a
 *    time" may be used from any thread, but not by two at once.
 *  - The library prints nothing, never exits the process and installs no signal handler. */
#ifndef GPULAUNCH_H
#define GPULAUNCH_H

#include <gpulaunch/args.h>
#include <gpulaunch/version.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef GPUL_API
#define GPUL_API __attribute__((visibility("default")))
#endif

/* The version of the library that is running, as GPUL_VERSION spells it.  Thread-safety: safe. */
GPUL_API const char *gpul_version(void);

/* ---- Errors -------------------------------------------------------------------------------- */

// clang-format off
#define GPUL_STATUS_MAP(X)                                                                         \
    X(OK,             0, "success")                                                                \
    X(E_ARGUMENT,    -1, "a parameter breaks the documented rules")                                \
    X(E_MEMORY,      -2, "host or device memory is exhausted")                                     \
    X(E_DRIVER,      -3, "the driver library is missing, too old or refuses to start")             \
    X(E_DEVICE,      -4, "no such device, or it cannot be used")                                   \
    X(E_COMPILER,    -5, "the compiler library is missing or too old")                             \
    X(E_SOURCE,      -6, "the source does not compile")                                            \
    X(E_IMAGE,       -7, "the image is no module or does not load on this device")                 \
    X(E_NOT_FOUND,   -8, "no kernel or variable of that name")                                     \
    X(E_SIGNATURE,   -9, "the arguments do not fit the kernel")                                    \
    X(E_GEOMETRY,   -10, "the grid or block does not fit the device or the kernel")                \
    X(E_FAULT,      -11, "a kernel faulted")                                                       \
    X(E_UNSUPPORTED,-12, "valid, but this device or driver cannot do it")                          \
    X(E_SYSTEM,     -13, "the operating system refused")                                           \
    X(E_TIMEOUT,    -14, "a time or instruction limit was reached")                                \
    X(E_INTERNAL,   -15, "a mistake inside gpulaunch")                                             \
    X(E_CHECK,      -16, "a result differs from what was expected")                                \
    X(E_CANCELLED,  -17, "cancelled by the caller's own callback")

/* Where in the road from source to result something failed: an error domain each. */
#define GPUL_LAYER_MAP(X)                                                                          \
    X(CLI, 1, "cli") X(DIRECTIVE, 2, "directive") X(ARGS, 3, "args") X(FILE, 4, "file")            \
    X(ENVIRONMENT, 5, "environment") X(COMPILE, 6, "compile") X(IMAGE, 7, "image")                 \
    X(LOAD, 8, "load") X(SYMBOL, 9, "symbol") X(LAUNCH, 10, "launch")                              \
    X(EXECUTE, 11, "execute") X(MEMORY, 12, "memory") X(CACHE, 13, "cache")                        \
    X(CHECK, 14, "check") X(BENCH, 15, "bench") X(INTERNAL, 16, "internal")
// clang-format on

typedef enum gpul_status {
#define X(name, value, text) GPUL_##name = value,
    GPUL_STATUS_MAP(X)
#undef X
} gpul_status;

typedef enum gpul_layer {
    GPUL_LAYER_NONE = 0,
#define X(name, value, text) GPUL_LAYER_##name = value,
    GPUL_LAYER_MAP(X)
#undef X
} gpul_layer;

typedef enum gpul_severity { GPUL_ERROR = 1, GPUL_WARNING, GPUL_NOTE } gpul_severity;

typedef enum gpul_native_kind {
    GPUL_NATIVE_NONE = 0,
    GPUL_NATIVE_CUDA,  /* `native` is a CUresult */
    GPUL_NATIVE_NVRTC, /* `native` is an nvrtcResult */
    GPUL_NATIVE_ERRNO  /* `native` is an errno value */
} gpul_native_kind;

/* One located mistake or fact.  Strings are NULL where there is nothing to say. */
typedef struct gpul_detail {
    gpul_severity severity;
    int code;              /* as gpul_error.code; 0: that of the record */
    const char *file;      /* as the caller or the compiler spelt it */
    uint32_t line;         /* 1-based; 0: unknown */
    uint32_t column;       /* 1-based, in characters; 0: unknown */
    uint32_t end_column;   /* one past the last character; 0: unknown */
    const char *parameter; /* the kernel parameter it is about */
    const char *text;      /* one sentence; never NULL */
    const char *source;    /* the source line it points at, without its line end */
    const void *reserved;
} gpul_detail;

/* Why the last failing call of this thread failed. */
typedef struct gpul_error {
    gpul_status status;
    gpul_layer layer;
    int code; /* our own stable number: 703 is written GL0703; docs/errors.md */
    gpul_native_kind native_kind;
    int native;              /* 0 when native_kind is NONE */
    const char *native_name; /* "CUDA_ERROR_INVALID_VALUE"; NULL when there is none */
    const char *call;        /* what refused: "cuModuleLoadDataEx", "gpul_launch"; never NULL */
    const char *message;     /* one sentence with the values, no newline; never NULL */
    const char *hint; /* what to do next; NULL when there is nothing better than the message */
    const char *log;  /* compiler output, JIT log or fault report, whole; never NULL, may be "" */
    const gpul_detail *details;
    size_t detail_count;
    const char *caller_file; /* where the launch or load to blame was written; NULL: not known */
    int caller_line;
    const void *reserved[4];
} gpul_error;

/* The record of the last failing call on this thread.  Never NULL; valid until the next failing call
 * on the same thread.  A call that succeeds leaves it alone.  Before any failure its status is
 * GPUL_OK.  Thread-safety: safe, each thread has its own. */
GPUL_API const gpul_error *gpul_last_error(void);

/* The meaning of a status in a few words; "unknown status" for a number that is none. */
GPUL_API const char *gpul_status_text(gpul_status status);

/* "launch" for GPUL_LAYER_LAUNCH; "none" for a number that is no layer. */
GPUL_API const char *gpul_layer_text(gpul_layer layer);

/* The name and meaning of a CUresult or nvrtcResult from the library's own table, so that they are
 * there without a driver.  Never NULL: a number that is not known gives "unknown". */
GPUL_API const char *gpul_native_name(gpul_native_kind kind, int native);
GPUL_API const char *gpul_native_text(gpul_native_kind kind, int native);

/* What one of the library's codes means and what to do about it. */
typedef struct gpul_code_info {
    int code;
    gpul_layer layer;
    gpul_status status;
    const char *title;   /* one line */
    const char *meaning; /* a paragraph */
    const char *causes;  /* usual causes and how to tell them apart; lines separated by \n */
    const char *remedy;  /* what to do; lines separated by \n */
} gpul_code_info;

/* The entry of `code` (703), or NULL when there is none.  Index 0, 1, 2 ... lists them all. */
GPUL_API const gpul_code_info *gpul_code_find(int code);
GPUL_API const gpul_code_info *gpul_code_at(size_t index);

/* ---- Log ----------------------------------------------------------------------------------- */

typedef enum gpul_level {
    GPUL_LOG_DEFAULT = 0, /* GPUL_LOG_WARN */
    GPUL_LOG_ERROR,
    GPUL_LOG_WARN,  /* something was done in a way that the caller may not expect */
    GPUL_LOG_INFO,  /* what was chosen and why: libraries, architecture, image */
    GPUL_LOG_DEBUG, /* what was searched and tried */
    GPUL_LOG_TRACE  /* every driver call with its arguments, result and time */
} gpul_level;

typedef struct gpul_log {
    /* One message, no newline; NULL is silence.  Called from any thread that calls the library,
     * by one thread at a time; it must not call the library. */
    void (*fn)(void *user, gpul_level level, const char *message);
    void *user;
    gpul_level level;
} gpul_log;

/* Sets the process's one log hook.  Thread-safety: safe; a call that is under way in another thread
 * may still use the old one. */
GPUL_API void gpul_set_log(gpul_log log);

/* ---- Devices ------------------------------------------------------------------------------- */

/* A device is named by one grammar everywhere (options, $GPULAUNCH_DEVICE, the command's -d):
 *   cuda  cuda:N     an NVIDIA GPU by ordinal (after CUDA_VISIBLE_DEVICES)
 *   cpu   cpu:N      the CPU device, which runs the same PTX
 *   GPU-xxxxxxxx     a UUID or a prefix of one that fits one device only
 *   0000:65:00.0     a PCI bus id
 *   name:TEXT        the first usable GPU with TEXT in its name, in small or large letters
 *   auto             the first usable GPU, else the CPU device
 *   auto:free        the GPU with the largest share of free memory, else the CPU device
 * NULL means $GPULAUNCH_DEVICE, and cuda when that is unset: the library never falls back by itself.
 * With GPULAUNCH_REQUIRE_GPU=1 in the environment auto does not fall back either. */

typedef enum gpul_backend {
    GPUL_BACKEND_NONE = 0,
    GPUL_BACKEND_CUDA,
    GPUL_BACKEND_CPU
} gpul_backend;

/* Facts of a device; zero where the driver does not say. */
typedef struct gpul_device_info {
    gpul_backend backend;
    int ordinal;
    char name[256];
    char uuid[48]; /* "GPU-8f6a..." */
    char pci_bus_id[32];
    int compute_major, compute_minor;
    int driver_version;      /* CUDA version that the driver speaks: 13000 is 13.0 */
    char driver_release[32]; /* "580.159.04"; "" when unknown */
    int multiprocessors, warp_size;
    uint64_t memory_total;
    uint64_t memory_free; /* at the time of the call; 0 without a context */
    uint64_t l2_bytes;
    int clock_khz, memory_clock_khz, memory_bus_bits;
    uint64_t max_grid[3];
    uint32_t max_block[3];
    uint32_t max_threads_per_block;
    uint32_t max_threads_per_multiprocessor, max_blocks_per_multiprocessor;
    uint32_t registers_per_block, registers_per_multiprocessor;
    uint32_t shared_per_block, shared_per_block_optin, shared_per_multiprocessor;
    uint32_t constant_bytes;
    uint32_t max_parameter_bytes; /* 4096 or 32764 */
    bool cooperative, cluster, memory_pools, managed, concurrent_managed, unified_addressing;
    int compute_mode; /* CU_COMPUTEMODE_* */
    bool mig;
    bool virtual_memory;  /* GPUL_MEMORY_GROWING */
    bool pageable_access; /* kernels reach plain host memory */
    bool integrated, ecc;
    int copy_engines;             /* copies that run beside kernels */
    uint64_t persisting_l2_bytes; /* of the L2 cache that access windows can set aside */
    uint64_t access_window_bytes; /* the largest access window of a launch */
    uint32_t texture_1d_linear, texture_2d[2], texture_3d[3]; /* largest sizes; 0: no textures */
    uint32_t context_multiprocessors; /* that an open device's context has; 0: all */
} gpul_device_info;

/* How many devices of a kind there are: "cuda" or "cpu" (NULL: as for gpul_open).  No GPU or no driver
 * is an error for "cuda", with the reason.  Makes no context.  Thread-safety: safe. */
GPUL_API gpul_status gpul_device_count(int *out, const char *kind);

/* Facts of a device without opening it (memory_free is 0).  Thread-safety: safe. */
GPUL_API gpul_status gpul_device_query(gpul_device_info *out, const char *device);

typedef enum gpul_context_kind {
    GPUL_CONTEXT_OWN = 0, /* cuCtxCreate; destroyed with the device */
    GPUL_CONTEXT_PRIMARY, /* the one that cudart libraries share; released, never reset */
    GPUL_CONTEXT_ADOPT    /* the caller's CUcontext; never destroyed */
} gpul_context_kind;

typedef enum gpul_schedule {
    GPUL_SCHEDULE_AUTO = 0,
    GPUL_SCHEDULE_SPIN,
    GPUL_SCHEDULE_YIELD,
    GPUL_SCHEDULE_BLOCKING
} gpul_schedule;

/* Checkers of the CPU device, for gpul_cpu_opts.checks.  Memory and barriers are always checked. */
enum {
    GPUL_CPU_CHECK_RACES = 1, /* in shared memory: between threads of a block, lanes of a warp */
    /* Uses of what was read from shared, local or global memory that nothing has written: copies, of padding for
     * example, are no use.  What the host writes, fills or registers counts as written; so do variables. */
    GPUL_CPU_CHECK_INIT = 2,
    GPUL_CPU_CHECK_BLOCKS = 4 /* races in global memory between blocks; slow */
};

/* Options of the CPU device; read when its process-wide engine starts, that is by the first open. */
typedef struct gpul_cpu_opts {
    unsigned threads;            /* host threads; 0: one per core */
    unsigned devices;            /* how many CPU devices there are; 0: 1 */
    int compute_capability;      /* 90 is 9.0, the default; 75 to 121 */
    uint64_t instruction_budget; /* warp instructions a launch; 0: no limit */
    uint64_t memory_bytes;       /* size of device memory; 0: half of the host's */
    /* Kernel printf, whole pieces of text in order; NULL: the process's stdout. */
    void (*print)(void *user, const char *text, size_t length);
    void *print_user;
    /* GPUL_CPU_CHECK_*: kernels run to their end, and what is found makes the next gpul_sync,
     * gpul_stream_sync or checked launch fail with code GL0823; its details name the lines, threads
     * and variables of both accesses.  What may be meant (races inside a warp or between blocks) is
     * only told to the log.  0: $GPULAUNCH_CPU_CHECKS, a list of races, init, blocks; else none. */
    unsigned checks;
    /* Not 0: blocks and warps run in an order of this seed, and fresh device and shared memory holds no
     * zeros.  0: $GPULAUNCH_CPU_SEED, else the plain order. */
    uint64_t seed;
} gpul_cpu_opts;

struct gpul_device;
typedef struct gpul_device_opts {
    const char *device;  /* the grammar above; NULL: $GPULAUNCH_DEVICE, else "cuda" */
    const char *libcuda; /* path of the driver library; NULL: $GPULAUNCH_LIBCUDA, else searched */
    gpul_context_kind context_kind;
    void *context; /* the CUcontext to adopt */
    gpul_schedule schedule;
    bool map_host; /* CU_CTX_MAP_HOST */
    bool checked;  /* wait for each launch and blame it by name; test pointers before it */
    gpul_cpu_opts cpu;
    /* Called once the device is chosen, in a thread of its own while the driver makes the context, which takes a tenth of a
     * second on a GPU: gpul_open ends when it has returned.  It may use the device for gpul_device_describe and as the
     * .device of gpul_compile, and for nothing else; it must not free it.  NULL: nothing. */
    void (*meanwhile)(void *user, struct gpul_device *device);
    void *meanwhile_user;
    /* Kernels of an own context run on no more than so many multiprocessors (0: all), by execution affinity: for the clients
     * of an MPS server, with a driver of CUDA 11.4; else GPUL_E_UNSUPPORTED.  Rounded as the driver needs it. */
    unsigned multiprocessors;
} gpul_device_opts;
#define gpul_device_opts(...) GPUL_OPTIONS(gpul_device_opts, __VA_ARGS__)

/* An open device with its context and one non-blocking stream of ours.  Thread-safety: safe.
 * Each call makes the context current as needed: when nothing is current on the thread, ours becomes
 * current and stays; when a foreign one is current, it is restored. */
typedef struct gpul_device gpul_device;
GPUL_API gpul_status gpul_open(gpul_device **out, const gpul_device_opts *opts);
GPUL_API void gpul_device_free(gpul_device **device);

/* Facts of an open device; borrowed.  memory_free is that of the time of opening. */
GPUL_API const gpul_device_info *gpul_device_describe(const gpul_device *device);

/* Free and total memory now. */
GPUL_API gpul_status gpul_device_memory(gpul_device *device, uint64_t *free_bytes,
                                        uint64_t *total_bytes);

/* The CUcontext, for raw driver calls beside ours. */
GPUL_API void *gpul_device_context(const gpul_device *device);

/* Waits for the device's stream and all streams made from it.  A fault of an earlier launch comes
 * back here, with the launches that may have caused it. */
GPUL_API gpul_status gpul_sync(gpul_device *device);

/* Ends the kernels that run on the device, from any thread: the call that waits for them fails with
 * E_TIMEOUT and says where their threads stand.  For the CPU device; no driver can end a kernel of a GPU
 * (E_UNSUPPORTED), which ends with the process.  Thread-safety: safe. */
GPUL_API gpul_status gpul_interrupt(gpul_device *device);

/* ---- Compile ------------------------------------------------------------------------------- */

/* A header given as text: #include "name" or <name> finds it. */
typedef struct gpul_header {
    const char *name;
    const char *text;
} gpul_header;

/* Lists end with NULL (headers: with a NULL name). */
typedef struct gpul_compile_opts {
    gpul_device *device;        /* compile for this device ... */
    const char *arch;           /* ... or this one: "sm_90" (PTX and CUBIN), "compute_90" (PTX) */
    const char *name;           /* file name in diagnostics; NULL: the path, else "source.cu" */
    const char *std;            /* "c++17"; NULL: the compiler's own default */
    const char *const *defines; /* "TILE=16", "DEBUG" */
    const char *const *undefines;
    const char *const *include_dirs;
    const char *const *includes; /* files read before the source */
    const gpul_header *headers;
    const char *const *flags;       /* to NVRTC as they are, one option each */
    const char *const *expressions; /* C++ names to keep: "axpy<float>", "ns::k<3>" */
    int max_registers;
    bool line_info;
    bool debug; /* -G: slow code, struct members and lines in full */
    bool fast_math;
    bool no_carried_headers; /* neither the library's own headers nor a toolkit's folders */
    bool keep_host_code;     /* do not set host functions aside */
    const char *nvrtc;       /* path of libnvrtc; NULL: $GPULAUNCH_NVRTC, else searched */
    bool no_cache;
    /* Nothing is compiled: an image that is not in the cache is error GL1203, whose message says why it is not. */
    bool cache_only;
    /* Called again and again while NVRTC (12.8 and later) works, by any thread; false cancels, and then
     * stays false.  It must not call the library. */
    bool (*progress)(void *user);
    void *progress_user;
} gpul_compile_opts;
#define gpul_compile_opts(...) GPUL_OPTIONS(gpul_compile_opts, __VA_ARGS__)

/* Compiled code and what the compiler said.  Thread-safety: safe. */
typedef struct gpul_image gpul_image;

/* Compiles `length` bytes of CUDA C++ (GPUL_TEXT: up to the NUL).  Neither device nor arch: the default
 * device's own architecture or, without a device, sm_90 (the compiler's newest where it does not know
 * that).  "native" is the device's.  Fails with E_SOURCE and the diagnostics as details, E_COMPILER when
 * there is no usable NVRTC. */
#define GPUL_TEXT ((size_t)-1)
GPUL_API gpul_status gpul_compile(gpul_image **out, const char *source, size_t length,
                                  const gpul_compile_opts *opts);

/* The same for a file; quoted includes are found beside it. */
GPUL_API gpul_status gpul_compile_file(gpul_image **out, const char *path,
                                       const gpul_compile_opts *opts);

typedef enum gpul_format {
    GPUL_IMAGE_AUTO = 0,
    GPUL_IMAGE_PTX,
    GPUL_IMAGE_CUBIN,
    GPUL_IMAGE_FATBIN
} gpul_format;

/* An image from bytes; the kind is told by content.  The bytes are copied. */
GPUL_API gpul_status gpul_image_from_memory(gpul_image **out, const void *data, size_t size,
                                            const char *name);
GPUL_API gpul_status gpul_image_from_file(gpul_image **out, const char *path);

/* Writes one form of the image to a temporary name beside `path` and renames it.  AUTO: by the ending
 * of the path (.ptx, .cubin, .fatbin), else the form that the image has. */
GPUL_API gpul_status gpul_image_save(const gpul_image *image, const char *path, gpul_format format);
GPUL_API void gpul_image_free(gpul_image **image);

typedef struct gpul_image_info {
    const char *name;  /* file name in diagnostics */
    const char *arch;  /* "sm_90"; what was compiled for, or what the image says; "" unknown */
    const void *ptx;   /* NULL when the image has none; ends in NUL */
    size_t ptx_size;   /* without the NUL */
    const void *cubin; /* NULL when the image has none */
    size_t cubin_size;
    const void *fatbin;
    size_t fatbin_size;
    const void *ltoir; /* of "-dlto": has to be linked (link.h) */
    size_t ltoir_size;
    int ptx_major, ptx_minor;     /* .version; 0 when there is no PTX */
    int nvrtc_major, nvrtc_minor; /* 0 when we did not compile it */
    const char *nvrtc_path;       /* NULL when we did not compile it */
    const char *log;              /* the compiler's whole output, also on success; never NULL */
    const char *choice; /* why this architecture and these forms, one sentence; never NULL */
    uint64_t compile_ns;
    bool from_cache;
    const char *
        cache_miss; /* why the cache did not have it: what changed since the nearest compile of this name, one
                             * sentence; NULL when it did, and for an image that was not compiled */
} gpul_image_info;

/* Facts of an image; everything is borrowed from it. */
GPUL_API const gpul_image_info *gpul_image_describe(const gpul_image *image);

/* Warnings and remarks of the compiler, located. */
GPUL_API size_t gpul_image_diagnostic_count(const gpul_image *image);
GPUL_API const gpul_detail *gpul_image_diagnostic(const gpul_image *image, size_t index);

/* ---- Kernel signatures --------------------------------------------------------------------- */

/* Element and scalar types, as far as a launcher cares. */
typedef enum gpul_type {
    GPUL_TYPE_UNKNOWN = 0,
    GPUL_BOOL,
    GPUL_I8,
    GPUL_U8,
    GPUL_I16,
    GPUL_U16,
    GPUL_I32,
    GPUL_U32,
    GPUL_I64,
    GPUL_U64,
    GPUL_F16,
    GPUL_BF16,
    GPUL_F32,
    GPUL_F64,
    GPUL_STRUCT,  /* class, struct or union: see members */
    GPUL_POINTER, /* see pointee */
    GPUL_VOID,    /* as a pointee */
    GPUL_OTHER    /* texture and surface objects, member pointers, __int128 ... */
} gpul_type;

/* "float" for GPUL_F32; the size of one in bytes, 0 for types that have none of their own. */
GPUL_API const char *gpul_type_name(gpul_type type);
GPUL_API size_t gpul_type_size(gpul_type type);

/* A member of a struct; also used for what a pointer points at. */
typedef struct gpul_member {
    const char *name;      /* "" for a pointee */
    const char *type_name; /* as the source spells it: "float3" */
    gpul_type type;        /* of one element when it is an array */
    gpul_type element; /* of a lane, for vector types (float3: GPUL_F32); else the same as type */
    uint32_t lanes;    /* float3: 3; else 1 */
    uint32_t size;     /* of the whole member, in bytes */
    uint32_t align;
    uint32_t offset; /* from the start of what contains it */
    uint32_t count;  /* elements of an array member; 1 otherwise */
    bool is_enum;
    const struct gpul_member *members; /* of a struct, in order */
    uint32_t member_count;
} gpul_member;

/* A kernel parameter.  Unknown strings are "" and unknown numbers 0. */
typedef struct gpul_param {
    gpul_member value; /* name, type, size, align, offset in the parameter buffer, members */
    bool is_pointer;
    bool is_const;              /* what it points at is const: an input */
    const gpul_member *pointee; /* NULL: not a pointer, or unknown */
    const char *file;
    uint32_t line, column, end_column; /* of the declaration; 1-based characters */
} gpul_param;

typedef enum gpul_source_of_types {
    GPUL_TYPES_NONE = 0, /* only sizes are known (a CUBIN without more) */
    GPUL_TYPES_PTX,     /* from .param declarations: sizes and alignments, and which are pointers */
    GPUL_TYPES_COMPILER /* from the compiler itself: everything */
} gpul_source_of_types;

/* All that is known of a kernel.  Numbers that are not known yet are -1: registers and the like come
 * from the compiler (CUBIN) or from the device after loading. */
typedef struct gpul_kernel_info {
    const char *name; /* as a user writes it: "scale", "demo::poly<float, 3>" */
    const char
        *symbol; /* in the image: "_Z5scalePfi"; "" for a template that was not instantiated */
    const char *signature; /* "saxpy(int n, float a, const float *x, float *y)" */
    const char *file;
    uint32_t line, column, end_column; /* of the name; 0 unknown */
    bool is_template; /* declared as a template and not instantiated: cannot be launched as it is */
    bool is_extern_c;
    gpul_source_of_types types;
    const gpul_param *params;
    uint32_t param_count;
    uint32_t param_bytes; /* exact, without tail padding */
    bool uses_y, uses_z;  /* reads the y or z index of thread or block */
    bool uses_dynamic_shared;
    bool uses_grid_sync; /* synchronises the whole grid: is launched cooperatively or not at all */
    const char *dynamic_shared_name; /* NULL unknown */
    int registers, shared_bytes, local_bytes, constant_bytes;
    int max_threads;      /* a block of this kernel on this device can have so many */
    int bound_threads[3]; /* __launch_bounds__ or __block_size__; 0 none */
    int min_blocks;       /* second number of __launch_bounds__; 0 none */
    bool bound_exact;     /* the block must be exactly bound_threads (.reqntid) */
    int cluster[3];       /* compiled-in cluster size; 0 none */
    /* The name expression that asked for it, "poly<float>", or "".  Of a template that nobody instantiated:
     * an instance that could be asked for. */
    const char *expression;
} gpul_kernel_info;

/* The kernels of an image without loading it: needs no device.  Templates that were declared but not
 * instantiated are listed too, when we compiled the source. */
GPUL_API size_t gpul_image_kernel_count(const gpul_image *image);
GPUL_API const gpul_kernel_info *gpul_image_kernel(const gpul_image *image, size_t index);

/* A __device__ or __constant__ variable of an image. */
typedef struct gpul_global_info {
    const char *name; /* as a user writes it */
    const char *symbol;
    uint64_t size, align;
    bool is_constant; /* __constant__ */
    /* One element, as the source that we compiled declares it; of an array there are size / element->size, all
     * dimensions together.  NULL: the image has no source, or the type is not known. */
    const gpul_member *element;
} gpul_global_info;
GPUL_API size_t gpul_image_global_count(const gpul_image *image);
GPUL_API const gpul_global_info *gpul_image_global(const gpul_image *image, size_t index);

/* ---- Load ---------------------------------------------------------------------------------- */

/* Zero must stay "the default", so level 0 of the JIT is GPUL_JIT_O0. */
typedef enum gpul_jit_level {
    GPUL_JIT_DEFAULT = 0,
    GPUL_JIT_O0,
    GPUL_JIT_O1,
    GPUL_JIT_O2,
    GPUL_JIT_O3,
    GPUL_JIT_O4
} gpul_jit_level;

typedef enum gpul_jit_fallback { /* what to do when no exact CUBIN is found in a fatbin */
                                 GPUL_JIT_FALLBACK_DEFAULT = 0,
                                 GPUL_JIT_PREFER_PTX,
                                 GPUL_JIT_PREFER_BINARY
} gpul_jit_fallback;

typedef enum gpul_jit_cache {
    GPUL_JIT_CACHE_DEFAULT = 0,
    GPUL_JIT_CACHE_CG, /* no -dlcm: L1 disabled for global loads */
    GPUL_JIT_CACHE_CA  /* -dlcm=ca */
} gpul_jit_cache;

/* Options of cuModuleLoadDataEx.  Any of the JIT's own options makes the PTX go through the JIT, even
 * when a fitting CUBIN is there. */
typedef struct gpul_load_opts {
    gpul_jit_level level;
    unsigned max_registers;     /* per thread */
    unsigned threads_per_block; /* the JIT aims at blocks of this size */
    unsigned target;            /* 90: compute capability to compile for; 0: the device's */
    gpul_jit_fallback fallback;
    gpul_jit_cache cache_mode;
    bool line_info;
    bool debug;
    bool verbose;    /* registers, spills and shared memory of each kernel in the log */
    bool prefer_ptx; /* use the JIT although a CUBIN fits */
    /* Keep what the JIT makes of PTX in the compile cache, and look for it there: by PTX, options, device
     * and driver.  Not with .target. */
    bool keep;
    const char *caller_file;
    int caller_line;
} gpul_load_opts;
#define gpul_load_opts(...) GPUL_OPTIONS_HERE(gpul_load_opts, __VA_ARGS__)

/* An image on a device.  Thread-safety: safe. */
typedef struct gpul_module gpul_module;
GPUL_API gpul_status gpul_load(gpul_module **out, gpul_device *device, gpul_image *image,
                               const gpul_load_opts *opts);
GPUL_API void gpul_module_free(gpul_module **module);

typedef struct gpul_module_info {
    gpul_format format;    /* what was given to the driver */
    const char *choice;    /* why, one sentence */
    const char *info_log;  /* the JIT's; never NULL */
    const char *error_log; /* never NULL */
    double jit_ms;         /* CU_JIT_WALL_TIME; 0 when no JIT ran */
    uint64_t load_ns;      /* wall time of cuModuleLoadDataEx */
} gpul_module_info;
GPUL_API const gpul_module_info *gpul_module_describe(const gpul_module *module);
GPUL_API void *gpul_module_handle(const gpul_module *module); /* the CUmodule */

/* A kernel of a loaded module; borrowed from it.  Thread-safety: safe.  `name` is a plain name, a C++
 * name without mangling ("demo::scale", "scale(float*, int)"), a name expression given to the compiler,
 * or the symbol; NULL when the module has one kernel only. */
typedef struct gpul_kernel gpul_kernel;
GPUL_API gpul_status gpul_module_kernel(const gpul_kernel **out, gpul_module *module,
                                        const char *name);

/* All that is known of the kernel, its attributes on this device included.  Borrowed. */
GPUL_API const gpul_kernel_info *gpul_kernel_describe(const gpul_kernel *kernel);
GPUL_API void *gpul_kernel_handle(const gpul_kernel *kernel); /* the CUfunction */

/* The size in bytes and the device address of a __device__ or __constant__ variable. */
GPUL_API gpul_status gpul_module_global(uint64_t *address, size_t *size, gpul_module *module,
                                        const char *name);
GPUL_API gpul_status gpul_global_write(gpul_module *module, const char *name, size_t offset,
                                       const void *source, size_t size);
GPUL_API gpul_status gpul_global_read(void *destination, gpul_module *module, const char *name,
                                      size_t offset, size_t size);

/* Blocks of `block_threads` with `shared` bytes of dynamic shared memory that one multiprocessor can
 * hold at a time; and the block size that fills the device best. */
GPUL_API gpul_status gpul_kernel_occupancy(int *out, const gpul_kernel *kernel,
                                           unsigned block_threads, size_t shared);
GPUL_API gpul_status gpul_kernel_suggest_block(int *out, const gpul_kernel *kernel, size_t shared);

/* ---- Streams and events -------------------------------------------------------------------- */

/* An ordered queue of work.  Calls without a stream use the device's own non-blocking one, and their
 * synchronous forms wait for it and for nothing else.  Calls with a stream never wait.  A buffer last
 * written on another stream is the caller's to order, by an event.  In an adopted context the legacy
 * default stream is not ordered against ours.  Thread-safety: one at a time. */
typedef struct gpul_stream gpul_stream;
typedef struct gpul_stream_opts {
    int priority;  /* lower is sooner; clamped to the device's range */
    bool blocking; /* ordered against the legacy default stream */
    /* Kernels run on so many multiprocessors, rounded up as the device needs it (0: all), in a green context:
     * GPUs with a driver of CUDA 12.5 and GPUL_CONTEXT_PRIMARY.  Streams of one size and different parts
     * (0, 1, 2 ...) share none. */
    unsigned multiprocessors, part;
} gpul_stream_opts;
#define gpul_stream_opts(...) GPUL_OPTIONS(gpul_stream_opts, __VA_ARGS__)
GPUL_API gpul_status gpul_stream_new(gpul_stream **out, gpul_device *device,
                                     const gpul_stream_opts *opts);
GPUL_API void gpul_stream_free(gpul_stream **stream);
GPUL_API gpul_status gpul_stream_sync(gpul_stream *stream);
GPUL_API gpul_status gpul_stream_done(bool *out, gpul_stream *stream); /* asks, never waits */
GPUL_API void *gpul_stream_handle(const gpul_stream *stream);          /* the CUstream */

/* A mark in a stream.  `stream` NULL means the device's own.  Thread-safety: one at a time. */
typedef struct gpul_event gpul_event;
GPUL_API gpul_status gpul_event_new(gpul_event **out, gpul_device *device);
GPUL_API void gpul_event_free(gpul_event **event);
GPUL_API gpul_status gpul_event_record(gpul_event *event, gpul_stream *stream);
GPUL_API gpul_status gpul_event_sync(gpul_event *event);
GPUL_API gpul_status gpul_stream_wait(gpul_stream *stream, gpul_event *event);

/* Milliseconds of device time from one recorded event to another; waits for `end`. */
GPUL_API gpul_status gpul_event_elapsed(float *out, gpul_event *start, gpul_event *end);

/* ---- Buffers ------------------------------------------------------------------------------- */

/* What a buffer is made of.  What each needs and allows is in memory.h. */
typedef enum gpul_memory {
    GPUL_MEMORY_DEVICE = 0, /* cuMemAlloc */
    GPUL_MEMORY_MANAGED, /* reached by host and device at one address; pages move by themselves */
    GPUL_MEMORY_PINNED,  /* host memory that the device reaches, and copies fastest */
    GPUL_MEMORY_POOL,    /* device memory in the order of a stream, from a pool */
    GPUL_MEMORY_GROWING, /* reserved addresses, filled with device memory as it grows */
    GPUL_MEMORY_REGISTERED, /* gpul_register */
    GPUL_MEMORY_FOREIGN,    /* gpul_wrap, and the variables of a module */
    GPUL_MEMORY_SHARED      /* gpul_open_shared: another process's */
} gpul_memory;

/* Memory of known size.  Thread-safety: one at a time. */
typedef struct gpul_alloc_opts {
    const void *init; /* `size` bytes copied in; NULL: contents undefined */
    gpul_type type;   /* element type, checked against the parameter's pointee at launch; 0: any */
    const char *name; /* in messages; NULL: "buffer" */
    gpul_memory memory;     /* DEVICE, MANAGED, PINNED, POOL or GROWING */
    bool portable;          /* pinned: page-locked for every context, not this one only */
    bool write_combined;    /* pinned: fast to write in order, very slow for the host to read */
    bool attach_host;       /* managed: the host's first; attach a stream to use it on the device */
    bool read_only;         /* registered: the device only reads it */
    size_t reserve;         /* growing: the largest size that it can have */
    struct gpul_pool *pool; /* POOL: from this one; NULL: the device's default pool */
    struct gpul_stream *stream; /* POOL: in this order; NULL: the device's own stream */
} gpul_alloc_opts;
#define gpul_alloc_opts(...) GPUL_OPTIONS(gpul_alloc_opts, __VA_ARGS__)

/* `size` 0 is refused. */
GPUL_API gpul_status gpul_alloc(gpul_buffer **out, gpul_device *device, size_t size,
                                const gpul_alloc_opts *opts);
GPUL_API void gpul_buffer_free(gpul_buffer **buffer);

/* A part of a buffer as a buffer of its own; the memory stays the parent's. */
GPUL_API gpul_status gpul_view(gpul_buffer **out, gpul_buffer *parent, size_t offset, size_t size);
GPUL_API size_t gpul_buffer_size(const gpul_buffer *buffer);
GPUL_API uint64_t gpul_buffer_address(const gpul_buffer *buffer);
GPUL_API gpul_device *gpul_buffer_device(const gpul_buffer *buffer);

/* Copies between host and device, and between buffers: those of two GPUs too, directly where the hardware
 * can (then `stream` is of either).  stream NULL: on the device's stream, and done when the call
 * returns.  With a stream: only queued; the host memory must live until the stream has passed it.
 * A range outside the buffer is refused.  A size of 0 does nothing. */
GPUL_API gpul_status gpul_write(gpul_buffer *destination, size_t offset, const void *source,
                                size_t size, gpul_stream *stream);
GPUL_API gpul_status gpul_read(void *destination, const gpul_buffer *source, size_t offset,
                               size_t size, gpul_stream *stream);
GPUL_API gpul_status gpul_copy(gpul_buffer *destination, size_t destination_offset,
                               const gpul_buffer *source, size_t source_offset, size_t size,
                               gpul_stream *stream);

/* Repeats a pattern of 1, 2 or 4 bytes; `size` and `offset` are multiples of it. */
GPUL_API gpul_status gpul_fill(gpul_buffer *destination, size_t offset, size_t size,
                               const void *pattern, size_t pattern_size, gpul_stream *stream);

/* ---- Launch -------------------------------------------------------------------------------- */

/* Dimensions are 64-bit, so that a size_t is never cut.  x = 0 is an error; y or z left zero mean 1. */
typedef struct gpul_launch_opts {
    uint64_t grid[3];  /* blocks */
    uint64_t block[3]; /* threads */
    size_t shared; /* dynamic shared memory, bytes; the opt-in above 48 KB is raised by itself */
    gpul_stream *stream;
    bool cooperative;    /* all blocks run at once; grid.sync() works */
    uint32_t cluster[3]; /* blocks of a cluster; 0: the kernel's own or none */
    const struct gpul_launch_extra
        *extra; /* launch.h: priority, access window and others; or NULL */
    const char *caller_file;
    int caller_line;
} gpul_launch_opts;
#define gpul_launch_opts(...) GPUL_OPTIONS_HERE(gpul_launch_opts, __VA_ARGS__)

/* Queues one launch after checking the arguments against the kernel's signature and the geometry
 * against kernel and device; nothing reaches the driver when a check fails.  Returns before the kernel
 * has finished; its faults come back from a later call that waits.  Errors: E_SIGNATURE (count, class
 * or size of an argument), E_GEOMETRY, E_FAULT (an earlier launch).  Thread-safety: safe. */
GPUL_API gpul_status gpul_launch(const gpul_kernel *kernel, const gpul_launch_opts *opts,
                                 gpul_arglist args);

/* The largest grid (blocks) that a cooperative launch with these options may have. */
GPUL_API gpul_status gpul_kernel_max_cooperative(uint64_t *out, const gpul_kernel *kernel,
                                                 const gpul_launch_opts *opts);

/* ---- Environment --------------------------------------------------------------------------- */

typedef enum gpul_verdict { GPUL_CHECK_OK = 0, GPUL_CHECK_WARN, GPUL_CHECK_FAIL } gpul_verdict;

/* One line of a doctor's report. */
typedef struct gpul_check {
    gpul_verdict verdict;
    const char *subject; /* "driver", "compiler", "device 0" */
    const char *text;
    const char *fix; /* NULL when nothing is to be done */
} gpul_check;

/* Looks at driver, device files, devices, compilers, headers and cache.  Succeeds whatever it finds. */
typedef struct gpul_doctor gpul_doctor;
GPUL_API gpul_status gpul_doctor_new(gpul_doctor **out);
GPUL_API void gpul_doctor_free(gpul_doctor **doctor);
GPUL_API size_t gpul_doctor_count(const gpul_doctor *doctor);
GPUL_API const gpul_check *gpul_doctor_check(const gpul_doctor *doctor, size_t index);
GPUL_API bool gpul_doctor_ready(const gpul_doctor *doctor); /* a kernel can be compiled and run */

#ifdef __cplusplus
}
#endif

/* The rest of the manual, by subject. */
#include <gpulaunch/device.h>
#include <gpulaunch/graph.h>
#include <gpulaunch/launch.h>
#include <gpulaunch/link.h>
#include <gpulaunch/memory.h>
#include <gpulaunch/module.h>
#include <gpulaunch/stream.h>
#include <gpulaunch/texture.h>
#endif
