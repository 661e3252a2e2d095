#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# All checks of gpu=nvidia on a machine with a GPU: what the tools say, against what the programs counted, timed and computed themselves. No compiler is needed there, if the workloads are.
#
#     top_builddir=BUILD srcdir=SOURCE sh tests/gpu/all.sh [SECTION...]        (HPCRUN=, HPCPROF=, GPU_BIN=: other places; KEEP=DIR: the measurements stay there)
#
#     calls      the driver API: every kind of call, faults, fork, ends (tests/gpu/ways.sh)
#     launches   the run time API: graphs, clusters, cuBLAS, NVRTC, streams, threads, devices; kernel times
#     truth      kernels of which it is known where their time goes and why: lines, loops, stalls, inlined functions
#     paths      PC samples under several paths: apportioned against serialized
#     overlap    PC samples of short kernels in several streams, with and without times
#     apps       the flow mini-application and a transformer, with PC samples
#     python     PyTorch, against its own profiler, and Triton
#     soak       30 million kernels (not among the default ones; SOAK=N)
#
# Each section has a time limit. The last line counts: "N passed, N failed, N skipped".

here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != --section ]; then
	[ $# -gt 0 ] || set -- calls launches truth paths overlap apps python
	log=$(mktemp "${TMPDIR:-/tmp}/gpu-all.XXXXXX") || exit 99
	trap 'rm -rf "$log" "$log.cache"' EXIT
	GPU_CACHE=$log.cache
	export GPU_CACHE
	for section in "$@"; do
		echo "== $section"
		timeout --kill-after=5 "${SECTION_LIMIT:-600}" sh "$0" --section "$section" 2>&1 | tee -a "$log"
		tail -n 1 "$log" | grep -qE '^(1\.\.[0-9]|# no plan)' || echo "not ok - $section did not come to its end" | tee -a "$log"
	done
	awk '/^not ok/ { failed++; print } /^ok/ { if (/# SKIP/) skipped++; else passed++ } /^1\.\.0 # SKIP/ { skipped++ }
		END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped; exit failed > 0 }' "$log"
	exit $?
fi

srcdir=${srcdir:-$here/../..}
. "$srcdir/tests/lib.sh"
HPCTOOLKIT_LITE_CACHE=${GPU_CACHE:-$HPCTOOLKIT_LITE_CACHE}
export HPCTOOLKIT_LITE_CACHE
GPU_BIN=${GPU_BIN:-$builddir/tests/gpu}
CUDA_CALLS=${CUDA_CALLS:-$GPU_BIN/cuda_calls}
. "$srcdir/tests/gpu/truth.sh"
cd "$T" || exit 99
if [ -n "${KEEP:-}" ]; then
	mkdir -p "$KEEP"
	at_exit 'cp -R "$T"/m-* "$T"/out-* "$T"/all-* "$T"/err-* "$KEEP"/ 2>/dev/null'
fi
UNITS=$("$HPCRUN" -L 2>/dev/null | sed -n 's/.*GPU 0: .*, \([0-9]*\) units.*/\1/p' | head -n 1)
[ -n "$UNITS" ] || skip_all "hpcrun-lite -L shows no NVIDIA GPU"
PC=gpu=nvidia,pc

# use PROGRAM: of those that are built; false: not there.
use() {
	PROGRAM=$GPU_BIN/$1
	[ -x "$PROGRAM" ] || { skip "$1" "not built, or for another machine"; return 1; }
}

# all_launches WAY: what the program counted is in the ledger, and nothing is lost.
all_launches() {
	is "$1: kernels launched" "$(launched "$1" kernel)" "$(truth "$1" kernel)"
	is "$1: graphs launched" "$(launched "$1" graph)" "$(truth "$1" graph)"
	is "$1: kernels done, those of graphs among them" "$(awk -F'\t' '$1 == "kernel" { n += $5 } END { print n + 0 }' "all-$1")" "$(awk '$1 == "truth" && ($2 == "kernel" || $2 == "graph-kernels") { n += $3 } END { print n + 0 }' "out-$1")"
	is "$1: nothing is lost" "$(n_losses "$1")" 0
	is "$1: no time is out of order" "$(awk -F'\t' '$1 == "gpu-ledger" && $2 == "all" { n += $8 } END { print n + 0 }' "all-$1")" 0
}

# same_time WAY KERNEL: the time of a kernel is that of events, within 1 %.
same_time() {
	within "$1: time of $2 against events" "$(of_kernel "$1" "$2" 6)" "$(events "$1" "$2" | awk '{ print $1 * 0.99 }')" "$(events "$1" "$2" | awk '{ print $1 * 1.01 }')"
	diag "$(of_kernel "$1" "$2" 6) s, events $(events "$1" "$2") s"
}

# sampling WAY FIELD: of the record gpu-sampling: 5 total 6 recorded 7 dropped 8 outside 9 exact 10 apportioned.
sampling() { awk -F'\t' -v f="$2" '$1 == "gpu-sampling" && $2 == "all" { print $f }' "all-$1"; }

# sampled WAY: the samples are all there.
sampled() {
	like "$1: PC samples: what CUPTI counted is recorded or lost by name" "$(awk -F'\t' '$1 == "gpu-sampling" && $2 == "all" { print "closes", $15 }' "all-$1")" '^closes 1$'
	diag "$(awk -F'\t' '$1 == "gpu-sampling" && $2 == "all" { printf "ranges %d total %d recorded %d dropped %d outside %d exact %d apportioned %d sampled %.3f s gaps %.3f s", $4, $5, $6, $7, $8, $9, $10, $12 / 1e9, $13 / 1e9 }' "all-$1")"
}

launches_section() {
	use cuda_ways || return 0
	measured overlap 4 200
	all_launches overlap
	is "overlap: a line for each stream" "$(awk -F'\t' '$1 == "queue" && $10 >= 200 { n++ } END { print n + 0 }' all-overlap)" 4
	measured graphs 10
	all_launches graphs
	is "graphs: copies and sets of nodes" "$(copied graphs 3) $(filled graphs 3)" "$(awk '$1 == "truth" { n[$2] = $3 } END { print n["copy"] + n["graph-copies"], n["set"] + n["graph-sets"] }' out-graphs)"
	for mark in CAPTURED_FIRST CAPTURED_LOOP EXPLICIT_FIRST EXPLICIT_SECOND; do
		at=$(grep -n "/\* $mark \*/" "$srcdir/tests/gpu/cuda_ways.cu" | cut -d: -f1)
		like "graphs: the place of the node is shown: $mark" "$(grep '^tree' all-graphs)" "graph node of cuda_ways.cu:$at,"
	done
	measured cluster 5
	all_launches cluster
	is "cluster: its size is known" "$(awk -F'\t' '$1 == "gpu-shape" && $3 == 64 && $9 == 4 { n++ } END { print n + 0 }' all-cluster)" 1
	for way in "cooperative 5" "jit 5" "blas 20" "copies 20" "threads 8 500" "devices 10"; do
		# shellcheck disable=SC2086
		measured $way
		way=${way%% *}
		if [ "$plain_status" -eq 77 ]; then
			skip "$way" "$(head -n 1 "plain-$way")"
			continue
		fi
		all_launches "$way"
	done
	is "copies: bytes" "$(copied copies 4) $(filled copies 4)" "$(truth copies copy-bytes) $(truth copies set-bytes)"
	is "threads: a line for each stream" "$(awk -F'\t' '$1 == "queue" && $10 >= 500 { n++ } END { print n + 0 }' all-threads)" 8
	is "devices: as many as there are" "$(awk -F'\t' '$1 == "queue" && $10 > 0 { d[$6] } END { for (i in d) n++; print n + 0 }' all-devices)" "$(awk '$1 == "devices" { print $2 }' out-devices)"
	measured tiny 20000
	all_launches tiny
	is "tiny: the path has all frames" "$(awk -F'\t' '$1 == "tree" && $2 == "GKER:COUNT" && ($4 == "function" || $4 == "inlined") { if ($5 ~ /^deeper/) n++; else if ($5 ~ /^launch_tiny/ && n > most) most = n; else if ($5 ~ /^tiny/) n = 0 } END { print most + 0 }' all-tiny)" 30
}

# in_level N: samples in the inlined function of that level and below. called_below MARK: samples of callee below the line that calls it.
in_level() { awk -F'\t' -v level="level$1" '$1 == "by-function" && $2 == "GINS" && $5 ~ /gpubins/ && index($3, level) { n += $7 } END { print n + 0 }' all-inline; }
called_below() {
	at=$(grep -n "/\* $1 \*/" "$srcdir/tests/gpu/truth_kernels.cu" | cut -d: -f1)
	awk -F'\t' -v place="truth_kernels.cu:$at" '$1 == "tree" && $2 == "GINS" { if ($4 == "line") below = index($6, place); else if (below && $4 == "function" && $5 ~ /^callee/) n += $7 } END { print n + 0 }' all-called
}

truth_section() {
	use truth_kernels || return 0
	n=${LAUNCHES:-40}
	EVENTS="-e CPUTIME -e $PC"
	for way in line ratio barrier chase pipe inline called recurse; do
		measured $way "$n"
		all_launches $way
		sampled $way
	done
	for each in line:hot_line ratio:two_loops barrier:wait_at_barrier chase:follow pipe:multiply inline:all_levels called:caller; do
		same_time "${each%:*}" "${each#*:}"
	done
	all=$(in_function line hot_line)
	within "line: enough samples" "$all" 1000 1e12
	within "line: all but the start of a thread" "$(on_line line truth_kernels.cu HOT_LINE)" "$(awk -v n="$all" 'BEGIN { print 0.999 * n }')" "$all"
	three=$(on_line ratio truth_kernels.cu LOOP_OF_3)
	one=$(on_line ratio truth_kernels.cu LOOP_OF_1)
	share "ratio: the loop with three times the rounds" "$three" $((three + one)) 0.75 "$n"
	diag "barrier: $(stall barrier wait_at_barrier), chase: $(stall chase follow), pipe: $(stall pipe multiply)"
	like "barrier: warps wait for it" "$(stall barrier wait_at_barrier)" '^SYNC 0\.[89]|^SYNC 1'
	like "chase: warps wait for memory" "$(stall chase follow)" '^GMEM 0\.[89]|^GMEM 1'
	like "pipe: warps wait for the pipe" "$(stall pipe multiply)" '^PIPE '
	within "chase: on the line of the load" "$(on_line chase truth_kernels.cu CHASE_LINE)" "$(in_function chase follow | awk '{ print 0.99 * $1 }')" "$(in_function chase follow)"
	all=$(in_function inline all_levels)
	one=$(in_level 1)
	within "inline: 32 of the 35 instructions of the loop are inlined" "$one" "$(awk -v n="$all" 'BEGIN { print 0.85 * n }')" "$all"
	for level in 2 3 4 5 6 7 8; do
		is "inline: level $level has all that level 1 has" "$(in_level $level)" "$one"
	done
	inside=$(in_function called callee)
	within "called: nearly all is in the function that is called" "$inside" "$(in_function called caller | awk '{ print 0.95 * $1 }')" "$(in_function called caller)"
	three=$(called_below CALL_OF_3) one=$(called_below CALL_OF_1)
	is "called: all of it stands below the two calls" $((three + one)) "$inside"
	# shared out by the samples at the call instructions: that many decide
	calls=$(($(on_line called truth_kernels.cu CALL_OF_3) + $(on_line called truth_kernels.cu CALL_OF_1)))
	within "called: three times as often from one of them" "$(awk -v a="$three" -v b="$one" 'BEGIN { print a / (a + b) }')" \
		"$(awk -v n=$calls 'BEGIN { print 0.75 - 3 * sqrt(0.1875 / n) }')" "$(awk -v n=$calls 'BEGIN { print 0.75 + 3 * sqrt(0.1875 / n) }')"
	diag "called: $three and $one, by $calls samples in the caller"
	within "recurse: samples in the recursive function" "$(in_function recurse down)" "$(in_function recurse recursive | awk '{ print 0.8 * $1 }')" "$(in_function recurse recursive | awk '{ print 1.0001 * $1 + 1 }')"
}

paths_section() {
	use truth_kernels || return 0
	n=${LAUNCHES:-40}
	for way in paths mixed; do
		NAME=$way-continuous EVENTS="-e CPUTIME -e $PC"
		measured $way "$n"
		sampled "$NAME"
		NAME=$way-serialized EVENTS="-e CPUTIME -e $PC,mode=serialized" LIMIT=200
		cp "plain-$way-continuous" "plain-$NAME"
		again $way "$n"
		sampled "$NAME"
		diag "$way: continuous $(below $way-continuous thrice) to $(below $way-continuous once), serialized $(below $way-serialized thrice) to $(below $way-serialized once)"
		unset NAME EVENTS LIMIT
	done
	a=$(below paths-continuous thrice) b=$(below paths-continuous once)
	c=$(below paths-serialized thrice) d=$(below paths-serialized once)
	share "paths: three times the launches, serialized" "$c" $((c + d)) 0.75 $((4 * n))
	within "paths: apportioned agrees with serialized" "$(awk -v a="$a" -v b="$b" -v c="$c" -v d="$d" 'BEGIN { x = a / (a + b) - c / (c + d); print 1 - (x < 0 ? -x : x) }')" 0.99 1
	NAME=paths-bursts EVENTS="-e CPUTIME -e $PC,mode=bursts@20"
	measured paths $((10 * n))
	sampled paths-bursts
	within "bursts: samples that know their launch" "$(sampling paths-bursts 9)" 100 1e12
	within "bursts: samples that do not" "$(sampling paths-bursts 10)" 100 1e12
	diag "$("$HPCPROF" --to text m-paths-bursts 2>/dev/null | sed -n '/PC samples/,$p')"
	unset NAME EVENTS
	a=$(below mixed-continuous thrice) b=$(below mixed-continuous once)
	c=$(below mixed-serialized thrice) d=$(below mixed-serialized once)
	within "mixed: apportioned agrees with serialized" "$(awk -v a="$a" -v b="$b" -v c="$c" -v d="$d" 'BEGIN { x = a / (a + b) - c / (c + d); print 1 - (x < 0 ? -x : x) }')" 0.99 1
}

# Kernels of 50 us that overlap: what CUPTI gives up when it also takes times, and that it gives up nothing when it does not.
overlap_section() {
	use cuda_ways || return 0
	NAME=overlap-pc EVENTS="-e CPUTIME -e $PC"
	measured overlap 4 1000
	all_launches overlap-pc
	sampled overlap-pc
	diag "with times: $(sampling overlap-pc 8) of $(sampling overlap-pc 5) samples not attributed by CUPTI"
	NAME=overlap-notimes EVENTS="-e CPUTIME -e $PC,notimes"
	cp plain-overlap-pc plain-overlap-notimes
	again overlap 4 1000
	is "overlap-notimes: kernels launched" "$(launched overlap-notimes kernel)" "$(truth overlap-notimes kernel)"
	sampled overlap-notimes
	is "overlap-notimes: all samples are attributed" "$(sampling overlap-notimes 8)" 0
}

apps_section() {
	EVENTS="-e CPUTIME -e $PC"
	if use flowbox; then
		NAME=flow
		measured "${STEPS:-400}"
		all_launches flow
		sampled flow
		within "flow: samples below main, with a full path" "$(below flow main)" 10000 1e12
		is "flow: all samples that were recorded are in the tree" "$(awk -F'\t' '$1 == "gpu-sampling" && $2 == "all" { print $6 - $9 - $10 }' all-flow)" 0
		for f in advect smooth move_tracers between carried; do
			within "flow: samples in $f" "$(in_function flow $f)" 10 1e12
		done
	fi
	if use transformer; then
		NAME=transformer
		measured "${TOKENS:-300}"
		if [ "$plain_status" -eq 77 ]; then
			skip transformer "$(head -n 1 plain-transformer)"
		else
			all_launches transformer
			sampled transformer
		fi
	fi
}

python_section() {
	python=${PYTHON:-python3}
	"$python" -c 'import torch, triton' 2>"$T/why" || { skip python "$(tail -n 1 "$T/why")"; return 0; }
	NAME=torch PROGRAM="$python $srcdir/tests/gpu/torch_infer.py" SAME='^result'
	measured 100
	"$python" "$srcdir/tests/gpu/torch_infer.py" 100 profiler >kineto 2>kineto-err || diag_file kineto-err
	is "torch: as many kernels as the PyTorch profiler has" "$(awk -F'\t' '$1 == "kernel" { n += $5 } END { print n + 0 }' all-torch)" "$(awk '$1 == "truth" && $2 == "kernel" { print $3 }' kineto)"
	within "torch: their time" "$(awk -F'\t' '$1 == "kernel" { n += $6 } END { print n + 0 }' all-torch)" "$(awk '$1 == "profiler-ns" { print $2 * 0.99e-9 }' kineto)" "$(awk '$1 == "profiler-ns" { print $2 * 1.01e-9 }' kineto)"
	diag "PyTorch profiler: $(tr '\n' ' ' <kineto)"
	NAME=torch-pc EVENTS="-e CPUTIME -e $PC"
	cp plain-torch plain-torch-pc
	again 100
	sampled torch-pc
	within "torch-pc: samples" "$(samples torch-pc)" 10000 1e12
	NAME=triton PROGRAM="$python $srcdir/tests/gpu/triton_work.py" SAME='^(result|truth)'
	measured 25
	is "triton: every launch" "$(of_kernel triton combine 5)" "$(truth triton combine)"
	within "triton: samples in the kernel" "$(in_function triton combine)" 100 1e12
	within "triton: samples in the function that is inlined" "$(in_function triton weighted)" 1 1e12
}

soak_section() {
	use cuda_ways || return 0
	LIMIT=500 NAME=soak EVENTS='-e gpu=nvidia'
	plain_status=0
	run_limited 500 "$PROGRAM" soak 100000 4 >plain-soak
	OPTIONS='--gpu-memory 64M'
	SAME='^none'
	again soak "${SOAK:-30000000}" 4
	all_launches soak
	diag "$(grep resident out-soak)"
	within "soak: memory is bounded: the second half adds at most 16 MiB to the first's" "$(awk '$1 == "resident-kib" { v[$2] = $3 } END { print v["end"] - v["middle"] }' out-soak)" -1e9 16384
	rm -rf m-soak all-soak
}

case $2 in
calls)
	[ -x "$CUDA_CALLS" ] || skip_all "no $CUDA_CALLS: built without CUPTI"
	. "$srcdir/tests/gpu/ways.sh"
	;;
launches | truth | paths | overlap | apps | python | soak) "$2_section" ;;
*)
	echo "no section $2" >&2
	exit 2
	;;
esac
done_testing
