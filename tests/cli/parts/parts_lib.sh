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
# MPI loads modules, does not free all of their memory, and unloads them: they have no name then.
if [ -n "${SANITIZER:-}" ]; then
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
	export ASAN_OPTIONS
fi

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

# kill_writing RANK COMMAND...: a command whose ranks write the database `killed`, and their
# process ids to pid.N. The rank is killed when they do; again if they were faster. Returns the
# command's status.
kill_writing() {
	parts_rank=$1
	shift
	for parts_try in 1 2 3 4 5 6 7 8 9 10; do
		rm -rf killed pid.*
		"$@" >out 2>err </dev/null &
		parts_job=$!
		wait_until is_begun
		kill -KILL "$(cat "pid.$parts_rank")" 2>/dev/null
		parts_status=0
		wait $parts_job || parts_status=$?
		wait_until partial_is_gone && [ -d killed ] || return $parts_status
	done
}

# write_named: the script `named`, by which a rank of kill_writing() starts.
write_named() {
	cat >named <<'END'
#!/bin/sh
echo $$ >pid."${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-$SLURM_PROCID}}"
exec "$HPCPROF" -q --no-structs --to text,cctdb -o killed large
END
	chmod +x named
	"$builddir/tests/gen/gen_scale" -r 300 -t 2 -l 1024 -p 30 -s 100 large
}
