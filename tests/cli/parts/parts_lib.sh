# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # variables of lib.sh, and for the tests
#
# For tests of hpcprof-lite as the ranks of an MPI program. Source it after tests/lib.sh.
#
#	mine     the MPI that the module was built with, as in mpirun.NAME: openmpi or mpich
#	other    the other one; it need not be installed

. "$srcdir/tests/cli/mpi/mpi_lib.sh"

parts_module=$builddir/.libs/hpcprof-lite-mpi.so
[ -e "$parts_module" ] || skip_all "hpcprof-lite-mpi.so is not built"
case $(readelf -d "$parts_module" | grep NEEDED) in
*libmpich*) mine=mpich other=openmpi ;;
*libmpi.so*) mine=openmpi other=mpich ;;
*) skip_all "neither Open MPI nor MPICH" ;;
esac
have "mpirun.$mine" || skip_all "no mpirun.$mine"

# prof_ranks N OPTION...: hpcprof-lite by N ranks.
prof_ranks() {
	parts_n=$1
	shift
	mpi_run "$mine" "$parts_n" "$HPCPROF" "$@"
}

# wait_until COMMAND...: false if it never comes true.
wait_until() {
	parts_tries=0
	until "$@" >/dev/null 2>&1 || [ $parts_tries = 1200 ]; do
		sleep 0.05
		parts_tries=$((parts_tries + 1))
	done
	[ $parts_tries != 1200 ]
}

is_begun() { ls -d killed*; }
partial_is_gone() { ! ls -d killed.partial*; }

# interrupt SIGNAL WHOM COMMAND...: a command that writes the database `killed` gets the signal when
# it does. Again if it was faster. WHOM: "command", or the number of a rank, whose process id is in
# pid.N. Returns the command's status.
interrupt() {
	parts_signal=$1 parts_whom=$2
	shift 2
	for parts_try in 1 2 3 4 5 6 7 8 9 10; do
		"$@" >out 2>err </dev/null &
		parts_job=$!
		wait_until is_begun
		if [ "$parts_whom" = command ]; then kill -"$parts_signal" $parts_job; else
			kill -"$parts_signal" "$(cat "pid.$parts_whom")"
		fi 2>/dev/null
		parts_status=0
		wait $parts_job || parts_status=$?
		wait_until partial_is_gone && [ -d killed ] || return $parts_status
		rm -rf killed
	done
}
