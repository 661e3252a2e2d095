#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What ranks were in when their job was killed: call, peer, place and time come first in the report,
# and count as time in MPI. The work before is balanced, and its threads are those that worked. A
# part of the run has the calls of its ranks.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_hang.c || skip_all "the program does not build with mpicc.$mpi"
	run_limited 60 timeout -s TERM 3 "mpirun.$mpi" -n 4 "$HPCRUN" -q -e CPUTIME -e MPI \
		-o "$T/$mpi/run" -- "$T/$mpi/mpi_hang" </dev/null >"$T/out" 2>&1
	mpi_read "$T/$mpi/run"
	# open RANK FUNCTION FIELD
	open() {
		by_name '$1 == "mpi-call" && get("open") && get("rank") == '"$1"' &&
			get("function") == "'"$2"'" { print get("'"$3"'") }' "$T/records"
	}
	is "$mpi: rank 2 was at a barrier" "$(open 2 MPI_Barrier calls)" 1
	like "$mpi: ... its place" "$(open 2 MPI_Barrier place)" \
		"$(mpi_line mpi_hang.c '/. waits ./')\$"
	is "$mpi: rank 0 waited for a request, of a message from rank 1" \
		"$(open 0 MPI_Wait world_peer)" 1
	is "$mpi: a persistent request has no other side, whatever had its handle" \
		"$(open 3 MPI_Wait calls) $(open 3 MPI_Wait peer)" "1 -1"
	is "$mpi: rank 1 was in a receive, from rank 2" "$(open 1 MPI_Recv world_peer)" 2
	like "$mpi: ... its place" "$(open 1 MPI_Recv place)" \
		"$(mpi_line mpi_hang.c '/. hangs ./')\$"
	within "$mpi: ... for as long as it hung" "$(open 1 MPI_Recv ns)" 500000000 3500000000
	within "$mpi: all of it is waiting" "$(open 1 MPI_Recv waited_ns)" 500000000 3500000000
	"$HPCPROF" -q --to text --all "$T/$mpi/run" >"$T/all" 2>/dev/null
	is "$mpi: threads that worked" \
		"$(by_name '$1 == "account" { print get("threads") }' "$T/all")" 4
	"$HPCPROF" -q --to text --all --time 0%:100% "$T/$mpi/run" >"$T/part" 2>/dev/null
	is "$mpi: as many in a part of all the time" \
		"$(by_name '$1 == "account" { print get("threads") }' "$T/part")" 4
	within "$mpi: their work is balanced" "$(by_name '$1 == "efficiency" {
		print get("load_balance") }' "$T/all" | head -n 1)" 0.8 1
	"$HPCPROF" -q --to text -o "$T/$mpi/db" "$T/$mpi/run" >"$T/report" 2>&1
	grep -A 5 '^Calls of MPI that did not end' "$T/report" >"$T/open"
	like "$mpi: the report says it" "$(cat "$T/open")" \
		'rank 1: MPI_Recv from rank 2 at mpi_hang.c:[0-9]* in main'
	like "$mpi: ... and what the request waits for" "$(cat "$T/open")" \
		'rank 0: MPI_Wait for a message from rank 1 at mpi_hang.c:[0-9]* in main'

	# The rank may end a little later than the job, and the call that it is in with it.
	calls_of_0() {
		by_name '$1 == "mpi-call" && get("rank") == 0 {
			print get("function"), get("place"), get("open"), get("calls"), get("sent"),
				get("open") ? "" : get("ns") " " get("waited_ns"),
				get("world_peer") }' "$1"
	}
	calls_of_0 "$T/records" >"$T/whole-calls"
	"$HPCPROF" -q --to text --all --rank 0 "$T/$mpi/run" >"$T/part" 2>/dev/null
	calls_of_0 "$T/part" >"$T/part-calls"
	same "$mpi: a part has the calls of its rank" "$T/whole-calls" "$T/part-calls"
	is "$mpi: ... and no others" "$(by_name '$1 == "mpi-call" && get("rank") != 0' \
		"$T/part" | wc -l)" 0
	is "$mpi: ... in its communicators, too" \
		"$(by_name '$1 == "mpi-comm" { n += get("calls") } END { print n }' "$T/part")" \
		"$(by_name '$1 == "mpi-call" && get("comm") ~ /^[0-9]/ { n += get("calls") }
			END { print n }' "$T/part")"
	"$HPCPROF" -q --to text --rank 0 -o "$T/$mpi/part" "$T/$mpi/run" >"$T/report" 2>&1
	is "$mpi: its report says where the rank was" \
		"$(grep -A 4 '^Calls of MPI that did not end' "$T/report" | grep -o 'rank .* at')" \
		"rank 0: MPI_Wait for a message from rank 1 at"
	like "$mpi: ... and has the other tables" "$(cat "$T/report")" \
		'Calls of MPI by waiting time'
done
done_testing
