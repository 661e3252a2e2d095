# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # variables of lib.sh, and for the tests
#
# For the tests of -e MPI: the MPIs of this machine, side by side. Source it after tests/lib.sh.
#
#	MPIS    their names, as in mpicc.NAME and mpirun.NAME: openmpi, mpich
#
# The programs of tests/workload/mpi are built here, once for each MPI.

. "$srcdir/tests/mpi_env.sh"

MPIS=
for mpi_one in openmpi mpich; do
	if command -v "mpicc.$mpi_one" >/dev/null && command -v "mpirun.$mpi_one" >/dev/null; then
		MPIS="$MPIS $mpi_one"
	fi
done
[ -n "$MPIS" ] || skip_all "no mpicc.openmpi or mpicc.mpich with its mpirun"
[ -e "$builddir/.libs/libhpcrun-lite-mpi.so" ] || skip_all "the MPI module is not built"

# one_mpi: the first of them alone, except in check --full; for what does not depend on it.
one_mpi() {
	[ "$(thorough one all)" = all ] || MPIS=" $(echo "$MPIS" | cut -d ' ' -f 2)"
}

# mpi_build NAME PROGRAM [OPTION...]: tests/workload/mpi/PROGRAM becomes $T/NAME/PROGRAM without its
# suffix.
mpi_build() {
	mpi_name=$1
	mpi_source=$srcdir/tests/workload/mpi/$2
	mpi_to=$T/$mpi_name/$(basename "${2%.*}")
	shift 2
	mkdir -p "$T/$mpi_name"
	case $mpi_source in
	*.c) "mpicc.$mpi_name" -O1 -g -o "$mpi_to" "$mpi_source" -lpthread "$@" ;;
	*.cc) "mpicxx.$mpi_name" -O1 -g -o "$mpi_to" "$mpi_source" -lpthread "$@" ;;
	*.f90) "mpifort.$mpi_name" -O1 -g -fallow-argument-mismatch -J "$T/$mpi_name" \
		-o "$mpi_to" "$mpi_source" "$@" ;;
	esac >"$T/$mpi_name/build.log" 2>&1 || {
		diag_file "$T/$mpi_name/build.log"
		return 1
	}
}

# mpi_run NAME RANKS COMMAND...
mpi_run() {
	mpi_name=$1
	mpi_ranks=$2
	shift 2
	run_limited 240 "mpirun.$mpi_name" -n "$mpi_ranks" "$@" </dev/null
}

# mpi_read RUN: its records about MPI, in $T/records.
mpi_read() {
	"$HPCPROF" -q --to text --all "$1" 2>"$T/prof.err" | grep -aE '^(# )?mpi-' >"$T/records"
}

# mpi_calls RANK: "function calls sent received" of a rank, sorted, from $T/records.
mpi_calls() {
	by_name -v rank="$1" '
		$1 == "mpi-call" && get("rank") == rank { n[get("function")] += get("calls");
			s[get("function")] += get("sent"); r[get("function")] += get("received") }
		END { for (f in n) printf "%s %.0f %.0f %.0f\n", f, n[f], s[f], r[f] }' \
		"$T/records" | sort
}

# mpi_sum FUNCTION FIELD [PLACE]: over all ranks.
mpi_sum() {
	by_name -v f="$1" -v field="$2" -v place="${3:-}" '
		$1 == "mpi-call" && get("function") == f && (place == "" ||
			index(get("place"), place)) { sum += get(field) }
		END { printf "%.0f\n", sum }' "$T/records"
}

# mpi_line PROGRAM PATTERN: "PROGRAM:LINE" of the first line of the source that matches.
mpi_line() {
	grep -n "$2" "$srcdir/tests/workload/mpi/$1" | sed "s/:.*//;s/^/$1:/;q"
}
