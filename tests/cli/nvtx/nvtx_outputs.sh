#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A generated training step (tests/gen/gen_ranges.c): the GPU columns of ranges, names of threads,
# and single ranges in all outputs that have them.
# needs: gen_ranges

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/run_lib.sh"

"$builddir/tests/gen/gen_ranges" "$T/m" || fail 'gen_ranges'
# prof OPTION...: in $T/said and $T/db.
prof() {
	rm -rf "$T/db"
	COLUMNS=100 "$HPCPROF" -q --no-structs -o "$T/db" "$@" "$T/m" >"$T/said" 2>"$T/err" ||
		fail "hpcprof-lite $*" "$(cat "$T/err")"
}

prof --to text --threshold 0
is 'text: the table' "$(sed -n '/^Ranges of NVTX/,/^$/p' "$T/said")" \
	"Ranges of NVTX by time
  count     time     mean      min      max      CPU      GPU  range
      1 24.00 ms 24.00 ms 24.00 ms 24.00 ms        -        -  whole
      1 20.00 ms 20.00 ms 20.00 ms 20.00 ms  4.00 ms  3.00 ms  step
                                                      6.00 ms  launched by threads in no range
      1  9.00 ms  9.00 ms  9.00 ms  9.00 ms      0 s      0 s  backward
                                                      5.00 ms  launched by threads in no range
      1  7.00 ms  7.00 ms  7.00 ms  7.00 ms  4.00 ms  3.00 ms  forward
      1        -        -        -        -        -        -  tick"
like 'text: a phase' "$(sed -n '/^Parallel efficiency/,/^$/p' "$T/said")" '^ *20.00 ms .* step$'
prof --to text --nvtx tree --threshold 0
is 'tree: the kernel of forward' "$(grep -c '<range forward>' "$T/said")" 2

if command -v "${PYTHON3:-python3}" >"$T/null"; then
	prof --to json,sqlite
	"${PYTHON3:-python3}" - "$T/db" >"$T/rows" <<-'EOF'
		import json, sqlite3, sys
		j = json.load(open(sys.argv[1] + "/profile.json"))
		print(*(p["name"] for p in j["profiles"][:2]), sep="; ")
		j = j["nvtx"]
		for r in j["ranges"]:
		    print("json", r["name"], r["kind"], *(r.get(k) for k in (
		        "n", "ns", "cpu_ns", "gpu_ns", "gpu_others_ns", "value_sum")))
		for t in j["tracks"]:
		    print("json", t["lane"], *t["events"])
		c = sqlite3.connect(sys.argv[1] + "/profile.sqlite")
		for r in c.execute("SELECT name, kind, n, ns, cpu_ns, gpu_ns, gpu_others_ns,"
		                   " value_sum FROM nvtx_range ORDER BY id"):
		    print("sqlite", *r)
		for r in c.execute("SELECT lane, name, enter_ns, leave_ns FROM nvtx_event"
		                   " JOIN nvtx_range ON range = id ORDER BY enter_ns"):
		    print("sqlite", *r)
	EOF
	is 'json and SQLite, with names of threads' "$(cat "$T/rows")" \
		'train; autograd, by NVTX
json whole started 1 24000000 None None None None
json step pushed 1 20000000 4000000 3000000 6000000 None
json backward pushed 1 9000000 0 0 5000000 2.5
json forward pushed 1 7000000 4000000 3000000 0 None
json tick mark 1 0 None None None None
json 0 [1, 0, 20000000] [3, 1000000, 8000000] [4, 8000000, 8000000] [2, 9000000, 18000000]
json 1 [0, 2000000, 26000000]
sqlite whole started 1 24000000 None None None None
sqlite step pushed 1 20000000 4000000 3000000 6000000 None
sqlite backward pushed 1 9000000 0 0 5000000 2.5
sqlite forward pushed 1 7000000 4000000 3000000 0 None
sqlite tick mark 1 0 None None None None
sqlite 0 step 2000000000 2020000000
sqlite 0 forward 2001000000 2008000000
sqlite 1 whole 2002000000 2026000000
sqlite 0 tick 2008000000 2008000000
sqlite 0 backward 2009000000 2018000000'
else
	skip 'json and SQLite: there is no Python'
fi

if command -v otf2-print >"$T/null"; then
	prof --to otf2
	otf2-print "$T/db/otf2/traces.otf2" | awk '/^(ENTER|LEAVE) / {
		gsub(/"/, ""); print $1, $3, $5 }' >"$T/events"
	is 'OTF2: regions of ranges' "$(cat "$T/events")" \
		'ENTER 2000000000 step
ENTER 2001000000 forward
ENTER 2002000000 whole
LEAVE 2008000000 forward
ENTER 2008000000 tick
LEAVE 2008000000 tick
ENTER 2009000000 backward
LEAVE 2018000000 backward
LEAVE 2020000000 step
LEAVE 2026000000 whole'
else
	skip 'OTF2: there is no otf2-print'
fi

if command -v protoc >"$T/null" && command -v "${PYTHON3:-python3}" >"$T/null"; then
	prof --to perfetto
	"${PYTHON3:-python3}" "$srcdir/tests/cli/nvtx/perfetto_ranges.py" "$srcdir/tests/judge" \
		"$T/db/trace.perfetto-trace" >"$T/ranges" 2>"$T/err" ||
		fail 'perfetto' "$(cat "$T/err")"
	is 'perfetto: slices and marks' "$(cut -d '|' -f 2,3,5,6 "$T/ranges" | sort)" \
		'NVTX, lane 1|0|24000|whole
NVTX|0|20000|step
NVTX|1|-|tick
NVTX|1|7000|forward
NVTX|1|9000|backward'
else
	skip 'perfetto: there is no protoc'
fi

done_testing
