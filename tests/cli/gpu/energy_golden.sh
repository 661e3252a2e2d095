#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Joules of kernels on an H200, from a recording of tests/gpu/energy/energy_ways.cu
# (tests/golden/energy), against what the program read of the same meter itself. Needs no GPU.

# needs: fuzz_measurement
# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
have python3 || skip_all "no python3 here"
golden=$srcdir/tests/golden/energy
cd "$T" || exit 99
unset COLUMNS NO_COLOR

mkdir steps
gzip -dc "$golden/steps.hpcrun.gz" >steps/norank-vm-1.hpcrun
ok "analysed" run_limited 120 sh -c "'$HPCPROF' -q --to text --all steps >all 2>err"
is "nothing is damaged" "$(grep -c damaged err)" 0
python3 "$srcdir/tests/gpu/energy/energy_steps.py" all "$golden/steps.out" >tap
while read -r line; do
	case $line in
	ok*) pass "${line#ok - }" ;;
	*) fail "${line#not ok - }" ;;
	esac
done <tap
within "all steps were looked at" "$(grep -c '^ok' tap)" 18 30

COLUMNS=100 "$HPCPROF" -q --to text steps >report 2>err
like "the report" "$(cat report)" \
	'[0-9]+ J +[0-9.]+ s +2[0-9]+\.[0-9] W  GPU 0: NVIDIA H200$' \
	' s +3[0-9]+\.[0-9] W    kernels, copies and sets$' \
	'idle, at the 12[0-9]\.[0-9] W of longer idle times$' \
	'the meter changes every (99\.9|100\.)[0-9]* ms, seen within [0-9.]+ ms$' \
	' W ~ stream\(' ' W ~ compute\('

ok "mutants of the file are read" run_limited 120 \
	"$builddir/tests/fuzz/fuzz_measurement" -n 200 steps/*.hpcrun

# any range of time has its part
for range in 0:4 4:9 9:; do
	"$HPCPROF" -q --to text --all --time $range steps 2>/dev/null |
		by_name '$1 == "meter" { print get("total_uj") }'
done >parts
is "ranges add up, uJ" "$(awk '{ sum += $1 } END { printf "%d", sum / 100 + 0.5 }' parts)" \
	"$(by_name '$1 == "meter" { printf "%d", get("total_uj") / 100 + 0.5 }' all)"

done_testing
