# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# The driver, the CUPTI and the NVML that do not exist (tests/gpu/fake/fake_cuda.c), for tests that
# need no GPU. Source it after tests/lib.sh: $T is the current directory then, with all of them in
# $T/fake, or all is skipped.

[ -e "$builddir/tests/gpu/fake/.libs/fake_cuda.so" ] || skip_all "built without CUPTI"
[ -z "${SANITIZER:-}" ] || skip_all "libraries are preloaded"
cd "$T" || exit 99
# the same file under all names
mkdir fake
cp "$builddir/tests/gpu/fake/.libs/fake_cuda.so" fake/libcuda.so.1
ln -s libcuda.so.1 fake/libcupti.so.13
ln -s libcuda.so.1 fake/libnvidia-ml.so.1
unset CUDA_INJECTION64_PATH FAKE_CUDA
fake_path=$T/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# see_fake: from here on every program finds them.
see_fake() {
	LD_LIBRARY_PATH=$fake_path
	export LD_LIBRARY_PATH
}
