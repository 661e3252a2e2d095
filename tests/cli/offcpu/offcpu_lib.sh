# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# Measuring time off the processor. Source after tests/lib.sh.

OFFCPU_W=$builddir/tests/workload/offcpu

# offcpu_measure EVENTS COMMAND...: measures the command. Its output is in $T/truth, everything in
# the profile in $T/all.txt, and the call paths in $T/db/folded. OFFCPU_AS: a command in front.
offcpu_measure() {
	offcpu_events=$1
	shift
	rm -rf "${OFFCPU_DIR:-$T}/m" "$T/db"
	# shellcheck disable=SC2086 # words
	run_limited 60 ${OFFCPU_AS:-} "$HPCRUN" -q $offcpu_events -o "${OFFCPU_DIR:-$T}/m" "$@" \
		>"$T/truth" || return 1
	"$HPCPROF" -q --to text,folded --all -o "$T/db" "${OFFCPU_DIR:-$T}/m" >"$T/all.txt"
}

# offcpu_ms METRIC PATTERN: milliseconds on the call paths that match, of all threads.
offcpu_ms() {
	awk -v p="$2" '$0 ~ p { n += $NF } END { printf "%.3f\n", n / 1e6 }' \
		"$T/db/folded/$1.folded"
}

# offcpu_truth_ms FUNCTION: what the program itself found.
offcpu_truth_ms() {
	awk -v f="$1" '$1 == f { printf "%.3f\n", $2 / 1e6 }' "$T/truth"
}

# offcpu_gap: how far CPU time and OFFCPU together are from the elapsed time, in per cent.
offcpu_gap() {
	by_name '$1 == "time" && get("of") == "all" {
		print 100 * get("gap_ns") / get("elapsed_ns") }' "$T/all.txt"
}
