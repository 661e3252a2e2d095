#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints that lines have at most 100 columns, a tab reaching to the next multiple of 8, in sources,
# Markdown and man pages. Two things are excepted: tables of figures, and in scripts a line with
# one quoted string alone, because a message that is cut in two is not found by grep. long-lines.txt
# says how many longer lines a file still has: neither more nor fewer, so that the list shrinks and
# never grows unseen.
# Usage: lines.sh [SOURCE-ROOT] [--accept]; --accept writes the list. Prints TAP.
root=${1:-${top_srcdir:-.}}
accept=${2:-}
if [ "$root" = --accept ]; then
	root=${top_srcdir:-.}
	accept=--accept
fi
cd "$root" || exit 99
. tests/lint/files.sh
list=tests/lint/long-lines.txt

# A table of figures is a block of lines that begin with '|' in which half of the cells or more, the
# first column and the head aside, have a digit; or in sources, a line of numbers alone.
# long_lines FILE...: "FILE:LINE: COLUMNS".
long_lines() {
	LC_ALL=C awk '
		function columns(text,   n, part, i, width) {
			gsub(/[\200-\277]/, "", text) # later bytes of characters
			n = split(text, part, "\t")
			for (i = 1; i < n; i++) { width += length(part[i]); width += 8 - width % 8 }
			return width + length(part[n])
		}
		function end_table(   i) {
			if (2 * n_figures < n_cells)
				for (i = 1; i <= n_held; i++) print held[i]
			n_held = n_cells = n_figures = n_rows = 0
		}
		FNR == 1 { end_table() }
		/^\|/ && FILENAME ~ /\.md$/ {
			n = split($0, cell, "|")
			if (++n_rows > 2)
				for (i = 3; i < n; i++) {
					n_cells++
					if (cell[i] ~ /[0-9]/) n_figures++
				}
			width = columns($0)
			if (width > 100) held[++n_held] = FILENAME ":" FNR ": " width
			next
		}
		{ end_table() }
		length($0) <= 100 && !/\t/ { next }
		(width = columns($0)) <= 100 { next }
		/^[-0-9a-fA-FxXuUlL,. \t{}]+;?$/ { next }
		FILENAME ~ /\.(sh|py)$/ &&
			/^[ \t]*[a-z]?("([^"\\]|\\.)*"|\047[^\047]*\047)[]),;"]*( \\)?$/ { next }
		{ print FILENAME ":" FNR ": " width }
		END { end_table() }' "$@"
}

kinds='\.(c|h|cc|cu|cuh|sh|awk|py|mk|md|ac|am|m4|map|cl|[1-8])$'
kinds="$kinds|^(bootstrap|GNUmakefile\\.in|packages\\.txt|NEWS)\$|^completion/|^\\.ci/"
# shellcheck disable=SC2046 # a list of files
found=$(long_lines $(lint_files "$kinds"))
counts=$(printf '%s\n' "$found" | sed '/^$/d; s/:.*//' | uniq -c | awk '{ print $1, $2 }')

if [ "$accept" = --accept ]; then
	{
		grep '^#' "$list"
		[ -z "$counts" ] || printf '%s\n' "$counts"
	} >"$list.new" && mv "$list.new" "$list"
	exit
fi

wrong=$(printf '%s\n' "$counts" | awk '
	FILENAME != "-" { if ($0 !~ /^#/ && NF) may[$2] = $1; next }
	NF { has[$2] = $1 }
	END {
		longer = " lines are longer than 100 columns; "
		for (f in has)
			if (has[f] > may[f])
				print f ": " has[f] longer may[f] + 0 " may be"
		for (f in may)
			if (has[f] < may[f])
				print f ": " has[f] + 0 longer "lower the " may[f] \
					" in long-lines.txt (lines.sh --accept)"
	}' "$list" - | LC_ALL=C sort)
echo 1..1
if [ -z "$wrong" ]; then
	echo "ok 1 - no line has more than 100 columns"
	exit
fi
echo "not ok 1 - no line has more than 100 columns"
printf '%s\n' "$wrong" | while read -r line; do
	echo "# $line"
	case $line in *'; lower the '*) continue ;; esac
	printf '%s\n' "$found" | awk -v f="${line%%:*}" \
		'index($0, f ":") == 1 { print "#   " $0 " columns" }' | head -n 20
done
exit 1
