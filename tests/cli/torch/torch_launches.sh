#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Kernels that a backward pass launches are below the forward line, too, with hpcrun-lite --torch.
# The driver does not exist (tests/gpu/fake/fake_cuda.c).
# needs: torch_program
# needs: libtorch_cpu.la

. "${srcdir:-.}/tests/lib.sh"
program=$builddir/tests/workload/torch/torch_program
library=$builddir/tests/workload/torch/.libs/libtorch_cpu.so
[ -e "$library" ] || skip_all "the program is not built"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

# kernels ERE OPTION...: how many kernels are below paths that match
kernels() {
	pattern=$1
	shift
	rm -rf m db
	run_limited 60 "$HPCRUN" -q "$@" -o m -- "$program" "$library" launch >out 2>err ||
		echo failed
	"$HPCPROF" -q --to folded -o db m
	sed -n 's/ [0-9]*$//; /;<gpu kernel>/p' db/folded/GPUOP*.folded | grep -c "$pattern"
}

is "without --torch" "$(kernels '' -e gpu=nvidia)" 1
is "with --torch: two paths" "$(kernels '' -e gpu=nvidia --torch)" 2
for line in line_a line_b; do
	below="^main.*;$line;backward;Node;launch;"
	is "$line" "$(kernels "$below" -e gpu=nvidia --torch)" 1
	is "$line, with samples" "$(kernels "$below" -e CPUTIME -e gpu=nvidia --torch)" 1
done

done_testing
