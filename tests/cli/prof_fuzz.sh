#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Replays the fuzz target of the measurement reader on the golden measurements, their mutants, and what once failed.
. "${srcdir:-.}/tests/lib.sh"

fuzz=$builddir/tests/fuzz/fuzz_measurement
golden=$srcdir/tests/golden/prof
for f in "$golden"/*/*.hpcrun; do
	ok "${f#"$golden"/} and 1,000 mutants" run_limited 300 "$fuzz" -n 1000 "$f"
done
for f in "$srcdir"/tests/fuzz/corpus/measurement/*; do
	if [ -f "$f" ]; then ok "corpus: ${f##*/}" run_limited 60 "$fuzz" "$f"; fi
done
done_testing
