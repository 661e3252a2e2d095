#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Test of the mini-application by itself: it solves what it says, gives the same bits for any number
# of threads and either schedule, and starts again from a checkpoint as if nothing had happened.

. "${srcdir:-.}/tests/lib.sh"

# shellcheck disable=SC2154 # builddir comes from lib.sh
melt=$builddir/tests/workload/miniapp/melt
[ -x "$melt" ] || skip_all "the mini-application is not built (no OpenMP)"
small="--cells 32 --steps 4"

# shellcheck disable=SC2086 # a list of options
{
	ok "the case with a known solution agrees with it" run_limited 120 "$melt" --case linear \
		$small
	run_limited 120 "$melt" $small --threads 1 >"$T/one"
	is "melting: status" $? 0
	like "melting: verified" "$(cat "$T/one")" '^verified$'
	run_limited 120 "$melt" $small --threads 3 >"$T/three"
	same "the same bits with three threads" "$T/one" "$T/three"
	run_limited 120 "$melt" $small --threads 3 --schedule dynamic >"$T/dynamic"
	same "the same bits with the other schedule" "$T/one" "$T/dynamic"
	run_limited 120 "$melt" $small --checkpoint "$T/ck" --every 2 >"$T/writing"
	same "writing checkpoints changes nothing" "$T/one" "$T/writing"
}
is "a checkpoint each two steps" "$(cd "$T" && echo ck.*)" "ck.2.0 ck.4.0"
run_limited 120 "$melt" --cells 32 --steps 2 --restart "$T/ck.2" >"$T/again"
is "a restart ends with the same bits" "$(grep checksum "$T/again")" "$(grep checksum "$T/one")"

dd if=/dev/zero of="$T/ck.2.0" bs=1 seek=1000 count=20 conv=notrunc 2>/dev/null
not_ok "a damaged checkpoint is refused" run_limited 120 "$melt" --cells 32 --restart "$T/ck.2"
not_ok "so is one of another mesh" run_limited 120 "$melt" --cells 16 --restart "$T/ck.4"
run_limited 120 "$melt" --cells 0 2>"$T/err"
is "bad usage: status" $? 2
like "bad usage: said" "$(cat "$T/err")" '^melt: --cells: 0: '

done_testing
