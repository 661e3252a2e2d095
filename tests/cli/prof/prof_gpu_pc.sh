#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# PC samples that an H200 gave, in a synthetic life of sampling with bursts, a gap and losses
# (tests/gen/gen_pc.c): what the report says letter by letter, and that all outputs say the same.
# prof_gpu_pc.sh --accept writes the expected text anew.
. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/prof/pc
cubin=$srcdir/tests/golden/cubin/inline.sm_90.lineinfo.cubin
accept=no
[ "${1:-}" = --accept ] && accept=yes
unset COLUMNS NO_COLOR

ok "a measurement of them" "$builddir/tests/gen/gen_pc" "$T/run" "$cubin" \
	"$golden/inline-h200.txt" bursts
ok "the structure of the cubin" "$builddir/hpcstruct-lite/hpcstruct-lite" \
	-q --no-cache -o "$T/code.hpcstruct" "$cubin"
for f in "$T"/run/gpubins/*.gpubin; do
	code=${f##*/}
	cp "$T/code.hpcstruct" "$T/run/structs/${code%.gpubin}.hpcstruct"
done
for width in 110 80; do
	COLUMNS=$width LC_ALL=C.UTF-8 "$HPCPROF" --no-structs --to text "$T/run" >"$T/$width" \
		2>"$T/err" || fail "hpcprof-lite: status $?"
	if [ $accept = yes ]; then cp "$T/$width" "$golden/inline-h200-$width.txt"; fi
	same "the report at $width columns as expected" "$T/$width" "$golden/inline-h200-$width.txt"
done
"$HPCPROF" -q --no-structs --all -o "$T/db" "$T/run" >"$T/all" 2>"$T/err" ||
	fail "hpcprof-lite: status $?"

# --- the three questions, from the report alone
sed -n '/^Inside of GPU kernels/,/^$/p' "$T/110" >"$T/first"
like "which line launched the most expensive kernel" "$(sed -n '/launched at/{n;p;}' "$T/first")" \
	' app\.cu:41 in solve\(float\*, int\)$'
like "which inlined line in it is the hottest" "$(sed -n '/hottest lines/{n;p;}' "$T/first")" \
	'^ +90\.9%  util\.cuh:4 in .*level6.*, inlined at inline\.cu:21 '
like "what it waits for" "$(sed -n '/idle$/{n;p;}' "$T/first")" \
	'^ +38\.[0-9]%  +32\.[0-9]%  GMEM: waits for data from'

# --- the account
field() {
	by_name -v field="$1" '$1 == "gpu-sampling" && get("of") == "all" {
		print get(field) }' "$T/all"
}
given=$(awk '{ n += $3 } END { printf "%.0f", n }' "$golden/inline-h200.txt")
again=$(awk '{ n += int($3 / 4) } END { printf "%.0f", n }' "$golden/inline-h200.txt")
is "every sample is recorded" "$(field recorded)" "$((given + again))"
is "those that know their launch are exact" "$(field exact)" "$again"
is "the others are apportioned" "$(field apportioned)" "$given"
is "it closes" "$(field closes)" 1
is "the gap has its length" "$(field gap_ns)" 80000
is "at each context it is said what is apportioned" \
	"$(by_name '$1 == "tree" && get("metric") == "GINS:APPORTIONED" &&
		get("depth") == 0 { printf "%.0f", get("inclusive") }' "$T/all")" "$given"
like "the rate is what was promised" "$(by_name '$1 == "gpu-sampling" &&
	get("of") == "all" { printf "%.3f",
		get("taken") / get("promised") }' "$T/all")" '^(0\.99|1\.00)'
like "the yardstick: 78 % where time says 75" \
	"$(by_name '$1 == "gpu-yardstick" && get("of") == "all" {
		printf "%.4f", get("wrong_context") }' "$T/all")" \
	'^0\.0(29|30)'
is "the yardstick of each kernel" \
	"$(by_name '$1 == "gpu-yardstick-kernel" {
		print get("name"), get("contexts") }' "$T/all" | sort |
	tr '\n' ';')" "k_simple 2;nbody(util::Vec const*, util::Vec*, int) 2;"

# --- stall reasons: all of a reason, and those in which nothing was issued, with both names
is "reasons add up to the samples" "$(by_name '$1 == "tree" && get("depth") == 0 &&
	get("metric") ~ /^GINS:STL_/ &&
	get("metric") !~ /_NI$/ && get("metric") != "GINS:STL_ANY" { n += get("inclusive") } END {
		printf "%.0f", n }' "$T/all")" \
	"$((given + again))"
like "a reason has HPCToolkit's name and the vendor's in its description" \
	"$(cat "$T/db/metrics/default.yaml")" 'smsp__pcsamp_warps_issue_stalled_long_scoreboard\)'
like "... also where nothing was issued" "$(cat "$T/db/metrics/default.yaml")" \
	'name: "GINS:STL_GMEM_NI"'

# --- the same in the database and in OTF2
if have "${PYTHON3:-python3}"; then
	judge=$srcdir/tests/judge
	"$PYTHON3" "$judge/read_text.py" "$T/all" >"$T/facts"
	grep -Ev '^(bytes|contexts)' "$T/facts" >"$T/facts-text"
	if "$PYTHON3" "$judge/read_cctdb.py" "$T/db" >"$T/facts-cctdb"; then
		ok "text and CCT database agree" "$PYTHON3" "$judge/compare_facts.py" \
			"$T/facts-text" "$T/facts-cctdb"
	else
		fail "the CCT database is sound"
	fi
	if [ -n "${HPCTESTTOOL:-}" ]; then
		env PYTHONPATH="$HPCTESTTOOL" "${YAML_PYTHON:-/usr/bin/python3}" \
			-m hpctesttool.formats.print "$T/db" >"$T/yaml" 2>"$T/err"
		is "HPCToolkit's own reader accepts the database" "$?" 0
		like "... and finds the account in its description" \
			"$(head -100 "$T/yaml" | tr -s ' \n\\' ' ' |
			grep -o 'agrees, contexts: [0-9.]*')" ': 9(6\.9|7\.0)'
	else
		skip "HPCToolkit's own reader accepts the database" \
			"HPCTESTTOOL does not name its directory"
	fi
fi
if [ ! -e "$T/db/otf2/traces.otf2" ] || ! have otf2-print; then
	skip "the archive says the same" "no OTF2, or no otf2-print"
else
	if have "${PYTHON3:-python3}" && "$PYTHON3" "$judge/read_otf2.py" "$T/db/otf2/traces.otf2" \
		>"$T/facts-otf2"; then
		ok "text and OTF2 archive agree" "$PYTHON3" "$judge/compare_facts.py" -t 1e-5 \
			"$T/facts" "$T/facts-otf2" profiles total function path samples kind busy \
			bytes launched joined summed-up lost ops
	fi
	otf2-print -A "$T/db/otf2/traces.otf2" >"$T/archive"
	otf2-print -G "$T/db/otf2/traces.otf2" >"$T/definitions"
	otf2-print "$T/db/otf2/traces.otf2" >"$T/events"
	property() {
		grep -A1 "HPCTOOLKIT_LITE::$1\$" "$T/archive" | sed -n 's/^Property value *//p'
	}
	is "the archive says how much is exact" "$(property GPU_PC_SAMPLES_EXACT)" "$again"
	like "... and how far apportioning is to be believed" \
		"$(property GPU_APPORTIONING_AGREEMENT)" '^0\.9(69|70)'
	like "stall reasons are metrics" "$(grep METRIC_MEMBER "$T/definitions" | grep GINS)" \
		'"GINS:STL_GMEM"'
	like "... with events that name their calling context" \
		"$(grep -A1 '"GINS:STL_GMEM"' "$T/events" | head -2)" \
		'calling context.*inline\.cu|calling context.*util\.cuh'
	like "inlined functions of kernels are calling contexts" \
		"$(grep '^CALLING_CONTEXT ' "$T/definitions" | grep level6)" 'level6.*util\.cuh:4'
	like "the account is a metric of the process" \
		"$(grep -o '"GPU PC samples apportioned" <[0-9]*>; UINT64; [0-9]*' "$T/events")" \
		" $given\$"
fi
done_testing
