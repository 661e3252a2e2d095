#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Loops in all outputs, of a program whose time lies in four nested ones: with lines, by address
# without them, and not at all with --no-loops.

. "${srcdir:-.}/tests/lib.sh"

grep -q '^#define HAVE_ZYDIS 1' "$builddir/config.h" ||
	skip_all "built without Zydis: no loops in x86-64 code"
[ "$(uname -m)" = x86_64 ] || skip_all "not x86-64"
[ -z "${SANITIZER:-}" ] || skip_all "a sanitizer's preloaded library gets in the way"
need gcc strip

source=$srcdir/tests/workload/prof/loops_run.c
line() {
	grep -n "mark: $1 " "$source" | cut -d: -f1
}
gcc -g -O2 -o "$T/prog" "$source"
strip -o "$T/bare" "$T/prog"
rounds=$(line rounds) rows=$(line rows) columns=$(line columns) dot=$(line dot)

# a sample may fall into the loops that fill the matrix, too: only these are asked for
these="$rounds|$rows|$columns|$dot"

measure() { # PROGRAM
	rm -rf "$T/m" "$T/db"
	"$HPCRUN" -q -e CPUTIME@f500 -o "$T/m" "$T/$1" 0.4 >/dev/null
}

measure prog
ok "all outputs are written" "$HPCPROF" -q -o "$T/db" --to "$OUTPUTS" "$T/m"
# the rows of the tree, without numbers and guides, from main on
tree() {
	sed -n '/^Call paths/,/^$/p' "$1" |
		sed -n 's/^ *\([0-9.]*%\) .* \(main\|dot \[inlined\]\|loop at [^ ]*\).*$/\2/p'
}
tree "$T/.ok.out" | grep -E "^main|^dot|:($these)\$" >"$T/tree"
printf '%s\n' main "loop at loops_run.c:$rounds" "loop at loops_run.c:$rows" \
	"loop at loops_run.c:$columns" 'dot [inlined]' "loop at loops_run.c:$dot" >"$T/wanted"
same "the text tree: each loop in the one around it, the inlined call between them" "$T/tree" \
	"$T/wanted"
share=$(sed -n \
	"s/^ *\([0-9]*\)[0-9.]*% .* loop at loops_run.c:$dot .*/\1/p; s/^ *\([0-9]*\)[0-9.]*% .* loop at loops_run.c:$dot\$/\1/p" "$T/.ok.out" | head -n 1)
# the start of a process takes long on slow machines
ok "the innermost one has nearly all of the time" test "${share:-0}" -ge 80

"$HPCPROF" -q --all --to text "$T/m" >"$T/all"
is "four contexts of kind loop" "$(by_name -v these="^($these)\$" '$1 == "context" &&
	get("kind") == "loop" && get("line") ~ these' "$T/all" | wc -l)" 4

if have otf2-print && [ -d "$T/db/otf2" ]; then
	otf2-print -G "$T/db/otf2/traces.otf2" | grep 'Role: LOOP' |
		grep -E "Begin: ($these)," >"$T/regions"
	is "OTF2 has four regions that are loops" "$(wc -l <"$T/regions")" 4
	for l in "$rounds" "$rows" "$columns" "$dot"; do
		ok "... one at line $l" grep -q "Name: \"loop at line $l\".*Begin: $l," "$T/regions"
	done
else
	skip "OTF2 has the loops" "no otf2-print, or built without OTF2"
fi
if have "${PYTHON3:-python3}"; then
	"${PYTHON3:-python3}" "$srcdir/tests/judge/read_cctdb.py" "$T/db" >"$T/facts-db"
	"${PYTHON3:-python3}" "$srcdir/tests/judge/read_text.py" "$T/all" |
		grep -v '^contexts' >"$T/facts-text"
	ok "text and CCT database agree" "${PYTHON3:-python3}" \
		"$srcdir/tests/judge/compare_facts.py" "$T/facts-text" "$T/facts-db"
else
	skip "text and CCT database agree" "no python3 here"
fi

rm -rf "$T/db"
"$HPCSTRUCT" -q --no-loops -o "$T/m/structs" "$T/m"
"$HPCPROF" -q --all --to text "$T/m" >"$T/all"
is "structures without loops give none" \
	"$(by_name '$1 == "context" && get("kind") == "loop"' "$T/all" | wc -l)" 0

measure bare
HPCTOOLKIT_LITE_CACHE=$T/cache-bare # the other one knows the program by its build id
ok "the program without debug information and symbols" "$HPCPROF" -q -o "$T/db" --to text,cctdb \
	"$T/m"
is "its report has no loops, as they have no lines" "$(grep -c 'loop at' "$T/.ok.out")" 0
"$HPCPROF" -q --to text --all "$T/m" >"$T/all"
within "the complete text has them, by their addresses" \
	"$(by_name '$1 == "context" && get("kind") == "loop" &&
		get("file") == "-"' "$T/all" | wc -l)" 4 100
# those that fill the matrix, and the dynamic loader's, may have samples too
done_testing
