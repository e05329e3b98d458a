/* Which NVRTC is used: the one whose architectures include the device's and whose version the driver
 * can follow, then the newest; never simply the first.  SPDX-License-Identifier: MIT */
#include "nvrtc/nvrtc.h"
#include "nvrtc/places.h"

#include "base/error.h"
#include "base/log.h"

#include <string.h>

/* How well a version suits, higher is better.  Bits from the strongest reason to the weakest; the
 * version itself decides among equals. */
struct fit {
    bool arch;  /* it makes code for the device */
    bool major; /* its machine code runs on this driver's major release */
    bool minor; /* its PTX is not too new for the driver */
    int version;
};

static bool knows_arch(const int *archs, int count, int arch)
{
    for (int i = 0; i < count; i++)
        if (archs[i] == arch) return true;
    return false;
}

static struct fit fit_of(int major, int minor, const int *archs, int count,
                         const gpul__nvrtc_want *want)
{
    int driver_major = want->driver_version / 1000, driver_minor = want->driver_version % 1000 / 10;
    struct fit fit = { .arch = !want->arch || knows_arch(archs, count, want->arch),
                       .version = major * 100 + minor };
    fit.major = !want->driver_version || major <= driver_major;
    fit.minor = !want->driver_version || major * 100 + minor <= driver_major * 100 + driver_minor;
    return fit;
}

static int compare_fits(struct fit a, struct fit b)
{
    int rank_a = a.arch * 4 + a.major * 2 + a.minor, rank_b = b.arch * 4 + b.major * 2 + b.minor;
    if (rank_a != rank_b) return rank_a - rank_b;
    return a.version - b.version;
}

static struct fit fit_of_library(const gpul__nvrtc *nvrtc, const gpul__nvrtc_want *want)
{
    return fit_of(nvrtc->major, nvrtc->minor, nvrtc->archs, nvrtc->arch_count, want);
}

static struct fit fit_of_guess(int major, int minor, const gpul__nvrtc_want *want)
{
    int archs[GPUL__NVRTC_ARCHS], count = gpul__nvrtc_known_archs(major, minor, archs);
    return fit_of(major, minor, archs, count, want);
}

static const char *reason_of(gpul__arena *arena, const gpul__nvrtc *nvrtc,
                             const gpul__nvrtc_want *want)
{
    struct fit fit = fit_of_library(nvrtc, want);
    int driver_major = want->driver_version / 1000, driver_minor = want->driver_version % 1000 / 10;
    const char *range = gpul__arena_printf(arena, "it makes code for sm_%d to sm_%d",
                                           nvrtc->archs[0], nvrtc->archs[nvrtc->arch_count - 1]);
    if (!range) return NULL;
    if (!fit.arch) return gpul__arena_printf(arena, "%s, not for sm_%d", range, want->arch);
    if (!fit.major)
        return gpul__arena_printf(arena, "%s, but is newer than the driver, which is of CUDA %d.%d",
                                  range, driver_major, driver_minor);
    if (!fit.minor)
        return gpul__arena_printf(
            arena,
            "%s; its PTX is too new for the driver (CUDA %d.%d), machine code "
            "works",
            range, driver_major, driver_minor);
    return range;
}

/* An explicit path is the only candidate: another library would be a silent surprise. */
static bool list(gpul__nvrtc_candidates *out, const gpul__nvrtc_want *want)
{
    const char *path = want->path, *origin = "option";
    if (!path) {
        path = gpul__places_variable("GPULAUNCH_NVRTC");
        origin = "GPULAUNCH_NVRTC";
    }
    if (!path) return gpul__library_search(out, &gpul__nvrtc_names);
    char *copy = gpul__arena_strndup(&out->arena, path, strlen(path));
    if (!copy || !gpul__grow(&out->items, &out->capacity, 0, sizeof *out->items)) return false;
    out->items[out->count++] = (gpul__nvrtc_candidate){ .path = copy, .origin = origin };
    return true;
}

/* Opens one candidate, unless it is known, and judges it.  False: out of memory. */
static bool judge(gpul__nvrtc_candidates *list, gpul__nvrtc_candidate *candidate,
                  const gpul__nvrtc_want *want)
{
    if (want->memory) candidate->nvrtc = gpul__nvrtc_recall(candidate->path, want->memory);
    if (!candidate->nvrtc) {
        candidate->nvrtc = gpul__nvrtc_open(candidate->path, &list->arena, &candidate->reason,
                                            &candidate->builtins_missing);
        if (want->memory && candidate->nvrtc) want->memory->keep(candidate->nvrtc);
    }
    if (!candidate->nvrtc) {
        candidate->verdict = GPUL__NVRTC_FAILED;
        return candidate->reason != NULL;
    }
    candidate->major = candidate->nvrtc->major;
    candidate->minor = candidate->nvrtc->minor;
    candidate->verdict = GPUL__NVRTC_USABLE;
    candidate->reason = reason_of(&list->arena, candidate->nvrtc, want);
    return candidate->reason != NULL;
}

/* Best first; equals keep the order of the search. */
static void sort(gpul__nvrtc_candidates *list, const gpul__nvrtc_want *want)
{
    for (size_t i = 1; i < list->count; i++) {
        gpul__nvrtc_candidate moved = list->items[i];
        size_t j = i;
        for (; j > 0; j--) {
            const gpul__nvrtc *before = list->items[j - 1].nvrtc;
            if (!moved.nvrtc || (before && compare_fits(fit_of_library(moved.nvrtc, want),
                                                        fit_of_library(before, want)) <= 0))
                break;
            list->items[j] = list->items[j - 1];
        }
        list->items[j] = moved;
    }
}

gpul_status gpul__nvrtc_candidates_find(gpul__nvrtc_candidates *out, const gpul__nvrtc_want *want)
{
    *out = (gpul__nvrtc_candidates){ 0 };
    bool ok = list(out, want);
    for (size_t i = 0; ok && i < out->count; i++) ok = judge(out, &out->items[i], want);
    if (!ok) {
        gpul__nvrtc_candidates_free(out);
        return gpul__no_memory();
    }
    sort(out, want);
    if (out->count && out->items[0].nvrtc) out->items[0].verdict = GPUL__NVRTC_CHOSEN;
    return GPUL_OK;
}

void gpul__nvrtc_candidates_free(gpul__nvrtc_candidates *candidates)
{
    gpul__free(candidates->items);
    gpul__free(candidates->searched);
    gpul__arena_free(&candidates->arena);
    *candidates = (gpul__nvrtc_candidates){ 0 };
}

static gpul_status fail_none(const gpul__nvrtc_candidates *list)
{
    size_t only_builtins = 0;
    for (size_t i = 0; i < list->count; i++) only_builtins += list->items[i].builtins_missing;
    if (only_builtins) {
        const gpul__nvrtc_candidate *candidate = list->items;
        while (!candidate->builtins_missing) candidate++;
        gpul__fail(GPUL__ENV_NVRTC_BUILTINS, (.call = "dlopen"), "%s cannot compile: %s",
                   candidate->path, candidate->reason);
        gpul__hint("install the whole NVRTC: libnvrtc-builtins belongs to it and must be of the "
                   "same version");
    } else if (list->count == 1 && list->searched_count == 0) {
        gpul__fail(GPUL__ENV_NO_NVRTC, (.call = "dlopen"), "%s (from %s) is no usable NVRTC: %s",
                   list->items[0].path, list->items[0].origin, list->items[0].reason);
        gpul__hint("correct the path, or leave it out so that NVRTC is searched for");
    } else {
        gpul__fail(GPUL__ENV_NO_NVRTC, (.call = "dlopen"),
                   list->count ? "no usable NVRTC: none of the %zu found can be used"
                               : "no NVRTC was found (libnvrtc.so.13, .so.12 or .so.11.2)",
                   list->count);
        gpul__hint(
            "install the CUDA toolkit, or NVIDIA's Python package nvidia-cuda-nvrtc, or name "
            "the file in GPULAUNCH_NVRTC");
    }
    for (size_t i = 0; i < list->count; i++)
        gpul__note("%s (from %s): %s", list->items[i].path, list->items[i].origin,
                   list->items[i].reason);
    for (size_t i = 0; i < list->searched_count; i++) gpul__note("searched %s", list->searched[i]);
    return gpul_last_error()->status;
}

/* Opening costs milliseconds, so candidates are opened in the order of what their file names promise,
 * until no unopened one can suit better than the best opened one. */
static gpul_status choose_from(const gpul__nvrtc **out, gpul__nvrtc_candidates *list,
                               const gpul__nvrtc_want *want)
{
    const gpul__nvrtc *best = NULL;
    for (;;) {
        gpul__nvrtc_candidate *next = NULL;
        struct fit next_fit = { 0 };
        for (size_t i = 0; i < list->count; i++) {
            gpul__nvrtc_candidate *candidate = &list->items[i];
            if (candidate->reason) continue;
            int major, minor;
            gpul__nvrtc_guess(candidate->path, &major, &minor);
            struct fit fit = fit_of_guess(major, minor, want);
            if (!major) fit = (struct fit){ true, true, true, 9999 };
            if (!next || compare_fits(fit, next_fit) > 0) {
                next = candidate;
                next_fit = fit;
            }
        }
        if (!next || (best && compare_fits(next_fit, fit_of_library(best, want)) <= 0)) break;
        if (!judge(list, next, want)) return gpul__no_memory();
        if (next->nvrtc && (!best || compare_fits(fit_of_library(next->nvrtc, want),
                                                  fit_of_library(best, want)) > 0))
            best = next->nvrtc;
        if (gpul__log_on(GPUL_LOG_DEBUG))
            gpul__log(GPUL_LOG_DEBUG, "NVRTC candidate %s (%s): %s", next->path, next->origin,
                      next->reason);
    }
    if (!best) return fail_none(list);
    *out = best;
    return GPUL_OK;
}

gpul_status gpul__nvrtc_choose(const gpul__nvrtc **out, const gpul__nvrtc_want *want)
{
    gpul__nvrtc_candidates candidates = { 0 };
    *out = NULL;
    gpul_status status =
        list(&candidates, want) ? choose_from(out, &candidates, want) : gpul__no_memory();
    if (!status && gpul__log_on(GPUL_LOG_INFO))
        gpul__log(GPUL_LOG_INFO, "NVRTC %d.%d: %s", (*out)->major, (*out)->minor, (*out)->path);
    gpul__nvrtc_candidates_free(&candidates);
    return status;
}
