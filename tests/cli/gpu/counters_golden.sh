#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Counters of kernels on an H200, from recordings of tests/gpu/counters/counter_ways.cu
# (tests/golden/counters), against what ncu said of the same program, and against what its kernels
# do. Needs no GPU.

# needs: fuzz_measurement
# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
have python3 || skip_all "no python3 here"
golden=$srcdir/tests/golden/counters
cd "$T" || exit 99
unset COLUMNS NO_COLOR

# dram: in one pass; roofline: kernels were replayed, as ncu does
for name in dram roofline; do
	mkdir $name
	gzip -dc "$golden/$name.hpcrun.gz" >$name/norank-vm-1.hpcrun
	ok "$name: analysed" run_limited 120 \
		sh -c "'$HPCPROF' -q --no-structs --to text --all $name >all-$name 2>err-$name"
	is "$name: nothing is damaged" "$(grep -c damaged err-$name)" 0
	ncu=-
	[ $name = dram ] || ncu=$golden/known.ncu
	python3 "$srcdir/tests/gpu/counters/counters_compare.py" all-$name "$ncu" \
		"$golden/$name.out" >tap
	while read -r line; do
		case $line in
		ok*) pass "$name: ${line#ok - }" ;;
		*) fail "$name: ${line#not ok - }" ;;
		esac
	done <tap
	within "$name: values were looked at" "$(grep -c '^ok' tap)" 1 200
	"$HPCPROF" -q --no-structs --to text $name 2>err |
		sed -n '/^GPU counters/,/^$/p' >report-$name
	ok "$name: the report is as it was" diff "$golden/$name.txt" report-$name
	ok "$name: mutants of the file are read" run_limited 120 \
		"$builddir/tests/fuzz/fuzz_measurement" -n "$(thorough 3 100)" $name/*.hpcrun
done

done_testing
