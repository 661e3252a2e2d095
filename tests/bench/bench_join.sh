#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The critical path of joining trees in pairs, for 1 to 1,024 ranks of hpcprof-lite, as a table:
# ranks with the same call paths, and ranks with paths of their own. Asserts nothing.
b=${top_builddir:-.}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-join.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT

# join RANKS THREADS LEAVES PERCENT
join() {
	echo
	echo "$1 ranks x $2 threads, each with $4% of $3 leaf functions"
	"$b/tests/gen/gen_scale" -r "$1" -t "$2" -l "$3" -p "$4" --no-trace "$t/job" &&
		"$b/tests/bench/bench_join" "$t/job"
	rm -rf "$t/job"
}

join 2048 1 1024 30
join 1024 64 64 50
join 2048 1 65536 1
