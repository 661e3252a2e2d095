#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints the marks by which scripts find a line of a test program, such as /* HOT_LINE */: each is on
# the line of its statement, on one line only, and each that a script looks for is there. Many of
# these scripts run on machines with a GPU alone, where nobody sees a mark that moved.
# Usage: marks.sh [SOURCE-ROOT]. Prints TAP.
cd "${1:-${top_srcdir:-.}}" || exit 99
. tests/lint/files.sh

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
lint_files '^tests/.*\.(c|h|cc|cpp|cu|cuh|py)$' >"$work/programs"
lint_files '^tests/.*\.sh$' | grep -v '^tests/lint/' >"$work/scripts"

# "WORD FILE:LINE KIND" for each mark: alone, or on a line with a statement
xargs awk '
	match($0, /\/\* [A-Z][A-Z0-9_]* \*\//) || match($0, /# [A-Z][A-Z0-9_]*$/) {
		word = substr($0, RSTART, RLENGTH)
		gsub(/[^A-Z0-9_]/, "", word)
		rest = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
		print word, FILENAME ":" FNR, rest ~ /[^ \t{}]/ ? "statement" : "alone"
	}' <"$work/programs" >"$work/marks"

# words of scripts; and those that are surely marks
xargs grep -hoE '[A-Z][A-Z0-9_]*' <"$work/scripts" | LC_ALL=C sort -u >"$work/words"
xargs grep -hv '^[[:space:]]*#' <"$work/scripts" |
	grep -oE '(line_of|on_line [^ ]+|in_loop [^ ]+ [^ ]+) ([^ )"$]+ )?[A-Z][A-Z0-9_]*' |
	awk '{ print $NF }' | LC_ALL=C sort -u >"$work/wanted"

n=0
# none DESCRIPTION: found is empty
none() {
	n=$((n + 1))
	if [ -s "$work/found" ]; then
		echo "not ok $n - $1"
		sed 's/^/# /' "$work/found"
	else
		echo "ok $n - $1"
	fi
}
awk 'NR == FNR { words[$1]; next } $1 in words && $3 == "alone" { print $2 ": " $1 }' \
	"$work/words" "$work/marks" >"$work/found"
none "marks are on the line of their statement"
awk 'NR == FNR { words[$1]; next }
	{ file = $2; sub(/:.*/, "", file) }
	$1 in words && seen[$1, file]++ { print $2 ": " $1 " again" }' \
	"$work/wanted" "$work/marks" >"$work/found"
none "each mark is on one line of a file"
awk 'NR == FNR { marks[$1]; next } !($1 in marks)' "$work/marks" "$work/wanted" >"$work/found"
none "each mark that a script looks for is there"
wc -l <"$work/wanted" | awk '$1 < 5' >"$work/found"
none "marks were found in scripts"
echo "1..$n"
