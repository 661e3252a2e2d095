#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Single ranges of NVTX: phases of the efficiencies, and time lines.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/run_lib.sh"
PROGRAM=$builddir/tests/workload/nvtx/nvtx_program

# milliseconds LINE: that the program printed.
milliseconds() { sed -n "$1p" "$T/stdout" | awk '{ print int($1 * 1000 + 0.5) }'; }
# elapsed NAME: of a row of the efficiencies, in ms.
elapsed() {
	sed -n '/^Parallel efficiency/,/^$/p' "$T/report" | awk -v name="$1" '$NF == name {
		print int($1 * ($2 == "s" ? 1000 : 1) + 0.5) }'
}

measure -q -e CPUTIME -e NVTX -- "$PROGRAM" phases
is 'status' "$status" 0
setup=$(milliseconds 1) steps=$(milliseconds 2)
sound 'every identity holds'
COLUMNS=160 "$HPCPROF" -q --no-structs --to text --threshold 0 "$OUT" >"$T/report" 2>&1
# At least the CPU time in it, at most what the program saw, rounded to three digits.
within 'phase setup (ms)' "$(elapsed setup)" 100 $((setup + setup / 100 + 1))
within 'phase step (ms)' "$(elapsed step)" 300 $((steps + steps / 100 + 1))
is 'inner ranges are no phases' "$(elapsed part)" ''
is 'phases by falling length' "$(sed -n '/^Parallel/,/^$/p' "$T/report" |
	awk '$NF == "setup" || $NF == "step" { print $NF }' | xargs)" 'step setup'

if command -v protoc >"$T/null" && command -v "${PYTHON3:-python3}" >"$T/null"; then
	# ranges OPTION...: in $T/ranges
	ranges() {
		rm -rf "$T/db"
		"$HPCPROF" -q --no-structs --to perfetto -o "$T/db" "$@" "$OUT" >"$T/err" 2>&1 &&
			"${PYTHON3:-python3}" "$srcdir/tests/cli/nvtx/perfetto_ranges.py" \
				"$srcdir/tests/judge" "$T/db/trace.perfetto-trace" >"$T/ranges" ||
			fail 'perfetto' "$(cat "$T/err")"
	}
	# number PATTERN
	number() { grep -c "$1" "$T/ranges"; }
	ranges
	is 'perfetto: slices of step' "$(number '^nvtx_program|NVTX|0|.*|step$')" 3
	is 'perfetto: each part in its step' "$(number '^nvtx_program|NVTX|1|.*|part$')" 15000
	is 'perfetto: marks' "$(number '^nvtx_program|NVTX|1|[0-9]*|-|tick$')" 3
	is 'perfetto: ranges that overlap are on two tracks' \
		"$(grep -E 'first|second|inside' "$T/ranges" | sort -t '|' -k 4n |
			cut -d '|' -f 2,3,6)" \
		"NVTX|0|a: first
NVTX, lane 1|0|second
NVTX|1|inside"
	within 'perfetto: the length of setup (us)' \
		"$(sed -n 's/.*|\([0-9]*\)|setup$/\1/p' "$T/ranges")" \
		100000 $((setup * 1000 + 1000))
	ranges --thread 1
	is 'perfetto: none of another thread' "$(number .)" 0
	ranges --time "0:$(awk -v ms="$setup" 'BEGIN { print ms / 1100 }')"
	is 'perfetto: none after a part' "$(number '|step$')" 0
	is 'perfetto: what reaches into it is cut' "$(number '|setup$')" 1
else
	skip 'ranges in Perfetto' 'protoc or python3 is missing'
fi

if command -v otf2-print >"$T/null"; then
	"$HPCPROF" -q --no-structs --to otf2 -o "$T/otf2" "$OUT" >"$T/err" 2>&1 ||
		fail 'otf2' "$(cat "$T/err")"
	otf2-print "$T/otf2/otf2/traces.otf2" >"$T/events" 2>&1 || fail 'otf2-print'
	ok 'otf2: it reads through' test "$(grep -c '^ENTER' "$T/events")" -gt 15000
	is 'otf2: every range is left' "$(grep -c '^LEAVE' "$T/events")" \
		"$(grep -c '^ENTER' "$T/events")"
	# LOCATION counts from the two threads on: the first track, then that of what overlaps.
	is 'otf2: the order on both tracks' \
		"$(grep -E '"(a: first|second|inside)"' "$T/events" |
			awk '{ print $1, $2, $5, $6 }' | sed 's/ <.*//')" \
		'ENTER 2 "a: first"
ENTER 3 "second"
ENTER 2 "inside"
LEAVE 2 "inside"
LEAVE 2 "a: first"
LEAVE 3 "second"'
else
	skip 'ranges in OTF2' 'otf2-print is missing'
fi

# JSON and SQLite have the rows, the payloads, and each range.
if "${PYTHON3:-python3}" -c 'import jsonschema' 2>"$T/null"; then
	# the schema is asked about each event, so a part of them
	"$HPCPROF" -q --no-structs --to json --time :30% -o "$T/part" "$OUT" >"$T/err" 2>&1
	ok 'json: valid' "${PYTHON3:-python3}" "$srcdir/tests/judge/read_json.py" \
		--schema "$srcdir/doc/formats/profile.schema.json" "$T/part/profile.json"
	"$HPCPROF" -q --no-structs --to json -o "$T/json" "$OUT" >"$T/err" 2>&1
	is 'json: rows and events' "$("${PYTHON3:-python3}" -c 'import json, sys
x = json.load(open(sys.argv[1]))["nvtx"]
r = {r["name"]: r for r in x["ranges"]}
e = [x["ranges"][e[0]]["name"] for t in x["tracks"] for e in t["events"]]
print(r["part"]["n"], e.count("part"), r["step"]["values"], r["step"].get("value_sum"),
      r["step"].get("value_least"), r["step"].get("value_most"), r["tick"]["kind"])' \
		"$T/json/profile.json")" '15000 15000 3 6.5 1.5 3 mark'
else
	skip 'ranges in JSON' 'jsonschema is missing'
fi
if command -v sqlite3 >"$T/null" && "$HPCPROF" --help | grep -q sqlite; then
	"$HPCPROF" -q --no-structs --to sqlite -o "$T/sqlite" "$OUT" >"$T/err" 2>&1
	is 'sqlite: rows and events' "$(sqlite3 "$T/sqlite/profile.sqlite" \
		'SELECT name, n, value_sum, value_most, count(*), sum(leave_ns - enter_ns) = ns
		FROM nvtx_range r JOIN nvtx_event e ON e.range = r.id
		WHERE name IN ("part", "step") GROUP BY name')" 'part|15000|||15000|1
step|3|6.5|3.0|3|1'
else
	skip 'ranges in SQLite' 'sqlite3 is missing'
fi

measure -q --no-trace -e CPUTIME -e NVTX -- "$PROGRAM" phases
if command -v protoc >"$T/null" && command -v "${PYTHON3:-python3}" >"$T/null"; then
	ranges
	is 'without time lines: outermost ranges have room' "$(number '|step$')" 3
	within 'without time lines: inner ranges' "$(number '|part$')" 12000 12288
else
	skip 'without time lines' 'protoc or python3 is missing'
fi

done_testing
