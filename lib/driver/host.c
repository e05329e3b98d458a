/* What this machine shows of its NVIDIA driver without asking the driver.  SPDX-License-Identifier: MIT */
#include "driver/host.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
    char path[PATH_MAX];
};

static const char *below(struct place *place, const char *root, const char *path)
{
    int length = snprintf(place->path, sizeof place->path, "%s%s", root, path);
    return length < (int)sizeof place->path ? place->path : "";
}

static bool exists(const char *root, const char *path)
{
    struct place place;
    return access(below(&place, root, path), F_OK) == 0;
}

static bool denied(const char *root, const char *path)
{
    struct place place;
    return access(below(&place, root, path), R_OK | W_OK) != 0;
}

/* The first bytes of a file; "" when it cannot be read. */
static const char *head(char *text, size_t size, const char *root, const char *path)
{
    struct place place;
    FILE *file = fopen(below(&place, root, path), "re");
    size_t length = file ? fread(text, 1, size - 1, file) : 0;
    if (file) fclose(file);
    text[length] = 0;
    return text;
}

void gpul__host_release(char *out, size_t size, const char *text)
{
    *out = 0;
    /* The release is the first word of digits and at least one dot, and its first number has three digits. */
    for (const char *word = text; *word; word++) {
        if (!isdigit((unsigned char)*word)) continue;
        if (word > text && !isspace((unsigned char)word[-1])) continue;
        size_t length = strspn(word, "0123456789.");
        const char *dot = memchr(word, '.', length);
        char after = word[length];
        if (dot && dot - word >= 3 && length < size &&
            (after == 0 || isspace((unsigned char)after))) {
            memcpy(out, word, length);
            out[length] = 0;
            return;
        }
        word += length - 1;
    }
}

void gpul__host_look(gpul__host *host, const char *root)
{
    char text[4096];
    *host = (gpul__host){ .visible = secure_getenv("CUDA_VISIBLE_DEVICES") };
    gpul__host_release(host->module_release, sizeof host->module_release,
                       head(text, sizeof text, root, "/proc/driver/nvidia/version"));
    host->control_file = exists(root, "/dev/nvidiactl");
    host->control_file_denied = host->control_file && denied(root, "/dev/nvidiactl");
    host->uvm_file = exists(root, "/dev/nvidia-uvm");
    for (int i = 0; i < 64; i++) {
        char path[32];
        snprintf(path, sizeof path, "/dev/nvidia%d", i);
        if (!exists(root, path)) continue;
        host->gpu_files++;
        host->gpu_files_denied += denied(root, path);
    }
    head(text, sizeof text, root, "/proc/1/cgroup");
    host->container = exists(root, "/.dockerenv") || exists(root, "/run/.containerenv") ||
                      strstr(text, "docker") || strstr(text, "kubepods") || strstr(text, "lxc");
    head(text, sizeof text, root, "/proc/version");
    host->wsl = strstr(text, "microsoft") || strstr(text, "Microsoft");
    host->wsl_gpu_file = exists(root, "/dev/dxg");
    host->tegra = exists(root, "/etc/nv_tegra_release") || exists(root, "/dev/nvhost-ctrl");
}
