#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Efficiencies of two ranks that are known: ranks that work in turn lose in serialisation, large
# messages in transfer. Where both are possible, nothing is said. Shells around ranks do not count.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

# measure MPI CASE ROUNDS OPTIONS [COMMAND...]: the report is in $T/report.
measure() {
	case="$1, $2"
	pop_mpi=$1
	pop_case=$2
	pop_options=$4
	[ $# -gt 4 ] || set -- "$@" "$T/$pop_mpi/pop_mpi" "$pop_case" "$3"
	shift 4
	rm -rf "$T/run"
	# shellcheck disable=SC2086 # words
	mpi_run "$pop_mpi" 2 "$HPCRUN" -q -e CPUTIME $pop_options -o "$T/run" -- "$@" \
		>"$T/truth" 2>"$T/err"
	is "$case: status" "$?" 0
	COLUMNS=80 "$HPCPROF" -q --to text "$T/run" >"$T/report" 2>"$T/err"
}

# row [NAME]: "elapsed parallel balance communication [serialisation transfer]" of everything or a
# phase.
row() {
	awk -v name="${1:-everything}" '/^Parallel efficiency/ { on = 1 }
		/^$/ { on = 0 }
		on && substr($0, length($0) - length(name) + 1) == name {
			printf "%s", $1 * ($2 == "ms" ? 0.001 : 1)
			for (i = 3; $i ~ /%/; i++) printf " %s", $i / 100
			print "" }' "$T/report"
}
column() {
	row | cut -d ' ' -f "$1"
}
truth() { # EXPRESSION of $1 elapsed, $2 work of a rank, $3 transfer
	awk "{ print $1 }" "$T/truth"
}

library=$builddir/.libs/libhpctoolkit.a
line=$(grep -n 'sampling_start();' "$srcdir/tests/workload/parallel/pop_mpi.c" | cut -d : -f 1)
for mpi in $MPIS; do
	mpi_build "$mpi" ../parallel/pop_mpi.c -fopenmp -I"$srcdir" "$library" -ldl ||
		skip_all "the program does not build with mpicc.$mpi"

	# Each rank works for half of the time at most: it waits for the other one.
	measure "$mpi" late 20 "-e MPI"
	within "$case: elapsed time, without MPI_Init" "$(column 1)" "$(truth '0.9 * $1')" \
		"$(truth '1.1 * $1 + 0.1')"
	within "$case: communication" "$(column 4)" "$(truth '0.8 * $2 / $1')" \
		"$(truth '1.1 * $2 / $1')"
	within "$case: serialisation" "$(column 5)" "$(truth '0.8 * $2 / $1')" \
		"$(truth '1.15 * $2 / $1')"
	within "$case: nothing is transfer" "$(column 6)" 0.95 1
	is "$case: no line has more than 80 columns" \
		"$(sed -n '/^Parallel/,/^$/p' "$T/report" | awk 'length($0) > 80')" ""

	# What follows is the same for any MPI.
	[ "$mpi" = "${first:=$mpi}" ] || [ "$(thorough first all)" = all ] || continue
	# From collective calls. After the last rank arrived, the others may have to wait for a
	# processor, and nobody knows.
	measure "$mpi" root 10 "-e MPI"
	within "$case: most is serialisation" "$(column 6)" 0.6 1

	# Exchanges take at least as long as the shortest, which the program and we measure apart.
	measure "$mpi" large 10 "-e MPI"
	within "$case: transfer" "$(column 6)" "$(truth '1 - $3 / $1 - 0.3')" \
		"$(truth '1 - $3 / $1 + 0.1')"
	within "$case: their product is the communication" \
		"$(row | awk '{ print $5 * $6 - $4 }')" -0.002 0.002

	# The sender is always late, or the network is slow.
	measure "$mpi" always 20 "-e MPI"
	is "$case: no one can know" "$(row | wc -w | tr -d ' ')" 4

	# What a rank waits for has no samples if it blocks; the time of the calls counts.
	measure "$mpi" hybrid 10 "-e MPI"
	phase=$(row "phase 1: pop_mpi.c:$line")
	within "$case: MPI in a phase, as the program measured it" \
		"$(echo "$phase" | awk '{ print $1 * $5 }')" "$(truth '0.9 * $4 - 0.01')" \
		"$(truth '1.1 * $4 + 0.01')"
done

mpi=${MPIS# }
mpi=${mpi%% *}
# A progress thread of PMIx has 1 % of a shorter run.
measure "$mpi" shell 30 "" sh -c "'$T/$mpi/pop_mpi' late 30; true"
is "$case, calls not measured: no one can know" "$(row | wc -w | tr -d ' ')" 4
like "$case: the shells are no processors" "$(cat "$T/report")" \
	'^Where the time of 2 [a-z]* went: .* x 2 threads'
# "share time UNIT least UNIT (rank) mean UNIT most UNIT (rank) worked"
grep '^ .*)  *worked$' "$T/report" | awk '
	function s(x, unit) { return x * (unit == "ms" ? 0.001 : 1) }
	{ print s($4, $5), s($7, $8), s($9, $10), s($2, $3) }' >"$T/worked"
within "$case: each rank worked as long as its program" "$(cut -d ' ' -f 1 "$T/worked")" \
	"$(truth '0.7 * $2')" "$(truth '1.3 * $2')"
within "$case: the mean is that of two ranks" "$(cut -d ' ' -f 2 "$T/worked")" \
	"$(awk '{ print 0.49 * $4 }' "$T/worked")" "$(awk '{ print 0.51 * $4 }' "$T/worked")"
like "$case: efficiencies are of two ranks" "$(cat "$T/report")" \
	'^Parallel efficiency \(POP\) of 2 processes with 2 threads'

done_testing
