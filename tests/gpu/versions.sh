#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia on a GPU with other copies of CUPTI than the one that it finds by itself: do operations
# join and ledgers close as they do with that one, what does a launch cost, and does CUPTI sample
# instructions with and without times? About 60 s a copy. Not in make check.
#
#     top_builddir=BUILD srcdir=SOURCE sh tests/gpu/versions.sh FILE...        (HPCRUN=, HPCPROF=,
#         GPU_BIN=: other places; KEEP=DIR: the measurements stay there; COST_S: seconds for costs)
#
# The libraries of a copy (libnvperf_host.so, libnvperf_target.so, for samples) are in the same
# directory.

here=$(cd "$(dirname "$0")" && pwd)
srcdir=${srcdir:-$here/../..}
. "$srcdir/tests/lib.sh"
GPU_BIN=${GPU_BIN:-$builddir/tests/gpu}
CUDA_CALLS=${CUDA_CALLS:-$GPU_BIN/cuda_calls}
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/checks.sh"
cd "$T" || exit 99
if [ -n "${KEEP:-}" ]; then
	mkdir -p "$KEEP"
	at_exit 'cp -R "$T"/copy* "$T"/raw "$KEEP"/ 2>/dev/null'
fi
use() {
	PROGRAM=$GPU_BIN/$1
	[ -x "$PROGRAM" ] || { skip "$1" "not built, or for another machine"; return 1; }
}
diag "$("$HPCRUN" -L 2>/dev/null | grep ' GPU [0-9]*: ')"

# bare WORDS PROGRAM...: under a tool that only asks CUPTI, copy $file, for WORDS (bare_cupti.c)
bare() {
	bare_words=$1
	shift
	CUDA_INJECTION64_PATH=$GPU_BIN/bare_cupti.so BARE_CUPTI=$bare_words BARE_CUPTI_FILE=$file \
		run_limited 60 "$@"
}

# check_copy FILE: in a directory of its own
check_copy() {
	event=gpu=nvidia,cupti=$1
	PROGRAM='' NAME='' EVENTS="-v -e CPUTIME -e $event"
	measured paths || return 0
	is "$1: that copy is used" \
		"$(by_name '$1 == "gpu-device" { print get("driver") }' all-paths | wc -l)" 1
	diag "$(by_name '$1 == "gpu-device" { print get("driver") }' all-paths), $(grep -h \
		'gpu=nvidia: ' err-paths | tr '\n' ' ')"
	if use cuda_ways && measured graphs 10; then check_graphs; fi
	if use truth_kernels && measured all 20; then
		all_launches all
		for kernel in hot_line follow multiply; do
			same_time all $kernel
		done
	fi
	# samples: beside records if this CUPTI can, and alone
	for options in pc pc,notimes; do
		NAME=$options EVENTS="-v -e CPUTIME -e $event,$options"
		use truth_kernels && measured line 40 || continue
		is "$options: kernels launched" "$(launched $options kernel)" \
			"$(truth $options kernel)"
		[ -z "$(sampling $options taken)" ] || sampled $options
		diag "$(grep -h 'gpu=nvidia: ' err-$options | tr '\n' ' ')"
	done
	NAME='' PROGRAM='' EVENTS="-v -e CPUTIME -e $event"
	# what CUPTI itself does with records and samples at once
	[ ! -e "$GPU_BIN/bare_cupti.so" ] || for words in pc=19 function,pc=19 \
		kernel,copies,clock,parsed kernel,copies,clock,parsed,pc=19; do
		bare $words "$GPU_BIN/truth_kernels" line 40 >/dev/null 2>err-bare
		diag "CUPTI alone, $words: status $?, $(grep '^bare' err-bare | tr '\n' ' ')"
	done
	. "$srcdir/tests/gpu/ways.sh"
}

# one KIND: a run of empty kernels, 30 calls deep; the median of its rounds in ns into raw
one() {
	case $1 in
	plain) run_limited 60 "$GPU_BIN/launch_loop" empty 10000 30 ;;
	bare-*) bare kernel,copies,clock,calls,parsed "$GPU_BIN/launch_loop" empty 10000 30 ;;
	*)
		rm -rf m-cost
		run_limited 60 "$HPCRUN" -q -e "gpu=nvidia${file:+,cupti=$file}" -o m-cost \
			"$GPU_BIN/launch_loop" empty 10000 30
		;;
	esac 2>/dev/null | awk '$1 == "ns" { print $2 }' | sort -n |
		awk -v kind="$1" '{ v[NR] = $1 } END { if (NR) print kind, v[int((NR + 1) / 2)] }' \
			>>raw
}

# What a launch costs: copies in turn.
check_cost() {
	: >raw
	begun=$(date +%s)
	while [ $(($(date +%s) - begun)) -lt "${COST_S:-40}" ]; do
		file='' && one plain && one found && one bare-found
		number=0
		for file; do
			number=$((number + 1))
			one copy$number
			one bare-copy$number
		done
	done
	for kind in $(awk '{ print $1 }' raw | sort -u); do
		diag "ns a launch, $kind: $(grep "^$kind " raw | sort -k2,2n |
			awk '{ v[NR] = $2 } END { printf "%.0f (%.0f to %.0f), %d processes",
				v[int((NR + 1) / 2)], v[int((NR + 3) / 4)],
				v[int((3 * NR + 1) / 4)], NR }')"
	done
}

if [ -x "$GPU_BIN/launch_loop" ]; then
	check_cost "$@"
else
	skip "what a launch costs" "no launch_loop"
fi
number=0
for file; do
	number=$((number + 1))
	mkdir "copy$number"
	cd "copy$number" || exit 99
	own=${LD_LIBRARY_PATH:-}
	LD_LIBRARY_PATH=$(dirname "$file")${own:+:$own}
	export LD_LIBRARY_PATH
	check_copy "$file"
	LD_LIBRARY_PATH=$own
	cd ..
done
done_testing
