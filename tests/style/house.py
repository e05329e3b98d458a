#!/usr/bin/env python3
"""Holds the house rules that a compiler does not.  SPDX-License-Identifier: MIT

Usage: house.py layers|files|symbols|format|words SOURCE_ROOT [LIBRARY]

layers   a folder includes what stands below it and nothing else
files    each file begins with a comment that has the licence, and has at most 1,000 lines
symbols  the shared library exports gpul_ names only, and needs libc and libm only
format   clang-format finds nothing to change
words    no registry host, no path of a machine, no open end without an issue
Exit 0: held; 1: broken, each place on a line; 77: cannot be told here, with the reason.
"""
import pathlib
import re
import shutil
import subprocess
import sys

LAYERS = {"lib/base": 0, "ptx": 1, "lib/driver": 2, "lib/nvrtc": 2, "lib/cpu": 3, "lib/core": 4}
TABLES = {".def", ".inc"}


def tracked(root, *folders, suffixes):
    for folder in folders:
        base = root / folder
        if base.exists():
            yield from sorted(p for p in base.rglob("*") if p.suffix in suffixes and p.is_file())


def layer_of(path):
    for folder in sorted(LAYERS, key=len, reverse=True):
        if path == folder or path.startswith(folder + "/"):
            return folder, LAYERS[folder]
    return None, None


def layers(root):
    bad = []
    for path in tracked(root, "lib", "ptx", suffixes={".c", ".h", ".def", ".inc"}):
        name = path.relative_to(root).as_posix()
        own, level = layer_of(name)
        if own is None or name.startswith("ptx/kernels"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if not found:
                continue
            target = found.group(1)
            target = target if target.startswith("ptx/") else "lib/" + target
            other, below = layer_of(target)
            if other is None or other == own:
                continue
            if below >= level:
                bad.append(f"{name}:{number}: {own} [{level}] includes {target} [{below}]")
    for path in tracked(root, "tools", suffixes={".c", ".h"}):
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include\s+"([^"]+)"', line)
            if found and not (root / "tools" / found.group(1)).exists():
                if re.match(r"(base|driver|nvrtc|cpu|core|ptx)/", found.group(1)):
                    bad.append(f"{name}:{number}: the command includes {found.group(1)}")
    return bad


def files(root):
    bad = []
    places = ("include", "lib", "ptx", "tools", "tests", "docs/examples")
    for path in tracked(root, *places, suffixes={".c", ".h", ".def", ".inc", ".in", ".py", ".sh"}):
        name = path.relative_to(root).as_posix()
        text = path.read_text(errors="replace")
        lines = text.count("\n")
        if "SPDX-License-Identifier: MIT" not in "\n".join(text.splitlines()[:80]):
            bad.append(f"{name}: no licence in the first comment")
        if lines > 1000 and path.suffix not in TABLES:
            bad.append(f"{name}: {lines} lines")
    return bad


def symbols(_root, library):
    bad = []
    listed = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True,
                            check=True).stdout
    names = [line.split()[-1] for line in listed.splitlines() if line.split()]
    bad += [f"exported: {n}" for n in names
            if not re.match(r"gpul_[a-z]", n) and n not in ("_init", "_fini")]
    if not any(n == "gpul_launch" for n in names):
        bad.append("gpul_launch is not exported")
    needed = subprocess.run(["readelf", "-d", library], capture_output=True, text=True,
                            check=True).stdout
    for name in re.findall(r"NEEDED.*\[(.*)\]", needed):
        if not re.match(r"lib[cm]\.so|ld-linux", name):
            bad.append(f"needs {name}")
    return bad


def formatting(root):
    tool = shutil.which("clang-format-14") or shutil.which("clang-format")
    if not tool:
        print("SKIP: clang-format is not installed")
        sys.exit(77)
    version = subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout
    if " 14." not in version:
        print("SKIP: formatting is that of clang-format 14, here is " + version.strip())
        sys.exit(77)
    paths = [str(p) for p in tracked(root, "include", "lib", "ptx", "tools", "tests",
                                     "docs/examples", suffixes={".c", ".h"})]
    run = subprocess.run([tool, "--dry-run", "-Werror", *paths], capture_output=True, text=True,
                         check=False)
    return sorted({line.split(":")[0] + ": not formatted"
                   for line in run.stderr.splitlines() if "error:" in line})


def words(root):
    bad = []
    pattern = re.compile(r"pypi\.o" r"rg|pythonhosted\.o" r"rg|debian\.o" r"rg|/roo" r"t/|/wor" r"k/|\bTOD" r"O\b|\bFIXM" r"E\b")
    places = ("include", "lib", "ptx", "tools", "tests", "docs", ".ci")
    for path in tracked(root, *places, suffixes={".c", ".h", ".def", ".inc", ".py", ".sh", ".md",
                                                 ".scd", ".build", ".cu", ".ptx", ".txt"}):
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if pattern.search(line):
                bad.append(f"{path.relative_to(root)}:{number}: {line.strip()[:80]}")
    return bad


def main():
    what, root = sys.argv[1], pathlib.Path(sys.argv[2])
    if what == "symbols":
        bad = symbols(root, sys.argv[3])
    else:
        bad = {"layers": layers, "files": files, "format": formatting, "words": words}[what](root)
    for line in bad:
        print(line)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
