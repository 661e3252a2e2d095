#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Operators of C++ are counted once, be they libstdc++'s, which call malloc, or an allocator's own;
# and what they throw passes us.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/memory/memory_lib.sh"

cd "$T" || exit 99
for library in "" libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0; do
	if [ -n "$library" ]; then
		LD_PRELOAD=$library "$MEMORY_W/memory_operators" >"$T/preloaded" 2>&1
		[ "$(cat "$T/preloaded")" = thrown ] || continue
	fi
	with=${library:-libstdc++}
	LD_PRELOAD=$library memory_measure MEMORY@1 operators "$MEMORY_W/memory_operators"
	is "$with: exit status" $status 0
	is "$with: the exception arrives" "$(cat "$T/operators")" thrown
	is "$with: new" "$(memory_of single operators)" "100 300000 300000 150000 0"
	is "$with: new[]" "$(memory_of many operators)" "100 300000 300000 150000 0"
	is "$with: nothrow" "$(memory_of careful operators)" "200 600000 600000 300000 0"
	is "$with: aligned" "$(memory_of in_line operators)" "400 1228800 1228800 614400 0"
done
done_testing
