#!/usr/bin/env python3
"""All that is measured on a GPU, as one table.  SPDX-License-Identifier: MIT

Usage: suite.py BUILD_FOLDER [PAIRS]      31 interleaved pairs of whole processes, unless said

Launches and copies come from the programs beside this script; whole processes are the command beside first_result's
hand-written floor; nvcc, CuPy and cuda.core stand in it where they are installed, and are named as missing where not.
"""
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

BUILD = pathlib.Path(sys.argv[1]).resolve()
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 31
BENCH = BUILD / "tests/bench"

SAXPY = """// gpulaunch: args n=4096 a=2 x=4096:iota y=4096:ones
extern "C" __global__ void saxpy(int n, float a, const float *x, float *y)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
"""

CUDART = """#include <cstdio>
#include <chrono>
#include <cstring>
__global__ void four(int n, float a, const float *x, float *y) { if (n < 0) y[0] = a * x[0]; }
__global__ void saxpy(int n, float a, const float *x, float *y)
{ int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = a * x[i] + y[i]; }
static float h[4096];
int main(int argc, char **)
{
    float *x, *y;
    cudaMalloc(&x, sizeof h); cudaMalloc(&y, sizeof h);
    cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice); cudaMemcpy(y, h, sizeof h, cudaMemcpyHostToDevice);
    saxpy<<<16, 256>>>(4096, 2, x, y);
    cudaMemcpy(h, y, sizeof h, cudaMemcpyDeviceToHost);
    if (argc > 1) for (int round = 0; round < 5; round++) {
        auto start = std::chrono::steady_clock::now();
        for (int i = 0; i < 20000; i++) four<<<4, 128>>>(i, 2, x, y);
        std::chrono::duration<double, std::nano> t = std::chrono::steady_clock::now() - start;
        cudaDeviceSynchronize();
        printf("%.0f\\n", t.count() / 20000);
    }
    return cudaGetLastError() != cudaSuccess;
}
"""

CUPY = """import time, cupy
k = cupy.RawKernel(r'extern "C" __global__ void four(int n, float a, const float *x, float *y) { if (n < 0) y[0] = a * x[0]; }', 'four')
x = cupy.zeros(1024, cupy.float32); y = cupy.zeros(1024, cupy.float32); a = cupy.float32(2)
for r in range(6):
    s = time.perf_counter()
    for i in range(20000): k((4,), (128,), (i, a, x, y))
    t = time.perf_counter() - s
    cupy.cuda.Device().synchronize()
    if r: print(t / 20000 * 1e9)
"""

CUDA_CORE = """import time
try: from cuda.core import Device, LaunchConfig, Program, ProgramOptions, launch
except ImportError: from cuda.core.experimental import Device, LaunchConfig, Program, ProgramOptions, launch
import ctypes
d = Device(); d.set_current(); s = d.create_stream()
p = Program('extern "C" __global__ void four(int n, float a, const float *x, float *y) { if (n < 0) y[0] = a * x[0]; }', 'c++',
            ProgramOptions(arch=f"sm_{''.join(str(c) for c in d.compute_capability)}"))
k = p.compile('cubin').get_kernel('four')
b = d.allocate(4096, stream=s); c = LaunchConfig(grid=4, block=128)
for r in range(6):
    t = time.perf_counter()
    for i in range(20000): launch(s, c, k, ctypes.c_int(i), ctypes.c_float(2), b, b)
    t = time.perf_counter() - t
    s.sync()
    if r: print(t / 20000 * 1e9)
"""


def row(what, text):
    print(f"{what:36} {text}", flush=True)


def program(name, *arguments):
    run = subprocess.run([BENCH / name, *arguments], capture_output=True, text=True)
    print((run.stdout + run.stderr).rstrip(), flush=True)


def elapsed(command, env):
    start = time.perf_counter()
    run = subprocess.run(command, env=env, capture_output=True, text=True)
    if run.returncode:
        sys.exit(f"{command}: exit {run.returncode}\n{run.stdout}{run.stderr}")
    return (time.perf_counter() - start) * 1e3


def compare(what, floor, ours, env, our_env, target, pairs):
    """Interleaved; the median of the differences, over the floor's median."""
    a, b = [], []
    elapsed(ours, our_env)
    for i in range(pairs):
        for turn in (0, 1) if i % 2 else (1, 0):
            (b if turn else a).append(elapsed(ours, our_env) if turn else elapsed(floor, env))
    floor_ms = statistics.median(a)
    difference = statistics.median(y - x for x, y in zip(a, b))
    row(what, f"floor {floor_ms:7.1f} ms  ours {statistics.median(b):7.1f} ms  difference {difference:+7.1f} ms  "
        f"ratio {1 + difference / floor_ms:.3f}  (target {target})")


def peer(what, script):
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    if run.returncode:
        last = (run.stderr.strip().splitlines() or ["no message"])[-1]
        row(what, f"not here: {last[:90]}")
    else:
        row(what, f"{statistics.median(float(x) for x in run.stdout.split()):.0f} ns a launch, four arguments")


def main():
    base = dict(os.environ, CUDA_CACHE_DISABLE="1", GPULAUNCH_DEVICE="cuda")
    print("-- launches, issue time")
    program("launch_cost")
    program("launch_graph")
    peer("CuPy RawKernel", CUPY)
    peer("cuda.core launch", CUDA_CORE)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "saxpy.cu").write_text(SAXPY)
        (folder / "rt.cu").write_text(CUDART)
        nvcc = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
        build = [nvcc, "-arch=native", "-o", folder / "rt", folder / "rt.cu"]
        if nvcc and subprocess.run(build, capture_output=True).returncode == 0:
            times = subprocess.run([folder / "rt", "time"], capture_output=True, text=True).stdout.split()
            row("cudart <<<>>>", f"{statistics.median(float(x) for x in times[1:]):.0f} ns a launch, four arguments")
        else:
            nvcc = None
        print("-- copies")
        program("copy_rate")
        print("-- whole processes, source to result")
        floor = [BENCH / "first_result", "raw"]
        command = [BUILD / "tools/gpulaunch", "run", "-q", folder / "saxpy.cu"]
        cached = dict(base, GPULAUNCH_CACHE_DIR=str(folder / "cache"))
        compare("cold", floor, command + ["--no-cache"], base, cached, "1.06", PAIRS)
        compare("cached", floor, command, base, cached, "1.03", PAIRS)
        if nvcc:
            script = f"'{nvcc}' -arch=native -o '{folder}/rt' '{folder}/rt.cu' && '{folder}/rt'"
            compare("cold, beside nvcc and run", ["sh", "-c", script], command + ["--no-cache"], base, cached,
                    "at most 0.29", max(PAIRS // 6, 3))
        else:
            row("nvcc and run", "not here: no nvcc that works")
    program("first_result", "pairs", str(PAIRS))


main()
