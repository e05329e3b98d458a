#!/usr/bin/env python3
# Runs the command lines of a file of cases and compares what they print with what the file says.
#
#   $ gpulaunch run saxpy.cu        the command, run by sh in a folder with the files of tests/cli
#   out: line                       standard output
#   err: line                       standard error
#   exit 2                          the status; 0 when left out
#
# In an expected line <*> stands for any text; an expected line that is <...> alone stands for any number
# of lines.  `# needs nvrtc` (or nvrtc13.0, json, png, zip, cpu, cuda) above a command skips it, visibly, where that is missing.
# The device is the CPU's; GPULAUNCH_SNAPSHOT_DEVICE=cuda takes a GPU.
#   snapshots.py --update GPULAUNCH CASES   writes what was seen into the file.
# SPDX-License-Identifier: MIT
import os, re, shutil, subprocess, sys, tempfile

import workfolder

UPDATE = [  # what differs from machine to machine
    (r'compiled in \d+ ms', 'compiled in <*> ms'), (r'CPU device \([^)]*\)', 'CPU device (<*>)'),
    (r'^(out: time +).*?(  one launch|  \d+ launches).*', r'\1<*>'), (r'\b\d+ registers', '<*> registers'),
    (r'NVRTC \(\d+\.\d+\)', 'NVRTC (<*>)'), (r'PASS(.*?) +\d+ ms', r'PASS\1 <*> ms'), (r'\d+ bytes of PTX', '<*> bytes of PTX'),
    (r'(error\[GL080[2-6]\]: execute: ).*', r'\1<*>'), (r'note: PTX line .*', 'note: PTX line <*>'), (r'(FAIL.*GL0802 ).*', r'\1<*>'), (r'^(out:   \w.*)cold .*', r'\1cold <*>'),
    (r'NVRTC 13\.0', 'NVRTC <*>'), (r'it knows sm_.*', 'it knows <*>'), (r'numbers for sm_ .*', 'numbers for sm_ <*>'),
    (r'\d+ bytes of machine code', '<*> bytes of machine code'), (r'^(err: gpulaunch: note: the CPU device is used).*', r'\1<*>')]


class Case:
    def __init__(self, line):
        self.command, self.lines, self.status, self.needs, self.head = line[2:], [], 0, [], []


def read(path):
    cases, head, tail = [], [], []
    for line in open(path, encoding='utf-8').read().splitlines():
        if line.startswith('$ '):
            case = Case(line)
            case.head, head = head, []
            for note in case.head:
                if note.startswith('# needs '):
                    case.needs += note.split()[2:]
            cases.append(case)
        elif line.startswith(('out: ', 'err: ', 'out:', 'err:')) and cases and not head:
            cases[-1].lines.append(line)
        elif line.startswith('exit ') and cases and not head:
            cases[-1].status = int(line[5:])
        else:
            head.append(line)
    return cases, head


def pattern(line):
    return re.compile('.*'.join(re.escape(part) for part in line.split('<*>')) + r'\Z')


def matches(expected, got):
    """Lines of one stream; <...> may stand for any number of them."""
    if not expected:
        return not got
    if expected[0] == '<...>':
        return any(matches(expected[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and bool(pattern(expected[0]).match(got[0].rstrip())) and matches(expected[1:], got[1:])


def stream(lines, name):
    return [line[5:] if len(line) > 4 else '' for line in lines if line.startswith(name)]


def main():
    update = sys.argv[1] == '--update'
    exe, path = [os.path.abspath(p) for p in sys.argv[1 + update:3 + update]]
    cases, tail = read(path)
    work = tempfile.mkdtemp(prefix='gpulaunch-cli-')
    passed = failed = skipped = 0
    try:
        workfolder.fill(work)
        os.mkdir(os.path.join(work, 'bin'))
        os.symlink(exe, os.path.join(work, 'bin', 'gpulaunch'))
        env = {k: v for k, v in os.environ.items() if not k.startswith(('GPULAUNCH_', 'XDG_', 'LC_', 'LANG', 'NO_COLOR', 'CLICOLOR'))}
        for name in ('GPULAUNCH_NVRTC', 'GPULAUNCH_LIBCUDA'):
            if name in os.environ:
                env[name] = os.environ[name]
        device = os.environ.get('GPULAUNCH_SNAPSHOT_DEVICE', 'cpu')
        env.update(PATH=os.path.join(work, 'bin') + ':' + env['PATH'], HOME=work, GPULAUNCH_DEVICE=device, TERM='dumb')
        env.update(ASAN_OPTIONS='detect_leaks=1', GPULAUNCH_CACHE_DIR=os.path.join(work, '.cache'))
        have = {device}
        doctor = subprocess.run(['gpulaunch', 'doctor'], env=env, cwd=work, capture_output=True, text=True).stdout
        if re.search(r'^(ok|warn) +compiler', doctor, re.M):
            have.add('nvrtc')
            have.update('nvrtc' + v for v in re.findall(r'^(?:ok|warn) +compiler .*?\((\d+\.\d+),', doctor, re.M))
        have.update(feature for feature in os.environ.get('CLI_FEATURES', 'json png zip').split())
        for case in cases:
            missing = [need for need in case.needs if need not in have]
            if missing:
                print(f'SKIP: {case.command}: needs {" and ".join(missing)}')
                skipped += 1
                continue
            run = subprocess.run(['sh', '-c', case.command], env=env, cwd=work, capture_output=True, timeout=120)
            out, err = [text.decode('utf-8', 'backslashreplace').replace(work, '<work>').splitlines() for text in (run.stdout, run.stderr)]
            good = matches(stream(case.lines, 'out:'), out) and matches(stream(case.lines, 'err:'), err) and run.returncode == case.status
            passed += good
            failed += not good
            if good:
                continue
            seen = [('out: ' + line).rstrip() for line in out] + [('err: ' + line).rstrip() for line in err]
            if update:
                for i, line in enumerate(seen):
                    for old, new in UPDATE:
                        seen[i] = line = re.sub(old, new, line)
                case.lines, case.status = seen, run.returncode
            else:
                print(f'\nFAIL: $ {case.command}\n--- expected, exit {case.status}')
                print('\n'.join(case.lines))
                print(f'--- got, exit {run.returncode}')
                print('\n'.join(seen))
    finally:
        shutil.rmtree(work, ignore_errors=True)
    if update:
        with open(path, 'w', encoding='utf-8') as file:
            for case in cases:
                lines = case.head + ['$ ' + case.command] + case.lines + ([f'exit {case.status}'] if case.status else [])
                file.write('\n'.join(lines) + '\n')
            file.write(''.join(line + '\n' for line in tail))
        print(f'{passed} as before, {failed} written, {skipped} skipped')
        return 0
    print(f'{passed} passed, {failed} failed, {skipped} skipped')
    return 1 if failed else 77 if not passed else 0


sys.exit(main())
