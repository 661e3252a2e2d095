#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints the structure of the tree: include arrows against rooms.txt, and a few rules of CONTRIBUTING.md that a machine can see.
# Usage: rooms.sh [SOURCE-ROOT]. Speaks TAP.
root=${1:-${top_srcdir:-.}}
cd "$root" || exit 99
echo 1..6
n=0
report() { # NAME FINDINGS
	n=$((n + 1))
	if [ -z "$2" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}
sources=$(find common hpcrun-lite hpcstruct-lite hpcprof-lite -name '*.[ch]' | LC_ALL=C sort)

# shellcheck disable=SC2086 # the list of files is meant to be split
arrows=$(awk '
	FILENAME ~ /rooms\.txt$/ {
		if ($0 ~ /^#/ || NF == 0) next
		rooms[$1] = 1
		for (i = 2; i <= NF; i++) may[$1, $i] = 1
		next
	}
	function room_of(path,   p) {
		for (p = path; sub(/\/[^\/]*$/, "", p);) if (p in rooms) return p
		return ""
	}
	/^#[ \t]*include[ \t]+"/ {
		split($0, part, "\"")
		inc = part[2]
		if (inc == "config.h") next
		from = room_of(FILENAME); to = room_of(inc)
		if (from == "") { print FILENAME ": lies in no room of rooms.txt"; next }
		if (to == "") { print FILENAME ": " inc ": not a path from the top of the tree"; next }
		if (to == from || (from, to) in may || (from, inc) in may) next
		print FILENAME ": " inc ": " from " may not include " to
	}' tests/lint/rooms.txt $sources)
report "includes follow the arrows of rooms.txt" "$arrows"

report "every file starts with its licence" "$(for f in $sources; do
	head -n 1 "$f" | grep -q '^/\* SPDX-License-Identifier: BSD-3-Clause \*/$' || echo "$f"; done)"

# shellcheck disable=SC2086
report "nothing promises something later" \
	"$(grep -nE '\b(TODO|FIXME|XXX|HACK|not implemented|unimplemented)\b|^#[[:space:]]*if[[:space:]]+0\b' $sources)"

# What configure did not find is not defined: -Wundef warns where it is taken for a number, on machines without it alone.
# shellcheck disable=SC2086
report "what configure may not define is asked for with #ifdef" "$(grep -nE '^#[[:space:]]*(el)?if[[:space:]]+!?HAVE_' $sources)"

# shellcheck disable=SC2086
report "no vendor header outside its room" "$(
	grep -nE '#[[:space:]]*include[[:space:]]*[<"](cupti|cuda)' $sources | grep -v '^hpcrun-lite/gpu/cupti/'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"]CL/' $sources | grep -v '^hpcrun-lite/gpu/opencl/'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"](libdwarf|dwarf\.h)' $sources | grep -v '^hpcstruct-lite/debug/'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"]otf2/' $sources | grep -v '^hpcprof-lite/sink/otf2'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"]papi' $sources | grep -vE '^hpcrun-lite/(source/papi|launch/)')"

# What runs inside the measured process: none of these may be called there.
# shellcheck disable=SC2086
inside=$(printf '%s\n' $sources | grep -E '^(common/safe|hpcrun-lite/(store|cct|unwind|python)/)')
# shellcheck disable=SC2086
report "no malloc, stdio, exit or pthread lock in the signal path" "$(
	grep -nE '\b(malloc|calloc|realloc|free|printf|fprintf|snprintf|fopen|abort|exit|pthread_mutex_lock|dl_iterate_phdr)[[:space:]]*\(' $inside |
	grep -vE ':[[:space:]]*(/?\*|//)')"
