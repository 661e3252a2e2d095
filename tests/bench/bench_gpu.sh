#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What the core adds to a launch and its operation: call path, launch record, op record. Medians of
# 400 blocks of 500 pairs, against the same program without the tool.
builddir=${top_builddir:-.}
bench=$builddir/tests/bench/bench_gpu
backend=$builddir/tests/workload/gpu/.libs/gpu_fake_backend.so
library=$builddir/.libs/libhpcrun-lite.so
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT

# measured GPUBYTES EVENT DEPTH THREADS [by]
measured() {
	rm -rf "$T/out"
	mkdir "$T/out"
	settings="gpubytes=$1$2"
	shift 2
	# shellcheck disable=SC2016 # expands in the inner shell
	sh -c 'dir=$1 library=$2 settings=$3; shift 3
		LD_PRELOAD=$library HPCTOOLKIT_LITE="1;dir=$dir;lib=$library;say=0;pid=$$;$settings;gpu=fake" exec "$@"' \
		sh "$T/out" "$library" "$settings" "$bench" "$backend" "$@" | awk '{ print $2 }'
}

printf '%-58s %8s %8s\n' "ns a launch with its operation" alone measured
row() { # NAME GPUBYTES EVENT DEPTH THREADS [by]
	name=$1 bytes=$2 event=$3
	shift 3
	alone=$("$bench" "$backend" "$@" | awk '{ print $2 }')
	printf '%-58s %8s %8s\n' "$name" "$alone" "$(measured "$bytes" "$event" "$@")"
}
cpu=';event=CPUTIME,1,1,0,0,1000000,0,0'
row "30 frames" 1073741824 "" 30 1
row "30 frames, the innermost differ from launch to launch" 1073741824 "" 30 1 by
row "200 frames" 1073741824 "" 200 1
row "30 frames, 1000 CPU samples/s" 1073741824 "$cpu" 30 1
row "30 frames, summed up" 0 "" 30 1
row "30 frames, 4 threads" 1073741824 "" 30 4
