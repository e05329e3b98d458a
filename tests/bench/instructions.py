#!/usr/bin/env python3
"""Counts the instructions of one launch above the driver's entries.  SPDX-License-Identifier: MIT

Usage: instructions.py LAUNCH_NULL

Two runs under callgrind that differ only in the number of launches; the entries behind them are empty, and the caller's own
loop and arguments are counted too.  Exit 1: a bound is broken; 77: valgrind is missing.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

# The bounds are what was last reached, with room for another libc's strcmp and longer paths: lower them when a launch gets
# cheaper.  The target for four arguments is 150.
BOUNDS = {"four": 370, "eight": 460, "prepared": 265}
FEW, MANY = 1000, 3000


def count(program, which, launches):
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, GPULAUNCH_CACHE_DIR=folder)
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", program, which, str(launches)],
            capture_output=True, text=True, env=env)
        found = re.search(r"Collected\s*:\s*(\d+)", run.stderr)
        if run.returncode or not found:
            sys.exit(f"{program} {which} {launches}: exit {run.returncode}\n{run.stderr}")
        return int(found.group(1))


def main():
    if not shutil.which("valgrind"):
        print("SKIP: valgrind is not installed")
        sys.exit(77)
    bad = False
    for which, bound in BOUNDS.items():
        each = (count(sys.argv[1], which, MANY) - count(sys.argv[1], which, FEW)) / (MANY - FEW)
        bad |= each > bound
        print(f"{which}: {each:.1f} instructions a launch, at most {bound}{'' if each <= bound else ': TOO MANY'}")
    sys.exit(bad)


main()
