#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Several GPUs, on a driver and a CUPTI that do not exist (tests/gpu/fake/fake_cuda.c) and have two:
# what tests/gpu/several.sh asks of a machine with GPUs.

# shellcheck disable=SC2034,SC2154 # variables of lib.sh, and for several.sh
. "${srcdir:-.}/tests/lib.sh"
SEVERAL=$builddir/tests/gpu/cuda_several
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/checks.sh"
. "$srcdir/tests/gpu/several.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake
FAKE_DEVICES=2
FAKE_SHARED=$T/shared # processes on one GPU have it in turn
export FAKE_DEVICES FAKE_SHARED

is "-L lists both" "$("$HPCRUN" -L | grep -c '^ *GPU [01]: Fake GPU')" 2
# events also measure how long the machine let us wait
SLACK=0.9
UNITS=12 PC=gpu=nvidia,pc@18 # so few that a machine that lets us wait for seconds loses none
ONE=400 THREADS=100 LOOPS=200
# There are no lines: the first half of the instructions is one loop, the second the other.
in_loop() {
	by_name -v name="$2" -v half="$3" '$1 == "tree" && get("metric") == "GINS" {
		if (below && get("depth") <= below) below = 0
		if (get("kind") == "function" && (get("name") == name ||
			index(get("name"), name ".") == 1)) below = get("depth")
		if (below && get("kind") == "instruction" && get("name") == "either" &&
			(half == "LOOP_OF_SECOND") == (get("place") ~ /^0x[89a-f].$/))
			n += get("exclusive") }
		END { print n + 0 }' "all-$1"
}
several_section
is "one: time of the kernels" \
	"$(on_gpu one 0 kernel s | cut -c1-5) $(on_gpu one 1 kernel s | cut -c1-5)" "0.160 0.120"
done_testing
