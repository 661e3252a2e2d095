#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia beside a program with a profiler of its own, on a driver and a CUPTI that do not
# exist: the profiler sees what it sees without us, we have the rest, and what neither path shows is
# counted. tests/gpu/all.sh yield does the same on a GPU.
# shellcheck disable=SC2034,SC2154 # truth.sh and lib.sh

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/yield/cuda_yield
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/yield/yield.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake
EVENTS="-e gpu=nvidia"
yield_calls

NAME=stopped measured windows stopped
yielded stopped
is "stopped: what is launched while measurement is off is not counted" "$(n_losses stopped)" 0

# windows are no idle time: nothing is said then
EVENTS="-e CPUTIME -e gpu=nvidia" NAME=idle SAME='^truth' measured windows
is "devices of whose idle time something is said" "$(grep -c '^gpu-idle' all-idle)" 0

# what excludes a profiler of the program ends at its first call
for options in pc pc,mode=serialized pc,mode=bursts pc,notimes counters=dram record; do
	EVENTS="-e gpu=nvidia,$options" NAME=ends SAME='^(truth|result|unseen)' measured windows
	is "$options: what is launched in windows is counted" "$(lost ends yielded)" \
		"$(awk '$1 == "unseen" { print $2 }' out-ends)"
	like "$options: a note says that it ends" "$(cat all-ends)" \
		'^note.*(a profiler of the program uses CUPTI: .* end here|recording ends here)'
done
done_testing
