#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What one sample costs above an empty handler on the same signal source, at 25 and 170 frames;
# start-up; resident memory; bytes a sample. CPU time of fixed work, runs of all kinds in turn,
# medians (and quartiles) over RUNS (default 9). Asserts nothing.
b=${top_builddir:-.}
hpcrun=$b/hpcrun-lite/hpcrun-lite
check=$b/tests/workload/run/run_check
sample=$b/tests/bench/bench_sample
n=${RUNS:-9}
hz=${HZ:-10000}
units=${UNITS:-60000}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-sample.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT

# quartiles: of the numbers on standard input.
quartiles() {
	sort -n | awk '{ v[NR] = $1 }
		END { printf "%.3f (%.3f to %.3f)", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)],
			v[int((3 * NR + 1) / 4)] }'
}
value() {
	"$check" "$1"/*.hpcrun | awk -v name="$2" '$1 == name { print $2 }'
}

for depth in 25 170; do
	: >"$t/above"
	: >"$t/inside"
	: >"$t/empty"
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		rm -rf "$t/out"
		plain=$("$sample" $depth "$units" | cut -d' ' -f1)
		empty=$("$sample" $depth "$units" "$hz")
		ours=$("$hpcrun" -q -e "CPUTIME@f$hz" -o "$t/out" -- "$sample" $depth "$units" |
			cut -d' ' -f1)
		echo "$plain $empty $ours $(value "$t/out" recorded)" | awk -v hz="$hz" -v f="$t" '{
			signals = $4 * hz / 1e9
			print ($2 - $1) / $3 / 1000 >>(f "/empty")
			print (($4 - $1) / signals - ($2 - $1) / $3) / 1000 >>(f "/above") }'
		"$check" "$t/out"/*.hpcrun | awk '$1 == "handler_ns" { h = $2 }
			$1 == "delivered" { d = $2 } END { if (d) print h / d / 1000 }' \
				>>"$t/inside"
	done
	echo "depth $depth, us a sample: empty handler $(quartiles \
		<"$t/empty"), ours above it $(quartiles <"$t/above"), by our own clock $(quartiles \
		<"$t/inside")"
done

for program in "$sample 25 2000000" "$b/tests/workload/miniapp/melt"; do
	[ -x "${program%% *}" ] || continue
	rm -rf "$t/out"
	# shellcheck disable=SC2086 # a command with arguments
	"$hpcrun" -q -o "$t/out" -- $program >"$t/stdout"
	echo "$("$check" "$t/out"/*.hpcrun | awk '{ v[$1] = $2 } END {
		printf "%d bytes, %d samples, %d nodes: %.2f bytes a sample", v["bytes"],
			v["recorded"], v["nodes"],
				v["bytes"] / v["recorded"] }'), trace included: ${program##*/}"
done

# Resident memory: of a program that only waits, with and without us, by its own account.
rss() { awk '$1 == "VmHWM:" { print $2 }'; }
without=$(sh -c 'cat /proc/self/status' | rss)
with=$("$hpcrun" -q -o "$t/rss" -- sh -c 'cat /proc/self/status' | rss)
echo "resident memory of cat: $without KiB alone, $with KiB measured"
