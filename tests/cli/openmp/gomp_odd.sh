#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Programs of libgomp beyond plain regions behave as without us, their measurements are sound, and
# their regions have exact sums. needs: gomp_programs run_check gomp_check
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

ODD=$builddir/tests/workload/gomp/gomp_odd
REGIONS=$builddir/tests/workload/gomp/gomp_check
[ -x "$ODD" ] || skip_all "gcc has no OpenMP here"
export OMP_CANCELLATION=true

# plain KIND: without us. Leaves $T/plain and $plain_status.
plain() {
	plain_status=0
	run_limited 60 "$ODD" "$1" >"$T/plain" 2>"$T/plain.err" || plain_status=$?
}

# regions: the sums of the last measurement, in $T/regions.
regions() {
	"$REGIONS" "$OUT"/*.hpcrun >"$T/regions"
}

# total COLUMN: of $T/regions.
total() {
	awk -v c="$1" '{ sum += $c } END { printf "%.0f\n", sum }' "$T/regions"
}

# behaves KIND [LAUNCHER OPTION]: the same output and status, and sound files.
behaves() {
	plain "$1"
	measure ${2:+"$2"} -- "$ODD" "$1"
	is "$1${2:+ $2}: exit status" "$status" "$plain_status"
	same "$1${2:+ $2}: output" "$T/stdout" "$T/plain"
	sound "$1${2:+ $2}: files are sound"
	ok "$1${2:+ $2}: sums are possible" regions
	regions
}

behaves kinds
is "kinds: each way to start a team is seen" "$(awk '{ print $1, $2 }' "$T/regions" | sort -u)" \
	"2 20"
is "kinds: one record for each region" "$(wc -l <"$T/regions" | tr -d ' ')" 10

behaves small
is "small: teams and instances" "$(awk '{ print $1, $2 }' "$T/regions" | sort | tr '\n' ,)" \
	"1 1,1 1,1 1,1 1,2 1,"

behaves cancel
is "cancel: instances" "$(total 2)" 50

behaves fork
behaves jump

behaves pools
is "pools: each thread that forks has a record" "$(wc -l <"$T/regions" | tr -d ' ')" 12
is "pools: instances" "$(total 2)" 2400

behaves deep
# one region, inside itself; 16 levels are described
is "deep: regions" "$(awk '$8 + $9' "$T/regions" | wc -l | tr -d ' ')" 1
is "deep: described regions" "$(awk '$8 + $9 { n += $2 } END { print n }' "$T/regions")" 16
is "deep: the others are counted" "$(awk '$8 + $9 == 0 { print $2 }' "$T/regions")" 24

behaves many
is "many: records" "$(wc -l <"$T/regions" | tr -d ' ')" 513
is "many: instances" "$(total 2)" 600
is "many: those without room are counted together" \
	"$(awk '$8 + $9 == 0 { print $2 }' "$T/regions")" 88

behaves exit
behaves small --no-openmp
is "--no-openmp: no sums" "$(total 2)" 0

# The program's clocks are inside of ours in the function, and outside of ours from fork to join.
measure -- "$ODD" times
regions
read -r instances elapsed busy longest shortest <"$T/stderr"
is "times: instances" "$(total 2)" "$instances"
within "times: from fork to join" "$(total 4)" "$longest" "$elapsed"
within "times: in the function" "$(total 5)" "$busy" $((2 * elapsed))
within "times: of the longest" "$(total 6)" "$longest" "$elapsed"
within "times: of the shortest" "$(total 7)" "$shortest" "$elapsed"

done_testing
