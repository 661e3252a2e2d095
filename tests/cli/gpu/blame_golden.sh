#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What warps waited for, in recordings of kernels that are made to wait (tests/golden/nvidia): the
# load of a chain of pointers, and the warp that runs a loop before a barrier while 31 others wait.
# Text, JSON and page say so, and sums close. Needs no GPU.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
golden=$srcdir/tests/golden/nvidia
source=$srcdir/tests/gpu/truth_kernels.cu
. "$srcdir/tests/judge/browser.sh"
cd "$T" || exit 99
unset COLUMNS NO_COLOR

for name in barrier chase; do
	mkdir -p "$name/structs" "$name/gpubins"
	gzip -dc "$golden/$name.hpcrun.gz" >"$name/norank-vm-1.hpcrun"
	for kind in structs gpubins; do
		for f in "$golden/$kind"/*.gz; do
			gzip -dc "$f" >"$name/$kind/$(basename "$f" .gz)"
		done
	done
	ok "$name: analysed" run_limited 120 sh -c "'$HPCPROF' -q --to text --all $name >all-$name \
		2>err"
	ok "$name: report" run_limited 120 sh -c "COLUMNS=160 '$HPCPROF' -q --to text $name \
		>report-$name 2>err"
done

# total NAME METRIC; line NAME METRIC NUMBER: its samples in the source
total() { by_name -v m="$2" '$1 == "tree" && get("metric") == m && get("depth") == 0 {
	n = get("inclusive") }
	END { print n + 0 }' "all-$1"; }
line() { by_name -v m="$2" -v at="/truth_kernels.cu:$3" '$1 == "by-line" && get("metric") == m &&
	substr(get("place"), length(get("place")) - length(at) + 1) == at {
		n += get("exclusive") } END { print n + 0 }' "all-$1"; }
number() { grep -n "$1" "$source" | head -1 | cut -d: -f1; }

for name in barrier chase; do
	stalls=0 blames=0
	for reason in GMEM SHORT_SCOREBOARD IDEP SYNC MEMBAR; do
		stalls=$((stalls + $(total $name GINS:STL_$reason)))
		blames=$((blames + $(total $name GINS:BLAME_$reason)))
	done
	is "$name: the reasons add up" "$blames" "$(total $name GINS:BLAME_ANY)"
	is "$name: with those without a cause, all stalls" \
		"$((blames + $(total $name GINS:UNBLAMED)))" "$stalls"
	is "$name: pairs add up" "$(by_name '$1 == "gpu-blame" { n += get("samples") }
		END { print n + 0 }' "all-$name")" "$blames"
	ok "$name: one sample in a hundred at most has no cause" \
		test $((100 * $(total $name GINS:UNBLAMED))) -le "$stalls"
done

load=$(number 'CHASE_LINE')
slow=$(number 'for (int k = 0; k < 64; k++) CHAIN_16')
ok "the load of the chain is to blame" test "$((100 * $(line chase GINS:BLAME_GMEM "$load")))" \
	-ge "$((99 * $(total chase GINS:STL_GMEM)))"
ok "the warps in the loop are to blame" \
	test "$((100 * $(line barrier GINS:BLAME_SYNC "$slow")))" \
	-ge "$((99 * $(total barrier GINS:STL_SYNC)))"
rows() { sed -n '/which lines waited/,/^$/p' "report-$1"; }
like "the report names the load" "$(rows chase)" \
	"truth_kernels\.cu:$load in follow\(.* GMEM: global load in the same line"
like "the report names the loop" "$(rows barrier)" \
	"SYNC: warps that come from truth_kernels\.cu:$slow\$"

ok "JSON and page" run_limited 120 "$HPCPROF" -q --to json,html -o db barrier
PYTHON=${PYTHON3:-python3}
"$PYTHON" -c 'import jsonschema' 2>err || PYTHON=/usr/bin/python3
if "$PYTHON" -c 'import jsonschema' 2>err; then
	ok "the JSON is valid by its schema" "$PYTHON" "$srcdir/tests/judge/read_json.py" --schema \
		"$srcdir/doc/formats/profile.schema.json" db/profile.json
	is "it has all pairs" "$("$PYTHON" -c 'import json
print(sum(b["samples"] for b in json.load(open("db/profile.json"))["gpu"]["blames"]))')" \
		"$(total barrier GINS:BLAME_ANY)"
else
	skip "the JSON is valid by its schema" "no python3-jsonschema"
fi
if [ "$browser" ]; then
	browse blames db/report.html >said || cat err
	while read -r line; do
		case $line in
		"ok "*) ok "page: ${line#ok }" true ;;
		*) fail "page: $line" ;;
		esac
	done <said
	is "the page was used" "$(wc -l <said)" 5
else
	skip "the page" "no Chromium or Selenium"
fi

# parts: pairs follow their kernel; no time line says when warps waited
part() { run_limited 120 "$HPCPROF" -q --no-structs --to text --all "$@" barrier 2>err; }
is "below the kernel: all pairs" "$(part --below='wait_at_barrier*' |
	by_name '$1 == "gpu-blame" { n += get("samples") } END { print n + 0 }')" \
	"$(total barrier GINS:BLAME_ANY)"
is "a part of the time: none" "$(part --time=0%:50% | grep -c '^gpu-blame')" 0
done_testing
