#!/usr/bin/env python3
"""Compares the layout of every public struct with docs/abi.txt.  SPDX-License-Identifier: MIT

Usage: abi.py SOURCE_ROOT BUILD_ROOT SOVERSION [--update]

The layouts are read from the headers and measured with the C compiler.  A layout that changed under
the same soname breaks programs that were built before: raise `soversion` in meson.build, then run
this with --update.  Exit 0: equal; 1: they differ.
"""
import pathlib
import re
import subprocess
import sys
import tempfile


def structs(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for found in re.finditer(r"typedef struct (gpul_\w+) \{(.*?)\n\} \1;", text, flags=re.S):
        name, body = found.group(1), found.group(2)
        body = re.sub(r"union \{.*?\} (\w+);", r"int \1;", body, flags=re.S)
        fields = []
        for part in body.split(";"):
            pointer = re.search(r"\(\*(\w+)\)", part)
            if pointer:
                fields.append(pointer.group(1))
                continue
            part = part.strip()
            if not part:
                continue
            for piece in part.split(","):
                word = re.search(r"(\w+)\s*(\[\w+\])*\s*$", piece.strip())
                fields.append(word.group(1))
        yield name, fields


def measure(root, build):
    lines = ["#include <gpulaunch/gpulaunch.h>", "#include <stdio.h>", "int main(void) {"]
    count = 0
    for header in sorted((root / "include/gpulaunch").glob("*.h")):
        for name, fields in structs(header.read_text()):
            count += 1
            lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
            lines += [f'printf("  {f} %zu %zu\\n", offsetof({name}, {f}), sizeof((({name} *)0)->{f}));'
                      for f in fields]
    lines.append("return 0; }")
    if count < 15:
        sys.exit("the headers could not be read")
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "abi.c"
        source.write_text("\n".join(lines))
        program = pathlib.Path(folder) / "abi"
        subprocess.run(["cc", "-std=c11", f"-I{root}/include", f"-I{build}/include", str(source),
                        "-o", str(program)], check=True)
        return subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout


def main():
    root, build, soversion = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    now = f"soversion {soversion}\n" + measure(root, build)
    kept = root / "docs/abi.txt"
    if "--update" in sys.argv:
        kept.write_text(now)
        return 0
    before = kept.read_text() if kept.exists() else ""
    if now == before:
        return 0
    old, new = before.splitlines(), now.splitlines()
    for line in [f"- {x}" for x in old if x not in new] + [f"+ {x}" for x in new if x not in old]:
        print(line)
    print("a public struct changed: raise soversion in meson.build, then abi.py ... --update")
    return 1


if __name__ == "__main__":
    sys.exit(main())
