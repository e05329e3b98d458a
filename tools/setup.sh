# Shared by try.sh and check.sh, which source it: installs what is missing, finds or fetches NVRTC,
# configures and builds in ./build.  SPDX-License-Identifier: MIT

say() { printf '== %s\n' "$*"; }
fail() {
    printf 'gpulaunch: %s\n' "$*" >&2
    exit 1
}

build=${GPULAUNCH_BUILD:-build}

# install WHAT... : Debian packages that are not there yet, in one go.
install() {
    missing=
    for package in "$@"; do
        status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
        [ "$status" = 'install ok installed' ] || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        fail "this is no Debian system; install the like of:$missing, then run meson by hand (README.md)"
    if [ "$(id -u)" = 0 ]; then
        as_root=
    elif command -v sudo >/dev/null 2>&1; then
        as_root=sudo
    else
        fail "installing packages needs root: run as root, or have an administrator install:$missing"
    fi
    say "installing with apt-get:$missing"
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y update >/dev/null ||
        fail 'apt-get update failed: is there a network?'
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y install --no-install-recommends \
        $missing >"${TMPDIR:-/tmp}/gpulaunch-apt.$$" 2>&1 || {
        tail -n 20 "${TMPDIR:-/tmp}/gpulaunch-apt.$$" >&2
        rm -f "${TMPDIR:-/tmp}/gpulaunch-apt.$$"
        fail "apt-get could not install:$missing"
    }
    rm -f "${TMPDIR:-/tmp}/gpulaunch-apt.$$"
}

# Prints the first libnvrtc below a folder.
nvrtc_below() {
    [ -d "$1" ] || return 0
    find -L "$1" -maxdepth 5 -name 'libnvrtc.so.[0-9]*' 2>/dev/null | grep -v '\.alt\.' | sort -V | tail -n 1
}

# The NVRTC that a toolkit brings, if there is one.
toolkit_nvrtc() {
    for folder in "${CUDA_PATH:-}" "${CUDA_HOME:-}" /usr/local/cuda; do
        [ -n "$folder" ] || continue
        for sub in lib64 lib targets; do
            found=$(nvrtc_below "$folder/$sub")
            if [ -n "$found" ]; then
                printf '%s\n' "$found"
                return 0
            fi
        done
    done
    ldconfig -p 2>/dev/null | sed -n 's/.*libnvrtc\.so\.[0-9.]* .*=> //p' | head -n 1
}

# Which wheel suits the driver and the device: NVRTC 13 wants driver 580 and sm_75, NVRTC 12 goes
# back to sm_50.  Without a GPU the newest.
wheel_name() {
    about=$(nvidia-smi --query-gpu=driver_version,compute_cap --format=csv,noheader 2>/dev/null |
        head -n 1) || about=
    driver=${about%%.*}
    capability=$(printf '%s' "$about" | sed -n 's/.*, *\([0-9]*\)\.\([0-9]*\).*/\1\2/p')
    case "$driver" in
    '' | *[!0-9]*) printf 'nvidia-cuda-nvrtc\n' ;;
    *)
        if [ "$driver" -ge 580 ] && [ "${capability:-0}" -ge 75 ]; then
            printf 'nvidia-cuda-nvrtc>=13,<13.1\n'
        elif [ "$driver" -ge 525 ]; then
            printf 'nvidia-cuda-nvrtc-cu12\n'
        else
            printf 'nvidia-cuda-nvrtc-cu11\n'
        fi
        ;;
    esac
}

find_nvrtc() {
    if [ -n "${GPULAUNCH_NVRTC:-}" ]; then
        [ -e "$GPULAUNCH_NVRTC" ] || fail "GPULAUNCH_NVRTC names no file: $GPULAUNCH_NVRTC"
        say "NVRTC: $GPULAUNCH_NVRTC (from GPULAUNCH_NVRTC)"
        return 0
    fi
    found=$(toolkit_nvrtc)
    if [ -n "$found" ]; then
        say "NVRTC: $found (from a toolkit)"
        return 0
    fi
    found=$(nvrtc_below "$PWD/$build/nvrtc")
    if [ -z "$found" ]; then
        wheel=$(wheel_name)
        say "NVRTC: fetching the wheel '$wheel' into $build/nvrtc"
        say 'NVRTC is made by NVIDIA and comes under the CUDA Toolkit End User License Agreement'
        install python3 python3-pip ca-certificates
        mkdir -p "$build/nvrtc/wheel"
        python3 -m pip download --quiet --no-deps --only-binary=:all: --no-cache-dir \
            --disable-pip-version-check -d "$build/nvrtc/wheel" "$wheel" ||
            fail "the wheel '$wheel' could not be fetched: is there a network?"
        for file in "$build"/nvrtc/wheel/*.whl; do
            python3 -m zipfile -e "$file" "$build/nvrtc" || fail "$file cannot be unpacked"
        done
        rm -rf "$build/nvrtc/wheel"
        found=$(nvrtc_below "$PWD/$build/nvrtc")
        [ -n "$found" ] || fail "the wheel '$wheel' holds no libnvrtc"
    fi
    GPULAUNCH_NVRTC=$found
    export GPULAUNCH_NVRTC
    say "NVRTC: $found"
}

# Configures, or configures anew: libraries that were missing the last time may be there now.
configure() {
    log=${TMPDIR:-/tmp}/gpulaunch-setup.$$
    say "configuring in $build"
    # shellcheck disable=SC2086
    if [ -f "$build/build.ninja" ]; then
        meson configure --clearcache "$build" ${meson_options:-} >"$log" 2>&1 &&
            meson setup --reconfigure "$build" >>"$log" 2>&1
    else
        meson setup "$build" ${meson_options:-} >"$log" 2>&1
    fi || {
        cat "$log" >&2
        rm -f "$log"
        fail 'meson setup failed'
    }
    rm -f "$log"
}

# set_up EXTRA_PACKAGE... : everything up to a built tree.
set_up() {
    cd "$(dirname "$0")/.." || exit 1
    [ -f meson.build ] || fail 'run this from a checkout of gpulaunch'
    install gcc libc6-dev meson ninja-build pkg-config libjansson-dev libpng-dev libzip-dev \
        libxxhash-dev scdoc "$@"
    find_nvrtc
    configure
    say "building in $build"
    ninja -C "$build" >"$build/build.log" 2>&1 || {
        tail -n 40 "$build/build.log" >&2
        fail "the build failed; the whole output is in $build/build.log"
    }
}
