#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A process with several OpenMP run times: each library reaches its own through our hooks, as it
# does without them. needs: gomp_programs run_check gomp_check
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

G=$builddir/tests/workload/gomp
[ -x "$G/gomp_host" ] || skip_all "gcc has no OpenMP here"

# behaves DESCRIPTION REGIONS LIBRARY...: the same output; REGIONS is how many regions it ran.
behaves() {
	b_what=$1
	b_regions=$2
	shift 2
	run_limited 60 "$G/gomp_host" "$@" >"$T/plain"
	measure -- "$G/gomp_host" "$@"
	is "$b_what: exit status" "$status" 0
	same "$b_what: output" "$T/stdout" "$T/plain"
	unlike "$b_what: every region ran in the right team" "$(cat "$T/stdout")" \
		': ([0-9]|[0-9][0-9]|1[013-9][0-9]) of'
	sound "$b_what: files are sound"
	"$G/gomp_check" "$OUT"/*.hpcrun >"$T/regions"
	is "$b_what: instances of regions" "$(awk '{ n += $2 } END { print n }' "$T/regions")" \
		"$b_regions"
}

# Each library runs 20 outer and 60 inner regions in each of 3 rounds, and again when each later
# library has been loaded.
behaves "one" 240 "$G/usual.so"
behaves "own ones" 1440 "$G/usual.so" "$G/with_libgo-1.so" "$G/with_libgo-2.so"
behaves "a global one later" 1440 "$G/with_libgo-1.so" "global:$G/usual.so" "$G/with_libgo-2.so"
behaves "a global one before the first region" 480 "late:$G/with_libgo-1.so" "global:$G/usual.so"
behaves "a global one first" 720 "global:$G/with_libgo-2.so" "$G/with_libgo-1.so"
# Workers whose code goes away sleep as without us, whatever interrupts them.
run_limited 60 env OMP_WAIT_POLICY=passive "$G/gomp_unload" "$G/usual.so" >"$T/plain"
for events in CPUTIME "REALTIME -e CPUTIME" OFFCPU; do
	for i in $(seq "$(thorough 2 20)"); do
		# shellcheck disable=SC2086 # words
		OMP_WAIT_POLICY=passive measure -e $events -- "$G/gomp_unload" "$G/usual.so"
		[ "$status" = 0 ] || break
	done
	is "unloaded workers, $events: exit status of run $i" "$status" 0
	same "unloaded workers, $events: output" "$T/stdout" "$T/plain"
	[ "$events" = OFFCPU ] || sound "unloaded workers, $events: files are sound"
done

if [ -e "$G/with_libomp.so" ]; then
	behaves "libomp" 720 "$G/with_libgo-1.so" "$G/with_libomp.so"
else
	skip "libomp" "not here"
fi

gomp=$(ldd "$G/usual.so" | sed -n 's/.*libgomp\.so\.1 => \(\S*\) .*/\1/p')
measure -- "$G/gomp_jit"
is "without libgomp: a thread gets each loop that is not empty" "$(cat "$T/stdout")" "0011 0011"
measure -- "$G/gomp_jit" "$gomp"
is "code in no object: its teams" "$(cat "$T/stdout")" "10 teams of 4"
measure --no-openmp -- "$G/gomp_jit" "$gomp"
is "code in no object, --no-openmp: its teams" "$(cat "$T/stdout")" "10 teams of 4"
done_testing
