#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints the structure of the tree: arrows between folders against rooms.txt, names and sizes of
# folders, and some rules of CONTRIBUTING.md that a machine can see.
# Usage: rooms.sh [SOURCE-ROOT]. Prints TAP. tests/lint/breaks.sh breaks each rule.
root=${1:-${top_srcdir:-.}}
cd "$root" || exit 99
. tests/lint/files.sh
echo 1..7
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

# A line of rooms.txt may go on after a backslash.
# shellcheck disable=SC2086 # the list of files is meant to be split
arrows=$(awk '
	function folder_of(path) { return sub(/\/[^\/]*$/, "", path) ? path : "" }
	FILENAME ~ /rooms\.txt$/ {
		if ($0 ~ /^#/ || NF == 0) next
		first = 1
		if (!room) { room = $1; row[room] = 1; first = 2 }
		for (i = first; i <= NF; i++) if ($i != "\\") may[room, $i] = 0
		if ($NF != "\\") room = ""
		next
	}
	FNR == 1 {
		from = folder_of(FILENAME)
		has_sources[from] = 1
		if (!(from in row) && !(from in said)) { said[from] = 1;
		print from ": has no line in rooms.txt" }
	}
	/^#[ \t]*include[ \t]+"/ {
		split($0, part, "\"")
		inc = part[2]
		to = folder_of(inc)
		if (inc == "config.h" || to == from) next
		if (to == "") { print FILENAME ": " inc ": not a path from the top of the tree";
		next }
		if ((from, to) in may) may[from, to]++
		else print FILENAME ": " inc ": " from " may not include " to
	}
	END {
		for (r in row)
			if (!(r in has_sources)) print r ": has a line in rooms.txt and no sources"
		for (m in may) if (!may[m]) { split(m, pair, SUBSEP);
		print pair[1] ": may include " pair[2] " in rooms.txt, and does not" }
	}' tests/lint/rooms.txt $sources | LC_ALL=C sort)
report "includes follow the arrows of rooms.txt" "$arrows"

report "no two sources have the same name" "$(printf '%s\n' "$sources" | awk -F/ '
	$NF in first { print first[$NF] " and " $0 }
	{ first[$NF] = $0 }')"

report "every file starts with its licence" "$(for f in $sources; do
	read -r line <"$f"
	[ "$line" = '/* SPDX-License-Identifier: BSD-3-Clause */' ] || echo "$f"; done)"

# shellcheck disable=SC2086
report "nothing promises something later" "$(grep -nE \
	'\b(TODO|FIXME|XXX|HACK|not implemented|unimplemented)\b|^#[[:space:]]*if[[:space:]]+0\b' \
	$sources)"

# configure leaves undefined what it does not find, and -Wundef warns about #if only on such
# machines.
# shellcheck disable=SC2086
report "what configure may not define is asked for with #ifdef" \
	"$(grep -nE '^#[[:space:]]*(el)?if[[:space:]]+!?HAVE_' $sources)"

# shellcheck disable=SC2086
report "no vendor header outside its room" "$(
	grep -nE '#[[:space:]]*include[[:space:]]*[<"](cupti|cuda)' $sources |
		grep -v '^hpcrun-lite/gpu/cupti/'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"]CL/' $sources |
		grep -v '^hpcrun-lite/gpu/opencl/'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"](libdwarf|dwarf\.h)' $sources |
		grep -v '^hpcstruct-lite/debug/'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"]otf2/' $sources |
		grep -v '^hpcprof-lite/sink/otf2/'
	grep -nE '#[[:space:]]*include[[:space:]]*[<"]papi' $sources |
		grep -vE '^hpcrun-lite/(source/papi|launch/)')"

# A quick look at sources, where nothing is built. tests/lint/symbols.sh judges what was built.
inside=$(printf '%s\n' "$sources" |
	grep -E \
	'^(common/safe|hpcrun-lite/(store|cct|unwind|python)/|hpcrun-lite/runtime/(sample/|(watch|process)\.c|control/)|hpcrun-lite/source/(perf|ktimer))')
# shellcheck disable=SC2086
report "no malloc, stdio, exit or pthread lock in the signal path" "$(
	grep -nE \
		'\b(malloc|calloc|realloc|free|printf|fprintf|snprintf|fopen|abort|exit|pthread_mutex_lock|dl_iterate_phdr)[[:space:]]*\(' $inside |
	grep -vE ':[[:space:]]*(/?\*|//)')"
