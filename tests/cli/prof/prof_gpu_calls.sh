#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PC samples that an H200 gave for the kernels of a golden cubin, through hpcstruct-lite and
# hpcprof-lite: device functions that were not inlined stand below the lines that call them, and no
# sample is lost or made up.
. "${srcdir:-.}/tests/lib.sh"

cubin=$srcdir/tests/golden/cubin/calls.sm_90.lineinfo.cubin
samples=$srcdir/tests/golden/prof/pc/calls-h200.txt
ok "a measurement of them" "$builddir/tests/gen/gen_pc" "$T/run" "$cubin" "$samples"
ok "the structure of the cubin" "$builddir/hpcstruct-lite/hpcstruct-lite" \
	-q --no-cache -o "$T/code.hpcstruct" "$cubin"
mkdir "$T/run/structs"
for f in "$T"/run/gpubins/*.gpubin; do
	code=${f##*/}
	cp "$T/code.hpcstruct" "$T/run/structs/${code%.gpubin}.hpcstruct"
done
"$HPCPROF" --no-structs --to text --all "$T/run" >"$T/all" 2>"$T/err" ||
	fail "hpcprof-lite: status $?"

total=$(awk '{ n += $3 } END { printf "%.0f", n }' "$samples")
is "every sample is in the tree" "$(by_name '$1 == "tree" && get("metric") == "GINS" &&
	get("depth") == 0 { printf "%.0f", get("inclusive") }' "$T/all")" "$total"
is "exact and apportioned ones add up" \
	"$(by_name '$1 == "gpu-sampling" && get("of") == "all" {
		printf "%.0f", get("exact") + get("apportioned") }' "$T/all")" \
	"$total"
is "the ranges close" "$(by_name '$1 == "gpu-sampling" && get("of") == "all" {
	print get("closes") }' "$T/all")" 1

for kernel in 'two_places(float*, int)' 'other(float*, int)'; do
	like "$kernel calls mid, mid calls leaf" \
		"$(by_name -v kernel="$kernel" '$1 == "tree" && get("metric") == "GINS" &&
			get("kind") == "function" { if (get("name") == kernel) on = get("depth");
			else if (on && get("depth") <= on) on = 0
		if (on) printf "%d %s;", get("depth") - on, get("name") }' "$T/all")" \
			";[2-9] mid\\(float, int\\);[4-9] leaf\\(float\\);"
done
is "nothing stands directly below a kernel that calls are known to" \
	"$(by_name '$1 == "tree" && get("metric") == "GINS" &&
		get("kind") == "function" { if (get("name") ~ /^(mid|leaf|fib)\(/ &&
			above ~ /^function/) n++ }
		$1 == "tree" { above = get("kind") }
	END { print n + 0 }' "$T/all")" 0
is "recursion ends at its first call" "$(by_name '$1 == "tree" && get("metric") == "GINS" &&
	get("kind") == "function" && get("name") ~ /^fib\(/' "$T/all" | wc -l | tr -d ' ')" 1
done_testing
