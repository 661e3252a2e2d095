#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints that every file named in a comment or a document exists: as a path from the top, as a path
# from the folder of the text, as the end of a path (sample/sample.c), or as a bare name. A pattern
# of a path from the top (tests/cli/run/run_*.sh) fits some file. A path below tests without an
# ending is a folder, or what is built of a file with an ending. A block of code in Markdown shows
# programs of others: there, only paths that begin with a folder of ours are looked at.
# other-names.txt has the names that belong to others.
# Usage: names.sh [SOURCE-ROOT]. Prints TAP.
root=${1:-${top_srcdir:-.}}
cd "$root" || exit 99
. tests/lint/files.sh
T=$(mktemp -d) || exit 99
trap 'rm -rf "$T"' EXIT

{
	lint_files .
	find -H tests/golden tests/fuzz -type f
} 2>/dev/null >"$T/tree"
# shellcheck disable=SC2046 # a list of files
LC_ALL=C awk -v kinds='\\.(c|h|sh|md|mk|txt|py)$' '
	FILENAME == ARGV[1] { # the tree
		exists[$0] = 1
		built = $0
		sub(/\.[a-z]+$/, "", built)
		is_built[built] = 1
		for (path = $0; sub(/\/[^\/]*$/, "", path);) is_built[path] = 1
		for (path = $0; sub(/^[^\/]*\//, "", path);) exists[path] = 1
		if ($0 ~ /\//) { top = $0; sub(/\/.*/, "", top); is_top[top] = 1 }
		next
	}
	FILENAME == ARGV[2] { if ($0 !~ /^#/ && NF) other[$1] = 1; next }
	FNR == 1 {
		kind = FILENAME ~ /\.(c|h|cc|cu|cuh|cl)$/ ? "c" : FILENAME ~ /\.md$/ ? "md" : FILENAME ~ /^(man\/.*\.[1-8]|README|NEWS|LICENSE)$/ ? "text" : "shell"
		folder = FILENAME
		if (!sub(/[^\/]*$/, "", folder)) folder = ""
		inside = is_code = 0
	}
	# fits PATTERN, fits_built PATTERN: whether a file has such a path.
	function fits(pattern) { return fits_of(exists, pattern) }
	function fits_built(pattern) { return fits_of(is_built, pattern) }
	function fits_of(paths, pattern,   form, path) {
		if (pattern in known) return known[pattern]
		form = pattern
		gsub(/\./, "[.]", form)
		gsub(/\*+/, "[^/]*", form)
		known[pattern] = 0
		for (path in paths)
			if (path ~ "^" form "$") return known[pattern] = 1
		return 0
	}
	# c_comments LINE: what stands in comments; strings are passed over.
	function c_comments(line,   out, c, i) {
		out = ""
		while (line != "") {
			if (inside) {
				i = index(line, "*/")
				if (!i) return out line
				out = out substr(line, 1, i - 1) " "
				line = substr(line, i + 2)
				inside = 0
			} else if (match(line, /"([^"\\]|\\.)*"|'\''([^'\''\\]|\\.)*'\''|\/\*|\/\//)) {
				c = substr(line, RSTART, 2)
				line = substr(line, RSTART + (c == "/*" || c == "//" ? 2 : RLENGTH))
				if (c == "//") return out line
				inside = c == "/*"
			} else {
				return out
			}
		}
		return out
	}
	{
		text = $0
		ours_only = 0
		if (kind == "c") {
			text = c_comments(text)
		} else if (kind == "shell") {
			if (!match(text, /(^|[ \t])#/)) next
			text = substr(text, RSTART + RLENGTH)
		} else if (kind == "md") {
			if (text ~ /^[ ]*```/) { is_code = !is_code; next }
			ours_only = is_code || text ~ /^(    |\t)/
		}
		gsub(/\\-/, "-", text)
		rest = " " text
		while (match(rest, /[^A-Za-z0-9_.\/}-]tests\/[a-z0-9_*\/]+/)) {
			name = substr(rest, RSTART + 1, RLENGTH - 1)
			rest = substr(rest, RSTART + RLENGTH)
			# an ending, or a word that stands for others
			if (rest ~ /^(\.[A-Za-z0-9.]|[A-Z<$*{-])/) continue
			sub(/\/$/, "", name)
			if (!(name in is_built) && !(name in other) && !fits_built(name))
				print FILENAME ":" FNR ": " name
		}
		while (match(text, /[A-Za-z0-9_.\/*$<>{}~+-]*[A-Za-z0-9_*>}]\.(sh|md|mk|txt|py|c|h)/)) {
			name = substr(text, RSTART, RLENGTH)
			before = substr(text, RSTART - 1, 1)
			text = substr(text, RSTART + RLENGTH)
			if (text ~ /^[A-Za-z0-9_\/(*]/ || text ~ /^\.[A-Za-z0-9]/) { # a longer word
				sub(/^[A-Za-z0-9_.\/-]*/, "", text)
				continue
			}
			while (sub(/^\.\//, "", name)) ;
			# the path of a pattern begins with a folder of ours; a file fits it
			top = name
			sub(/\/.*/, "", top)
			if (before != ":" && name ~ /\*/ && name !~ /[$<>{}~]/ && top in is_top) {
				if (!fits(name)) print FILENAME ":" FNR ": " name
				continue
			}
			# another pattern, a path of the system, an address
			if (before == ":" || name ~ /[*$<>{}~]|^\/|^\.\.\/\.\.\/|^-/) continue
			if (ours_only && !(top in is_top)) continue
			path = folder name
			while (sub(/[^\/]+\/\.\.\//, "", path)) ;
			if (name in exists || path in exists || name in other) continue
			print FILENAME ":" FNR ": " name
		}
	}' "$T/tree" tests/lint/other-names.txt $(lint_files \
		'\.(c|h|cc|cu|cuh|cl|sh|awk|py|mk|md|ac|am|m4|map|[1-8])$|^(bootstrap|packages\.txt|NEWS)$|^completion/|^\.ci/') >"$T/wrong"
echo 1..1
if [ -s "$T/wrong" ]; then
	echo "not ok 1 - every file that a comment or a document names exists"
	sed 's/^/# /' "$T/wrong"
	exit 1
fi
echo "ok 1 - every file that a comment or a document names exists"
