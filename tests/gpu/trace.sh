#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia on a GPU: the ways of cuda_calls against their own counts, then what it costs. Needs an
# NVIDIA driver and libcupti.so.13; no compiler. Not in make check.
#
#     top_builddir=BUILD srcdir=SOURCE sh tests/gpu/trace.sh        (HPCRUN=, HPCPROF=, CUDA_CALLS=:
#         other places)

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=${CUDA_CALLS:-$builddir/tests/gpu/cuda_calls}
[ -x "$CUDA_CALLS" ] || skip_all "no $CUDA_CALLS: built without CUPTI"
. "$srcdir/tests/gpu/truth.sh"
cd "$T" || exit 99
plain paths
[ "$plain_status" -ne 77 ] || skip_all "$(cat plain-paths)"

diag "$("$HPCRUN" -L | sed -n '/gpu=nvidia/,$p')"
. "$srcdir/tests/gpu/ways.sh"

# The cost of a launch: three runs of each, in turn; figures, no verdict.
for i in 1 2 3; do
	diag "empty kernels, ns a launch: plain $("$CUDA_CALLS" storm 200000 |
		awk '/^ns-per/ { print $2 }')," \
		"gpu=nvidia $("$HPCRUN" -q -e gpu=nvidia -o "m-cost$i" "$CUDA_CALLS" storm 200000 |
		awk '/^ns-per/ { print $2 }')," \
		"CPUTIME and gpu=nvidia $("$HPCRUN" -q -e CPUTIME -e gpu=nvidia -o "m-both$i" \
		"$CUDA_CALLS" storm 200000 | awk '/^ns-per/ { print $2 }')"
done
for i in 1 2 3; do
	diag "50,000 kernels of 20 us, elapsed ns: plain $("$CUDA_CALLS" busy 50000 |
		awk '/^elapsed/ { print $2 }')," \
		"CPUTIME $("$HPCRUN" -q -e CPUTIME -o "m-cpu$i" "$CUDA_CALLS" busy 50000 |
		awk '/^elapsed/ { print $2 }')," \
		"CPUTIME and gpu=nvidia $("$HPCRUN" -q -e CPUTIME -e gpu=nvidia -o "m-busy$i" \
		"$CUDA_CALLS" busy 50000 | awk '/^elapsed/ { print $2 }')"
done
diag "measurement bytes a launch: $(($(du -sk m-cost1 | awk '{ print $1 }') * 1024 / 201000))"
done_testing
