#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints doc/troubleshooting.md: each message that it quotes is in the sources, so that a message
# cannot be reworded without its page. A word in capitals stands for what differs.
# Usage: messages.sh [SOURCE-ROOT]. Speaks TAP.
root=${1:-${top_srcdir:-.}}
cd "$root" || exit 99
tmp=$(mktemp -d) || exit 99
trap 'rm -rf "$tmp"' EXIT
page=doc/troubleshooting.md

# All string literals, one a line. Neighbours are joined; a macro between two of them ends a line.
# The characters '"' and \" begin and end no string.
find common hpcrun-lite hpcprof-lite hpcstruct-lite -name '*.[ch]' -exec cat {} + |
	tr '\n\t' '  ' | sed "s/'\"'//g; s/\([^\\\\]\)\" *\"/\1/g" |
	grep -o '"[^"\\]*\(\\.[^"\\]*\)*"' |
	sed "s/^\"//; s/\"\$//; s/\\\\\"/\"/g; s/\\\\n/ /g" | LC_ALL=C sort -u >"$tmp/literals"

# missing PAGE: the parts of messages in PAGE that are in no literal. A part may be made of three.
missing() {
	awk '
	function longest(s,   low, high, middle) {
		low = 0
		high = length(s)
		while (low < high) {
			middle = int((low + high + 1) / 2)
			if (index(literals, substr(s, 1, middle))) low = middle
			else high = middle - 1
		}
		return low
	}
	function check(part, span,   rest, n, pieces) {
		gsub(/^[ :;,().\047]+|[ :;,().\047]+$/, "", part)
		if (length(part) < 6) return
		for (rest = part; rest != ""; rest = substr(rest, n + 1)) {
			sub(/^[ :;,().\047]+/, "", rest)
			n = longest(rest)
			if (++pieces > 3 || n < (length(rest) < 8 ? length(rest) : 8)) {
				print "\"" part "\" of " span
				return
			}
		}
	}
	function look(span,   i, n, parts, text) {
		gsub(/[ \n]+/, " ", span)
		text = span
		sub(/^(hpcrun-lite: )?(text: |DIR: |FILE: |DB: )?(warning: )?/, "", text)
		sub(/^gpu=nvidia:? /, "", text)
		gsub(/\/proc\/[a-z_\/]*|lib[A-Za-z]*\.so\.[0-9]*|[A-Z0-9]+_[A-Z0-9_]+|\*\.hpcrun|\.\.\./, "\001", text)
		text = " " text " " # so that each placeholder has a neighbour on both sides
		while (match(text,
			/[^A-Za-z](FILE|DIR-2|DIR|DB|NAMES?|OPTION|CAUSE|RECORDING|N|X)[^A-Za-z]/))
			text = substr(text, 1, RSTART) "\001" substr(text, RSTART + RLENGTH - 1)
		n = split(text, parts, "\001")
		for (i = 1; i <= n; i++) check(parts[i], span)
	}
	FILENAME != page { literals = literals $0 "\n"; next }
	/^- `/ { item = ""; is_item = 1 }
	is_item {
		item = item $0 "\n"
		if ((end = index(item, " —"))) {
			n = split(substr(item, 1, end - 1), spans, "`")
			for (i = 2; i <= n; i += 2) look(spans[i])
			n_items++
			is_item = 0
		}
	}
	END { if (n_items < 100) print "only " n_items + 0 " messages found" }
	' page="$1" "$tmp/literals" "$1" 2>&1
}

echo 1..2
found=$(missing "$page")
if [ -z "$found" ]; then
	echo "ok 1 - $page quotes messages as they are"
else
	echo "not ok 1 - $page quotes messages as they are"
	printf '%s\n' "$found" | sed 's/^/# /'
fi
sed 's/is linked statically: no/is linked statically, so no/' "$page" >"$tmp/page.md"
if missing "$tmp/page.md" | grep -q 'linked statically'; then
	echo "ok 2 - a message that differs is found"
else
	echo "not ok 2 - a message that differs is found"
fi
