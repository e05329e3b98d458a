#!/usr/bin/env python3
# Runs every `$ gpulaunch ...` line of the manual pages and the tutorial and wants exit status 0 (or, for a line that
# ends in "# exit N", that one).  SPDX-License-Identifier: MIT
import os, re, shutil, subprocess, sys, tempfile

import workfolder

exe, pages = os.path.abspath(sys.argv[1]), [os.path.abspath(page) for page in sys.argv[2:]]
failed = passed = 0
for page in pages:
    work = tempfile.mkdtemp(prefix='gpulaunch-manual-')
    workfolder.fill(work)
    shutil.copy(os.path.join(work, 'small.pgm'), os.path.join(work, 'cat.pgm'))
    os.mkdir(os.path.join(work, 'bin'))
    os.symlink(exe, os.path.join(work, 'bin', 'gpulaunch'))
    env = dict(os.environ, PATH=os.path.join(work, 'bin') + ':' + os.environ['PATH'], GPULAUNCH_DEVICE='cpu', HOME=work,
               GPULAUNCH_CACHE_DIR=os.path.join(work, '.cache'))
    if not re.search(r'^(ok|warn) +compiler', subprocess.run(['gpulaunch', 'doctor'], env=env, capture_output=True, text=True).stdout, re.M):
        print('SKIP: there is no NVRTC here')
        sys.exit(77)
    text = open(page, encoding='utf-8').read()
    # in order: a fenced block that names a file writes it (```cuda file=x.cu), a command line runs
    for name, body, line in re.findall(r'^```\w+ file=(\S+)\n((?:(?!^```).*\n)*)|^(?: {4})?\$ (gpulaunch .*(?:\\\n.*)*)', text, re.M):
        if name:
            with open(os.path.join(work, name), 'w', encoding='utf-8') as file:
                file.write(body)
            continue
        if 'json' in line and 'json' not in os.environ.get('CLI_FEATURES', 'json').split():
            continue
        status = re.search(r'# exit (\d+)$', line)
        run = subprocess.run(['sh', '-c', line], env=env, cwd=work, capture_output=True, text=True, errors='replace', timeout=120)
        if run.returncode == (int(status.group(1)) if status else 0):
            passed += 1
            continue
        failed += 1
        print(f'FAIL: {os.path.basename(page)}: $ {line}\nexit {run.returncode}\n{run.stdout}{run.stderr}')
    shutil.rmtree(work, ignore_errors=True)
print(f'{passed} passed, {failed} failed, 0 skipped')
sys.exit(1 if failed or not passed else 0)
