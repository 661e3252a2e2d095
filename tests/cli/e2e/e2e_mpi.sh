#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# mpirun -n 4 of the mini-application: four ranks in one measurement directory, the same output as
# without us; two jobs never share a directory.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"

need mpirun
melt=$builddir/tests/workload/miniapp/melt-mpi
[ -x "$melt" ] || skip_all "the MPI variant of the mini-application is not built"
public_tools || skip_all "the tools are not staged; run make check"
public_copy "$melt"
melt=$T/melt-mpi

# mpi N COMMAND...: Open MPI and MPICH say these things in different words.
if mpirun --version 2>&1 | grep -q 'Open MPI\|open-mpi'; then
	mpi_options="--oversubscribe --bind-to none"
	[ "$(id -u)" -ne 0 ] || mpi_options="$mpi_options --allow-run-as-root"
else
	mpi_options=
fi
mpi() {
	mpi_n=$1
	shift
	# shellcheck disable=SC2086 # options
	run_limited 240 mpirun $mpi_options -n "$mpi_n" "$@" </dev/null
}

# One node needs no network, whose absence Open MPI would report in a different order each time.
OMPI_MCA_btl=^tcp,uct,openib,ofi
export OMPI_MCA_btl

mpi 4 "$melt" --cells 32 --steps 6 --threads 1 >"$T/plain.out" 2>"$T/plain.err"
is "plain: status" $? 0
[ -s "$T/plain.out" ] || { diag_file "$T/plain.err"; }
cd "$T" || exit 99
mpi 4 "$HPCRUN" -q -- "$melt" --cells 32 --steps 6 --threads 1 >"$T/out" 2>"$T/err"
is "measured: status" $? 0
same "measured: output" "$T/plain.out" "$T/out"
same "measured: error output" "$T/plain.err" "$T/err"
set -- hpctoolkit-lite-melt-mpi-measurements*
is "one directory for the job" $# 1
M=$T/$1
is "a file each rank" "$(processes "$M")" 4

analyse mpi text,cctdb "$M"
for rank in 0 1 2 3; do
	holds "rank $rank is in the database" mpi "process [0-9]+ $rank"
done
holds "the solver is in the tree" mpi "function [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ cg_solve"

mpi 2 "$HPCRUN" -q -- "$melt" --cells 16 --steps 2 --threads 1 >/dev/null 2>"$T/err"
is "a second job: status" $? 0
set -- hpctoolkit-lite-melt-mpi-measurements*
is "a second job has a directory of its own" $# 2
for m; do [ "$T/$m" = "$M" ] || second=$T/$m; done
is "with its two ranks" "$(processes "${second:-/none}")" 2
is "and the first one is as it was" "$(processes "$M")" 4

# A rank that fails: the launcher says so, measured or not.
mpi 2 "$HPCRUN" -q -o "$T/failing" -- "$melt" --cells 15 --steps 1 >/dev/null 2>&1
not_ok "a failing job fails" test $? -eq 0

if [ "$(id -u)" -eq 0 ]; then
	dir=$(public_dir nobody)
	cd "$dir" || exit 99
	HOME=$dir run_limited 240 "$tap_runuser" -u nobody -- mpirun --oversubscribe --bind-to \
		none -n 2 \
		"$HPCRUN" -q -o "$dir/m" -- "$melt" --cells 16 --steps 2 --threads 1 >"$T/out" \
		2>"$T/err" </dev/null
	is "as nobody: status" $? 0
	diag_file "$T/err"
	is "as nobody: two ranks" "$(processes "$dir/m")" 2
	cd "$T" || exit 99
else
	skip "as nobody: status" "not root"
	skip "as nobody: two ranks" "not root"
fi

done_testing
