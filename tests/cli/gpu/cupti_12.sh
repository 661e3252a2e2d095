#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia with CUPTI 12.4, on a driver and a CUPTI that do not exist (tests/gpu/fake/fake_cuda.h,
# FAKE_CUPTI_12): operations are traced and recorded as with 13, and what CUPTI 12.4 cannot do is
# said, with what is done instead. tests/gpu/versions.sh asks the same of a GPU.

. "${srcdir:-.}/tests/lib.sh"
FAKE_CUPTI=12 # needs: fake_cuda12.la fake_cuda.la
. "$srcdir/tests/gpu/truth.sh"
cd "$T" || exit 99
. "$srcdir/tests/gpu/recorded.sh"

# a recording made with it is replayed without it
record kept '' calls
replay kept kept-r
facts kept
facts kept-r
is "recorded: kernels, copies and sets" "$(by_name '$1 == "gpu-kind" && get("of") == "all" &&
	get("kind") ~ /^(kernel|copy|set)$/ { n += get("joined") } END { print n }' all-kept)" \
	"$(awk '$1 == "truth" { n[$2] = $3 } END {
		print n["kernel"] + n["copy"] + n["set"] - n["refused"] }' out-kept)"
same "recorded: as it was" all-kept all-kept-r

see_fake
like "-L lists it" "$("$HPCRUN" -L | grep -E '^ +(driver|CUPTI)' | tr -s ' \n' ' ')" \
	'^ driver for CUDA 12\.4 CUPTI 12\.4\.0, '
SLACK=0.9
. "$srcdir/tests/gpu/ways.sh"

# the driver's version of CUDA first, then the other one; each is a file of its own here
mkdir both
cp fake/libcuda.so.1 both/libcupti.so.12
cp "$builddir/tests/gpu/fake/.libs/fake_cuda.so" both/libcupti.so.13
# listed DRIVER: with the driver of that version of CUDA
listed() {
	cp "$builddir/tests/gpu/fake/.libs/fake_cuda$1.so" both/libcuda.so.1
	LD_LIBRARY_PATH=$T/both "$HPCRUN" -L | sed -n 's/^ *CUPTI \([0-9.]*\), .*/\1/p'
}
is "a driver of CUDA 12, a driver of CUDA 13" "$(listed 12) $(listed '')" "12.4.0 13.0.1"

# beside a profiler of the program that uses the same copy
. "$srcdir/tests/gpu/yield/yield.sh"
CUPTI_FILE=$T/fake/libcupti.so.12
export CUPTI_FILE
PROGRAM=$builddir/tests/gpu/yield/cuda_yield EVENTS="-e gpu=nvidia" measured windows
yielded windows
PROGRAM=''
unset CUPTI_FILE

# what it cannot do
EVENTS="-v -e CPUTIME -e gpu=nvidia,pc" NAME=pc measured paths
like "pc: what is done, and what else could be" "$(cat err-pc)" \
	'gpu=nvidia: CUPTI 12\.4\.0 cannot sample .* times operations, which needs 12\.8\.1: op' \
	'nothing is sampled; gpu=nvidia,pc,notimes samples without times$'
is "pc: operations are traced" "$(joined pc kernel) $(n_losses pc)" "40 0"
FAKE_CUDA=12.8
export FAKE_CUDA
EVENTS="-v -e CPUTIME -e gpu=nvidia,pc@12" NAME=pc-8 measured paths
unset FAKE_CUDA
like "12.8.0: that no sample has an instruction, and what else could be" "$(cat err-pc-8)" \
	'could not attribute 100\.0 % .*, and to all samples with CUPTI 12\.8\.0. gpu=nvidia,pc,no'
EVENTS="-e CPUTIME -e gpu=nvidia,pc,notimes,mode=serialized" NAME=notimes measured paths
# sampling FIELD: of all samples
sampling() {
	by_name -v field="$1" '$1 == "gpu-sampling" && get("of") == "all" { print get(field) }' \
		all-notimes
}
is "notimes: samples, all of them with their launch" "$(sampling taken)" \
	$(($(sampling exact) + $(sampling outside_code)))
within "notimes: how many" "$(sampling taken)" 100 1e9
EVENTS="-v -e CPUTIME -e gpu=nvidia,counters=dram" NAME=counters measured paths
like "counters: said" "$(cat err-counters)" \
	'gpu=nvidia: CUPTI has no function cupti.*, as before 12\.6\.2; no kernel is counted'
FAKE_CUDA=subscribed "$HPCRUN" -v -e gpu=nvidia -o m-other "$CUDA_CALLS" paths >out 2>err
like "another subscriber, whose name it does not tell" "$(cat err)" \
	'another tool uses CUPTI, which supports only one: its name is unknown; only the CPU'
done_testing
