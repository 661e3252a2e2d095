#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Waits on time lines: from their start to their end, in outputs and in a part of the run.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/offcpu/offcpu_lib.sh"

# line: the records of the main thread on the time line: time in ms since the first, context, name.
# It is the thread that lived longest. Its process is not the first if its children's ids are lower.
line() {
	by_name '
		NR == FNR {
			if ($1 == "profile" && get("end_ns") - get("start_ns") > longest) {
				longest = get("end_ns") - get("start_ns"); main = get("id") }
			next
		}
		$1 == "function" { name[get("id")] = get("name") }
		$1 == "context" { of[get("id")] = name[get("function")] }
		$1 == "sample" && get("profile") == main {
			if (!first) first = get("time_ns")
			print (get("time_ns") - first) / 1e6, get("context"), of[get("context")]
		}' "$T/all.txt" "$T/all.txt"
}

cd "$T" || exit 99
# check: a sleep of 400 ms is one wait. Samples of other events fall into it and do not end it.
check() { # EVENTS
	offcpu_measure "$1" "$OFFCPU_W/offcpu_waits"
	"$HPCPROF" -q --to text --all --time 0:0.2 "$T/m" >"$T/part.txt"
	# A busy machine delays main(), and the end of a wait may be found when the thread has a
	# processor again. REALTIME wakes the thread, which then may wait for a processor: that is
	# no sleep any more.
	awk '$1 == "before_main" { early = $3 } $1 == "wait_sleep" {
		least = 100 - early / 1e6
		most = ($2 + $3 + early) / 1e6 + 20
		print (least > 0 ? least : 0), (most > 460 ? most : 460), 390 - $3 / 1e6 }' \
		"$T/truth" >"$T/bounds"
	read -r least most shortest <"$T/bounds"
	diag "$(head -n 2 "$T/truth" | tr '\n' ' ')"
	within "$1: half of a wait of 400 ms is in the first 200 ms" \
		"$(by_name '$1 == "by-function" && get("metric") ~ /OFFCPU/ &&
			get("name") == "wait_sleep" {
			print get("inclusive") * 1000 }' "$T/part.txt")" "$least" 200
	line >"$T/line"
	within "$1: its records are at its start and its end: 400 ms" "$(awk '
		/<blocked: sleep>/ { if (n++) { print $1 - last; exit } last = $1 }' "$T/line")" \
		"$shortest" "$most"
	is "$1: ... and there are two" "$(awk '
		!first && /<blocked: sleep>/ { first = $2 }
		first && $2 == first { n++ }
		END { print n }' "$T/line")" 2
}

cd "$T" || exit 99
check "-e REALTIME -e OFFCPU"
check "-e OFFCPU"

# The outputs agree.
JUDGE=$srcdir/tests/judge
PYTHON=${PYTHON3:-python3}
have "$PYTHON" || skip_all "no Python here"
"$HPCPROF" -q --to text,json,cctdb,perfetto --all -o "$T/outputs" "$T/m" >"$T/all"
"$PYTHON" "$JUDGE/read_text.py" "$T/all" >"$T/facts"
"$PYTHON" "$JUDGE/read_cctdb.py" "$T/outputs" >"$T/cctdb"
grep -Ev '^(bytes|contexts)' "$T/facts" >"$T/facts-cctdb"
ok "the text and the CCT database agree" "$PYTHON" "$JUDGE/compare_facts.py" "$T/facts-cctdb" \
	"$T/cctdb"
if /usr/bin/python3 -c 'import jsonschema' 2>"$T/err"; then
	/usr/bin/python3 "$JUDGE/read_json.py" --schema "$srcdir/doc/formats/profile.schema.json" \
		"$T/outputs/profile.json" >"$T/json"
	ok "the text and the JSON agree" "$PYTHON" "$JUDGE/compare_facts.py" "$T/facts" "$T/json"
else
	skip "the text and the JSON agree" "no python3-jsonschema here"
fi
if have protoc; then
	ok "the text and Perfetto's trace agree" "$PYTHON" "$JUDGE/compare_perfetto.py" "$T/all" \
		"$T/outputs/trace.perfetto-trace"
	cat >"$T/slices.py" <<EOF
import sys
sys.path.insert(0, "$JUDGE")
from compare_perfetto import Trace
for (profile, start, end, name), n in Trace(sys.argv[1]).waits.items():
    if name == "<blocked: poll>":
        print((int(end) - int(start)) / 1e6)
EOF
	within "a wait of 300 ms is one slice" \
		"$("$PYTHON" "$T/slices.py" "$T/outputs/trace.perfetto-trace")" 290 400
fi

done_testing
