/* A driver that does not start, said in words: each answer of cuInit gets its own sentence and its own advice, made of
 * what the machine shows.  SPDX-License-Identifier: MIT */
#include "driver/start.h"

#include "base/error.h"
#include "base/str.h"
#include "driver/host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "580.159.04" out of libcuda.so.580.159.04, what libcuda.so.1 is a link to; "" on WSL, whose file is called 1.1. */
static void library_release(char *out, size_t size, const char *path)
{
    *out = 0;
    char *file = path ? realpath(path, NULL) : NULL;
    const char *name = file ? strstr(file, "libcuda.so.") : NULL;
    if (name) gpul__host_release(out, size, name + strlen("libcuda.so."));
    free(file);
}

void gpul__driver_release(char *out, size_t size, const gpul__driver *driver)
{
    gpul__host host;
    gpul__host_look(&host, "");
    snprintf(out, size, "%s", host.module_release);
    if (!*out) library_release(out, size, driver->path);
}

/* What is known about the driver, for a sentence: "CUDA 13.0, release 580.159.04, /usr/lib/libcuda.so.1". */
static void describe(gpul__str *text, const gpul__driver *driver, const gpul__host *host)
{
    char release[32];
    library_release(release, sizeof release, driver->path);
    gpul__str_printf(text, "CUDA %d.%d", driver->version / 1000, driver->version % 1000 / 10);
    if (*release || *host->module_release)
        gpul__str_printf(text, ", release %s", *release ? release : host->module_release);
    if (driver->path) gpul__str_printf(text, ", %s", driver->path);
}

/* What the machine shows, as notes of the record. */
static void note_facts(const gpul__driver *driver, const gpul__host *host)
{
    char release[32];
    library_release(release, sizeof release, driver->path);
    if (*release) gpul__note("libcuda is of release %s", release);
    if (host->wsl)
        gpul__note("this is WSL; /dev/dxg %s", host->wsl_gpu_file ? "is there" : "is missing");
    else if (*host->module_release)
        gpul__note("the loaded kernel module is of release %s", host->module_release);
    else gpul__note("no NVIDIA kernel module is loaded (/proc/driver/nvidia/version is missing)");
    if (!host->wsl && !host->tegra) {
        gpul__note("/dev/nvidiactl %s", !host->control_file ? "is missing"
                                        : host->control_file_denied
                                            ? "may not be opened by this user"
                                            : "is there");
        gpul__note("/dev/nvidia-uvm %s", host->uvm_file ? "is there" : "is missing");
        gpul__note("%d GPU device file%s (/dev/nvidia0 ...)%s", host->gpu_files,
                   host->gpu_files == 1 ? "" : "s",
                   host->gpu_files_denied ? ", not all of which this user may open" : "");
    }
    if (host->container) gpul__note("this process runs in a container");
    if (host->visible) gpul__note("CUDA_VISIBLE_DEVICES is \"%s\"", host->visible);
}

/* The likeliest reason for seeing no GPU, with what to do. */
static const char *advise_no_device(const gpul__host *host)
{
    if (host->visible)
        return "CUDA_VISIBLE_DEVICES decides which GPUs a process sees: unset it, or let it name an index or UUID "
               "that nvidia-smi -L lists";
    if (host->wsl)
        return host->wsl_gpu_file ? "update the NVIDIA driver of Windows; WSL takes it from there"
                                  : "update WSL (wsl --update) and the NVIDIA driver of Windows";
    if (host->container && host->gpu_files == 0)
        return "start the container with its GPUs: docker run --gpus all, podman run --device "
               "nvidia.com/gpu=all; the host needs the NVIDIA container toolkit";
    if (!*host->module_release && !host->tegra)
        return "load the kernel module (modprobe nvidia, as root) or install the driver; after an "
               "update of the kernel it may have to be built again";
    if (host->control_file_denied || host->gpu_files_denied)
        return "this user may not open the device files: see ls -l /dev/nvidia*, and the groups "
               "video and render";
    if (!host->control_file && !host->tegra)
        return "the device files are missing: nvidia-modprobe -c 0 -u makes them, as does nvidia-smi "
               "when root runs it";
    return "nvidia-smi shows what the driver sees";
}

static const char *advise_system(const gpul__host *host)
{
    if (host->control_file && !host->uvm_file && !host->wsl && !host->tegra)
        return "/dev/nvidia-uvm is missing: nvidia-modprobe -u makes it, as root";
    if (host->container)
        return "the container may hide device files or forbid system calls; try it on the host";
    return "nvidia-smi and the kernel's log (dmesg) say more; after suspend, or when a module hangs, "
           "modprobe -r nvidia_uvm and modprobe nvidia_uvm help";
}

struct answer {
    CUresult result;
    int code;
    const char *sentence;
    const char *advice; /* NULL: made of what the machine shows */
};

/* What 35 means is the runtime's, not the driver's; wrappers of libcuda answer it all the same. */
enum { OLD_DRIVER = 35 };

static const struct answer answers[] = {
    { CUDA_ERROR_OUT_OF_MEMORY, GPUL__ENV_INIT, "the driver has no memory to start with",
      "free host memory, or raise the limits of this process (ulimit -v)" },
    { CUDA_ERROR_NOT_INITIALIZED, GPUL__ENV_FORK,
      "the driver does not start in a process forked from one that used it",
      "fork before anything uses CUDA (NVRTC does too), or start a new program with exec" },
    { (CUresult)OLD_DRIVER, GPUL__ENV_OLD_DRIVER, "the driver is too old",
      "install a newer NVIDIA driver" },
    { CUDA_ERROR_CALL_REQUIRES_NEWER_DRIVER, GPUL__ENV_OLD_DRIVER, "the driver is too old",
      "install a newer NVIDIA driver" },
    { CUDA_ERROR_DEVICE_UNAVAILABLE, GPUL__ENV_NO_DEVICE,
      "the GPU is busy or its compute mode forbids new processes",
      "see nvidia-smi: another process may hold it in exclusive mode; nvidia-smi -c DEFAULT ends that mode" },
    { CUDA_ERROR_INVALID_DEVICE, GPUL__ENV_NO_DEVICE, "the driver cannot use its GPU", NULL },
    { CUDA_ERROR_DEVICE_NOT_LICENSED, GPUL__ENV_INIT, "the virtual GPU has no licence",
      "the guest needs a licence from its NVIDIA licence server" },
    { CUDA_ERROR_OPERATING_SYSTEM, GPUL__ENV_INIT,
      "a system call of the driver failed, mostly one on a device file", NULL },
    { CUDA_ERROR_NOT_PERMITTED, GPUL__ENV_INIT, "the driver is not permitted to start", NULL },
    { CUDA_ERROR_SYSTEM_NOT_READY, GPUL__ENV_INIT,
      "the system is not ready: a service that the GPUs need is not running",
      "with NVSwitch, start the fabric manager (systemctl start nvidia-fabricmanager) of the same release; "
      "under confidential computing, set the GPU ready" },
    { CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, GPUL__ENV_INIT,
      "libcuda and the loaded kernel module have different releases",
      "restart the machine after a driver update, or load the new module; a container must not bring its own "
      "libcuda" },
    { CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, GPUL__ENV_INIT,
      "this libcuda is a forward-compatibility one, which this GPU does not support",
      "take the cuda-compat folder out of LD_LIBRARY_PATH, or remove the cuda-compat package" },
    { CUDA_ERROR_MPS_CONNECTION_FAILED, GPUL__ENV_INIT, "the MPS server cannot be reached",
      "start nvidia-cuda-mps-control -d, or unset CUDA_MPS_PIPE_DIRECTORY" },
    { CUDA_ERROR_MPS_SERVER_NOT_READY, GPUL__ENV_INIT, "the MPS server takes no clients yet",
      "try again; it recovers from a fault of another client" },
    { CUDA_ERROR_MPS_MAX_CLIENTS_REACHED, GPUL__ENV_INIT,
      "the MPS server has no room for another client", "end other clients first" },
    { CUDA_ERROR_UNKNOWN, GPUL__ENV_INIT, "the driver fails without saying why", NULL },
};

static gpul_status fail(const gpul__driver *driver, CUresult result, int code, const char *sentence,
                        const char *advice, const char *root)
{
    gpul__host host;
    gpul__host_look(&host, root);
    if (!advice)
        advice = code == GPUL__ENV_NO_DEVICE ? advise_no_device(&host) : advise_system(&host);
    gpul__str known = { 0 };
    describe(&known, driver, &host);
    if (code == GPUL__ENV_NO_DEVICE && host.visible)
        gpul__str_printf(&known, "; CUDA_VISIBLE_DEVICES is \"%s\"", host.visible);
    gpul_status status = gpul__fail(
        code,
        (.call = "cuInit", .native_kind = GPUL_NATIVE_CUDA, .native = (int)result, .hint = advice),
        "%s (%s)", sentence, gpul__str_text(&known));
    gpul__str_free(&known);
    note_facts(driver, &host);
    return status;
}

gpul_status gpul__fail_no_device(const gpul__driver *driver, CUresult result, const char *root)
{
    return fail(driver, result, GPUL__ENV_NO_DEVICE, "the driver is here, but it sees no GPU", NULL,
                root);
}

gpul_status gpul__fail_start(const gpul__driver *driver, CUresult result, const char *root)
{
    if (result == CUDA_ERROR_NO_DEVICE) return gpul__fail_no_device(driver, result, root);
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].result == result)
            return fail(driver, result, answers[i].code, answers[i].sentence, answers[i].advice,
                        root);
    char sentence[256];
    snprintf(sentence, sizeof sentence, "the driver does not start: %s",
             gpul_native_text(GPUL_NATIVE_CUDA, (int)result));
    return fail(driver, result, GPUL__ENV_INIT, sentence, NULL, root);
}
