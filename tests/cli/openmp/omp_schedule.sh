#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Schedules of loops in the table of regions, and regions that are open when the process ends.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/openmp/openmp.sh"

# row FUNCTION: what the table of regions says of it after the place of the fork.
row() {
	sed -n "s/.* $1, parallel region at omp_schedule\\.c:[0-9]*//p" "$T/report"
}

# lost CAUSE
lost() {
	by_name -v c="$1" '
		$1 == "loss" && get("of") == "all" && get("cause") == c { n = get("n") }
		END { print n + 0 }' "$T/$M.text"
}

loop=', loop at line [0-9]+'
has_loops || loop=
if workload omp_schedule libgomp "-e CPUTIME@f1000"; then
	COLUMNS=160 "$HPCPROF" -q --to text --threshold 0 "$omp_dir/m" >"$T/report" 2>"$T/err"
	like "of a loop that starts its team" "$(row guided_7)" "^, guided 7$loop\$"
	like "of a loop inside of its team" "$(row dynamic_16)" "^, dynamic 16$loop\$"
	like "that OMP_SCHEDULE decides" "$(row of_runtime)" "^, runtime$loop\$"
	like "of a loop over unsigned numbers" "$(row unsigned_3)" "^, dynamic 3$loop\$"
	unlike "none, where the compiler shares the iterations out" "$(row of_static)" \
		'static|dynamic|guided'
	like "of two loops: what they have in common" "$(row two_loops)" '^, dynamic($|, loop)'
	like "... or that they differ" "$(row mixed)" '^, several($|, loop)'
	is "all regions are in the sums" "$(lost omp-sums)" 0
	is "all paths are joined" "$(lost omp-paths)" 0
	plain=$("$OMP_PROGRAMS/omp_schedule.libgomp")
	is "the result is that of a run without us" "$(cat "$T/$M.out")" "$plain"
fi

if has_workload omp_schedule libgomp; then
	public_copy "$OMP_PROGRAMS/omp_schedule.libgomp"
	omp_dir=$(public_dir open.d)
	omp_run open "$HPCRUN" -q -e CPUTIME -o "$omp_dir/m" -- "$T/omp_schedule.libgomp" 3
	is "exit inside of a region: status" "$(cat "$T/open.status")" 3
	M=open
	"$HPCPROF" -q --to text --all "$omp_dir/m" >"$T/open.text" 2>"$T/err"
	is "exit inside of a region: it is counted" "$(lost omp-sums)" 1
fi
done_testing
