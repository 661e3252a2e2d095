#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Lints the links of Markdown to other files and to headings: the file exists and has the heading,
# and a page that is installed (doc/ and what dist_doc_DATA in Makefile.am lists) has links to
# installed files only. Addresses of other sites are not looked at.
# Usage: links.sh [SOURCE-ROOT]. Prints TAP.
cd "${1:-${top_srcdir:-.}}" || exit 99
. tests/lint/files.sh

# shellcheck disable=SC2046 # lists of files
found=$({
	sed -n 's/^dist_doc_DATA = //p' Makefile.am | tr ' ' '\n'
	find doc -type f
	echo . # here the installed files end
	lint_files .
} | LC_ALL=C awk '
	FILENAME == "-" {
		if ($0 == ".") in_tree = 1
		else if (in_tree) exists[$0] = 1
		else installed[$0] = 1
		next
	}
	FNR == 1 {
		folder = FILENAME
		if (!sub(/[^\/]*$/, "", folder)) folder = ""
	}
	/^(    |\t)/ { next } # a block of code
	/^#+ / { # the name that a browser gives to the heading
		name = tolower($0)
		sub(/^#+ +/, "", name)
		gsub(/[^a-z0-9 _-]/, "", name)
		gsub(/ /, "-", name)
		heading[FILENAME "#" name] = 1
	}
	{
		rest = $0
		while (match(rest, /\]\([^)]*\)/)) {
			target = substr(rest, RSTART + 2, RLENGTH - 3)
			rest = substr(rest, RSTART + RLENGTH)
			if (target ~ /^[a-z]+:/) continue
			path = folder target
			sub(/#.*/, "", path)
			while (sub(/[^\/]+\/\.\.\//, "", path)) ;
			if (target ~ /^#/) path = FILENAME
			n++
			where[n] = FILENAME ":" FNR ": " target
			from[n] = FILENAME
			to[n] = path
			at[n] = target ~ /#/ ? path substr(target, index(target, "#")) : ""
		}
	}
	END {
		for (i = 1; i <= n; i++)
			if (!(to[i] in exists)) print where[i] ": no such file"
			else if (from[i] in installed && !(to[i] in installed))
				print where[i] ": is not installed, and this page is"
			else if (at[i] != "" && !(at[i] in heading))
				print where[i] ": no such heading"
		if (!n) print "no links"
	}' - $(lint_files '\.md$'))
echo 1..1
if [ -n "$found" ]; then
	echo "not ok 1 - every link of a document leads somewhere"
	printf '%s\n' "$found" | sed 's/^/# /'
	exit 1
fi
echo "ok 1 - every link of a document leads somewhere"
