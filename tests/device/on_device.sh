#!/bin/sh
# Runs a program on $GPULAUNCH_DEVICE; skips with the reason when that device is not there, unless
# GPULAUNCH_REQUIRE_GPU=1.  Usage: on_device.sh PROBE PROGRAM...   SPDX-License-Identifier: MIT
probe=$1
shift
why=$("$probe" 2>&1) || {
    if [ "${GPULAUNCH_REQUIRE_GPU:-}" = 1 ]; then
        echo "$why"
        exit 1
    fi
    echo "SKIP: $why"
    exit 77
}
exec "$@"
