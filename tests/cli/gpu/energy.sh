#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia,energy from end to end, on a driver, a CUPTI and an NVML that do not exist
# (tests/gpu/fake/fake_nvml.c): a GPU that uses 100 W, and 300 W more while it works. What comes of
# a real one is asked of a recording (tests/cli/gpu/energy_golden.sh).

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

# meter NAME FIELD: of the first meter
meter() {
	by_name -v field="$2" '$1 == "meter" { print get(field) }' "all-$1"
}

# near NAME HAVE WANTED PERCENT [MORE]
near() {
	within "$1" "$2" $(($3 * (100 - $4) / 100 - ${5:-0})) $(($3 * (100 + $4) / 100 + ${5:-0}))
}

# joules NAME FUNCTION: of what the function launched, in uJ; "": of all
joules() {
	by_name -v name="$2" '$1 == "by-function" && get("metric") == "GENERGY (J)" &&
		get("name") == name {
		printf "%.0f\n", get("inclusive") * 1e6 }' "all-$1"
}

measure_calls energy energy energy
is "one meter" "$(grep -c '^meter	' all-energy) $(meter energy name)" "1 NVML"
within "it was read all the time: ns" "$(meter energy covered_ns)" 2000000000 60000000000
near "idle: mW" "$(meter energy idle_mw)" 100000 2
busy_ns=$(meter energy busy_ns)
# A reading that is late on a busy machine moves 300 W of that time across each of four borders.
late_uj=$(($(meter energy late_ns) * 3 / 10 * 4))
near "what operations used: uJ" "$(meter energy operations_uj)" $((busy_ns * 4 / 10)) 3 $late_uj
near "what the idle GPU used: uJ" "$(meter energy idle_uj)" $(($(meter energy idle_ns) / 10)) 3 \
	$late_uj
is "the parts are the whole" "$(meter energy total_uj)" \
	$(($(meter energy operations_uj) + $(meter energy idle_uj) + $(meter energy unknown_uj)))
is "the tree has what operations used" "$(by_name '$1 == "tree" && get("metric") == "GENERGY (J)" &&
	get("depth") == 0 { printf "%.0f\n",
		get("inclusive") * 1e6 }' all-energy)" "$(meter energy operations_uj)"
near "a long kernel, by the function that launched it, and half of the short ones: uJ" \
	"$(joules energy spin_here)" 280000000 8 $late_uj
within "the meter's step: ns" "$(meter energy step_ns)" 40000000 500000000
within "some is shared: uJ" "$(meter energy shared_uj)" 40000000 130000000

like "the report" "$("$HPCPROF" m-energy 2>/dev/null)" \
	'J +[0-9.]+ s +[0-9.]+ W  GPU 0: Fake GPU$' \
	'J +[0-9.]+ m?s +(39[0-9]|40[0-9])\.[0-9] W    kernels, copies and sets$' \
	'idle, at the (99|100)\.[0-9] W of longer idle times$' \
	'\+- [0-9.]+ J: the meter changes every [0-9.]+ ms, seen within [0-9.]+ ms$' \
	' W ~ spin$' \
	'^  ~ shared by time with other operations between two changes of the meter$'

# other outputs have the same
"$HPCPROF" --to json -o o-json m-energy >/dev/null 2>&1
is "json" "$(python3 -c '
import json
m = json.load(open("o-json/profile.json"))["gpu"]["meters"][0]
print(m["name"], m["total_uj"], len(m["changes"]))')" \
	"NVML $(meter energy total_uj) $(meter energy changes)"
if "$HPCPROF" --to sqlite -o o-sqlite m-energy >/dev/null 2>&1; then
	is "sqlite" "$(python3 -c '
import sqlite3
d = sqlite3.connect("o-sqlite/profile.sqlite")
print(*d.execute("""SELECT name, total_uj,
	(SELECT count(*) FROM meter_change) FROM meter""").fetchone())')" \
		"NVML $(meter energy total_uj) $(meter energy changes)"
else
	skip 1 "built without SQLite"
fi
n_changes=$(meter energy changes)
"$HPCPROF" --to perfetto -o o-perfetto m-energy >/dev/null 2>&1
if have protoc; then
	is "perfetto: the track and its values" "$(python3 -c '
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import compare_perfetto
packets = compare_perfetto.decode("o-perfetto/trace.perfetto-trace")
tracks = [d["name"][0] for p in packets for d in p["track_descriptor"] if d["counter"]]
values = [float(e["double_counter_value"][0]) for p in packets for e in p["track_event"]
          if e["double_counter_value"]]
print(*tracks, len(values), int(round(max(values), -2)), values[-1])' "$srcdir/tests/judge")" \
		"power of GPU 0: Fake GPU $n_changes 400 0.0"
else
	skip 1 "no protoc here"
fi
if have otf2-print && "$HPCPROF" --to otf2 -o o-otf2 m-energy >/dev/null 2>&1; then
	otf2-print o-otf2/otf2/traces.otf2 2>&1 | grep '"power"' >power
	is "otf2: the values" "$(wc -l <power)" "$n_changes"
	is "otf2: the location" "$(otf2-print -G o-otf2/otf2/traces.otf2 2>/dev/null |
		grep -c '^LOCATION  .*"Power of GPU 0: Fake GPU" .*Type: METRIC')" 1
else
	skip 2 "no otf2-print here, or built without OTF2"
fi

# not asked for: nothing of it
measure_calls without "" paths
is "without: no meter" "$(grep -c '^meter' all-without)" 0
is "without: NVML is not loaded" "$(grep -c NVML err-without)" 0

# a GPU without a meter, and no NVML: the program goes on and a note says so
FAKE_CUDA=no-energy measure_calls refused energy paths
is "refused: kernels are there" "$(launched refused kernel)" "$(truth refused kernel)"
like "refused: a note" "$(cat err-refused)" \
	'gpu=nvidia: NVML gives no energy of GPU 0: Not Supported$'
is "refused: said once" "$(grep -c 'NVML gives no energy' err-refused)" 1
rm fake/libnvidia-ml.so.1
if ! python3 -c 'import ctypes; ctypes.CDLL("libnvidia-ml.so.1")' 2>/dev/null; then
	measure_calls missing energy paths
	like "missing: a note" "$(cat err-missing)" \
		'gpu=nvidia: the energy of GPUs is not measured: libnvidia-ml.so.1: cannot open'
else
	skip 2 "there is an NVML here"
fi

# what is wrong on the command line
like "no such option" "$("$HPCRUN" -e gpu=nvidia,energie true 2>&1)" \
	"has no option 'energie'; its options are: .*,energy,"

done_testing
