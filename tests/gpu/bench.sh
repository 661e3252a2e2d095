#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What gpu=nvidia costs on a GPU, beside other profilers; ratios of runs in turn, medians. Asserts
# nothing. About 180 s; sections can be named: launch, empty, busy, graph, peers, ncu; and threads
# and steps, which are not among the default ones.
#
#     top_builddir=BUILD sh tests/gpu/bench.sh [SECTION...]        (HPCRUN=, HPCPROF=, GPU_BIN=:
#         other places; RUNS: of each, 4; PAIRS: of launch, 15; PEER_RUNS: of peers, 3; of steps:
#         WORKLOADS, STEP_KINDS, PC_KINDS, REPORT_KINDS, STEP_PROCESSES, 3, STEP_ROUNDS, 12;
#         RAW=FILE: every number)
#
# The loops are those of launch_loop.cu. Kineto and Proton live in Python, so the same loops run
# there as a library (peers.py), against the same process without a profiler. What CUPTI itself
# costs is told by a tool that only asks it for records and callbacks (bare_cupti.c): kinds
# "bare:WORDS".

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../by_name.sh"
b=${top_builddir:-.}
HPCRUN=${HPCRUN:-$b/hpcrun-lite/hpcrun-lite}
HPCPROF=${HPCPROF:-$b/hpcprof-lite/hpcprof-lite}
GPU_BIN=${GPU_BIN:-$b/tests/gpu}
n=${RUNS:-4}
python=${PYTHON:-python3}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-gpu.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT
RAW=${RAW:-$t/raw}
: >"$RAW"
[ -x "$GPU_BIN/launch_loop" ] || { echo "no $GPU_BIN/launch_loop: nothing measured"; exit 0; }
[ $# -gt 0 ] || set -- launch empty busy graph peers ncu

# note WHAT KIND FILE: the numbers of one run, one a line.
note() {
	awk -v what="$1" -v kind="$2" '{ print what, kind, $0 }' "$3" >>"$RAW"
}

# under KIND COMMAND...: plain, or measured into $t/m-KIND.
under() {
	under=$1
	shift
	rm -rf "$t/m-$under"
	case $under in
	plain) "$@" ;;
	bare:*)
		CUDA_INJECTION64_PATH=$GPU_BIN/bare_cupti.so BARE_CUPTI=${under#bare:} timeout 60 \
			"$@"
		;;
	gpu) timeout 60 "$HPCRUN" -q -e gpu=nvidia -o "$t/m-$under" "$@" ;;
	stopped) STOPPED=1 timeout 60 "$HPCRUN" -q -e CPUTIME -e gpu=nvidia -o "$t/m-$under" "$@" ;;
	stopped-pc) STOPPED=1 timeout 60 "$HPCRUN" -q -e gpu=nvidia,pc -o "$t/m-$under" "$@" ;;
	gpu-native) timeout 60 "$HPCRUN" -q -a native -e gpu=nvidia -o "$t/m-$under" "$@" ;;
	gpu+cpu) timeout 60 "$HPCRUN" -q -e CPUTIME -e gpu=nvidia -o "$t/m-$under" "$@" ;;
	pc) timeout 60 "$HPCRUN" -q -e gpu=nvidia,pc -o "$t/m-$under" "$@" ;;
	pc+cpu) timeout 60 "$HPCRUN" -q -e CPUTIME -e gpu=nvidia,pc -o "$t/m-$under" "$@" ;;
	cpu) timeout 60 "$HPCRUN" -q -e CPUTIME -o "$t/m-$under" "$@" ;;
	full) (ulimit -f 4096; timeout 60 "$HPCRUN" -q -e gpu=nvidia -o "$t/m-$under" "$@") ;;
	esac
}

# rounds WHAT KINDS COMMAND...: each kind in turn, RUNS times.
rounds() {
	what=$1 kinds=$2
	shift 2
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		for kind in $kinds; do
			under "$kind" "$@" >"$t/out" 2>"$t/err" || cat "$t/err" >&2
			note "$what" "$kind" "$t/out"
		done
	done
}

# medians WHAT LINE: of each kind, with quartiles, and against plain.
medians() {
	grep "^$1 " "$RAW" | awk -v line="$2" '$3 == line { print $2, $4 }' | sort -k1,1 -k2,2n |
		awk -v what="$1 $2" '
		function flush() { if (!c) return; m[k] = v[int((c + 1) / 2)]; order[++kinds] = k;
		low[k] = v[int((c + 3) / 4)]; high[k] = v[int((3 * c + 1) / 4)] }
		$1 != k { flush(); k = $1; c = 0 }
		{ v[++c] = $2 }
		END { flush(); for (i = 1; i <= kinds; i++) { k = order[i];
		printf "%-22s %-10s %14.1f (%.1f to %.1f)", what, k, m[k], low[k], high[k]
			if ("plain" in m &&
				k != "plain") printf "   added %.1f, %.4f times", m[k] - m["plain"],
					m[k] / m["plain"]; print "" } }'
}

# one_each FILE: of numbers that a run printed several times, the median.
one_each() {
	sort -k1,1 -k2,2n "$1" | awk '$1 != name { if (n) print name, v[int((n + 1) / 2)];
		name = $1; n = 0 } { v[++n] = $2 } END { if (n) print name, v[int((n + 1) / 2)] }'
}

# pairs WHAT LINE [FILE]: medians and quartiles of each kind, and of what it adds to the plain run
# beside it.
pairs() {
	awk -v what="$1" -v line="$2" '$1 == what && $3 == line { n[$2]++; value[$2, n[$2]] = $4;
		if (!($2 in seen)) { seen[$2]; order[++kinds] = $2 } }
		function at(v, count, share,    i, j, t) {
			for (i = 2; i <= count; i++) for (j = i; j > 1 &&
				v[j] < v[j - 1]; j--) { t = v[j]; v[j] = v[j - 1];
				v[j - 1] = t } return v[int(1 + share * (count - 1) + 0.5)] }
		END { for (i = 1; i <= kinds; i++) { k = order[i]; split("", v); split("", d);
		pairs = 0
			for (j = 1; j <= n[k]; j++) { v[j] = value[k, j];
			if (j <= n["plain"]) d[++pairs] = value[k, j] - value["plain", j] }
			printf "%-16s %-28s %8.1f (%.1f to %.1f)", what " " line, k,
				at(v, n[k], 0.5), at(v, n[k], 0.25), at(v, n[k], 0.75)
			middle[k] = at(v, n[k], 0.5)
			if (k != "plain" &&
				pairs) printf "   added %.1f (%.1f to %.1f) in %d pairs",
					at(d, pairs, 0.5), at(d, pairs, 0.25), at(d, pairs, 0.75),
						pairs
			if (k != "plain" &&
				middle["plain"]) printf ", %.4f times", middle[k] / middle["plain"]
			print "" } }' "${3:-$RAW}"
}

# A launch, 30 and 3 calls deep, in processes that live for a third of a second: processes differ
# more than what is compared.
launch() {
	ROUNDS=3
	export ROUNDS
	begun=$(date +%s)
	for i in $(seq "${PAIRS:-15}"); do
		[ $(($(date +%s) - begun)) -lt "${LAUNCH_LIMIT:-75}" ] || break
		for kind in \
			${KINDS:-plain bare:kernel bare:kernel,callback bare:kernel,copies,clock,calls,parsed bare:kernel,callback,latency gpu gpu+cpu stopped}; do
			under "$kind" "$GPU_BIN/launch_loop" empty 5000 30 3 >"$t/out" 2>"$t/err" ||
				cat "$t/err" >&2
			one_each "$t/out" >"$t/one"
			note launch "$kind" "$t/one"
		done
	done
	pairs launch ns
	pairs launch ns-3
}

# Launches from several threads at once, THREADS of them, THREADS_LIMIT seconds for each number.
threads() {
	ROUNDS=3
	export ROUNDS
	for count in ${THREADS:-1 2 4 8 16}; do
		begun=$(date +%s)
		for i in $(seq "${PAIRS:-15}"); do
			[ $(($(date +%s) - begun)) -lt "${THREADS_LIMIT:-25}" ] || break
			for kind in \
				${KINDS:-plain bare:kernel,callback bare:kernel,copies,clock,calls,parsed gpu gpu+cpu}; do
				under "$kind" "$GPU_BIN/launch_loop" threads 5000 "$count" \
					>"$t/out" 2>"$t/err" || cat "$t/err" >&2
				one_each "$t/out" >"$t/one"
				note "threads-$count" "$kind" "$t/one"
			done
		done
		pairs "threads-$count" ns
	done
}

empty() {
	ROUNDS=3
	export ROUNDS
	rounds empty "plain gpu gpu+cpu pc full" "$GPU_BIN/launch_loop" empty 20000 30
	medians empty ns
	medians empty memory
	bytes=$(du -sb "$t/m-gpu" | awk '{ print $1 }')
	echo "bytes of the measurement: $bytes for 62001 launches; code objects $(du \
		-sb "$t/m-gpu/gpubins" 2>/dev/null | awk '{ print $1 }')" | tee -a "$RAW"
	rm -rf "$t/m-long"
	"$HPCRUN" -q -e gpu=nvidia -o "$t/m-long" "$GPU_BIN/launch_loop" empty 200000 30 >/dev/null
	long=$(du -sb "$t/m-long" | awk '{ print $1 }')
	echo "bytes a launch: $(((long - bytes) / 558000)), between 62001 and 620001 launches" |
		tee -a "$RAW"
}

busy() {
	ROUNDS=2
	export ROUNDS
	rounds busy "plain gpu pc pc+cpu stopped stopped-pc" "$GPU_BIN/launch_loop" busy 20000 20
	medians busy ns
	medians busy memory
	"$HPCPROF" --to text --all "$t/m-pc" 2>/dev/null |
		by_name '$1 == "gpu-sampling" && get("of") == "all" && get("sampled_ns") > 0 {
			printf "samples: %d in %.3f s, %.0f a second; ", get("recorded"),
				get("sampled_ns") / 1e9, get("recorded") * 1e9 / get("sampled_ns")
			printf "dropped %d, outside %d, gaps %.3f s\n", get("dropped"),
				get("outside_code"), get("gap_ns") / 1e9 }' | tee -a "$RAW"
	n=$(((n + 1) / 2)) rounds streams "plain gpu pc" "$GPU_BIN/launch_loop" streams 20000 20
	medians streams ns
}

graph() {
	"$GPU_BIN/transformer" 1 >/dev/null 2>&1 || { echo "no transformer here"; return; }
	for i in $(seq "$n"); do
		for kind in plain gpu pc; do
			under "$kind" "$GPU_BIN/transformer" 500 >"$t/out" 2>"$t/err" ||
				cat "$t/err" >&2
			sed -n 's/^elapsed-ns/ns/p' "$t/out" >"$t/ns"
			note graph "$kind" "$t/ns"
		done
	done
	medians graph ns
}

peers() {
	"$python" -c 'import torch, triton.profiler' 2>/dev/null ||
		{ echo "no PyTorch or no Proton here"; return; }
	for i in $(seq "${PEER_RUNS:-3}"); do
		for kind in ${PEERS:-plain kineto proton gpu gpu-native pc proton-pc}; do
			count=20000
			[ "$kind" != proton-pc ] || count=500
			profiler=none how=plain
			case $kind in gpu | gpu-native | pc) how=$kind ;; kineto | proton*) \
				profiler=$kind ;; esac
			under "$how" timeout 60 "$python" "$here/peers.py" \
				"$GPU_BIN/launch_loop.so" "$profiler" $count "${PEER_US:-20}" \
				"$t/proton" >"$t/out" 2>"$t/err" || tail -n 3 "$t/err" >&2
			awk -v n=$count '$1 == "busy" { $2 = $2 / n * 1e3; $1 = "busy-1000" }
				{ print }' "$t/out" >"$t/scaled"
			one_each "$t/scaled" >"$t/one"
			note peers "$kind" "$t/one"
		done
	done
	for line in empty busy-1000 memory end after; do
		pairs peers $line
	done
}

STEP_BARE=bare:kernel,copies,clock,calls,parsed # all that gpu=nvidia asks CUPTI for

# Steps of programs as users have them, STEP_PROCESSES of each kind at once, which take turns. PC
# samples are of one process of a GPU, so these have turns of their own. Also: bytes of a
# measurement, and seconds to the first report without any structures. nccl and ddp need two GPUs.
steps() {
	for what in ${WORKLOADS:-resnet decoder generate jax nccl ddp}; do
		case $what in nccl | ddp)
			has_two_gpus || {
				echo "$what: no PyTorch with NCCL here, or fewer than two GPUs"
				continue
			} ;;
		esac
		kinds=${STEP_KINDS:-plain $STEP_BARE cpu gpu gpu+cpu torch kineto proton}
		pc_kinds=${PC_KINDS-plain pc+cpu kineto}
		[ "$what" != jax ] || kinds="plain cpu gpu gpu+cpu" pc_kinds="plain pc+cpu"
		turns "$what" "${STEP_PROCESSES:-3}" "$kinds"
		[ -z "$pc_kinds" ] || turns "$what" 1 "$pc_kinds"
		for kind in ${REPORT_KINDS:-gpu+cpu torch pc+cpu}; do
			[ ! -d "$t/$what/$kind-0" ] || first_report "$t/$what/$kind-0"
		done
	done
}

has_two_gpus() {
	"$python" -c 'import torch; assert torch.distributed.is_nccl_available()
assert torch.cuda.device_count() > 1' 2>/dev/null
}

# turns WORKLOAD PROCESSES KINDS
turns() {
	begun=$(date +%s)
	: >"$t/turns"
	HPCRUN=$HPCRUN GPU_BIN=$GPU_BIN PYTHON=$python timeout 400 "$python" "$here/turns.py" "$1" \
		"${STEP_ROUNDS:-12}" "$2" "$t/$1" $3 >>"$t/turns" 2>"$t/err" ||
		tail -n 3 "$t/err" >&2
	grep -v '^#' "$t/turns" >>"$RAW"
	grep '^#' "$t/turns"
	echo "$1: $(($(date +%s) - begun)) s"
}

first_report() {
	rm -rf "$t/cache" "$t/db"
	begun=$(date +%s%N)
	HPCTOOLKIT_LITE_CACHE=$t/cache timeout 120 "$HPCPROF" -q -o "$t/db" "$1" >/dev/null \
		2>"$t/err" || tail -n 3 "$t/err" >&2
	took=$(($(date +%s%N) - begun))
	ran=$(HPCTOOLKIT_LITE_CACHE=$t/cache timeout 120 "$HPCPROF" -q --to text --all "$1" |
		by_name '$1 == "gpu-kind" && get("of") == "all" { n += get("launched") } END {
			print n + 0 }')
	printf '%-24s %10d bytes, %d of code objects, %d operations; first report %d ms\n' \
		"$what ${1##*/}" "$(du -sb "$1" | cut -f 1)" \
		"$(du -sb "$1/gpubins" 2>/dev/null | awk '{ n = $1 } END { print n + 0 }')" "$ran" \
		$((took / 1000000)) | tee -a "$RAW"
}

ncu() {
	for tool in ncu /usr/local/cuda/bin/ncu; do
		command -v "$tool" >/dev/null 2>&1 || continue
		export ROUNDS=1
		timeout 60 "$tool" --clock-control none --metrics gpu__time_duration.sum \
			"$GPU_BIN/launch_loop" empty 200 30 2>/dev/null >"$t/out"
		grep -a '^ns\|^memory' "$t/out" >"$t/ns"
		note ncu ncu "$t/ns"
		timeout 60 "$GPU_BIN/launch_loop" empty 200 30 >"$t/ns"
		note ncu plain "$t/ns"
		medians ncu ns
		return
	done
	echo "no ncu here"
}

for section in "$@"; do
	case $section in
	launch | threads | empty | busy | graph | peers | ncu | steps)
		echo "== $section"
		"$section"
		;;
	*)
		echo "no section $section" >&2
		exit 2
		;;
	esac
done
