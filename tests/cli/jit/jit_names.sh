#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Names of code that a program makes while it runs: from a perf map and from a jitdump, with lines;
# code that is replaced at its address is told apart by time, and where that is not known nothing is
# claimed. The program's own clock is the judge.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
jit=$builddir/tests/workload/prof/jit
cd "$T" || exit 99
TMPDIR=$T
export TMPDIR

# measure NAME [-l OPTIONS OF THE LAUNCHER] OPTIONS OF THE PROGRAM...: NAME.out is the program's,
# NAME.all the profile
measure() {
	name=$1 launch=
	shift
	if [ "$1" = -l ]; then
		launch=$2
		shift 2
	fi
	# shellcheck disable=SC2086 # several words
	"$HPCRUN" -q $launch -e CPUTIME@f1000 -o "$name" "$jit" "$@" >"$name.out" 2>"$name.err"
	is "$name: the program runs" "$?" 0
	profile "$name"
}
profile() {
	"$HPCPROF" -q --no-structs -o "$1.db" --to=text,cctdb --all "$1" >"$1.all" 2>"$1.err"
	is "$1: it is read" "$? $(cat "$1.err")" "0 "
	is "$1: the ledger closes" "$(grep -cx 'closes	1' "$1.all")" 1
}
# of NAME FUNCTION: seconds in it by the profile, and truly
of() {
	by_name -v f="$2" \
		'$1 == "by-function" && get("metric") == "CPUTIME (sec)" && get("name") == f {
			s += get("exclusive") }
			END { printf "%.6f\n", s }' "$1.all"
}
truth() {
	awk -v f="$2" '$1 == "truth" && $2 == f { s += $3 } END { printf "%.6f\n", s }' "$1.out"
}
# The program asks for the time of its clock outside of the code that it made; a fifth is left to
# slow hosts.
share() {
	within "$1: $2" "$(of "$1" "$2")" \
		"$(awk -v s="$(truth "$1" "${3:-$2}")" 'BEGIN { print s * 0.75 - 0.01 }')" \
		"$(awk -v s="$(truth "$1" "${3:-$2}")" 'BEGIN { print s * 1.2 + 0.01 }')"
}
# lines NAME FUNCTION: file:line of it that have samples
lines() {
	by_name -v f="$2" \
		'$1 == "by-line" && get("metric") == "CPUTIME (sec)" && get("function") == f &&
			get("inclusive") > 0.02 { print get("place") }' \
		"$1.all" \
			| sort | tr '\n' ' '
}
# whole NAME: the time at the root, and the number of samples
whole() {
	"$HPCPROF" -q --no-structs --to=text --all "$1" | by_name \
		'$1 == "total" && get("metric") == 0 { n += get("samples");
			if (get("context") == 0) sum = get("execution") } END { print sum, n }'
}

measure dump -d "$T" -t 0.1
for f in alpha beta stays; do share dump $f; done
is "dump: nothing else has a name" \
	"$(of dump 'alpha or beta') $(of dump '<code outside every module>')" "0.000000 0.000000"
is "dump: lines" "$(lines dump stays)" "/nowhere/generated.src:11 /nowhere/generated.src:12 "
is "dump: no context is left without samples" "$(grep -c 'alpha or beta' dump.all)" 0
measure shifted -s -d "$T" -t 0.1
is "shifted: lines that count from an ELF header" "$(lines shifted stays)" \
	"/nowhere/generated.src:11 /nowhere/generated.src:12 "

measure untimed -l --no-trace -d "$T" -t 0.1
is "untimed: without time lines nothing tells the two apart" \
	"$(of untimed alpha) $(of untimed beta)" "0.000000 0.000000"
within "untimed: one of two" "$(of untimed 'alpha or beta')" 0.12 0.3
share untimed stays

measure map -m "$T" -t 0.1
is "map: it has no times" "$(of map alpha) $(of map beta)" "0.000000 0.000000"
within "map: one of two" "$(of map 'alpha or beta')" 0.12 0.3
share map stays
is "map: no lines" "$(lines map stays | grep -c nowhere)" 0

measure both -m "$T" -d "$T" -t 0.1
for f in alpha beta stays; do share both $f; done

measure none -t 0.1
within "none: what has no name is given none" "$(of none '<code outside every module>')" 0.25 0.5

with=$(whole dump)
rm -rf "$T"/jit-*.dump dump/*.jitdump dump.db
is "sums and samples are the same with names and without" "$with" "$(whole dump)"
profile dump
is "which are gone with the file" "$(of dump alpha) $(of dump stays)" "0.000000 0.000000"
done_testing
