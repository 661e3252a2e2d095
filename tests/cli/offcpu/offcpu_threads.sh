#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# OFFCPU and many threads: sleeping ones are looked at ever more rarely, and threads that share a
# processor wait for it.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/offcpu/offcpu_lib.sh"

# 200 samples a second would be 400. In a wait of two seconds there are 8 at the full rate, and then
# each comes after a quarter more.
offcpu_measure "-e OFFCPU" "$OFFCPU_W/offcpu_threads" sleep 200
within "samples of a thread that sleeps for 2 s" \
	"$(by_name '$1 == "ledger" && get("of") == "all" {
		print get("delivered") / 201 }' "$T/all.txt")" 5 60
within "... which have all of its time" "$(offcpu_ms OFFCPU ';sleep_long;.*<blocked: sleep>')" \
	396000 1e9
within "... and add up, in %" "$(offcpu_gap)" 0 1

offcpu_measure "-e CPUTIME -e OFFCPU" "$OFFCPU_W/offcpu_threads" share
truth=$(awk '{ print $1 / 1e6 }' "$T/truth")
within "two threads on one processor waited for it for $truth ms" \
	"$(offcpu_ms OFFCPU ';compute;.*<ready, no processor>')" \
	"$(echo "$truth" | awk '{ print $1 * 0.9 - 20 }')" \
	"$(echo "$truth" | awk '{ print $1 * 1.05 + 20 }')"
within "... at least the time in which the other ran" \
	"$(offcpu_ms OFFCPU ';compute;.*<ready, no processor>')" 400 1e9

done_testing
