#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranges of NVTX: names, counts, CPU time inside, domains, categories, marks, and threads.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/run_lib.sh"
PROGRAM=$builddir/tests/workload/nvtx/nvtx_program

# report: the table in $T/table.
report() {
	COLUMNS=160 "$HPCPROF" -q --no-structs --to text --threshold 0 "$OUT" >"$T/report" \
		2>"$T/prof.err" || fail "hpcprof-lite: $(cat "$T/prof.err")"
	sed -n '/^Ranges of NVTX/,/^$/p' "$T/report" >"$T/table"
}

# count NAME: of the row; NAME is a pattern for the whole name.
count() {
	sed -n "s/^ *\([0-9.k]*\) .*  $1\$/\1/p" "$T/table" | tr -d ,
}

# cpu_ms NAME: CPU time in the range.
cpu_ms() {
	sed -n "s/  $1\$//p" "$T/table" | awk '{
		unit = $(NF - 1); value = $(NF - 2)
		print int(value * (unit == "s" ? 1000 : unit == "us" ? 0.001 : 1) + 0.5)
	}'
}

PLAIN=$("$PROGRAM" ranges)
measure -q -e CPUTIME@f500 -e NVTX -- "$PROGRAM" ranges
is 'status' "$status" 0
is 'the same output, and nothing in the environment' "$(cat "$T/stdout")" "$PLAIN"
sound 'every identity holds'
report
is 'outer' "$(count outer)" 1
is 'a wide name' "$(count 'inn.*r')" 1
is 'in a domain, with a category' "$(count 'solver: iterate \[linear\]')" 100
is 'ranges of domains may overlap' "$(count default)" 100
is 'marks' "$(count tick)" 100
is 'a registered string' "$(count 'solver: step')" 1
is 'one text, in no domain' "$(count 'same text')" 2
is 'one text, in a domain' "$(count 'solver: same text')" 2
is 'one text, in a domain and category' "$(count 'solver: same text \[linear\]')" 2
is 'without the numbers of PyTorch' "$(count 'aten::conv2d')" 2
is 'ended by the same thread' "$(count same)" 1
is 'ended by another thread' "$(count 'from thread to thread')" 1
like 'a range that ends with its thread' "$(grep -A1 'ends with its thread' "$T/table")" \
	'1 not ended'
# The sampling error of 300 samples, and the first sample after a change of source.
within 'CPU time of outer, with what it contains' "$(cpu_ms outer)" 540 660
within 'CPU time of the first of two' "$(cpu_ms 'first of two')" 160 240
within 'CPU time of the second' "$(cpu_ms 'second of two')" 160 240
is 'both contain the same range' "$(count 'in both')" 2
within 'CPU time of inner' "$(cpu_ms 'inn.*r')" 350 450
"$HPCPROF" -q --no-structs --to text --by thread "$OUT" >"$T/threads" 2>&1
ok 'the name of a thread' grep -q 'helper of ranges' "$T/threads"

# Who has a tool of his own keeps it, and without the option NVTX finds no tool.
NVTX_INJECTION64_PATH=/nowhere/tool.so
export NVTX_INJECTION64_PATH
measure -q -e NVTX -- "$PROGRAM" found
is 'the tool of the user' "$(head -n 2 "$T/stdout")" \
	'NVTX_INJECTION64_PATH=/nowhere/tool.so
0'
unset NVTX_INJECTION64_PATH
measure -q -e CPUTIME -- "$PROGRAM" found
is 'not without the option' "$(head -n 1 "$T/stdout")" 0
measure -q -e NVTX -- "$PROGRAM" found
is 'with the option alone' "$(head -n 1 "$T/stdout")" 1
report
is 'with the option alone: there is a report' "$(count last)" 1

done_testing
