#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints, as lines "check-needs: NAME", which test programs and libraries some tests need: the tests
# themselves, and what their sources name, or the shell functions in tests/*.sh that they read. A
# line "needs: NAME..." in a comment of a test adds what it names in no other way. See
# GNUmakefile.in.
# Usage: needs.sh SOURCE-ROOT "TEST..." BUILT...
srcdir=$1
tests=$2
shift 2

# sources: the files that make the tests, one a line
sources() {
	for t in $tests; do
		case $t in
		*.sh) echo "$srcdir/$t" ;;
		*) echo "$srcdir/$t.c" ;;
		esac
	done | while read -r file; do
		[ -f "$file" ] || continue
		echo "$file"
		grep -oE 'tests/([a-z_0-9]+/)*[a-z_0-9]+\.(sh|h)' "$file" |
			grep -v '^tests/lib\.sh$' |
			while read -r other; do
			echo "$srcdir/$other"
			[ "$other" = "${other%.h}" ] || echo "$srcdir/${other%.h}.c"
		done
	done | sort -u | while read -r file; do [ ! -f "$file" ] || echo "$file"; done
}
# used: what the sources name: in scripts anywhere but in comments, in C in strings that are paths
# or libraries
used() {
	sources | while read -r file; do
		sed -n 's/.*needs: //p' "$file"
		case $file in
		*.sh) sed 's/^[[:blank:]]*#.*//' "$file" ;;
		*) grep -oE '"[^"]*(/|\.so)[^"]*"' "$file" ;;
		esac
	done
}
words=" $(echo "$tests" | tr -s '[:space:]' '\n' | sed 's|.*/||')
$(used | tr -cs 'A-Za-z0-9_-' '\n' | sort -u) "
words=$(echo "$words" | tr '\n' ' ')
case $words in *' public_tools '*) words="$words stage " ;; esac
case $words in *' papi_clock '*) words="$words libpapi_pmu " ;; esac
# endings: words like _go, which a script appends to a name in a variable: ${FAMILY}_go
endings=$(echo "$words" | tr ' ' '\n' | grep '^_[a-z]')
# is_named NAME: the sources have this word, or it in two, the name and its ending
is_named() {
	case $words in *" $1 "*) return ;; esac
	for ending in $endings; do
		case $1 in *"$ending") case $words in *" ${1%"$ending"} "*) return ;; esac ;; esac
	done
	return 1
}
for built; do
	name=${built##*/}
	if is_named "${name%%.*}"; then echo "check-needs: $built"; fi # make may print more
done
