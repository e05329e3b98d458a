/* Finds samples beside the tests (their folder is given when they are built).
 * SPDX-License-Identifier: MIT */
#include "samples.h"

#include <stdio.h>
#include <stdlib.h>

#include "runner.h"

const char *const sample_names[SAMPLE_COUNT] = {
    "assembly_sm75_debug.ptx", "assembly_sm90.ptx",    "calls_sm100_lines.ptx",
    "calls_sm90.ptx",          "handwritten_sm90.ptx", "numeric_sm100_fast.ptx",
    "numeric_sm90.ptx",        "old_sm50.ptx",         "refused_sm90.ptx",
};

char *sample_text(const char *name, size_t *length)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", SAMPLES, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s cannot be opened", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *text = size < 0 ? NULL : malloc((size_t)size + 1);
    if (!text || fread(text, 1, (size_t)size, file) != (size_t)size)
        fail_msg("%s cannot be read", path);
    fclose(file);
    text[size] = 0;
    *length = (size_t)size;
    return text;
}
