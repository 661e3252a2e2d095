#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What Python frames add to a sample, by the clock of the handlers, below 25 and 300 functions that
# stay, and in a script that does nothing but import: runs with and without (-a native) in turn,
# medians (and quartiles) of RUNS (default 5) pairs for each interpreter of PYTHONS. Asserts
# nothing.
b=${top_builddir:-.}
s=${srcdir:-.}
hpcrun=$b/hpcrun-lite/hpcrun-lite
check=$b/tests/workload/run/run_check
n=${RUNS:-5}
hz=${HZ:-1000}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-python.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT

quartiles() {
	sort -n | awk '{ v[NR] = $1 }
		END { printf "%.1f (%.1f to %.1f)", v[int((NR + 1) / 2)], v[int((NR + 3) / 4)],
			v[int((3 * NR + 1) / 4)] }'
}
# us_a_sample ATTRIBUTION COMMAND...
us_a_sample() {
	attribution=$1
	shift
	rm -rf "$t/out"
	"$hpcrun" -q -a "$attribution" -e "CPUTIME@f$hz" -o "$t/out" -- "$@" >/dev/null
	for f in "$t"/out/*.hpcrun; do
		"$check" "$f"
	done | awk '$1 == "handler_ns" { h += $2 } $1 == "delivered" { d += $2 }
		END { print d ? h / d / 1000 : 0 }'
}
# added NAME COMMAND...
added() {
	name=$1
	shift
	: >"$t/with"
	: >"$t/added"
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		without=$(us_a_sample native "$@")
		with=$(us_a_sample python "$@")
		echo "$with" >>"$t/with"
		echo "$with $without" | awk '{ print $1 - $2 }' >>"$t/added"
	done
	echo "$name, us a sample: $(quartiles \
		<"$t/with") with Python frames, added by them $(quartiles <"$t/added")"
}

for python in ${PYTHONS:-python3}; do
	version=$("$python" -c 'import platform; print(platform.python_version())') || continue
	added "$version, 25 functions" "$python" "$s/tests/python/warm.py" 25 1
	added "$version, 300 functions" "$python" "$s/tests/python/warm.py" 300 1
	added "$version, imports" "$python" -c \
		'import asyncio, unittest, http.server, xml.dom.minidom, email.mime.text, ctypes, logging.config, multiprocessing.pool, urllib.request, tarfile, decimal, pydoc'
done
