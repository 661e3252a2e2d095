# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# cuda_yield with gpu=nvidia against its own counts. Source after tests/gpu/truth.sh. Users:
# tests/cli/gpu/cupti_yield.sh (a driver that does not exist) and tests/gpu/all.sh (a GPU).

# told NAME: of the note at the end: windows and milliseconds
told() {
	sed -n 's/^note.* used CUPTI \([0-9]*\) times*, \([0-9]*\) ms in all.*/\1 \2/p' "all-$1"
}

# yielded NAME: the program counted what is ours and what is not.
yielded() {
	is "$1: what is ours is all there" \
		"$(joined "$1" kernel) $(joined "$1" copy) $(launched "$1" alloc) $(launched \
		"$1" free) $(launched "$1" sync)" \
		"$(truth "$1" kernel) $(truth "$1" copy) $(truth "$1" alloc) $(truth "$1" \
		free) $(truth "$1" sync)"
	is "$1: what was launched in windows is counted, and nothing else is lost" \
		"$(lost "$1" yielded) $(n_losses "$1")" \
		"$(awk '$1 == "unseen" { print $2, $2 }' "out-$1")"
	# times by another clock are outside of the process, and cut off; awk has 53 bits
	is "$1: times of kernels are by our clock: one of six takes 3 ms" \
		"$(by_name '$1 == "gpu-op" && get("kind") == "kernel" {
			n += substr(get("end_ns"), 5) - substr(get("start_ns"), 5) >= 2.9e6 } END {
				print 6 * n }' \
			"all-$1")" "$(truth "$1" kernel)"
}

yield_calls() {
	measured windows || return 0
	yielded windows
	is "windows: how many" "$(told windows | cut -d" " -f1)" 2
	# each has two kernels of 3 ms
	within "windows: ms" "$(told windows | cut -d" " -f2)" 12 5000
	for way in flight finalize; do
		NAME=$way measured windows $way
		yielded $way
	done
	measured left
	yielded left
	is "left: the program ends in a window" "$(told left | cut -d" " -f1)" 1
	for how in '' local early; do
		# shellcheck disable=SC2086 # none or one
		NAME=callbacks$how measured callbacks $how
		yielded "callbacks$how"
		is "callbacks$how: the profiler had them" \
			"$(awk '/^result.*launches/ { print $2 $4 $8 $11 $13 }' \
				"out-callbacks$how" | tr '\n' ' ')" \
			"$(printf '%s ' before:0,0,0,0 domains:12,0,0,1 none:0,0,0,0 \
				one:12,0,0,1 again:0,0,0,0 window:12,0,0,1)"
	done
	NAME=local measured windows local
	yielded local
	NAME=early measured windows early
	yielded early
	# CUDA starts in a window
	measured whole
	is "whole: what was launched is counted" "$(lost whole yielded) $(n_losses whole)" \
		"$(awk '$1 == "unseen" { print $2, $2 }' out-whole)"
	SAME='^none' measured threads
	is "threads: each launch is joined or counted" \
		"$(($(joined threads kernel) + $(lost threads yielded)))" \
		"$(awk '$1 == "all" { print $2 }' out-threads)"
	is "threads: nothing else is lost" "$(n_losses threads)" "$(lost threads yielded)"
	# those that are launched while kinds are being switched are nobody's
	within "threads: the profiler has most of what is not ours" \
		"$(awk '$1 == "all" { print $4 }' out-threads)" \
		"$(($(lost threads yielded) / 2))" "$(lost threads yielded)"
}

# yield_injected LIBRARY: a profiler that the user names for the driver is loaded and served.
yield_injected() {
	CUDA_INJECTION64_PATH=$1
	export CUDA_INJECTION64_PATH
	NAME=injected measured windows
	is "injected: it is loaded, and the program's profiler comes too late" \
		"$(grep -c '^result injected: launches 60$' out-injected) $(lost injected yielded)" \
		"1 0"
	unset CUDA_INJECTION64_PATH
}

# What excludes a profiler of the program ends at its first call.
yield_exclusive() {
	for options in pc pc,mode=serialized pc,mode=bursts pc,notimes counters=dram record; do
		EVENTS="-e gpu=nvidia,$options" NAME=ends SAME='^(truth|result|unseen)'
		measured windows
		is "$options: what is launched in windows is counted" "$(lost ends yielded)" \
			"$(awk '$1 == "unseen" { print $2 }' out-ends)"
		like "$options: a note says that it ends" "$(cat all-ends)" \
			'^note.*(a profiler of the program uses CUPTI: .* end here|recording ends here)'
	done
	NAME='' EVENTS='' SAME=''
}

# yield_samples PROGRAM [LEVELS]: what NVIDIA's samples show is as without us (SAME), and each
# launch is joined or counted.
yield_samples() {
	for way in callback_timestamp activity_trace_async nested_range_profiling \
		pc_sampling_continuous; do
		# shellcheck disable=SC2086 # none or one
		PROGRAM=$1 measured $way ${2:-} || continue
		is "$way: no call failed" "$(grep -c failed "plain-$way")" 0
		diag "$(grep -E '^(result|samples)' "out-$way")"
		is "$way: each kernel is joined or counted" \
			"$(($(joined "$way" kernel) + $(lost "$way" yielded)))" \
			"$(($(truth "$way" kernel) + ($(lost "$way" yielded) ? \
				$(truth "$way" copy) - $(joined "$way" copy) : 0)))"
		is "$way: nothing else is lost" "$(n_losses "$way")" "$(lost "$way" yielded)"
	done
	is "callback_timestamp: nothing is lost" "$(n_losses callback_timestamp)" 0
}

# yield_torch: what profilers of PyTorch and Triton see is as without us (SAME).
yield_torch() {
	NAME=torch PROGRAM="$python $srcdir/tests/gpu/yield/torch_profiler.py"
	SAME='^(result|window|sum)'
	measured trace.json || return 0
	is "torch: what was launched in windows is counted, and nothing else is lost" \
		"$(lost torch yielded) $(n_losses torch)" \
		"$(awk '$1 == "window" { print $3 + $5 + $7, $3 + $5 + $7 }' out-torch)"
	diag "$(grep '^note.*used CUPTI' all-torch)"
	NAME=proton PROGRAM="$python $srcdir/tests/gpu/yield/proton_profiler.py"
	SAME='^(result|sum)'
	measured || return 0
	diag "$(grep -E '^result' out-proton) $(grep '^note.*CUPTI' all-proton)"
	PROGRAM='' NAME='' SAME=''
}
