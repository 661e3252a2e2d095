#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What measuring costs a whole program, beside the profilers Debian has: perf record with frame
# pointers and with DWARF stacks, all at 1000 samples per CPU second. Ratios of paired runs against
# the same program unprofiled. Asserts nothing. PAIRS sets the number of pairs (default 5).
b=${top_builddir:-.}
hpcrun=$b/hpcrun-lite/hpcrun-lite
pairs=$b/tests/bench/pairs
n=${PAIRS:-5}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-peers.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT
app="$b/tests/bench/deep 2000"
mini=$b/tests/workload/miniapp/melt

bytes_of() { du -sb "$1" | cut -f1; }

for depth in 25 170; do
	"$pairs" "$n" "hpcrun-lite CPUTIME@f1000, recursion of depth $depth" \
		"$hpcrun -q -e CPUTIME@f1000 -o $t/m-\$\$ -- $app $depth" "$app $depth"
	if command -v perf >/dev/null && perf record -q -o "$t/probe" true >/dev/null 2>&1; then
		"$pairs" "$n" "perf record --call-graph fp, depth $depth" \
			"perf record -q -F 1000 -e task-clock -g -o $t/p-fp $app $depth" \
			"$app $depth"
		"$pairs" "$n" "perf record --call-graph dwarf, depth $depth" \
			"perf record -q -F 1000 -e task-clock --call-graph dwarf,65528 -o $t/p-dw $app $depth" \
			"$app $depth"
		echo "  size: perf fp $(bytes_of "$t/p-fp"), perf dwarf $(bytes_of \
			"$t/p-dw"), hpcrun-lite $(bytes_of "$(ls -d "$t"/m-* | head -n 1)") bytes"
	else
		echo "  perf is not to be had here: no peer figures"
	fi
	rm -rf "${t:?}"/*
done
[ -x "$mini" ] && "$pairs" "$n" "hpcrun-lite, the mini-application" \
	"$hpcrun -q -o $t/a-\$\$ -- $mini" "$mini"
"$pairs" 30 "start-up: hpcrun-lite /bin/true" "$hpcrun -q -o $t/s-\$\$ -- /bin/true" "/bin/true"
