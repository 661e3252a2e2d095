#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# If one function calls MPI for all others, the report names its callers up to the first that
# differs, and has one row for each.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

# row PATTERN: the calls in the row, if there is exactly one.
row() {
	awk -v pattern="$1" '
		/^Calls of MPI by waiting/ { inside = 1 }
		!NF { inside = 0 }
		inside && index($0, pattern) {
			n++
			sub(/ +[0-9.]+ B +MPI_.*| +MPI_.*/, "")
			calls = $NF
		}
		END { print n == 1 ? calls : "rows: " n + 0 }' "$T/report"
}

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_callers.c || skip_all "the program does not build with mpicc.$mpi"
	mpi_run "$mpi" 2 "$HPCRUN" -q -e MPI -o "$T/$mpi/run" -- "$T/$mpi/mpi_callers" 10 \
		>"$T/out" 2>"$T/err"
	is "$mpi: status" $? 0
	COLUMNS=160 "$HPCPROF" -q --to text --by mpi --threshold 0 "$T/$mpi/run" >"$T/report" \
		2>"$T/prof.err"
	is "$mpi: one caller" "$(row 'in reduce < sum < solve_')" 20
	is "$mpi: two lines of another" "$(row 'in reduce < sum < smooth')" 40
	is "$mpi: seven levels" "$(row 'in down < down < .. < first')" 20
	is "$mpi: the other" "$(row 'in down < down < .. < second')" 20
	ok "$mpi: each name of the path of who comes last can be recognised" \
		grep -q 'main > solve_.*uations > sum > reduce$' "$T/report"
done

done_testing
