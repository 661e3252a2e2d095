#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranges of XLA, from a program that makes its calls: names, sources, many registered strings.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/run_lib.sh"
PROGRAM=$builddir/tests/workload/nvtx/nvtx_xla

# prof OPTION...: in $T/said.
prof() {
	COLUMNS=160 "$HPCPROF" -q --no-structs "$@" "$OUT" >"$T/said" 2>"$T/err" ||
		fail "hpcprof-lite $*" "$(cat "$T/err")"
}
# count NAME: of its row.
count() {
	sed -n "s/^ *\([0-9.k]*\) .*[0-9s-]  $1\$/\1/p" "$T/table"
}

measure -q -e CPUTIME@f500 -e NVTX -- "$PROGRAM"
is 'status' "$status" 0
sound 'every identity holds'
prof --to text --threshold 0
sed -n '/^Ranges of NVTX/,/^$/p' "$T/said" >"$T/table"
is 'a module' "$(count 'TSL: module jit_step')" 10
is 'an operation, at the innermost line of its first stack' \
	"$(count 'TSL: fusion.3 (mul) at nn.py:12')" 10
is 'at the line of a payload with file and line' \
	"$(count 'TSL: dot.1 (dot) at nn.py:10')" 10
is 'without a source: payloads that cannot be read' "$(count 'TSL: copy.7')" 20
is 'compiled modules: without the number of the program' \
	"$(count 'TSL: XlaCompileBackend (jit_step)')" 30
is '... passes: without the module' "$(count 'TSL: XlaPass dce')" 30
is 'without a source: no call stacks' "$(count 'TSL: copy.8')" 10
prof --to json -o "$T/db"
like 'json: the whole path' "$(cat "$T/db/profile.json")" '"source":"/home/u/nn.py:12"'
prof --to text --nvtx tree --threshold 0
like 'in the tree' "$(cat "$T/said")" '<range TSL: fusion.3 \(mul\) at nn.py:12>'

# Strings that no range has are no names: there is one for each range, domain and no other.
measure -q -e CPUTIME@f500 -e NVTX -- "$PROGRAM" many
prof --to text --threshold 0
sed -n '/^Ranges of NVTX/,/^$/p' "$T/said" >"$T/table"
is '200,000 strings: the names are found' "$(count 'TSL: fusion.3 (mul) at nn.py:12')" 10
is '200,000 strings: no other ranges' "$(grep -c 'other ranges' "$T/table")" 0
is '200,000 strings: they are not recorded' "$(find "$OUT" -name '*.hpcrun' -size +4096k)" ''

done_testing
