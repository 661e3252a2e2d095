#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The report names lines of the program and not those of allocators and containers; the page has the
# live bytes over time; filters and comparisons take the metrics.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/memory/memory_lib.sh"
python=${PYTHON3:-python3}
need "$python"

cd "$T" || exit 99
# places: bytes at the peak that the table of the report gives to a line of this program.
places() { # FILE
	"$HPCPROF" -q --to text "$T/m" | awk -v "file=$1" '
		/^ *at peak/ { on = 1; next }
		/^$/ { on = 0 }
		on { for (i = 2; i <= NF; i++) if (index($i, file ":") == 1) print $i, $(i + 1) }'
}
memory_measure MEMORY@1 operators "$MEMORY_W/memory_operators"
is "C++: functions of the program" "$(places memory_operators.cc | awk '{ print $2 }' | sort |
	tr '\n' ' ')" "careful() careful() in_line() in_line() in_line() in_line() many() single() "

cat >hold.py <<'PY'
def make(n):
    rows = []
    for _ in range(n):
        rows.append(bytearray(100000))
    return rows

def drop(n):
    make(n)

kept = make(40)
drop(10)
PY
memory_measure MEMORY@1 hold "$python" hold.py
is "Python: its lines" "$(places hold.py | head -n 1)" "hold.py:4 make"
is "... and functions" "$(memory_of make hold | awk '{ print $3 >= 5000000, $4 < 4000000 }')" "1 1"

"$HPCPROF" -q --to html,json -o "$T/db" "$T/m"
is "JSON has a line for the process" "$("$python" -c '
import json
m = json.load(open("db/profile.json"))["memory"]
print(len(m), m[0]["peak_bytes"] > 5000000, sum(c["samples"] for c in m[0]["classes"]
      if c["by"] == "size") == m[0]["samples"])')" "1 True True"
like "the page has the section" "$(cat "$T/db/report.html")" 'data-section="memory"'

"$HPCPROF" -q --to text --all --below drop "$T/m" >"$T/hold.all"
is "a part of the run" "$(by_name '$1 == "total" && get("context") == 0 &&
	get("metric") == peak { print get("execution") >= 1000000 }
	$1 == "metric" && get("role") == "live-peak" { peak = get("id") }' "$T/hold.all")" 1
"$HPCPROF" -q --to text --time 0:50% "$T/m" >"$T/half"
like "... by time says what has no time line" "$(cat "$T/half")" \
	"left out, because they have no time line: .*MEMORY:PEAK"

pid=$("$HPCPROF" -q --to text --all "$T/m" | by_name '
	$1 == "process" { pid[get("id")] = get("pid") }
	$1 == "memory" && get("peak_bytes") >= 5000000 { print pid[get("process")] }')
is "... of whole processes has their account" "$("$HPCPROF" -q --to text --all --process "$pid" \
	"$T/m" | by_name '$1 == "memory" { print get("process"), get("peak_bytes") >= 5000000 }')" \
	"0 1"

cp -r "$T/m" "$T/before"
sed 's/make(40)/make(80)/' hold.py >hold2.py && mv hold2.py hold.py
memory_measure MEMORY@1 hold "$python" hold.py
like "a comparison: 40 blocks more" \
	"$("$HPCPROF" compare --metric MEMORY:PEAK "$T/before" "$T/m" 2>&1)" \
	'[+]3[.]8[0-9] MiB .*MEMORY:PEAK'
done_testing
