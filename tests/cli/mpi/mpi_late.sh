#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Waits of known length: a rank that is late to a barrier, a root that is late to a broadcast, a
# late sender. The program reads its clock before each call and inside of it, so it knows bounds of
# what we say, which no load of the machine makes wrong. The same with half of the ranks on another
# host, whose clock is 5,000 s ahead: nobody tells us.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/mpi/mpi_lib.sh"
one_mpi

barrier=$(mpi_line mpi_late.c 'Barrier.*// late$')
root=$(mpi_line mpi_late.c '	MPI_Bcast')
recv=$(mpi_line mpi_late.c '		MPI_Recv')

# fits DESCRIPTION OURS WHAT [ERROR]: ours is within the program's bounds, or by ERROR outside.
fits() {
	# shellcheck disable=SC2046 # two numbers
	within "$1" "$2" $(awk -v what="$3" -v error="${4:-0}" '
		$1 == what { printf "%.0f %.0f", $2 - error, $3 + error }' "$T/out")
}
# last FUNCTION: which rank the sites of a function blame most, and in how many of its calls.
last() {
	by_name -v f="$1" '
		$1 == "mpi-site" { is = get("function") == f && !done }
		$1 == "mpi-late" && is { print get("rank"), get("calls"); done = 1;
			is = 0 }' "$T/records"
}
# judge WHERE [WAITS]: so many waits are between two hosts, and each is as wrong as their clocks.
judge() {
	mpi_read "$T/run"
	error=$(by_name -v n="${2:-0}" '$1 == "mpi-ledger" {
		print n * get("clock_error_ns") }' "$T/records")
	diag "$(tr '\n' ',' <"$T/out") error of clocks $error"
	fits "$1: waiting for a late rank" "$(mpi_sum MPI_Barrier waited_ns "$barrier")" barrier \
		"$error"
	fits "$1: waiting for a late root" "$(mpi_sum MPI_Bcast waited_ns "$root")" root "$error"
	fits "$1: waiting for a late sender" "$(mpi_sum MPI_Recv waited_ns "$recv")" sender
	late=$(last MPI_Bcast)
	is "$1: the root is waited for" "${late% *}" 1
	fits "$1: ... in as many broadcasts as it was" "${late#* }" awaited
}

for mpi in $MPIS; do
	mpi_build "$mpi" mpi_arrive.c -shared -fPIC &&
		mpi_build "$mpi" mpi_late.c "$T/$mpi/mpi_arrive" ||
		skip_all "the program does not build with mpicc.$mpi"
	rm -rf "$T/run"
	mpi_run "$mpi" 3 "$HPCRUN" -q -e MPI -o "$T/run" -- "$T/$mpi/mpi_late" 10 20000 >"$T/out" \
		2>"$T/err"
	is "$mpi: status" $? 0
	judge "$mpi"
	is "$mpi: one host has one clock" \
		"$(by_name '$1 == "mpi-ledger" {
			print get("hosts"), get("clock_error_ns") }' "$T/records")" "1 0"

	if ! unshare --uts --time --monotonic 5000 true 2>/dev/null; then
		skip "$mpi: two hosts" "no rights to make namespaces of time"
		continue
	fi
	cat >"$T/elsewhere" <<-'END'
		#!/bin/sh
		rank=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
		[ "$rank" -gt 1 ] || exec "$@"
		CLOCK_AHEAD_S=5000 exec unshare --uts --time --monotonic 5000 sh -c \
			'hostname elsewhere; exec "$@"' sh "$@"
	END
	chmod +x "$T/elsewhere"
	rm -rf "$T/run"
	mpi_run "$mpi" 4 "$T/elsewhere" "$HPCRUN" -q -e MPI -o "$T/run" -- "$T/$mpi/mpi_late" 10 \
		20000 5000 >"$T/out" 2>"$T/err"
	is "$mpi, two hosts: status" $? 0
	judge "$mpi, two hosts" 30
	is "$mpi: there are two hosts" \
		"$(by_name '$1 == "mpi-ledger" { print get("hosts") }' "$T/records")" 2
	within "$mpi: the error of the clocks is stated" \
		"$(by_name '$1 == "mpi-ledger" {
			print get("clock_error_ns") }' "$T/records")" 1 20000000

	# Its time of day is now 1,000 s ahead, too. Time lines are where they were.
	"$HPCPROF" --all -o "$T/before-db" "$T/run" >"$T/before" 2>/dev/null
	"${PYTHON3:-python3}" - "$T/run"/*-elsewhere-*.hpcrun <<-'END'
		import struct, sys
		for path in sys.argv[1:]:
		    with open(path, "r+b") as f:
		        f.seek(48)
		        ns, = struct.unpack("<Q", f.read(8))
		        f.seek(48)
		        f.write(struct.pack("<Q", ns + 10**12))
	END
	"$HPCPROF" --all -o "$T/after-db" "$T/run" >"$T/after" 2>/dev/null
	for end in start_ns end_ns; do
		is "$mpi: a time of day that is wrong changes no time line, $end" \
			"$(by_name -v end="$end" '$1 == "process" { print get(end) }' "$T/after")" \
			"$(by_name -v end="$end" '$1 == "process" { print get(end) }' "$T/before")"
	done
	like "$mpi: the report says how well times are known" \
		"$("$HPCPROF" --to text --by thread "$T/run" 2>/dev/null)" \
		'^  times on different hosts are compared to [+]-[0-9.]+ [mun]s, by calls of MPI$'
done

done_testing
