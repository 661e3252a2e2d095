#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# How good the advice of hpcprof-lite is: each way of advice_ways is timed and measured on a GPU,
# with its flaw and without. Prints the table of tests/golden/advice/table.md. Asserts nothing.
#
#     top_builddir=BUILD sh tests/gpu/advice/advice.sh [WAY...]
#     ... advice.sh measure DIR [WAY...]   on a machine with a GPU: times and measurements into DIR
#     ... advice.sh advise DIR             on any machine: advice, and the table. Needs python3.
#
# HPCRUN=, HPCPROF=, GPU_BIN=: other places. RUNS: of each for its time, 3. SECONDS_MOST: no new way
# is begun after this time.

here=$(cd "$(dirname "$0")" && pwd)
b=${top_builddir:-.}
HPCRUN=${HPCRUN:-$b/hpcrun-lite/hpcrun-lite}
HPCPROF=${HPCPROF:-$b/hpcprof-lite/hpcprof-lite}
program=${GPU_BIN:-$b/tests/gpu}/advice_ways

# measured WAY KIND N DIR. Samples in kernels make launches slower, so there are none where the flaw
# is in what the host does.
measured() {
	gpu=gpu=nvidia,pc
	if "$program" --list | grep -q "^$1 [a-z]* program$"; then gpu=gpu=nvidia; fi
	rm -rf "$4/$1-$2"
	timeout 60 "$HPCRUN" -q -e "$gpu" -o "$4/$1-$2" "$program" "$1" "$2" "$3" \
		>"$4/$1-$2.out" 2>"$4/$1-$2.err" || cat "$4/$1-$2.err" >&2
}

# measure DIR [WAY...]
measure() {
	[ -x "$program" ] || { echo "no $program: nothing measured" >&2; return 1; }
	to=$1 end=$(($(date +%s) + ${SECONDS_MOST:-3600}))
	shift
	mkdir -p "$to" || return 1
	# shellcheck disable=SC2046 # names are words
	[ $# -gt 0 ] || set -- $("$program" --list | awk '{ print $1 }')
	for way in "$@"; do
		[ "$(date +%s)" -lt "$end" ] || { echo "$way: no time left" >&2; continue; }
		line=$(timeout 60 "$program" "$way" times "${RUNS:-3}") ||
			{ echo "$way: cannot run" >&2; continue; }
		echo "$line" >>"$to/times"
		# shellcheck disable=SC2086 # words: times WAY N FLAWED CURED
		set -- $line
		measured "$way" flawed "$3" "$to"
		[ "$5" = - ] || measured "$way" cured "$3" "$to"
	done
}

# advise DIR: what the tool says of each measurement in DIR, and the table of it.
advise() {
	HPCTOOLKIT_LITE_CACHE=$1/cache
	export HPCTOOLKIT_LITE_CACHE
	for m in "$1"/*-flawed "$1"/*-cured; do
		[ -d "$m" ] || continue
		rm -rf "$m.db"
		timeout 120 "$HPCPROF" -q --to text,json -o "$m.db" "$m" >"$m.txt" 2>"$m.log" ||
			cat "$m.log" >&2
	done
	"${PYTHON:-python3}" "$here/advice_table.py" "$1"
}

case ${1:-} in
measure)
	shift
	measure "$@"
	;;
advise) advise "$2" ;;
*)
	t=$(mktemp -d "${TMPDIR:-/tmp}/advice-gpu.XXXXXX") || exit 1
	trap 'rm -rf "$t"' EXIT
	measure "$t" "$@" && advise "$t"
	;;
esac
