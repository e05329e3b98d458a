#!/bin/sh
# Installs what is missing, builds gpulaunch and runs a kernel: on the GPU if there is one, else on the
# CPU device.  Asks nothing and may be run again.  SPDX-License-Identifier: MIT
set -eu
. "$(dirname "$0")/setup.sh"
set_up
say "gpulaunch run ptx/kernels/vector_add.cu"
"$build/tools/gpulaunch" run ptx/kernels/vector_add.cu
say 'it works; next:'
echo "   $build/tools/gpulaunch inspect ptx/kernels/matmul.cu"
echo "   $build/tools/gpulaunch run ptx/kernels/scale.cu data=8:iota by=10 --print data"
