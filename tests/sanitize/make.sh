#!/bin/sh
# Makes the .ptx of each .cu here again, with line information and without the folders' names.
# SPDX-License-Identifier: MIT
set -e
cd "$(dirname "$0")"
for source in *.cu; do
    name=${source%.cu}
    nvcc -ptx -arch=sm_75 -std=c++17 -lineinfo -w -Wno-deprecated-gpu-targets -o "$name.ptx" "$source"
    sed -i 's|^\(\s*\.file\s*[0-9]* "\).*/|\1|' "$name.ptx"
done
