#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A program whose allocations are known, measured in all and by samples; killed; with a child; after
# an exec; with other allocators.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/memory/memory_lib.sh"

cd "$T" || exit 99
sites=$MEMORY_W/memory_sites
"$sites" >"$T/alone"

# agree NAME [LINES]: what hpcprof-lite knows of each function is what the program printed.
agree() {
	while read -r function _; do
		echo "$function $(memory_of "$function" "$1")"
	done <"$T/truth" >"$T/got"
	is "$1: calls, bytes, live at the peak, never freed, temporary" "$(cat "$T/got")" \
		"$(cat "$T/truth")"
}

memory_measure MEMORY@1 all "$sites"
is "exit status" $status 7
is "output" "$(cat "$T/all")" "$(cat "$T/alone")"
is "nothing on standard error" "$(cat "$T/all.err")" ""
cp "$T/alone" "$T/truth"
agree all
is "no error of amounts" "$(by_name '$1 == "memory" { print get("peak_error_bytes"),
	get("allocated_error_bytes"), get("calls_error"), get("lost"), get("unfollowed") }' \
	"$T/all.all")" "0 0 0 0 0"
is "mappings" "$(by_name '$1 == "memory" { print get("mapped_bytes") }' "$T/all.all")" 3145728
like "the report has the table" "$("$HPCPROF" -q --to text "$T/m")" "Memory, from all allocations"
is "--metric takes the peak" "$("$HPCPROF" -q --to text --metric MEMORY:PEAK "$T/m" |
	awk '/^Functions/ { print $5 }')" MEMORY:PEAK

# Samples: within two intervals, so that one run of 30000 fails.
memory_measure MEMORY@20000 some "$sites"
# agrees FIELD TRUTH: nothing if the field of the process is near the truth, plus what the program
# and libc allocate besides.
agrees() {
	by_name -v "field=$1" -v "truth=$2" '
		$1 == "memory" {
			error = 2 * get(field "_error_bytes")
			value = get(field "_bytes")
			if (value < truth - error || value > truth + error + 100000)
				print value " +- " error ", not " truth }' "$T/some.all"
}
is "a sample each 20000 bytes: allocated" \
	"$(agrees allocated "$(awk '{ sum += $3 } END { print sum }' "$T/truth")")" ""
is "... live at the peak" \
	"$(agrees peak "$(awk '{ sum += $4 } END { print sum }' "$T/truth")")" ""

# Killed at the peak: nothing was freed.
memory_measure MEMORY@1 kill "$sites" kill
awk '$1 != "grow" && $1 != "churn" { $5 = $4; print }' "$T/alone" >"$T/truth"
agree kill

# A child of fork frees what its parent allocated, which is not in its account.
memory_measure MEMORY@1 fork "$sites" fork
is "a child of fork: exit status" $status 7
is "... its own memory" "$(memory_of in_child fork)" "50 2000000 2000000 0 0"
memory_of hold fork >"$T/hold"
is "... and that of its parent" "$(cat "$T/hold")" "300 30000000 30000000 0 0"

memory_measure MEMORY@1 exec "$sites" exec
is "after an exec" "$(memory_of hold exec)" "300 30000000 30000000 0 0"

# An allocator in front: what the program gets is from there. Not calls of strdup() in libc, if the
# allocator has one of its own.
n=0
for library in libjemalloc.so.2 libtcmalloc_minimal.so.4 libmimalloc.so.2.0 libmimalloc.so.3; do
	LD_PRELOAD=$library "$sites" >"$T/preloaded" 2>&1
	cmp -s "$T/preloaded" "$T/alone" || continue
	n=$((n + 1))
	LD_PRELOAD=$library memory_measure MEMORY@1 preload "$sites"
	is "$library: exit status" $status 7
	grep -v '^duplicate' "$T/alone" >"$T/truth"
	agree preload
done
[ $n -gt 0 ] || skip "allocators by preload" "none is installed"
done_testing
