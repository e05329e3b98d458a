/* gpulaunch explain and gpulaunch new.  SPDX-License-Identifier: MIT */
#include <errno.h>
#include <gpulaunch/gpulaunch.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#include "commands.h"
#include "files.h"
#include "values.h"

static void print_section(const char *title, const char *lines)
{
    if (!lines || !*lines) return;
    printf("\n%s\n", title);
    while (*lines) {
        size_t length = strcspn(lines, "\n");
        printf("  %.*s\n", (int)length, lines);
        lines += length + (lines[length] != 0);
    }
}

static void explain(const gpul_code_info *info)
{
    printf("GL%04d  %s  (layer %s, exit %d)\n", info->code, info->title,
           gpul_layer_text(info->layer), exit_status_of(info->code));
    print_section("What it means", info->meaning);
    print_section("Usual causes", info->causes);
    print_section("What to do", info->remedy);
}

int cmd_explain(element_list *elements)
{
    const word *name = take_word(elements);
    if (!no_more_words(elements)) return 0;
    if (!name) { /* all of them, one line each */
        const gpul_code_info *info;
        for (size_t i = 0; (info = gpul_code_at(i)); i++)
            printf("GL%04d  %-12s %s\n", info->code, gpul_layer_text(info->layer), info->title);
        return 0;
    }
    const char *digits = strncasecmp(name->text, "GL", 2) == 0 ? name->text + 2 : name->text;
    digits += strspn(digits, "0");
    uint64_t code;
    const gpul_code_info *info = NULL;
    if (*digits && value_count(&code, digits, strlen(digits)) == VALUE_FINE && code < 10000)
        info = gpul_code_find((int)code);
    if (info) {
        explain(info);
        return 0;
    }
    message *m = message_at_span(fail(CODE_CLI_VALUE, "'%s' is no code of a message", name->text),
                                 span_of(name));
    message_hint(m, "gpulaunch explain  lists them all");
    return 0;
}

/* ---- new ---- */

static const char starter[] =
    "// gpulaunch: args n=x.len a=2.5 x=1M:rand y=fill:1\n"
    "// gpulaunch: case default --expect-kernel y=%s_ref\n"
    "//\n"
    "// The two lines above are directives: they say how this file is run.\n"
    "//\n"
    "//   $ gpulaunch run %s               compiles this file, launches %s, compares y with %s_ref\n"
    "//   $ gpulaunch run %s a=0 x=7       the same with two words replaced\n"
    "//   $ gpulaunch check %s             as a test: passed or failed\n"
    "//   $ gpulaunch bench %s             how fast it is\n"
    "\n"
    "// One thread for each element.  `const float *` is an input, `float *` an output or both.\n"
    "extern \"C\" __global__ void %s(int n, float a, const float *x, float *y)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    if (i < n) y[i] = a * x[i] + y[i];\n"
    "}\n"
    "\n"
    "// The same, as simple as can be: what the result is compared with.\n"
    "extern \"C\" __global__ void %s_ref(int n, float a, const float *x, float *y)\n"
    "{\n"
    "    if (blockIdx.x || threadIdx.x) return;\n"
    "    for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];\n"
    "}\n";

static const char *kernel_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *name = mem_copy(base, strcspn(base, "."));
    for (char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || *c == '_' ||
              (c > name && *c >= '0' && *c <= '9')))
            *c = '_';
    return *name ? name : "kernel";
}

int cmd_new(element_list *elements)
{
    const word *file = take_word(elements);
    if (!file || !no_more_words(elements)) {
        if (!file) need_file("new");
        return 0;
    }
    const char *path = file->text, *why = NULL;
    if (access(path, F_OK) == 0) {
        message_hint(
            message_at_span(fail(CODE_FILE_OVERWRITE, "%s exists already", path), span_of(file)),
            "another name");
        return 0;
    }
    const char *name = kernel_name(path), *shown = shell_quoted(path);
    output out;
    bool good = output_open(&out, path, &why);
    if (good) {
        fprintf(out.stream, starter, name, shown, name, name, shown, shown, shown, name, name);
        good = output_close(&out, &why);
    }
    if (!good)
        message_at_span(fail(CODE_FILE_WRITE, "%s cannot be written: %s", path, why),
                        span_of(file));
    else printf("%s  written; try  gpulaunch run %s\n", path, shown);
    return 0;
}
