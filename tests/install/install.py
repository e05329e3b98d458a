#!/usr/bin/env python3
"""Installs into a folder and uses what lies there as other projects do.  SPDX-License-Identifier: MIT

Usage: install.py cmake|pkgconfig|subproject SOURCE_ROOT BUILD_ROOT
Exit 0: the program of the other project was built and ran; 1: not; 77: the tool is not here.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

what, source, build = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
here = source / "tests/install"
needed = {"cmake": "cmake", "pkgconfig": "pkg-config", "subproject": "meson"}[what]
if not shutil.which(needed):
    print(f"SKIP: no {needed} here")
    sys.exit(77)


def run(*command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **more)
    if done.returncode:
        print(f"{' '.join(map(str, command))}:\n{done.stdout}")
        sys.exit(1)
    return done.stdout


def install(folder):
    run("meson", "install", "--no-rebuild", "-C", str(build), env={**os.environ, "DESTDIR": str(folder)})
    found = list(folder.rglob("libgpulaunch.so"))
    if len(found) != 1:
        sys.exit(f"libgpulaunch.so is there {len(found)} times")
    return found[0].parent


def by_cmake(folder):
    libdir = install(folder / "root")
    run("cmake", "-S", str(here), "-B", str(folder / "out"), f"-Dgpulaunch_DIR={libdir}/cmake/gpulaunch")
    run("cmake", "--build", str(folder / "out"))
    for program in ("shared", "static"):
        print(program, run(str(folder / "out" / program)).strip())


def by_pkgconfig(folder):
    libdir = install(folder / "root")
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(libdir / "pkgconfig"),
                   "PKG_CONFIG_SYSROOT_DIR": str(folder / "root")}
    flags = run("pkg-config", "--cflags", "--libs", "gpulaunch", env=environment).split()
    program = str(folder / "program")
    run("cc", str(here / "program.c"), "-o", program, *flags, f"-Wl,-rpath,{libdir}")
    print(run(program).strip())


def by_subproject(folder):
    consumer = folder / "consumer"
    (consumer / "subprojects").mkdir(parents=True)
    shutil.copy(here / "program.c", consumer)
    (consumer / "subprojects/gpulaunch").symlink_to(source)
    (consumer / "meson.build").write_text(
        "project('consumer', 'c')\n"
        "executable('program', 'program.c', dependencies: dependency('gpulaunch', fallback: 'gpulaunch'))\n")
    out = str(folder / "out")
    environment = {**os.environ, "PKG_CONFIG_LIBDIR": str(folder)}
    run("meson", "setup", out, str(consumer), "--force-fallback-for=gpulaunch", "-Dgpulaunch:cpu_device=disabled",
        "-Dgpulaunch:command=disabled", "-Dgpulaunch:default_library=static", env=environment)
    run("meson", "compile", "-C", out, "program", env=environment)
    print(run(os.path.join(out, "program")).strip())


with tempfile.TemporaryDirectory() as temporary:
    {"cmake": by_cmake, "pkgconfig": by_pkgconfig, "subproject": by_subproject}[what](pathlib.Path(temporary))
