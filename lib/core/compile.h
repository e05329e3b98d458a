/* Compiling inside the library: what is shared by the steps.  The steps: options (compile_options.c),
 * architecture (compile_arch.c), host code (source_host.c), probes (compile_probe.c), NVRTC
 * (compile_run.c), its messages (compile_log.c, compile_explain.c), the image (compile_image.c).
 * SPDX-License-Identifier: MIT */
#ifndef GPUL_CORE_COMPILE_H
#define GPUL_CORE_COMPILE_H

#include <gpulaunch/gpulaunch.h>

#include "base/str.h"
#include "core/compile_log.h"
#include "core/compile_probe.h"
#include "core/compile_run.h"
#include "core/image.h"
#include "core/source_files.h"
#include "core/source_host.h"
#include "nvrtc/headers.h"

enum { GPUL__DEFAULT_ARCH = 90 };

/* One call of gpul_compile on its way. */
typedef struct gpul__compile {
    const gpul_compile_opts *opts; /* never NULL */
    gpul__arena arena;             /* of everything that need not outlive the call */
    const char *folder;            /* of the file, "" for text */
    gpul__source source;
    gpul__files files; /* the source and the user's headers */
    gpul__tokens tokens;
    gpul__scan scan;
    gpul__host_code host; /* what was, or could be, set aside */

    const gpul_device_info *device; /* NULL: none */
    gpul_device_info queried;       /* of the default device, when none was given */
    const char *why_no_device;      /* what looking for one gave; NULL: not looked for */
    const gpul__nvrtc *nvrtc;
    gpul__arch arch;
    gpul__str choice;
    gpul__include_folders folders;

    const char *text; /* what is compiled: source.text, or host.text */
    gpul__list options, header_names, header_texts;
    gpul__list base;     /* options that do not change from run to run, without architecture */
    gpul__list searched; /* include folders in the order of the search */
    const char *requested_arch; /* of opts->arch or among the flags; NULL: none */
    bool warnings_off;          /* -w was given: done here, as probes need warnings */
    bool default_device;        /* functions without annotation are device functions */
    bool is_linked_later;       /* -rdc=true and its like: no kernel is no mistake */
    bool set_aside;             /* text is host.text */
    bool has_includes;
    bool bundled_tried;
    bool from_scratch; /* nothing that is remembered of compilers counts */
    bool is_stale;     /* what was remembered is no longer so: the whole compile is made again */
    const char *bundled_why; /* why NVRTC's own headers could not be had */
    uint64_t started_ns;
} gpul__compile;

/* GL0502 with what this NVRTC takes. */
gpul_status gpul__fail_arch(const gpul__nvrtc *nvrtc, const char *text);

gpul_status gpul__arch_choose(gpul__arch *out, gpul__str *choice, const gpul__nvrtc *nvrtc,
                              const gpul_device_info *device, const char *requested);

/* Checks the options; fills base and what the flags say.  Needs no compiler. */
gpul_status gpul__compile_flags(gpul__compile *compile);

/* Fills headers and folders; the compiler is chosen.  False: out of memory. */
bool gpul__compile_headers(gpul__compile *compile);

/* Fills options, header_names and header_texts for one run. */
typedef struct gpul__run_kind {
    const gpul__probe *probe; /* NULL: none */
    bool ptx_only;            /* stop before ptxas */
    bool line_info;           /* also when the caller did not ask for it */
} gpul__run_kind;
bool gpul__compile_run_options(gpul__compile *compile, const gpul__run_kind *kind);

/* One run of NVRTC over compile->text.  False: out of memory. */
bool gpul__compile_run(gpul__run *out, gpul__compile *compile, const gpul__run_kind *kind);

/* The error record of a run that failed. */
gpul_status gpul__compile_explain(gpul__compile *compile, const gpul__run *run);

/* Whether the log complains of host code, which setting it aside would answer. */
bool gpul__compile_is_host_trouble(const gpul__run *run);

/* Looks for the assembler's line in the PTX: its text, and where in the source it came from. */
bool gpul__compile_place_ptx(gpul__compile *compile, uint32_t line, gpul_detail *detail);

/* A refusal for what has host code and no kernel (GL0504), or no kernel at all (GL0510). */
gpul_status gpul__compile_fail_empty(gpul__compile *compile, const char *log);

/* The image of a run that succeeded; takes the run's code over.  `probe` holds the answers and may be
 * NULL. */
gpul_status gpul__compile_image(gpul_image **out, gpul__compile *compile, gpul__run *run,
                                const gpul__log_list *log, const gpul__probe *probe);

#endif
