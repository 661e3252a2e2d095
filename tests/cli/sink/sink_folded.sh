#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The folded call paths: line by line against the complete text, for synthetic measurements and the
# golden ones; foreign names keep the form; nothing is left behind when writing fails.
. "${srcdir:-.}/tests/lib.sh"

GEN=$builddir/tests/gen/gen_measurement
FIXTURE=$builddir/tests/unit/sink/sink_fixture
compare=$srcdir/tests/judge/compare_folded.py
need "${PYTHON3:-python3}"

# agree NAME DIRECTORY [--leaves]
agree() {
	rm -rf "$T/db"
	"$HPCPROF" -q --no-structs --to text,folded --all -o "$T/db" "$2" >"$T/all" 2>"$T/err" ||
		fail "$1: written" "$(cat "$T/err")"
	ok "$1: the text and the call paths agree" \
		"$PYTHON3" "$compare" ${3+"$3"} "$T/all" "$T/db/folded"
}
"$GEN" -n 150 -s 300 "$T/one"
agree "one thread" "$T/one"
"$GEN" -p 3 -t 2 -n 120 -s 150 -m 3 -r -b "$T/ranks"
agree "ranks and threads, three metrics" "$T/ranks"
"$GEN" -p 2 -t 2 -n 400 -s 300 -m 2 -b -l -w "$T/losses"
agree "guessed frames and partial call paths" "$T/losses"
more=$(thorough "" "prof/gpu-killed opencl-nvidia/paths")
for golden in prof/job prof/gpu $more forks; do
	agree "$golden" "$srcdir/tests/golden/$golden"
done
agree "Python" "$srcdir/tests/golden/python" --leaves
unlike "of Python, no interpreter frame is between two functions" \
	"$(cat "$T/db/folded/"*)" '[.]py[^;]*;_PyEval_EvalFrameDefault;'
"$HPCPROF" -q --no-structs --to folded -o "$T/gpu" "$srcdir/tests/golden/prof/gpu"
like "a kernel is below the host path that launched it" "$(cat "$T/gpu/folded/GKER.folded")" \
	'^main thread;synthetic::step_15\(double\*, int\);<gpu kernel>;stencil 100000$'

# The comparison can say no.
"$HPCPROF" -q --no-structs --to text --all "$T/one" >"$T/all"
"$HPCPROF" -q --no-structs --to folded -o "$T/one-db" "$T/one"
first=$(echo "$T/one-db/folded/"*)
sed -i '3s/ [0-9]*$/ 77/' "$first"
not_ok "another weight is seen" "$PYTHON3" "$compare" "$T/all" "$T/one-db/folded"

# By default there is none.
"$HPCPROF" -q --no-structs -o "$T/default" "$T/one" >"$T/out"
not_ok "unasked, none is written" test -e "$T/default/folded"

mkdir "$T/quotes"
"$FIXTURE" folded "$T/quotes" n_gpu_ops=5
like "foreign bytes are escaped as in --all" "$(cat "$T/quotes/folded/CPUTIME.folded")" \
	';bad\\xff\\xfe "quoted" \\\\name\\\\( |;)'
if [ "$(id -u)" -eq 0 ] && mkdir "$T/full" &&
	mount -t tmpfs -o size=16k tmpfs "$T/full" 2>/dev/null; then
	at_exit "umount '$T/full'"
	"$FIXTURE" folded "$T/full" n_extra=2000 2>"$T/err" && rc=0 || rc=$?
	is "a full file system is an error" "$rc" 1
	like "... with the file and the cause" "$(cat "$T/err")" \
		"^sink_fixture: $T/full/folded/[A-Z]*TIME.folded: No space left on device$"
	is "... and leaves nothing" "$(find "$T/full" -mindepth 1)" ""
else
	skip "a full file system" "needs root and mount"
fi
done_testing
