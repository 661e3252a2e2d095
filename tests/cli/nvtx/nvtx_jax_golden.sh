#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranges of a training with JAX 0.11 on a GPU that is kept (tests/golden/jax): operations with their
# lines, command buffers, steps of the compiler. nvtx_jax_golden.sh --accept writes the table anew.

. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
golden=$srcdir/tests/golden/jax
mkdir "$T/m"
for f in "$golden"/*.hpcrun.gz; do
	gzip -dc "$f" >"$T/m/$(basename "$f" .gz)" || exit 99
done
COLUMNS=142 "$HPCPROF" -q --no-structs --no-sources --to text --threshold 0 "$T/m" 2>"$T/err" |
	sed -n '/^Ranges of/,/^$/p' >"$T/all"
grep -v 'TSL: Xla\|launched by' "$T/all" >"$T/ranges"
[ "${1:-}" != --accept ] || cp "$T/ranges" "$golden/ranges.txt"
same "ranges as expected" "$T/ranges" "$golden/ranges.txt"
is "219 passes of the compiler, in one row each" "$(grep -c 'TSL: XlaPass ' "$T/all")" 219
is "... and none with a module" "$(grep -c 'TSL: XlaPass.*(' "$T/all")" 0
like "compiled once" "$(cat "$T/all")" '^ +1 .* TSL: XlaCompile \(jit_update\)$'
unlike "no name is lost" "$(cat "$T/all")" 'other ranges'
"$HPCPROF" -q --no-structs --no-sources --nvtx tree --to json -o "$T/db" "$T/m" 2>"$T/err"
like "ranges with lines in the tree" "$(grep -ao '"<range [^"]*"' "$T/db/profile.json")" \
	'<range TSL: loop_multiply_fusion \(jit\(multiply\)/mul\) at jax_steps.py:40>'

done_testing
