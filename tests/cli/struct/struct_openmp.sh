#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Calls of OpenMP's run time in a program are found, as objdump finds them, and no others.

. "${srcdir:-.}/tests/lib.sh"

need cc objdump
cat >"$T/calls.c" <<'EOF'
#include <math.h>
#include <stdio.h>
double sum;
int main(int argc, char **argv)
{
	(void)argv;
#pragma omp parallel
	{
#pragma omp critical
		sum += sin(argc);
#pragma omp barrier
#pragma omp for schedule(dynamic)
		for (int i = 0; i < argc; i++)
			sum += cos(i);
	}
	printf("%g\n", sum);
	return 0;
}
EOF
cc -O2 -g -fopenmp -o "$T/calls" "$T/calls.c" -lm >"$T/cc.log" 2>&1 ||
	skip_all "the compiler has no OpenMP"
ok "the program is analysed" "$HPCSTRUCT" -q --no-cache -o "$T/s" "$T/calls"

"$HPCSTRUCT" --print "$T/s" |
	sed -n 's/^  0x\([0-9a-f]*\) .* to \(.*\)@plt$/\1 \2/p' >"$T/found"
objdump -d "$T/calls" | grep 'call.*<\(GOMP_\|omp_\).*@plt>' |
	sed 's/^ *\([0-9a-f]*\):.* <\(.*\)@plt>$/\1 \2/' >"$T/calls.txt"
ok "there are calls" grep -q "GOMP_critical_start" "$T/calls.txt"
is "they are those of objdump" "$(cat "$T/found")" "$(cat "$T/calls.txt")"

done_testing
