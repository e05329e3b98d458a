/* --sanitize: the checkers of the CPU device, or compute-sanitizer, which takes the run over.  SPDX-License-Identifier: MIT */
#include "sanitize.h"

#include <errno.h>
#include <gpulaunch/gpulaunch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool runs_on_gpu(const element_list *elements)
{
    const option_use *device = option_find(elements, OPT_DEVICE);
    const char *named = device ? device->text : getenv("GPULAUNCH_DEVICE");
    int count = 0;
    if (named && starts_with(named, "cpu")) return false;
    if (named && *named && !starts_with(named, "auto")) return true;
    return gpul_device_count(&count, "cuda") == GPUL_OK && count > 0;
}

static bool known_tool(const char *tool)
{
    static const char *const tools[] = { "memcheck", "racecheck", "initcheck", "synccheck" };
    for (size_t i = 0; i < 4; i++)
        if (same_text(tools[i], tool)) return true;
    return false;
}

/* What a tool is on the CPU device; memory and barriers are watched whatever is asked for. */
static const char *checks_of(const char *tool)
{
    if (same_text(tool, "racecheck")) return "races,blocks";
    if (same_text(tool, "initcheck")) return "init";
    return "";
}

static bool read_tools(const option_use *use, text *checks, size_t *count)
{
    char *list = mem_dup(use->text), *rest = NULL;
    for (char *tool = strtok_r(list, ",", &rest); tool; tool = strtok_r(NULL, ",", &rest)) {
        if (!known_tool(tool)) {
            message_hint(
                message_at(fail(CODE_CLI_VALUE, "--sanitize: there is no checker '%s'", tool),
                           place_of_option(use)),
                "memcheck, racecheck, initcheck or synccheck, separated by commas");
            return false;
        }
        text_add(checks, checks_of(tool));
        text_add(checks, ",");
        ++*count;
    }
    return true;
}

/* The library reads its environment when the device is opened. */
static void check_on_cpu(const element_list *elements, const char *checks)
{
    const option_use *seed = option_find(elements, OPT_SEED);
    setenv("GPULAUNCH_CPU_CHECKS", checks, 1);
    if (seed) setenv("GPULAUNCH_CPU_SEED", seed->text, 1);
}

bool sanitize_on_cpu(const element_list *elements, const option_use *use)
{
    if (!runs_on_gpu(elements)) return sanitize(elements, use);
    message_hint(message_at(fail(CODE_CLI_FEATURE, "the cases of a check run without "
                                                   "compute-sanitizer on a GPU"),
                            place_of_option(use)),
                 "check -d cpu --sanitize, or compute-sanitizer --target-processes all gpulaunch "
                 "check ...");
    return false;
}

bool sanitize(const element_list *elements, const option_use *use)
{
    text checks = { 0 };
    size_t count = 0;
    if (!read_tools(use, &checks, &count)) return false;
    if (!runs_on_gpu(elements)) {
        check_on_cpu(elements, count ? text_of(&checks) : "races,init");
        return true;
    }
    const char *tool = count ? use->text : "memcheck";
    if (count > 1) {
        message_hint(
            message_at(
                fail(CODE_CLI_FEATURE, "on a GPU compute-sanitizer runs one checker at a time"),
                place_of_option(use)),
            "--sanitize=racecheck, then --sanitize=initcheck; or -d cpu, which runs all of "
            "them at once");
        return false;
    }
    char self[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) {
        fail(CODE_INTERNAL, "this program cannot find itself: %s", strerror(errno));
        return false;
    }
    self[length] = 0;
    char **argv = mem_array(words_count() + 8, sizeof *argv);
    size_t n = 0;
    argv[n++] = mem_dup("compute-sanitizer");
    argv[n++] = mem_dup("--tool");
    argv[n++] = mem_dup(tool);
    argv[n++] = mem_dup("--error-exitcode=4");
    argv[n++] = self;
    for (size_t i = 1; i < words_count(); i++)
        if (i != use->name.word->index) argv[n++] = mem_dup(words_command_line((int)i)->text);
    fflush(NULL);
    execvp(argv[0], argv);
    message *m =
        message_at(fail(CODE_CLI_FEATURE, "compute-sanitizer cannot be run: %s", strerror(errno)),
                   place_of_option(use));
    message_hint(
        m, "it is part of the CUDA toolkit; or -d cpu, whose device checks every access by itself");
    return false;
}
