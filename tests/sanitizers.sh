#!/bin/sh
# Builds and runs the tests under AddressSanitizer with UndefinedBehaviorSanitizer, under ThreadSanitizer,
# and under valgrind, each in a build folder of its own.  SPDX-License-Identifier: MIT
#
#     sh tests/sanitizers.sh [asan] [tsan] [valgrind]            all three when none is named
set -u
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || set -- asan tsan valgrind
failed=0
for what in "$@"; do
    folder=build-$what
    wrapper=
    case $what in
    asan) options='-Db_sanitize=address,undefined -Db_lundef=false' ;;
    tsan) options='-Db_sanitize=thread -Db_lundef=false' ;;
    valgrind)
        command -v valgrind >/dev/null || {
            echo 'sanitizers.sh: valgrind is not installed' >&2
            exit 1
        }
        options=
        wrapper='--wrapper=valgrind --quiet --error-exitcode=9 --leak-check=full --errors-for-leak-kinds=definite --trace-children=no'
        ;;
    *)
        echo "sanitizers.sh: '$what' is none of asan, tsan, valgrind" >&2
        exit 2
        ;;
    esac
    # shellcheck disable=SC2086
    [ -f "$folder/build.ninja" ] || meson setup "$folder" $options >/dev/null || exit 1
    ninja -C "$folder" >"$folder/build.log" 2>&1 || {
        tail -n 30 "$folder/build.log"
        exit 1
    }
    rm -f "$folder/meson-logs/testlog.json"
    # A GPU's driver maps what AddressSanitizer would protect; a leak counts as an error; a report ends
    # the program.  The style tests have nothing to do with memory; other projects cannot link a library that is built
    # so, and valgrind counts no instructions of it.
    rc=0
    LSAN_OPTIONS=suppressions=$PWD/tests/leaks_of_others.txt \
        ASAN_OPTIONS=protect_shadow_gap=0:detect_leaks=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 \
        TSAN_OPTIONS=halt_on_error=1 meson test -C "$folder" --no-rebuild -t 10 --no-suite style --no-suite install --no-suite bench \
        ${wrapper:+"$wrapper"} >"$folder/test.log" 2>&1 || rc=$?
    for log in "$folder"/meson-logs/testlog-valgrind.json; do
        [ -f "$log" ] && mv "$log" "$folder/meson-logs/testlog.json"
    done
    echo "== $what"
    python3 tests/summary.py "$folder" "$rc" || failed=1
done
exit $failed
