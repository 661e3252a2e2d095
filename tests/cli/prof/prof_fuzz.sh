#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Replays the fuzz target of the measurement reader on the golden measurements, their mutants, and
# what once failed.
. "${srcdir:-.}/tests/lib.sh"

fuzz=$builddir/tests/fuzz/fuzz_measurement
golden=$srcdir/tests/golden/prof
# python.hpcrun: a script of two functions, a method with a name beyond ASCII and json, `hpcrun-lite
# --no-trace -e CPUTIME@f400 /usr/bin/python3 -S -E work.py` of CPython 3.11 forks.hpcrun: `run_life
# small-forks 4`: children that are in their parent's file
for f in "$golden"/*/*.hpcrun "$srcdir/tests/golden/python/python.hpcrun" \
	"$srcdir/tests/golden/python-modules/modules.hpcrun" \
	"$srcdir/tests/golden/forks/forks.hpcrun"; do
	n=$(thorough 40 1000)
	case $f in */gpu*) n=$(thorough 12 300) ;; esac # their text is long
	ok "${f##*/golden/} and $n mutants" run_limited 300 "$fuzz" -n $n "$f"
done
# Waits inside of call paths, and phases.
"$builddir/tests/gen/gen_measurement" -n 60 -s 200 -w -l "$T/waits"
for f in "$T"/waits/*.hpcrun; do
	ok "waits and mutants" run_limited 300 "$fuzz" -n "$(thorough 40 1000)" "$f"
done
# Ranges of NVTX.
"$builddir/tests/gen/gen_ranges" "$T/ranges"
for f in "$T"/ranges/*.hpcrun; do
	ok "ranges and mutants" run_limited 300 "$fuzz" -n "$(thorough 80 2000)" "$f"
done
# Operations of a GPU that were lost, and launches that the driver refused, with their error.
"$builddir/tests/gen/gen_measurement" -n 60 -s 20 -g 20 -l "$T/refused"
like "refused: it is read" "$("$HPCPROF" -q --no-structs --to text --all "$T/refused" 2>&1)" \
	'<gpu copy refused: CUDA_ERROR_INVALID_VALUE>'
for f in "$T"/refused/*.hpcrun; do
	ok "refused and mutants" run_limited 300 "$fuzz" -n "$(thorough 40 1000)" "$f"
done
# What was copied while the process ran: a text and a part header in place of the header page.
mkdir "$T/part"
f=$srcdir/tests/golden/forks/forks.hpcrun
{
	printf '%s\nhost here\nfile /node/forks.hpcrun\n' \
		'hpctoolkit-lite: this file is empty until the data are copied to it' |
		dd ibs=3072 conv=sync 2>"$T/dd"
	printf 'HPCPART\0'
	head -c 56 /dev/zero
	head -c 648 "$f"
	head -c 312 /dev/zero
	tail -c +4097 "$f"
} >"$T/part/part.hpcrun"
"$HPCPROF" --to text "$T/part" >"$T/text" 2>&1
like "a part: it is read" "$(cat "$T/text")" \
	'copied at 1970-01-01 00:00:00 UTC while the process ran'
ok "a part and mutants" run_limited 300 "$fuzz" -n "$(thorough 400 2000)" "$T/part/part.hpcrun"
for f in "$srcdir"/tests/fuzz/corpus/measurement/*; do
	if [ -f "$f" ]; then ok "corpus: ${f##*/}" run_limited 60 "$fuzz" "$f"; fi
done
done_testing
