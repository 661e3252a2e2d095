#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Call paths of MPI calls that are remembered and not walked again are those that a walk finds: with
# "check=1" each is walked again and compared. See "Remembered paths" in doc/unwinding.md.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

LIBRARY=$builddir/.libs/libhpcrun-lite.so
LIBRARY_MPI=$builddir/.libs/libhpcrun-lite-mpi.so

# checked MPI RANKS COMMAND...: runs it as the launcher would for "-e CPUTIME -e MPI", with paths
# checked. Sets n_checked and n_differed.
checked() {
	mpi=$1
	ranks=$2
	shift 2
	rm -rf "$T/run"
	mkdir "$T/run"
	# Expands in the inner shell, whose process becomes the program.
	# shellcheck disable=SC2016
	mpi_run "$mpi" "$ranks" sh -c '
		settings="1;dir=$1;lib=$2;pid=$$;$4"
		modules=$2:$3
		shift 4
		LD_PRELOAD=$modules HPCTOOLKIT_LITE=$settings exec "$@"' \
		sh "$T/run" "$LIBRARY" "$LIBRARY_MPI" \
		"say=0;mpi=1;check=1;event=CPUTIME,1,1,0,0,1000000,0,0" "$@" \
		>"$T/out" 2>"$T/err"
	status=$?
	cat "$T"/run/*.hpcrun | tr '\0' '\n' |
		grep -a '^remembered call paths: ' >"$T/notes" || diag "no notes"
	n_checked=$(awk '{ n += $4 } END { print n + 0 }' "$T/notes")
	n_differed=$(awk '{ n += $6 } END { print n + 0 }' "$T/notes")
}

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_mix.c && mpi_build "$mpi" mpi_memo.cc -ldl &&
		mpi_build "$mpi" mpi_omp.c -fopenmp || skip_all "no program with mpicc.$mpi"
	for i in one other; do
		echo "int $i; void through(void (*f)(void)) { f(); __asm__ volatile(\"\"); }" |
			gcc -O1 -shared -fPIC -x c -o "$T/lib$i.so" -
	done

	mpi_run "$mpi" 1 "$T/$mpi/mpi_memo" 20000 "$T/libone.so" "$T/libother.so" >"$T/plain"
	checked "$mpi" 1 "$T/$mpi/mpi_memo" 20000 "$T/libone.so" "$T/libother.so"
	is "$mpi, odd stacks: status" "$status" 0
	same "$mpi, odd stacks: same output" "$T/plain" "$T/out"
	diag "$n_checked of $(cat "$T/plain") remembered"
	is "$mpi, odd stacks: paths are remembered" "$((n_checked > 20000))" 1
	is "$mpi, odd stacks: paths that differ" "$n_differed" 0

	checked "$mpi" 2 "$T/$mpi/mpi_mix" 20
	is "$mpi, two ranks: status" "$status" 0
	is "$mpi, two ranks: paths are remembered" "$((n_checked > 200))" 1
	is "$mpi, two ranks: paths that differ" "$n_differed" 0

	checked "$mpi" 1 "$T/$mpi/mpi_omp" 200
	is "$mpi, a region from two places: status" "$status" 0
	diag "$n_checked of 800 remembered"
	is "$mpi, a region from two places: those of thread 0 are" "$((n_checked >= 350))" 1
	is "$mpi, a region from two places: paths that differ" "$n_differed" 0
done

# a program that does not use MPI
"$HPCRUN" -q -e MPI -o "$T/none" true
"$HPCPROF" -q --to text "$T/none" >"$T/none.text" 2>"$T/none.err"
is "no MPI: a report all the same" $? 0
like "no MPI: it says why it is empty" "$(cat "$T/none.text")" '^No call of MPI was seen'

done_testing
