#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite on synthetic measurements: trace records a second of one core into each output and
# into all three; memory over samples; cost over threads. Asserts nothing. A run's cost is its CPU
# time (user and system), the best of RUNS (default 3); memory is the largest resident set.
b=${top_builddir:-.}
prof=$b/hpcprof-lite/hpcprof-lite
gen=$b/tests/gen/gen_measurement
n=${RUNS:-3}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-prof.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT

# cost DIR OUTPUTS: "CPU-seconds KiB", the best of n
cost() {
	i=0
	while [ $i -lt "$n" ]; do
		rm -rf "$t/db"
		env time -a -o "$t/cost" -f '%U %S %M' "$prof" -q -j 1 --no-structs --to \
			"$2" -o "$t/db" "$1" >"$t/text" 2>"$t/err" || cat "$t/err" >&2
		i=$((i + 1))
	done
	awk '{ c = $1 + $2; if (NR == 1 || c < best) best = c; if ($3 > most) most = $3 }
		END { print best, most }' "$t/cost"
	rm -f "$t/cost"
}

env time -o "$t/probe" -f %U true 2>/dev/null || { echo "  no time(1) here"; exit 0; }
sinks=$("$prof" --to '?' x 2>&1 | sed -n 's/.*(\(.*\)).*(.*/\1/p' | tr -d ' ')
sinks=${sinks:-text}
echo "outputs of this build: $sinks"

echo "records a second of one core: 8 threads, 1,000,000 trace records each, 2,000 nodes each"
"$gen" -p 1 -t 8 -n 2000 -s 1000000 -b "$t/records"
for to in $(echo "$sinks" | tr , ' ') "$sinks"; do
	cost "$t/records" "$to" | awk -v to="$to" \
		'{ printf "  %-20s %6.2f s  %6.2f million records/s  %7.1f MiB\n", to, $1, 8 / $1,
			$2 / 1024 }'
done

echo "memory over samples: the same contexts, four times the records; all outputs"
"$gen" -p 1 -t 8 -n 2000 -s 4000000 -b "$t/more"
few=$(cost "$t/records" "$sinks")
many=$(cost "$t/more" "$sinks")
rm -rf "$t/more"
echo "$few $many" |
	awk \
	'{ printf "  %.1f MiB and %.1f MiB: ratio %.2f (CPU time %.2f)\n", $2 / 1024, $4 / 1024,
		$4 / $2, $3 / $1 }'

echo "GPU operations a second of one core: 1 process, 1 thread, 2,000,000 operations on two queues"
"$gen" -p 1 -t 1 -n 40 -s 50 -g 2000000 -b "$t/gpu"
for to in $(echo "$sinks" | tr , ' '); do
	cost "$t/gpu" "$to" | awk -v to="$to" \
		'{
			printf "  %-20s %6.2f s  %6.2f million operations/s  %7.1f MiB resident, mapped files included\n", to, $1, 2 / $1, $2 / 1024 }'
done
rm -rf "$t/gpu"

echo \
	"cost over threads: 100 and 1,000 threads of one tree (2,000 nodes, 2,000 records each); text, then all outputs"
for common in 100 50; do
	"$gen" -p 1 -t 100 -n 2000 -s 2000 -c $common -b "$t/t100"
	"$gen" -p 1 -t 1000 -n 2000 -s 2000 -c $common -b "$t/t1000"
	for to in text "$sinks"; do
		few=$(cost "$t/t100" "$to")
		many=$(cost "$t/t1000" "$to")
		echo "$few $many" | awk -v c=$common -v to="$to" \
			'{
				printf "  %3d%% of the tree common, %-16s %.2f s and %.2f s: ratio %.1f for 10 times the threads; %.0f and %.0f MiB\n", \
			c, to, $1, $3, $3 / $1, $2 / 1024, $4 / 1024 }'
	done
	rm -rf "$t/t100" "$t/t1000"
done
echo "workers: the records above into all outputs, elapsed -j 1 over -j 2"
for j in 1 2; do
	rm -rf "$t/db"
	env time -o "$t/cost$j" -f %e "$prof" -q -j $j --no-structs --to "$sinks" -o "$t/db" \
		"$t/records" >"$t/text"
done
cat "$t/cost1" "$t/cost2" | tr '\n' ' ' |
	awk '{ printf "  %.2f s and %.2f s: %.2f times faster\n", $1, $2, $1 / $2 }'
