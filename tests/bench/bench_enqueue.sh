#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the tool adds to a command of OpenCL, against a queue with profiling and no tool: CPU time of
# the thread that asks, and of the whole process, at 5, 25 and 100 frames; runs of all kinds in
# turn, medians (and quartiles) over RUNS (default 9). Also the share that the run time measures
# itself. Asserts nothing.
b=${top_builddir:-.}
hpcrun=$b/hpcrun-lite/hpcrun-lite
program=$b/tests/bench/bench_enqueue
n=${RUNS:-9}
batches=${BATCHES:-100}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-enqueue.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT

"$program" 1 1 >/dev/null 2>&1 || { echo "no OpenCL device: nothing measured"; exit 0; }

# quartiles: of the numbers on standard input.
quartiles() {
	sort -n | awk '{ v[NR] = $1 }
		END { printf "%.2f (%.2f to %.2f)", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)],
			v[int((3 * NR + 1) / 4)] }'
}

for depth in 5 25 100; do
	rm -f "$t"/*.v
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		rm -rf "$t/m"
		plain=$("$program" $depth "$batches")
		times=$("$program" $depth "$batches" times)
		gpu=$("$hpcrun" -q -e gpu=opencl -o "$t/m" -- "$program" $depth "$batches")
		rm -rf "$t/m"
		both=$("$hpcrun" -q -e CPUTIME -e gpu=opencl -o "$t/m" -- "$program" $depth \
			"$batches")
		echo "$plain $gpu $both $times" | awk -v d="$t" '{
			print $1 / 1000 >>(d "/plain.v"); print ($3 - $1) / 1000 >>(d "/thread.v");
			print $3 / $1 >>(d "/ratio.v")
			print ($4 - $2) / 1000 >>(d "/process.v");
			print ($5 - $1) / 1000 >>(d "/sampled.v")
			print ($7 - $1) / 1000 >>(d "/times.v") }'
	done
	echo "$depth frames, us a command: without the tool $(quartiles \
		<"$t/plain.v"), added $(quartiles <"$t/thread.v"), that is $(quartiles \
		<"$t/ratio.v") times"
	echo "    added with CPUTIME beside it $(quartiles \
		<"$t/sampled.v"); to all threads together $(quartiles \
		<"$t/process.v"); a program that reads its times itself adds $(quartiles \
		<"$t/times.v")"
done
