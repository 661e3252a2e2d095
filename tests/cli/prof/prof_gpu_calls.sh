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
is "every sample is in the tree" "$(awk -F'\t' '$1 == "tree" && $2 == "GINS" &&
	$3 == 0 { printf "%.0f", $7 }' "$T/all")" "$total"
is "exact and apportioned ones add up" \
	"$(awk -F'\t' '$1 == "gpu-sampling" && $2 == "all" { printf "%.0f", $9 + $10 }' "$T/all")" \
	"$total"
is "the ranges close" "$(awk -F'\t' '$1 == "gpu-sampling" && $2 == "all" { print $15 }' "$T/all")" 1

for kernel in 'two_places(float*, int)' 'other(float*, int)'; do
	like "$kernel calls mid, mid calls leaf" \
		"$(awk -F'\t' -v kernel="$kernel" '$1 == "tree" && $2 == "GINS" &&
			$4 == "function" { if ($5 == kernel) on = $3;
			else if (on && $3 <= on) on = 0
		if (on) printf "%d %s;", $3 - on, $5 }' "$T/all")" \
			";[2-9] mid\\(float, int\\);[4-9] leaf\\(float\\);"
done
is "nothing stands directly below a kernel that calls are known to" \
	"$(awk -F'\t' '$1 == "tree" && $2 == "GINS" &&
		$4 == "function" { if ($5 ~ /^(mid|leaf|fib)\(/ && above ~ /^function/) n++ }
		$1 == "tree" { above = $4 }
	END { print n + 0 }' "$T/all")" 0
is "recursion ends at its first call" "$(awk -F'\t' '$1 == "tree" && $2 == "GINS" &&
	$4 == "function" && $5 ~ /^fib\(/' "$T/all" | wc -l | tr -d ' ')" 1
done_testing
