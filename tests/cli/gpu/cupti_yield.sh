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

# needs: cupti_samples
yield_samples "$builddir/tests/gpu/yield/cupti_samples" 1

# windows are no idle time: nothing is said then
EVENTS="-e CPUTIME -e gpu=nvidia" NAME=idle SAME='^truth' measured windows
is "devices of whose idle time something is said" "$(grep -c '^gpu-idle' all-idle)" 0

# a program that opens another copy of CUPTI gets ours, which sees its calls; before CUDA starts it
# keeps its own
mkdir fake/copy
cp fake/libcuda.so.1 fake/copy/libcupti.so
CUPTI_FILE=$T/fake/copy/libcupti.so
export CUPTI_FILE
NAME=copy SAME='^truth' measured windows local
is "copy: the profiler has what it has with one copy" "$(grep '^result' out-copy)" \
	"$(grep '^result' out-local)"
yielded copy
NAME=copyearly measured windows local early
like "copy, early: a note says that ours is not used" "$(cat all-copyearly)" \
	'^note.*another copy of CUPTI'
unset CUPTI_FILE

yield_exclusive
# needs: injected.la
yield_injected "$builddir/tests/gpu/yield/.libs/injected.so"
done_testing
