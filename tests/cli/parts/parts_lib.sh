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
