#!/bin/sh
# Installs what is missing, builds gpulaunch and runs all tests; ends with a line of counts and fails
# when a test failed.  Asks nothing and may be run again.  SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/setup.sh"
# Without the tests' libraries there is nothing to check: that is an error, not a smaller build.
meson_options=-Dtests=enabled
set_up g++ clang libcmocka-dev python3
say 'running the tests'
rm -f "$build/meson-logs/testlog.json"
rc=0
meson test -C "$build" --no-rebuild --print-errorlogs >"$build/test.log" 2>&1 || rc=$?
python3 tests/summary.py "$build" "$rc"
