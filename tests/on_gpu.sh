#!/bin/sh
# Runs the device suite, the examples and the measurements of a built tree on this machine's GPU, from the
# source's root.  SPDX-License-Identifier: MIT
#
#     sh tests/on_gpu.sh BUILD [suite|sanitizer|bench]...        all three when none is named
set -u
build=${1:?usage: on_gpu.sh BUILD [suite|sanitizer|bench]...}
shift
[ $# -gt 0 ] || set -- suite sanitizer bench
export GPULAUNCH_DEVICE=cuda GPULAUNCH_REQUIRE_GPU=1
log=${TMPDIR:-/tmp}/gpulaunch-gpu.$$
failed=0
passed=0
skipped=0

# once NAME COMMAND... : a program that must end well; what it skips is shown and counted.
once() {
    name=$1
    shift
    timeout 300 "$@" >"$log" 2>&1
    rc=$?
    if [ $rc -eq 77 ]; then
        skipped=$((skipped + 1))
        echo "skip $name"
        grep -h 'SKIP:' "$log" | sed 's/^/    /'
    elif [ $rc -ne 0 ]; then
        failed=$((failed + 1))
        echo "FAIL $name (status $rc)"
        tail -n "${TAIL:-25}" "$log" | sed 's/^/    /'
    else
        passed=$((passed + 1))
        echo "ok   $name  $(grep -E '^[0-9]+ passed' "$log" | tail -n 1)"
        grep -h 'SKIP:' "$log" | sed 's/^/    /'
        skipped=$((skipped + $(grep -c 'SKIP:' "$log")))
    fi
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for what in "$@"; do
    case $what in
    suite)
        for program in "$build"/tests/device/device-* "$build"/docs/examples/example-*; do
            [ -f "$program" ] && [ -x "$program" ] && once "$(basename "$program")" "$program"
        done
        once "commands" env GPULAUNCH_SNAPSHOT_DEVICE=cuda python3 tests/cli/snapshots.py \
            "$build/tools/gpulaunch" tests/cli/cases/reported.txt
        ;;
    sanitizer)
        for program in "$build"/tests/device/device-* "$build"/docs/examples/example-*; do
            [ -f "$program" ] && [ -x "$program" ] || continue
            case $program in *faults) continue ;; esac
            GPULAUNCH_SANITIZED=1 once "memcheck $(basename "$program")" compute-sanitizer --tool memcheck \
                --leak-check full --report-api-errors no --error-exitcode 9 "$program"
            grep -E 'ERROR SUMMARY|LEAK SUMMARY' "$log" | sed 's/^/    /'
        done
        ;;
    bench)
        "$build/tests/bench/launch_cost" || failed=$((failed + 1))
        "$build/tests/bench/first_result" pairs 31 || failed=$((failed + 1))
        ;;
    *)
        echo "on_gpu.sh: '$what' is none of suite, sanitizer, bench" >&2
        exit 2
        ;;
    esac
done
rm -f "$log"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
