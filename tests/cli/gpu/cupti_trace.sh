#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia from end to end, on a driver and a CUPTI that do not exist
# (tests/gpu/fake/fake_cuda.c): every kind of call is launched, joined and summed up as the program
# counted it, and what cannot be had is said exactly. tests/gpu/trace.sh asks the same of a GPU.

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

like "-L lists the device" "$("$HPCRUN" -L)" \
	'^ +GPU 0: Fake GPU, 12 units, 1.0 GiB, .* CUPTI 13\.0\.1, '

# events also measure how long the machine let us wait
SLACK=0.9
. "$srcdir/tests/gpu/ways.sh"
is "times: as long as they were asked for" "$(of_kernel times spin seconds)" 0.21

like "the path ends at the call of the driver" "$("$HPCPROF" m-paths 2>/dev/null)" 'cuLaunchKernel '
is "the two paths of one kernel" "$("$HPCPROF" m-paths 2>/dev/null | grep -oE 'often|seldom' |
	sort -u | wc -l)" 2

# nothing of us is in the environment, and the user's own library is loaded
is "the variable is not in the environment" \
	"$("$HPCRUN" -q -e gpu=nvidia -o m-env env 2>/dev/null | grep -c CUDA_INJECTION)" 0
CUDA_INJECTION64_PATH=/nowhere/theirs.so "$HPCRUN" -v -e CPUTIME -e gpu=nvidia -o m-theirs \
	"$CUDA_CALLS" paths >out 2>err
like "another library of the user's is named" "$(cat err)" \
	'gpu=nvidia: CUDA_INJECTION64_PATH names /nowhere/theirs.so, which cannot be loaded'

# when kernels were queued and submitted is known on demand: in this order, before they start
"$HPCRUN" -q -e gpu=nvidia,latency -o m-latency "$CUDA_CALLS" paths >out-latency 2>/dev/null
"$HPCPROF" --to text --all m-latency >all-latency 2>/dev/null
# stamps DIR: kernels by what is known of them
stamps() {
	by_name '
		$1 == "gpu-op" && get("kind") == "kernel" {
			is_ordered = get("enter_ns") <= get("queued_ns") &&
				get("queued_ns") <= get("submitted_ns") &&
				get("submitted_ns") <= get("start_ns")
			n[get("queued_ns") ? is_ordered ? "ordered" : "disordered" : "unknown"]++ }
		END { for (k in n) print k, n[k] }' "all-$1"
}
is "when kernels were queued and submitted" "$(truth latency kernel) $(stamps latency)" \
	"40 ordered 40"
is "which is not asked for otherwise" "$(stamps paths)" "unknown 40"
like "not beside notimes" "$("$HPCRUN" -e gpu=nvidia,pc,notimes,latency true 2>&1)" \
	"latency and notimes exclude each other"

# what goes wrong is said, and the program goes on
for how in subscribed old; do
	FAKE_CUDA=$how "$HPCRUN" -v -e CPUTIME -e gpu=nvidia -o "m-$how" "$CUDA_CALLS" paths \
		>"out-$how" 2>"err-$how"
	is "$how: the program goes on" "$? $(truth "$how" kernel)" "0 40"
done
like "another subscriber, by its name" "$(cat err-subscribed)" \
	'gpu=nvidia: another tool uses CUPTI, which supports only one: CUPTI for somebody; only the CPU is measured'
like "an old CUPTI" "$(cat err-old)" \
	'gpu=nvidia: .*libcu.* is too old: CUPTI of CUDA 12 or 13 \(libcupti.so.12, libcupti.so.13\) is needed'
mv fake/libcupti.so.13 fake/elsewhere.so
"$HPCRUN" -v -e CPUTIME -e gpu=nvidia,cupti="$T/fake/elsewhere.so" -o m-elsewhere "$CUDA_CALLS" \
	paths >out-elsewhere 2>err-elsewhere
"$HPCPROF" --to text --all m-elsewhere >all-elsewhere 2>err
is "CUPTI where the user says it is" "$(launched elsewhere kernel)" 40
like "no option of that name" "$("$HPCRUN" -e gpu=nvidia,cupti true 2>&1)" \
	"gpu=nvidia has no option 'cupti'"
mv fake/elsewhere.so fake/libcupti.so.13

# a graph of which some nodes were not done at the end: it is joined, and the others are lost and
# said to be; summed up too
for memory in 1M 0; do
	OPTIONS="--gpu-memory $memory" NAME=graphend-$memory
	measured graphend
	is "graphend, $memory: launched and joined" \
		"$(launched $NAME graph) $(($(joined $NAME graph) + $(lost $NAME never-done)))" \
		"1 1"
	is "graphend, $memory: nodes that were done and others" \
		"$(($(of_kernel $NAME empty launches) + $(graph_lost $NAME never-done)))" \
		"$(truth $NAME graph-ops)"
	is "graphend, $memory: those behind the first" "$(graph_lost $NAME never-done)" 3
	like "graphend, $memory: said" "$("$HPCPROF" m-$NAME 2>/dev/null)" \
		'also lost 3 operations of graphs, never-done: not complete when the process ended'
done
OPTIONS='' NAME=''

# CUPTI drops records: all are counted
export FAKE_CUDA=dropping
measured paths
is "dropped records are counted" "$(lost paths dropped)" 40

done_testing
