#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The JSON: valid by its schema, in agreement with the complete text, written with little memory,
# sound with foreign names; a failure leaves nothing behind.
. "${srcdir:-.}/tests/lib.sh"

GEN=$builddir/tests/gen/gen_measurement
FIXTURE=$builddir/tests/unit/sink/sink_fixture
JUDGE=$srcdir/tests/judge
schema=$srcdir/doc/formats/profile.schema.json
# Debian's package is for Debian's interpreter.
PYTHON=${PYTHON3:-python3}
"$PYTHON" -c 'import jsonschema' 2>"$T/err" || PYTHON=/usr/bin/python3
"$PYTHON" -c 'import jsonschema' 2>"$T/err" || skip_all "no python3-jsonschema here"

# agree NAME DIRECTORY
agree() {
	rm -rf "$T/db"
	"$HPCPROF" -q --no-structs --to text,json --all -o "$T/db" "$2" >"$T/all" 2>"$T/err" ||
		fail "$1: written" "$(cat "$T/err")"
	"$PYTHON" "$JUDGE/read_text.py" "$T/all" >"$T/text"
	if "$PYTHON" "$JUDGE/read_json.py" --schema "$schema" "$T/db/profile.json" \
		>"$T/facts" 2>"$T/err"; then
		ok "$1: the text and the JSON agree" \
			"$PYTHON" "$JUDGE/compare_facts.py" "$T/text" "$T/facts"
	else
		fail "$1: the JSON is valid" "$(tail -n 20 "$T/err")"
	fi
}
"$GEN" -p 3 -t 2 -n 40 -s 40 -m 3 -r -b "$T/ranks"
agree "ranks and threads, three metrics" "$T/ranks"
"$GEN" -p 2 -t 2 -n 150 -s 60 -m 2 -b -l -w "$T/losses"
agree "losses, guessed frames, partial call paths" "$T/losses"
"$GEN" -p 2 -t 2 -n 30 -s 30 -b -k "$T/killed"
agree "killed" "$T/killed"
more=$(thorough "" "prof/job prof/killed prof/gpu-killed opencl-nvidia/calls python")
for golden in forks $more prof/gpu; do
	agree "$golden" "$srcdir/tests/golden/$golden"
done

# The schema and the comparison can say no.
sed 's/"subtree":1,/"subtree":-1,/' "$T/db/profile.json" >"$T/changed.json"
not_ok "the schema sees a negative number" \
	"$PYTHON" "$JUDGE/read_json.py" --schema "$schema" "$T/changed.json"
sed 's/^\[\([0-9]*\),\([0-9]*\),0[.]00\([0-9.]*,\)/[\1,\2,0.09\3/' "$T/db/profile.json" \
	>"$T/changed.json"
"$PYTHON" "$JUDGE/read_json.py" "$T/changed.json" >"$T/facts"
not_ok "the comparison sees another value" \
	"$PYTHON" "$JUDGE/compare_facts.py" "$T/text" "$T/facts"

mkdir "$T/quotes" "$T/long"
"$FIXTURE" json "$T/quotes" n_gpu_ops=5
like "quotes are escaped, foreign bytes replaced" "$(cat "$T/quotes/profile.json")" \
	'"name":"bad�� \\"quoted\\" \\\\name\\\\",'
ok "... and it is valid" \
	"$PYTHON" "$JUDGE/read_json.py" --schema "$schema" "$T/quotes/profile.json"
if grep -q '^HL_SANITIZE_CFLAGS = -' "$builddir/Makefile"; then
	skip "a long time line is written with little memory" "a sanitizer needs more"
else
	within "a long time line is written with little memory (KiB)" \
		"$("$FIXTURE" json "$T/long" n_processes=1 n_threads=1 n_samples=1000000 peak=1)" \
		1000 8192
fi
if [ "$(id -u)" -eq 0 ] && mkdir "$T/full" &&
	mount -t tmpfs -o size=16k tmpfs "$T/full" 2>/dev/null; then
	at_exit "umount '$T/full'"
	"$FIXTURE" json "$T/full" 2>"$T/err" && rc=0 || rc=$?
	is "a full file system is an error" "$rc" 1
	like "... with the file and the cause" "$(cat "$T/err")" \
		"^sink_fixture: $T/full/profile.json: No space left on device$"
	is "... and leaves nothing" "$(find "$T/full" -mindepth 1)" ""
else
	skip "a full file system" "needs root and mount"
fi
done_testing
