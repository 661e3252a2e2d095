#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia,yield beside a program with a profiler of its own, on a driver and a CUPTI that do not
# exist: the profiler sees what it sees without us, we have the rest, and what neither path shows is
# counted. tests/gpu/all.sh yield does the same on a GPU.
# shellcheck disable=SC2034,SC2154 # truth.sh and lib.sh

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/yield/cuda_yield
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/yield/yield.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake
EVENTS="-e gpu=nvidia,yield"
yield_calls

NAME=stopped measured windows stopped
yielded stopped
is "stopped: what is launched while measurement is off is not counted" "$(n_losses stopped)" 0

# without it nothing changes
EVENTS="-e gpu=nvidia" NAME=ours
SAME='^truth' measured windows
is "without yield all is ours" \
	"$(grep '^result' out-ours | sort -u | wc -l) $(n_losses ours) $(joined ours kernel)" \
	"2 0 $(($(truth ours kernel) + 24))"
like "without yield the profiler gets no subscription" "$(cat out-ours)" '^profiler: .*: 39$'

# windows are no idle time: nothing is said then
for options in gpu=nvidia gpu=nvidia,yield; do
	EVENTS="-e CPUTIME -e $options" NAME=idle SAME='^truth' measured windows
	is "$options: devices of whose idle time something is said" \
		"$(grep -c '^gpu-idle' all-idle)" "$([ "$options" = gpu=nvidia ]; echo $((1 - $?)))"
done

# the command line
# refused WHAT MESSAGE OPTION...
refused() {
	not_ok "$1" "$HPCRUN" -o "m-$1" "$3" ${4:+"$4"} ${5:+"$5"} true
	like "$1: why" "$(cat .ok.out)" "$2"
}
refused pc 'cannot sample instructions with yield' -e gpu=nvidia,pc,yield
refused record 'cannot be recorded with yield' -e gpu=nvidia,yield,record
refused record-gpu 'cannot be recorded with yield' --record-gpu -e gpu=nvidia,yield
done_testing
