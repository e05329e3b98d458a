#!/bin/sh
# Cross-builds for AArch64 and runs the tests of the PTX engine under qemu-user.  Needs gcc-aarch64-linux-gnu,
# libc6-dev-arm64-cross and qemu-user; fetches cmocka for arm64 into the build folder.
# SPDX-License-Identifier: MIT
#
#     sh tests/aarch64.sh [TEST...]            tests of the suites ptx and cpu when none is named
set -eu
cd "$(dirname "$0")/.."
build=build-aarch64
root=$PWD/$build/root
for tool in aarch64-linux-gnu-gcc qemu-aarch64 meson; do
    command -v $tool >/dev/null || {
        echo "aarch64.sh: $tool is not installed" >&2
        exit 1
    }
done
if [ ! -f "$root/usr/lib/aarch64-linux-gnu/libcmocka.so" ]; then
    mkdir -p "$root/lists/partial" "$root/deb"
    options="-oAPT::Architecture=arm64 -oAPT::Architectures=arm64 -oDir::State::Lists=$root/lists"
    # shellcheck disable=SC2086
    apt-get -q $options update >/dev/null
    # shellcheck disable=SC2086
    (cd "$root/deb" && apt-get -q $options download libcmocka-dev libcmocka0 >/dev/null)
    for package in "$root"/deb/*.deb; do dpkg -x "$package" "$root"; done
fi
# The package's own file names folders of the machine.
mkdir -p "$build/pkgconfig"
cat >"$build/pkgconfig/cmocka.pc" <<PC
Name: cmocka
Description: unit tests in C
Version: $(sed -n 's/^Version: //p' "$root/usr/lib/aarch64-linux-gnu/pkgconfig/cmocka.pc")
Libs: -L$root/usr/lib/aarch64-linux-gnu -lcmocka
Cflags: -I$root/usr/include
PC
cat >"$build/cross.ini" <<CROSS
[binaries]
c = 'aarch64-linux-gnu-gcc'
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64', '-L', '/usr/aarch64-linux-gnu', '-E', 'LD_LIBRARY_PATH=$root/usr/lib/aarch64-linux-gnu']
[properties]
pkg_config_libdir = '$PWD/$build/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
CROSS
[ -f "$build/build.ninja" ] || meson setup "$build" --cross-file "$build/cross.ini" -Dc_link_args="-Wl,-rpath-link,$root/usr/lib/aarch64-linux-gnu" \
    -Dman=disabled -Djansson=disabled -Dpng=disabled -Dzip=disabled >/dev/null
ninja -C "$build" >"$build/build.log" 2>&1 || {
    tail -n 30 "$build/build.log"
    exit 1
}
rm -f "$build/meson-logs/testlog.json"
rc=0
[ $# -gt 0 ] || set -- --suite ptx --suite cpu --no-suite device --no-suite examples
# The emulator keeps a record of every page that is ever reserved: with less to reserve the CPU device takes less.
ulimit -v 12000000
meson test -C "$build" --no-rebuild -t 20 "$@" >"$build/test.log" 2>&1 || rc=$?
python3 tests/summary.py "$build" "$rc"
