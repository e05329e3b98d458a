/* What this machine shows of its NVIDIA driver without asking the driver: kernel module, device files, container, WSL.
 * Read when the driver does not start, and by the doctor.  SPDX-License-Identifier: MIT */
#ifndef GPUL_DRIVER_HOST_H
#define GPUL_DRIVER_HOST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct gpul__host {
    char module_release[32];  /* of the loaded kernel module: "580.159.04"; "" when there is none */
    int gpu_files;            /* /dev/nvidia0, /dev/nvidia1 ... */
    int gpu_files_denied;     /* those that this user may not open */
    bool control_file;        /* /dev/nvidiactl is there */
    bool control_file_denied; /* and this user may not open it */
    bool uvm_file;            /* /dev/nvidia-uvm, without which no memory is given out */
    bool container;           /* docker, podman, kubernetes, lxc */
    bool wsl, wsl_gpu_file;   /* Windows Subsystem for Linux; its /dev/dxg */
    bool tegra;               /* a Jetson */
    const char *visible;      /* $CUDA_VISIBLE_DEVICES; NULL: not set */
} gpul__host;

/* Looks below `root`, "" for the machine itself. */
void gpul__host_look(gpul__host *host, const char *root);

/* "580.159.04" out of the text of /proc/driver/nvidia/version; "" when it holds none. */
void gpul__host_release(char *out, size_t size, const char *text);

#endif
