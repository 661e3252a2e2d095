#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Prints, as lines "check-needs: NAME", which test programs and libraries some tests need: the tests
# themselves, and what their sources name, or the shell functions in tests/*.sh that they read. A
# line "needs: NAME..." in a comment of a test adds what it names in no other way. See
# GNUmakefile.in.
# Usage: needs.sh SOURCE-ROOT "TEST..." BUILT...
cd "$1" || exit 1
tests=$2
shift 2

# existing NAME...: those that are files, one a line
existing() {
	for name; do [ ! -f "$name" ] || echo "$name"; done
}
# sources: the files that make the tests, one a line
# shellcheck disable=SC2046,SC2086 # names of files without blanks
sources() {
	own=$(existing $(for t in $tests; do
		case $t in *.sh) echo "$t" ;; *) echo "$t.c" ;; esac
	done))
	[ -n "$own" ] || return
	others=$(grep -ohE 'tests/([a-z_0-9]+/)*[a-z_0-9]+\.(sh|h)' $own |
		grep -v '^tests/lib\.sh$')
	existing $own $others $(echo "$others" | sed -n 's/\.h$/.c/p') | sort -u
}
# used: what the sources name: in scripts anywhere but in comments, in C in strings that are paths
# or libraries
used() {
	sources | xargs grep -ohE 'needs: .*' /dev/null | sed 's/^needs: //'
	sources | grep '\.sh$' | xargs cat /dev/null | sed 's/^[[:blank:]]*#.*//'
	sources | grep -v '\.sh$' | xargs grep -ohE '"[^"]*(/|\.so)[^"]*"' /dev/null
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
