#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measurements of all kinds by three ranks: the database and the reports are those of one process.
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/parts/parts_lib.sh"

cd "$T" || exit 99
NO_COLOR=1 # Open MPI gives ranks a terminal
export NO_COLOR

# compare_ranks NAME DIR
compare_ranks() {
	"$HPCPROF" -q --no-structs --to cctdb,text,json --all -o one "$2" >text.one 2>err.one
	parts_status=$?
	prof_ranks 3 -q --no-structs --to cctdb,text,json --all -o three "$2" \
		>text.three 2>err.three
	is "$1: three ranks return the same" "$?" "$parts_status"
	is "... write the same" "$(diff -r one three 2>&1)" ""
	same "... say the same" text.one text.three
	same "... and warn of the same" err.one err.three
	rm -rf one three
}

for golden in prof/job prof/gpu-killed forks torch_backward; do
	name=$(basename "$golden")
	mkdir "$name"
	cp "$srcdir/tests/golden/$golden"/*.hpcrun* "$name"
	gunzip -f "$name"/*.gz 2>/dev/null
	compare_ranks "$golden" "$name"
done
for golden in nvidia torch; do
	mkdir "$golden"
	cp "$srcdir/tests/golden/$golden"/*.hpcrun.gz "$golden"
	gunzip -f "$golden"/*.gz
	compare_ranks "$golden, all in one job" "$golden"
done
"$builddir/tests/gen/gen_scale" -r 24 -t 1 -g 50 gpu.many
compare_ranks "queues of 24 ranks on three hosts" gpu.many
"$HPCPROF" -q --to cctdb -o one gpu.many
prof_ranks 3 -q --to cctdb -o three gpu.many 2>err
is "... the database alone is the same" "$(diff -r one three 2>&1)$(cat err)" ""
rm -rf one three
"$builddir/tests/gen/gen_scale" -r 9 -t 2 -m 50 mpi.many
compare_ranks "calls of nine ranks on two hosts" mpi.many
done_testing
