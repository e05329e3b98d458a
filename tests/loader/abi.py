#!/usr/bin/env python3
# Compares lib/driver/cuda_abi.h and driver.def with the toolkit's cuda.h: every constant's value, every struct's size and
# member offsets, every entry's prototype.  Exit status 77 (skipped) where there is no cuda.h.
# SPDX-License-Identifier: MIT
import os, re, subprocess, sys, tempfile

compiler, root, include = sys.argv[1], sys.argv[2], sys.argv[3]
if not os.path.exists(os.path.join(include, 'cuda.h')):
    print(f'SKIP: no cuda.h in {include}')
    sys.exit(77)
lib = os.path.join(root, 'lib')


def without_comments(text):
    return re.sub(r'/\*.*?\*/', '', text, flags=re.S)


def read(name):
    with open(os.path.join(lib, name)) as file:
        return without_comments(file.read())


abi = read('driver/cuda_abi.h')
constants = re.findall(r'\b(CU\w+) = ', abi)
constants += ['CUDA_' + name for name in re.findall(r'^X\(\d+,\s*(\w+),', read('base/native_cuda.def'), re.M)]
constants += re.findall(r'^#define (CU\w+)\s+\S', abi, re.M)
structs = {}
for body, name in re.findall(r'^typedef (?:struct|union) \w+ \{\n(.*?)^\} (\w+);', abi, re.S | re.M):
    body = re.sub(r'(struct|union) \{[^{}]*\}', 'int', body)
    body = re.sub(r'(struct|union) \{[^{}]*\}', 'int', body)
    members = []
    for line in body.split(';'):
        found = re.match(r'.*?(\*?\w+(?:\[\w+\])?(?:, \w+)*)$', line.strip(), re.S)
        if found and not line.strip().endswith('int'):
            members += [re.sub(r'[*\[].*', '', m.strip().lstrip('*')) for m in found.group(1).split(',')]
    structs[name] = [m for m in members if m != 'unsigned']
handles = re.findall(r'^typedef (?:struct \w+ \*|unsigned \w+(?: long)? |int |uint\w+ )(\w+);', abi, re.M)
types = sorted(set(structs) | set(handles) | set(re.findall(r'\} (CU\w+);', abi)))
rows = re.findall(r'^X\((\w+),\s*(\w+),\s*\w+,\s*(\(.*?\)), \(', read('driver/driver.def'), re.M)
rows += [(a, b, '(void)') for a, b in re.findall(r'^X0\((\w+),\s*(\w+),', read('driver/driver.def'), re.M)]
print(f'{len(constants)} constants, {len(types)} types, {sum(map(len, structs.values()))} members, {len(rows)} entries')
if len(constants) < 480 or len(structs) < 28 or len(rows) < 240:
    sys.exit('the check reads too little: cuda_abi.h or driver.def changed its form')

body = '#include <stdio.h>\n#include <stddef.h>\nint main(void) {\n'
for name in constants:
    body += f'printf("{name} %lld\\n", (long long){name});\n'
for name in types:
    body += f'printf("sizeof {name} %zu\\n", sizeof({name}));\n'
    for member in structs.get(name, []):
        body += f'printf("{name}.{member} %zu\\n", offsetof({name}, {member}));\n'
body += 'return 0; }\n'

# cuda.h declares every version of an entry, under its exported name, for those who define this.
CUDA = '#define __CUDA_API_VERSION_INTERNAL\n#include <cuda.h>\n'
failed = 0


def build(folder, name, text, *options):
    source = os.path.join(folder, name + '.c')
    with open(source, 'w') as file:
        file.write(text)
    run = subprocess.run([*compiler.split(), '-std=gnu11', *options, source, '-o', os.path.join(folder, name)],
                         capture_output=True, text=True)
    if run.returncode:
        print(run.stderr[:4000])
        sys.exit(f'{name} does not compile')


def results(header, pattern):
    path = os.path.join(include, header)
    if not os.path.exists(path):
        return None
    with open(path) as file:
        body = re.search(pattern, without_comments(file.read()), re.S).group(1)
    return {(int(number), name) for name, number in re.findall(r'(\w+)\s*=\s*(\d+)', body)}


# Every result that the toolkit knows is in our tables, and nothing else of that number.
for header, pattern, table, prefix in [
        ('cuda.h', r'enum cudaError_enum \{(.*?)\}', 'base/native_cuda.def', 'CUDA_'),
        ('nvrtc.h', r'typedef enum \{(\s*NVRTC_SUCCESS.*?)\} nvrtcResult', 'base/native_nvrtc.def', 'NVRTC_')]:
    theirs = results(header, pattern)
    ours = {(int(number), prefix + name) for number, name in re.findall(r'^X\((\d+),\s*(\w+),', read(table), re.M)}
    print(f'{len(ours)} results in {table}')
    for number, name in sorted((theirs or set()) - ours):
        print(f'{table} lacks {name} = {number}')
        failed += 1
    for number, name in sorted(ours):
        for other in (n for i, n in theirs or set() if i == number and n != name):
            print(f'{table}: {number} is {other}, not {name}')
            failed += 1

with tempfile.TemporaryDirectory() as folder:
    build(folder, 'theirs', CUDA + body, '-I', include)
    build(folder, 'ours', '#include "driver/cuda_abi.h"\n' + body, '-I', lib, '-I', os.path.join(root, 'include'))
    theirs, ours = (subprocess.run([os.path.join(folder, name)], capture_output=True, text=True,
                                   check=True).stdout.splitlines() for name in ('theirs', 'ours'))
    for a, b in zip(theirs, ours, strict=True):
        if a != b:
            print(f'cuda.h: {a}   cuda_abi.h: {b}')
            failed += 1
    prototypes = CUDA
    for field, symbol, params in rows:
        prototypes += f'CUresult (*check_{field}) {params} = {symbol};\n'
    build(folder, 'prototypes', prototypes, '-I', include, '-c', '-Werror=incompatible-pointer-types')
    if failed == 0:
        print('all equal')
sys.exit(1 if failed else 0)
