#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Many ranks that start in one directory: what each of them asks of the file system is the same for
# 4 and for 32 ranks. FUSE counts it, as a file server would.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"
storage_as_user

# The kernel asks for each name each time.
serve served -o entry_timeout=0,attr_timeout=0 || skip_all "$reason"
TMPDIR=$NODE
export TMPDIR

# ranks N DIRECTORY [OPTION...]: N ranks at once, as Open MPI's mpirun starts them. What they asked
# for is in $T/asked.
ranks() {
	storage_n=$1
	storage_dir=$2
	shift 2
	: >"$T/served.log"
	for storage_rank in $(seq 0 $((storage_n - 1))); do
		OMPI_COMM_WORLD_RANK=$storage_rank OMPI_COMM_WORLD_SIZE=$storage_n \
			PMIX_NAMESPACE=$storage_dir "$HPCRUN" -q "$@" -o "$T/served/$storage_dir" \
			true >"$T/out.$storage_rank" 2>&1 &
		storage_pids="$storage_pids $!"
	done
	# shellcheck disable=SC2086 # a list
	wait $storage_pids
	storage_pids=
	cp "$T/served.log" "$T/asked"
}
storage_pids=

# n WORD: lines of the log that begin with it
n() {
	grep -c "^$1 " "$T/asked"
}

for where in local none; do
	case $where in local) set -- ;; none) set -- --local none ;; esac
	ranks 1 first.$where "$@" # makes the directory
	ranks 32 many.$where "$@"
	is "$where: a file each rank" \
		"$(find "$T/served/many.$where" -name "*.hpcrun" | wc -l | tr -d " ")" 32
	is "$where: no rank makes two" "$(grep -c '^create .*\.hpcrun$' "$T/asked")" 32
	is "$where: no rank lists the directory, but rank 0 does at its end" \
		"$(grep '^list ' "$T/asked" | sort -u | grep -v "^list /many.$where\$")" ''
	within "$where: ... and only rank 0" "$(n list)" 0 4
	# Those that start before the directory is there prepare one: at most all of them here.
	ranks 32 many.$where "$@"
	is "$where: where the directory is, no rank makes another" "$(n mkdir) $(n rename)" "0 0"
done

done_testing
