#!/usr/bin/env python3
# Compiles each public header by itself and twice, and options.c, as C11 and as C++17, with gcc and with clang.
# Usage: headers.py SOURCE_ROOT BUILD_ROOT.  A compiler that is not there is said and skipped. Exit status 1
# when a header does not compile without a word, 77 when no compiler was there.  SPDX-License-Identifier: MIT
import os, pathlib, shutil, subprocess, sys

root, build = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
include = ['-I', str(root / 'include'), '-I', str(build / 'include')]
headers = sorted({path.name for place in (root, build) for path in (place / 'include/gpulaunch').glob('*.h*')
                  if path.suffix in ('.h', '.hpp')})
only_cxx = {name for name in headers if name.endswith('.hpp')}
flags = ['-Wall', '-Wextra', '-Wpedantic', '-Werror', '-Wshadow', '-fsyntax-only', '-x']
passed = failed = skipped = 0

for family, c, cxx in [('gcc', 'gcc', 'g++'), ('clang', 'clang', 'clang++')]:
    for language, standard, compiler in [('c', 'c11', c), ('c++', 'c++17', cxx)]:
        for header in headers:
            if language == 'c' and header in only_cxx:
                continue
            if not shutil.which(compiler):
                print(f'SKIP: no {compiler} here')
                skipped += 1
                continue
            text = f'#include <gpulaunch/{header}>\n' * 2 + 'int main(void) { return 0; }\n'
            run = subprocess.run([compiler, f'-std={standard}', *flags, language, *include, '-'], input=text,
                                 capture_output=True, text=True)
            if run.returncode or run.stderr:
                print(f'{compiler} -std={standard} {header}:\n{run.stderr}')
                failed += 1
            else:
                passed += 1
        if shutil.which(compiler): # designators in C++17 are an extension, which -Wpedantic would name
            run = subprocess.run([compiler, f'-std={standard}', '-Wall', '-Werror', '-fsyntax-only', '-x', language, *include,
                                  str(root / 'tests/headers/options.c')], capture_output=True, text=True)
            failed += run.returncode != 0
            passed += run.returncode == 0
            print(run.stderr, end='')
if len(headers) < 3:
    sys.exit(f'only {headers} found')
print(f'{passed} passed, {failed} failed, {skipped} skipped')
sys.exit(1 if failed else 77 if passed == 0 else 0)
