#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Calls, bytes and times of MPI agree with those of an independent counter in the same processes,
# for each MPI of this machine: point-to-point, collective, one-sided, files, persistent requests,
# and several threads. The counter is a tool on the profiling interface, which keeps working.

. "${srcdir:-.}/tests/lib.sh"
[ -z "${SANITIZER:-}" ] || skip_all "the counter is preloaded, and a sanitizer wants to be first"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"

# truth RANK: what the counter wrote.
truth() {
	sort "$T/count.$1" | awk '{ print $1, $2, $3, $4 }'
}
# total_ns FILE...: of the counter.
total_ns() {
	cat "$@" | awk '$1 != "MPI_Test" { sum += $5 } END { printf "%.0f\n", sum }'
}
# agrees NAME WHAT N-RANKS
agrees() {
	rank=0
	while [ "$rank" -lt "$3" ]; do
		mpi_calls "$rank" >"$T/ours"
		truth "$rank" >"$T/theirs"
		same "$1, $2: calls and bytes of rank $rank" "$T/theirs" "$T/ours"
		rank=$((rank + 1))
	done
	# The counter is inside our times, with its own work, so ours cannot be less. A thread that
	# loses its processor between two readings of the clock adds 4 ms: some on a busy machine.
	# Polls are not all timed: see mpi_polls.sh.
	ours=$(by_name '$1 == "mpi-call" && get("function") != "MPI_Test" { sum += get("ns") }
		END { printf "%.0f\n", sum }' "$T/records")
	theirs=$(total_ns "$T"/count.?)
	within "$1, $2: time in MPI" "$ours" "$theirs" \
		"$((theirs / 100 * 102 + 20000000))"
}

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_mix.c && mpi_build "$mpi" mpi_count.c -shared -fPIC ||
		skip_all "the programs do not build with mpicc.$mpi"
	mix=$T/$mpi/mpi_mix
	MIX_FILE=$T/$mpi/file
	export MIX_FILE
	mpi_run "$mpi" 3 "$mix" 2 >"$T/plain.out" 2>"$T/plain.err"
	is "$mpi: runs without us" $? 0

	rm -f "$T"/count.*
	COUNT=$T/count LD_PRELOAD=$T/$mpi/mpi_count mpi_run "$mpi" 3 "$HPCRUN" -q -e MPI \
		-o "$T/$mpi/run" -- "$mix" 2 >"$T/out" 2>"$T/err"
	is "$mpi: status" $? 0
	same "$mpi: the same output" "$T/plain.out" "$T/out"
	same "$mpi: nothing on standard error" "$T/plain.err" "$T/err"
	mpi_read "$T/$mpi/run"
	agrees "$mpi" "one thread" 3
	is "$mpi: nothing was lost, all collective calls are matched" \
		"$(by_name '$1 == "mpi-ledger" {
			print get("unmatched"), get("lost"),
			get("without_peers") }' "$T/records")" "0 0 0"
	is "$mpi: every communicator has the members that it has ranks" \
		"$(by_name '$1 == "mpi-comm" && get("matched") &&
			get("ranks") != get("measured")' "$T/records" | wc -l)" 0
	ok "$mpi: other outputs are written" "$HPCPROF" -q --to "json,$OUTPUTS" -o "$T/$mpi/db" \
		"$T/$mpi/run"
	is "$mpi: the kinds and roles of the metrics have names" \
		"$(find "$T/$mpi/db" -name '*.json' -exec grep -c '"unknown"' {} +)" 0

	rm -f "$T"/count.*
	COUNT=$T/count LD_PRELOAD=$T/$mpi/mpi_count mpi_run "$mpi" 2 "$HPCRUN" -q -e CPUTIME \
		-e MPI -o "$T/$mpi/threads" -- "$mix" 3 threads >"$T/out" 2>"$T/err"
	is "$mpi, threads: status" $? 0
	mpi_read "$T/$mpi/threads"
	agrees "$mpi" "four threads and samples" 2

	# Threads of OpenMP are the same for any MPI.
	[ "$mpi" = "${first:=$mpi}" ] || [ "$(thorough first all)" = all ] || continue
	mpi_build "$mpi" mpi_omp.c -fopenmp || continue
	mpi_run "$mpi" 1 "$HPCRUN" -q -e MPI -o "$T/$mpi/omp" -- "$T/$mpi/mpi_omp" 100 \
		>"$T/out" 2>&1
	is "$mpi, threads of OpenMP: status" $? 0
	mpi_read "$T/$mpi/omp"
	is "$mpi, threads of OpenMP: calls of two paths in each" \
		"$(by_name '$1 == "mpi-call" && get("function") == "MPI_Iprobe" {
			print get("calls") }' "$T/records" | xargs)" \
		"100 100 100 100"
done

done_testing
