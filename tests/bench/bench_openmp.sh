#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What measuring costs programs with OpenMP, for libgomp (gcc) and libomp (clang): ns for an empty
# parallel region and for a barrier, and elapsed time of the mini-application as a ratio to the
# plain program. Medians of RUNS (default 5) interleaved runs. What is not installed is left out
# with a word. Asserts nothing.
b=$(cd "${top_builddir:-.}" && pwd)
s=$(cd "${top_srcdir:-.}" && pwd)
hpcrun=$b/hpcrun-lite/hpcrun-lite
n=${RUNS:-5}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-openmp.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT
cd "$t" || exit 1

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# under KIND COMMAND...
under() {
	kind=$1
	shift
	rm -rf "$t/out"
	case $kind in
	plain) "$@" ;;
	*) "$hpcrun" -q -e "$kind" -o "$t/out" -- "$@" ;;
	esac
}

# regions COMMAND...: lines "region KIND NS" and "barrier KIND NS".
regions() {
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		for k in plain CPUTIME; do
			under $k "$@" 2>/dev/null | sed "s/ / $k /"
		done
	done
}

# elapsed COMMAND...: lines "elapsed KIND SECONDS"
elapsed() {
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		for k in plain CPUTIME; do
			start=$(date +%s.%N)
			under $k "$@" >/dev/null 2>&1
			echo "$start $(date +%s.%N)" | awk -v k=$k '{ print "elapsed", k, $2 - $1 }'
		done
	done
}

# line NAME WHAT UNIT: medians and their ratio.
line() {
	p=$(awk -v w="$2" '$1 == w && $2 == "plain" { print $3 }' "$t/figures" | median)
	m=$(awk -v w="$2" '$1 == w && $2 == "CPUTIME" { print $3 }' "$t/figures" | median)
	echo "$1 $p $m $3" | awk '{ printf "%-26s plain %9.2f  measured %9.2f %s  %6.3f x\n", $1,
		$2, $3, $4, ($2 > 0 ? $3 / $2 : 0) }'
}

melt="cg checkpoint heat main material matrix multigrid simulation heat_omp kernels_omp comm_serial"
for cc in gcc "${CLANG:-clang}"; do
	if ! $cc -std=gnu11 -O2 -g -fopenmp -o regions "$s/tests/bench/omp_regions.c" \
		2>/dev/null; then
		echo "bench_openmp: $cc cannot build OpenMP programs, left out"
		continue
	fi
	regions ./regions 2 >"$t/figures"
	line "$cc:empty-region" region ns
	line "$cc:barrier" barrier ns
	files=
	for f in $melt; do files="$files $s/tests/workload/miniapp/$f.c"; done
	# shellcheck disable=SC2086 # a list
	if $cc -std=gnu11 -D_GNU_SOURCE -I"$s" -O2 -g -fopenmp -o melt $files -lm -lpthread; then
		OMP_NUM_THREADS=2 elapsed ./melt --cells 32 --steps 8 >"$t/figures"
		line "$cc:mini-application" elapsed s
	fi
done
