#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes programs with much debug information for tests/bench/bench_struct: many.so of 12 units,
# one.so of a single unit, each with hundreds of functions, inlined calls four deep, types and
# variables. No library is needed.
#
#	gen_struct.sh DIR
set -e
dir=$1
CC=${CC:-gcc}

# unit NUMBER FUNCTIONS
unit() {
	awk -v u="$1" -v n="$2" 'BEGIN {
		for (k = 0; k < 40; k++) {
			printf "struct s%d_%d { int a%d; double b; struct { long c[%d]; char *d; } e; struct s%d_%d *next; };\n", u, k, k, k + 1, u, k
			printf "enum e%d_%d { E%d_%d_A, E%d_%d_B, E%d_%d_C };\n", u, k, u, k, u, k,
				u, k
		}
		for (f = 0; f < n; f++) {
			k = f % 40
			printf "static inline __attribute__((always_inline)) int in%d_%d_0(int x, struct s%d_%d *p) { int t = x * %d; p->a%d += t; return t ^ x; }\n", u, f, u, k, f + 3, k
			for (d = 1; d < 4; d++)
				printf "static inline __attribute__((always_inline)) int in%d_%d_%d(int x, struct s%d_%d *p) { int r = 0; for (int i = 0; i < x; i++) { r += in%d_%d_%d(x + i, p); if (r > %d) { int z = r - i; r -= z >> 1; } } return r; }\n", u, f, d, u, k, u, f, d - 1, f
			printf "int fn%d_%d(int x, struct s%d_%d *p, enum e%d_%d e) { int a = in%d_%d_3(x, p), b = in%d_%d_2(x + 1, p); return e == E%d_%d_B ? a + b : a - b; }\n", u, f, u, k, u, k, u, f, u, f, u, k
		}
	}'
}

objects=
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do
	unit $i 60 >"$dir/u$i.c"
	"$CC" -g -O2 -fPIC -c "$dir/u$i.c" -o "$dir/u$i.o"
	objects="$objects $dir/u$i.o"
done
# shellcheck disable=SC2086 # a list
"$CC" -shared -nostdlib $objects -o "$dir/many.so"
unit 0 800 >"$dir/one.c"
"$CC" -g -O1 -fPIC -shared -nostdlib "$dir/one.c" -o "$dir/one.so"
rm -f "$dir"/u*.c "$dir"/u*.o "$dir/one.c"
