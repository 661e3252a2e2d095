#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Measurements of released versions stay readable: tests/golden/released has one for each, with all
# kinds of record of its time. hpcprof-lite must find the same numbers in it for ever.
# prof_released.sh --accept writes what is expected of a new one.

. "${srcdir:-.}/tests/lib.sh"

need "${PYTHON3:-python3}"
golden=$(cd "$srcdir/tests/golden/released" && pwd)
facts=$(cd "$srcdir/tests/cli/prof" && pwd)/released_facts.py
format=$(cd "$srcdir/doc/formats" && pwd)/measurement.md
cd "$T" || exit 99
for archive in "$golden"/*.tar.gz; do
	version=$(basename "$archive" .tar.gz)
	gzip -dc "$archive" | tar -xf - || exit 99
	"$HPCPROF" --no-structs --no-sources --to json,text -o "$version-db" "$version"/*/ \
		>"$version.report" 2>"$version.messages"
	is "$version is read" $? 0
	is "$version has no file with a defect" "$(grep 'hpcrun: ' "$version.messages")" ""
	"${PYTHON3:-python3}" "$facts" "$version" "$version-db/profile.json" \
		"$format" "$version"/*/*.hpcrun >"$version.facts"
	grep -o '^Parallel regions of OpenMP by possible gain: .*' "$version.report" |
		sed 's/.*/"&"/' >>"$version.facts"
	[ "${1:-}" != --accept ] || cp "$version.facts" "$golden/$version.facts"
	"${PYTHON3:-python3}" "$facts" --lost "$golden/$version.facts" "$version.facts" \
		>"$version.lost" 2>&1
	same "$version says what it has always said" "$version.lost" /dev/null
	like "$version has every kind of record of its time" "$(cat "$version.facts")" \
		'"kinds without a record" \[\]'
done
done_testing
