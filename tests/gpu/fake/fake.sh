# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# The driver, the CUPTI and the NVML that do not exist (tests/gpu/fake/fake_cuda.c), for tests that
# need no GPU. Source it after tests/lib.sh: $T is the current directory then, with all of them in
# $T/fake, or all is skipped. FAKE_CUPTI=12: those of CUDA 12.4.

[ -e "$builddir/tests/gpu/fake/.libs/fake_cuda.so" ] || skip_all "built without CUPTI"
[ -z "${SANITIZER:-}" ] || skip_all "libraries are preloaded"
cd "$T" || exit 99
# the same file under all names
mkdir fake
cp "$builddir/tests/gpu/fake/.libs/fake_cuda${FAKE_CUPTI:-}.so" fake/libcuda.so.1
ln -s libcuda.so.1 "fake/libcupti.so.${FAKE_CUPTI:-13}"
ln -s libcuda.so.1 fake/libnvidia-ml.so.1
unset CUDA_INJECTION64_PATH FAKE_CUDA
fake_path=$T/fake${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

# see_fake: from here on every program finds them.
see_fake() {
	LD_LIBRARY_PATH=$fake_path
	export LD_LIBRARY_PATH
}

# measure_calls NAME OPTIONS WAY...: $CUDA_CALLS WAY... with gpu=nvidia,OPTIONS. Leaves m-NAME, and
# of what is said out-NAME, err-NAME and prof-NAME; all-NAME is the complete text.
measure_calls() {
	fake_name=$1 fake_options=$2
	shift 2
	"$HPCRUN" -v -e CPUTIME -e "gpu=nvidia${fake_options:+,$fake_options}" -o "m-$fake_name" \
		"$CUDA_CALLS" "$@" >"out-$fake_name" 2>"err-$fake_name"
	is "$fake_name: the program's status" $? 0
	"$HPCPROF" --to text --all "m-$fake_name" >"all-$fake_name" 2>"prof-$fake_name"
}
