#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Phases that a program marks with hpctoolkit_sampling_start() and stop(): their names, and their
# efficiencies against the clocks that the program read.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
[ -z "${SANITIZER:-}" ] || skip_all "the program has a sanitizer"

PHASES=$builddir/tests/workload/parallel/phases
SOURCE=$srcdir/tests/workload/parallel/phases.c

measure() { # CASE [LAUNCHER OPTIONS]
	case=$1
	shift
	rm -rf "$T/m"
	run_limited 120 "$HPCRUN" -q -e CPUTIME@f4000 "$@" -o "$T/m" -- "$PHASES" "$case" \
		>"$T/truth" 2>"$T/err"
	is "$case: status" "$?" 0
	COLUMNS=120 "$HPCPROF" -q --to text "$T/m" >"$T/report" 2>"$T/err"
}

line() { # PHASE: where it begins
	grep -n "/\* $1 \*/" "$SOURCE" | cut -d : -f 1
}

# row NAME: "seconds parallel balance communication", of the table of efficiencies
row() {
	awk -v name="$1" '
		/^Parallel efficiency/ { on = 1 }
		/^$/ { on = 0 }
		on && substr($0, length($0) - length(name) + 1) == name {
			print $1 * ($2 == "ms" ? 0.001 : 1), $3 / 100, $4 / 100, $5 / 100 }' \
		"$T/report"
}

# n_phases: those that have a row and those that are too short for one
n_phases() {
	sed -n 's/.*%  phase .*/1/p; s/^ *\([0-9]*\) more phases* .* not shown$/\1/p' "$T/report" |
		awk '{ n += $1 } END { print n }'
}

# judge NUMBER PHASE: a sample of 1,000 a second is off by six of its standard deviations at most,
# and a stretch of measurement by a tick of 10 ms at each end.
judge() {
	row "phase $1: phases.c:$(line "$2")" >"$T/row"
	is "$case, $2: it has a row" "$(wc -l <"$T/row" | tr -d ' ')" 1
	set -- "$2" "$(awk -v p="$2" '$1 == p { print $2 / 1e9, $3 / 1e9 }' "$T/truth")"
	within "$case, $1: elapsed time" "$(cut -d ' ' -f 1 "$T/row")" \
		"$(echo "$2" | awk '{ print 0.98 * $1 - 0.03 }')" \
		"$(echo "$2" | awk '{ print 1.02 * $1 + 0.03 }')"
	within "$case, $1: useful time of two threads" \
		"$(awk '{ print 2 * $1 * $2 }' "$T/row")" \
		"$(echo "$2" | awk '{ print 0.95 * $2 - 6 * sqrt($2 / 1000) - 0.06 }')" \
		"$(echo "$2" | awk '{ print 1.05 * $2 + 6 * sqrt($2 / 1000) + 0.06 }')"
}

measure once
judge 1 assemble
judge 2 solve
within "once: equal work is balanced" "$(row "phase 1: phases.c:$(line assemble)" |
	cut -d ' ' -f 3)" 0.65 1
within "once: unequal work is not" "$(row "phase 2: phases.c:$(line solve)" |
	cut -d ' ' -f 3)" 0.5 0.78
is "once: phases take the place of loops" "$(grep -c '%  loop at' "$T/report")" 0

measure once --delay-sampling
judge 1 assemble
judge 2 solve

measure again
judge 1 assemble
judge 2 solve

measure fork
judge 1 assemble
judge 2 solve
# the third one, in which the parent waits for the child, has a row if that takes long
is "fork: the child has no phase of its own" "$(n_phases)" 3

measure many
like "many: those that were not recorded are counted" "$(cat "$T/report")" \
	"also 10 phases: phases of the program that could not be recorded"
like "many: the table says so" "$(cat "$T/report")" \
	"10 phases were not recorded: the times of phases are too small"
is "many: phases that begin at one place are one" "$(n_phases)" 3

measure once --no-trace
is "without time lines, there are no rows" "$(grep -c '%  phase ' "$T/report")" 0
like "without time lines, the table says why" "$(cat "$T/report")" \
	"phases need time lines: measure without --no-trace"

done_testing
