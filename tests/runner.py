#!/usr/bin/env python3
# The runner's exit status and last line, for every way that a program of tests can end.  SPDX-License-Identifier: MIT
import subprocess, sys

failed = 0
for ends, status, line in [
        ('p', 0, '1 passed, 0 failed, 0 skipped'),
        ('pps', 0, '2 passed, 0 failed, 1 skipped'),
        ('s', 77, '0 passed, 0 failed, 1 skipped'),
        ('ss', 77, '0 passed, 0 failed, 2 skipped'),
        ('f', 1, '0 passed, 1 failed, 0 skipped'),
        ('pfs', 1, '1 passed, 1 failed, 1 skipped'),
        ('fs', 1, '0 passed, 1 failed, 1 skipped'),
        ('f' * 77, 1, '0 passed, 77 failed, 0 skipped'),
        ('ppS', 1, '0 passed, 2 failed, 0 skipped'),
        ('pT', 1, '0 passed, 1 failed, 0 skipped'),
        ('', 1, '0 passed, 1 failed, 0 skipped')]:
    run = subprocess.run([sys.argv[1], ends], capture_output=True, text=True)
    last = run.stdout.splitlines()[-1]
    if run.returncode != status or last != line:
        print(f'{ends!r}: exit {run.returncode}, "{last}" instead of {status}, "{line}"')
        failed = 1
    if 's' in ends and 'SKIP: letter s' not in run.stdout:
        print(f'{ends!r}: the reason of a skip is not said')
        failed = 1
sys.exit(failed)
