#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# All checks of gpu=nvidia on a machine with a GPU: what the tools say, against what the programs
# counted, timed and computed themselves. No compiler is needed there, if the workloads are.
#
#     top_builddir=BUILD srcdir=SOURCE sh tests/gpu/all.sh [SECTION...]        (HPCRUN=, HPCPROF=,
#     GPU_BIN=: other places; KEEP=DIR: the measurements stay there)
#
#     calls      the driver API: every kind of call, faults, fork, ends (tests/gpu/ways.sh)
#     launches   the run time API: graphs, clusters, cuBLAS, NVRTC, streams, threads, devices;
#         kernel times
#     truth      kernels of which it is known where their time goes and why: lines, loops, stalls,
#         inlined functions
#     paths      PC samples under several paths: apportioned against serialized
#     idle       why the GPU was idle and who is to blame, against the clocks of the host
#     overlap    PC samples of short kernels in several streams, with and without times
#     apps       the flow mini-application and a transformer, with PC samples
#     multi      several GPUs in one process, copies between them, processes beside each other
#         (skipped with one GPU)
#     nccl       operations of two ranks on two GPUs: who comes late, and what is hidden (skipped
#         with one GPU)
#     python     PyTorch, against its own profiler, and Triton
#     yield      programs with profilers of their own, torch.profiler among them
#     soak       30 million kernels (not among the default ones; SOAK=N)
#
# Each section has a time limit. The last line counts: "N passed, N failed, N skipped".

here=$(cd "$(dirname "$0")" && pwd)
if [ "${1:-}" != --section ]; then
	[ $# -gt 0 ] || set -- calls launches truth paths idle overlap apps multi nccl python yield
	log=$(mktemp "${TMPDIR:-/tmp}/gpu-all.XXXXXX") || exit 99
	trap 'rm -rf "$log" "$log.cache"' EXIT
	GPU_CACHE=$log.cache
	export GPU_CACHE
	for section in "$@"; do
		echo "== $section"
		timeout --kill-after=5 "${SECTION_LIMIT:-600}" sh "$0" --section "$section" 2>&1 |
			tee -a "$log"
		tail -n 2 "$log" | grep -qE '^(1\.\.[0-9]|# no plan)' ||
			echo "not ok - $section did not come to its end" | tee -a "$log"
	done
	awk '/^not ok/ { failed++; print } /^ok/ { if (/# SKIP/) skipped++; else passed++ }
		/^1\.\.0 # SKIP/ { skipped++ }
		END { printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped;
		exit failed > 0 }' "$log"
	exit $?
fi

srcdir=${srcdir:-$here/../..}
. "$srcdir/tests/lib.sh"
HPCTOOLKIT_LITE_CACHE=${GPU_CACHE:-$HPCTOOLKIT_LITE_CACHE}
export HPCTOOLKIT_LITE_CACHE
GPU_BIN=${GPU_BIN:-$builddir/tests/gpu}
CUDA_CALLS=${CUDA_CALLS:-$GPU_BIN/cuda_calls}
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/checks.sh"
. "$srcdir/tests/gpu/several.sh"
. "$srcdir/tests/gpu/idle.sh"
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

multi_section() {
	use several_gpus || return 0
	SEVERAL=$PROGRAM
	several_section
}

nccl_section() {
	. "$srcdir/tests/gpu/nccl/nccl.sh"
	python=${PYTHON:-python3}
	nccl_late
}

python_section() {
	python=${PYTHON:-python3}
	"$python" -c 'import torch, triton' 2>"$T/why" ||
		{ skip python "$(tail -n 1 "$T/why")"; return 0; }
	NAME=torch PROGRAM="$python $srcdir/tests/gpu/torch_infer.py" SAME='^result'
	measured 100 || return 0
	"$python" "$srcdir/tests/gpu/torch_infer.py" 100 profiler >kineto 2>kineto-err ||
		diag_file kineto-err
	is "torch: as many kernels as the PyTorch profiler has" \
		"$(by_name '$1 == "kernel" { n += get("launches") } END {
			print n + 0 }' all-torch)" \
		"$(awk '$1 == "truth" && $2 == "kernel" { print $3 }' kineto)"
	within "torch: their time" "$(by_name '$1 == "kernel" { n += get("seconds") }
		END { print n + 0 }' all-torch)" \
			"$(awk '$1 == "profiler-ns" { print $2 * 0.99e-9 }' kineto)" \
			"$(awk '$1 == "profiler-ns" { print $2 * 1.01e-9 }' kineto)"
	diag "PyTorch profiler: $(tr '\n' ' ' <kineto)"
	NAME=torch-pc EVENTS="-e CPUTIME -e $PC"
	cp plain-torch plain-torch-pc
	again 100
	sampled torch-pc
	within "torch-pc: samples" "$(samples torch-pc)" 10000 1e12
	NAME=triton PROGRAM="$python $srcdir/tests/gpu/triton_work.py" SAME='^(result|truth)'
	measured 25
	is "triton: every launch" "$(of_kernel triton combine launches)" "$(truth triton combine)"
	within "triton: samples in the kernel" "$(in_function triton combine)" 100 1e12
	at=$(grep -n '# WEIGHTED$' "$srcdir/tests/gpu/triton_work.py" | cut -d: -f1)
	within "triton: samples on the line of the function that is inlined" \
		"$(by_name -v place="triton_work.py:$at" '$1 == "by-line" &&
			get("metric") == "GINS" &&
			index(get("place"), place) { n += get("exclusive") } END {
				print n + 0 }' all-triton)" 1 1e12
}

yield_section() {
	. "$srcdir/tests/gpu/yield/yield.sh"
	# -L puts a long path on a line of its own
	CUPTI_FILE=$("$HPCRUN" -L 2>/dev/null | tr -s '\n ' '  ' |
		sed -n 's/.* CUPTI [0-9.]*, \([^ ]*\).*/\1/p')
	export CUPTI_FILE
	[ ! -d "$GPU_BIN/yield" ] || GPU_BIN=$GPU_BIN/yield # as it is built
	use cuda_yield && yield_calls && yield_exclusive
	[ ! -e "$GPU_BIN/injected.so" ] || yield_injected "$GPU_BIN/injected.so"
	use cupti_samples && yield_samples "$PROGRAM"
	python=${PYTHON:-python3}
	"$python" -c 'import torch' 2>"$T/why" || { skip torch "$(tail -n 1 "$T/why")"; return 0; }
	yield_torch
}

soak_section() {
	use cuda_ways || return 0
	LIMIT=500 NAME=soak EVENTS='-e gpu=nvidia'
	plain_status=0
	run_limited 500 "$PROGRAM" soak 100000 4 >plain-soak
	OPTIONS='--gpu-memory 16M'
	SAME='^none'
	again soak "${SOAK:-30000000}" 4
	all_launches soak
	diag "$(grep resident out-soak)"
	within "soak: memory is bounded: the second half adds at most 16 MiB to the first's" \
		"$(awk '$1 == "resident-kib" { v[$2] = $3 }
			END { print v["end"] - v["middle"] }' out-soak)" -1e9 16384
	rm -rf m-soak all-soak
}

case $2 in
calls)
	[ -x "$CUDA_CALLS" ] || skip_all "no $CUDA_CALLS: built without CUPTI"
	. "$srcdir/tests/gpu/ways.sh"
	;;
launches | truth | paths | idle | overlap | apps | multi | nccl | python | yield | soak)
	"$2_section"
	;;
*)
	echo "no section $2" >&2
	exit 2
	;;
esac
done_testing
