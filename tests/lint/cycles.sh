#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints the arrows between folders: no folder includes headers of others that lead back to it.
# cycles.txt has the arrows that still do; the list may only become shorter.
# Usage: cycles.sh [SOURCE-ROOT]. Prints TAP. tests/lint/breaks.sh breaks each rule.
root=${1:-${top_srcdir:-.}}
cd "$root" || exit 99
echo 1..2
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

# "FROM TO" for each pair of folders.
arrows=$(find common hpcrun-lite hpcstruct-lite hpcprof-lite -name '*.[ch]' |
	LC_ALL=C sort | xargs awk '
	function folder_of(path) { return sub(/\/[^\/]*$/, "", path) ? path : "" }
	/^#[ \t]*include[ \t]+"/ {
		split($0, part, "\"")
		from = folder_of(FILENAME)
		to = folder_of(part[2])
		if (to != "" && to != from && !seen[from, to]++) print from, to
	}')
back=$(grep -v '^#' tests/lint/cycles.txt)
forward=$(printf '%s\n' "$arrows" | grep -vxF "${back:-none}")

# circles ARROWS...: the folders of each circle, one line
circles() {
	printf '%s\n' "$@" | LC_ALL=C tsort 2>&1 >/dev/null | awk '
		/loop:$/ { if (circle) print circle; circle = ""; next }
		{ sub(/^tsort: /, ""); circle = circle (circle ? " " : "") $0 }
		END { if (circle) print circle }'
}
report "no folders include each other in a circle" "$(circles "$forward")"

report "each arrow of cycles.txt is still in a circle" "$(printf '%s\n' "$back" |
	while read -r arrow; do
		[ -z "$arrow" ] || {
			printf '%s\n' "$arrows" | grep -qxF "$arrow" &&
				[ -n "$(circles "$forward" "$arrow")" ]
		} || echo "$arrow: take it off the list"
	done)"
