#!/usr/bin/env python3
"""Many processes on one key of the compile cache: all at once, then killed while they write.  SPDX-License-Identifier: MIT

Usage: storm.py GPULAUNCH SOURCE      64 processes, 16 at a time; with GPULAUNCH_TEST_STORM=1000 a thousand, all at once

Every process that is not killed must succeed with the right result, and afterwards the folder holds whole entries and
nothing else.  Exit 1: one of that does not hold; 77: there is no NVRTC.
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time

GPULAUNCH, SOURCE = sys.argv[1:3]
STORM = int(os.environ.get("GPULAUNCH_TEST_STORM", 0))
PROCESSES, AT_ONCE = (STORM, STORM) if STORM else (64, 16)
COMMAND = [GPULAUNCH, "run", "-d", os.environ.get("GPULAUNCH_DEVICE", "cpu"), SOURCE, "-q"]
failures = []


def one(env, gate, start, longest):
    """Runs the command; kills it after a random part of `longest` seconds, unless that is 0."""
    start.wait()
    with gate:
        process = subprocess.Popen(COMMAND, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if longest:
            time.sleep(random.uniform(0, longest))
            process.send_signal(signal.SIGKILL)
        text = process.communicate()[0].decode(errors="replace")
        expected = (0, -signal.SIGKILL) if longest else (0,)
        if process.returncode not in expected:
            failures.append(f"exit {process.returncode}: {text.strip()}")


def storm(env, longest):
    gate, start = threading.Semaphore(AT_ONCE), threading.Event()
    threads = [threading.Thread(target=one, args=(env, gate, start, longest)) for _ in range(PROCESSES)]
    for thread in threads:
        thread.start()
    start.set()
    for thread in threads:
        thread.join()


def main():
    random.seed(7)
    with tempfile.TemporaryDirectory() as folder:
        cache = pathlib.Path(folder, "cache")
        env = dict(os.environ, GPULAUNCH_CACHE_DIR=str(cache))
        first = subprocess.run(COMMAND, env=dict(env, GPULAUNCH_CACHE_DIR=folder + "/first"), capture_output=True, text=True)
        if first.returncode:
            print(first.stderr)
            sys.exit(77 if "GL1008" in first.stderr else 1)
        began = time.monotonic()
        storm(env, 0)
        alive = time.monotonic() - began
        entries = sorted(p.name for p in cache.iterdir())
        began = time.monotonic()
        for name in entries:
            (cache / name).unlink()
        storm(env, 0.2)
        killed = time.monotonic() - began
        last = subprocess.run(COMMAND, env=env, capture_output=True, text=True)
        if last.returncode:
            failures.append(f"after the kills: {last.stderr}")
        parts = [p for p in cache.iterdir() if p.suffix == ".part"]
        for number, part in enumerate(parts):  # old, or of a clock that ran backwards
            when = time.time() + (-3600 if number % 2 else 3600)
            os.utime(part, (when, when))
        subprocess.run([GPULAUNCH, "cache", "prune", "--max", "1G"], env=env, check=True, capture_output=True)
        left = sorted(p.name for p in cache.iterdir())
        if left != entries:
            failures.append(f"the folder holds {left}, and held {entries}")
        print(f"{PROCESSES} processes, {AT_ONCE} at a time: {alive:.1f} s; killed: {killed:.1f} s; {len(parts)} leftovers; entries: {entries}")
    for failure in failures[:5]:
        print("FAILED:", failure)
    print(f"{len(failures)} failures")
    sys.exit(bool(failures))


main()
