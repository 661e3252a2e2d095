#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Speed and memory of hpcstruct-lite on a large cubin: golden ones multiplied
# (tests/bench/grow_cubin.py). CPU time of one core, best of 3; the resident set contains the mapped
# file.
#
#	bench_cubin.sh [COPIES]     (default 4000; 60000 make 0.7 GB)
set -e
srcdir=$(cd "${top_srcdir:-.}" && pwd)
tool=$(cd "${top_builddir:-.}" && pwd)/hpcstruct-lite/hpcstruct-lite
copies=${1:-4000}
if ! command -v python3 >/dev/null; then
	echo "bench_cubin: skipped: no python3"
	exit 0
fi
dir=$(mktemp -d "${TMPDIR:-/tmp}/hpctoolkit-lite-bench.XXXXXX")
trap 'rm -rf "$dir"' EXIT
for name in inline.sm_90.lineinfo calls.sm_90.lineinfo; do
	cubin=$srcdir/tests/golden/cubin/$name.cubin
	case $name in calls*) n=$((copies / 4)) ;; *) n=$copies ;; esac
	if ! python3 "$srcdir/tests/bench/grow_cubin.py" "$cubin" "$n" "$dir/big.cubin" \
		2>/dev/null; then
		continue
	fi
	bytes=$(stat -c %s "$dir/big.cubin")
	for how in --no-loops ''; do
		best=
		for _ in 1 2 3; do
			# shellcheck disable=SC2086 # an option or none
			python3 -c '
import os, resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
r = resource.getrusage(resource.RUSAGE_CHILDREN)
print("%.3f %d" % (r.ru_utime + r.ru_stime, r.ru_maxrss // 1024))' "$tool" -q -j1 $how --no-cache \
	-f -o "$dir/out" "$dir/big.cubin" >"$dir/cost"
			read -r cost memory <"$dir/cost"
			if [ -z "$best" ] ||
				[ "$(awk -v a="$cost" -v b="$best" 'BEGIN { print a < b }')" \
				= 1 ]; then
				best=$cost
			fi
		done
		awk -v name="$name x $n" -v bytes="$bytes" -v s="$best" -v how="$how" \
			-v mib="$memory" \
			'BEGIN { printf "%-36s %-10s %7.1f MB  %6.2f s CPU  %5.0f MB/s  %5d MiB\n",
				name, how == "" ? "with loops" : "lines", bytes / 1e6, s,
					bytes / 1e6 / s, mib }'
	done
done
