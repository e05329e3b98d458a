/* Handing the run over to compute-sanitizer.  SPDX-License-Identifier: MIT */
#include "sanitize.h"

#include <errno.h>
#include <gpulaunch/gpulaunch.h>
#include <stdio.h>
#include <stdlib.h>
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

bool sanitize(const element_list *elements, const option_use *use)
{
    const char *tool = *use->text ? use->text : "memcheck";
    if (!known_tool(tool)) {
        message_hint(message_at(fail(CODE_CLI_VALUE, "--sanitize: there is no checker '%s'", tool),
                                place_of_option(use)),
                     "memcheck, racecheck, initcheck or synccheck");
        return false;
    }
    if (!runs_on_gpu(elements)) {
        if (same_text(tool, "memcheck") || same_text(tool, "synccheck")) {
            inform(
                0,
                "the CPU device watches every access and barrier by itself: this run is checked");
            return true;
        }
        message *m =
            message_at(fail(CODE_CLI_FEATURE, "the CPU device cannot be asked for %s", tool),
                       place_of_option(use));
        message_note(m, "it always checks memory and barriers");
        message_hint(m, "--sanitize=%s on a GPU, with compute-sanitizer", tool);
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
    size_t count = 0;
    argv[count++] = mem_dup("compute-sanitizer");
    argv[count++] = mem_dup("--tool");
    argv[count++] = mem_dup(tool);
    argv[count++] = mem_dup("--error-exitcode=4");
    argv[count++] = self;
    for (size_t i = 1; i < words_count(); i++)
        if (i != use->name.word->index) argv[count++] = mem_dup(words_command_line((int)i)->text);
    fflush(NULL);
    execvp(argv[0], argv);
    message *m =
        message_at(fail(CODE_CLI_FEATURE, "compute-sanitizer cannot be run: %s", strerror(errno)),
                   place_of_option(use));
    message_hint(
        m, "it is part of the CUDA toolkit; or -d cpu, whose device checks every access by itself");
    return false;
}
