#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite compare as a gate: conditions, exit status, JUnit XML (read by xmllint) and Markdown.
. "${srcdir:-.}/tests/lib.sh"

gen=$builddir/tests/gen/gen_compare
unset COLUMNS NO_COLOR
cd "$T" || exit 99

"$gen" --kernels 1000 base
"$gen" --build 3 --moved 7 --kernels 2000 --solve 13000 new

# gate CONDITION...: the status of a comparison with these conditions
gate() {
	set -- "$@" --
	while [ "$1" != -- ]; do
		set -- "$@" --fail-if "$1"
		shift
	done
	shift
	status=0
	COLUMNS=160 "$HPCPROF" compare --no-structs --noise 1 "$@" base new >out 2>err || status=$?
	echo $status
}

is "CPUTIME of a function rose by 30 %: beyond 5 %" "$(gate 'CPUTIME in solve > +5%')" 3
is "the message names the condition" "$(cat err)" \
	"hpcprof-lite: --fail-if: the condition 'CPUTIME in solve > +5%' is true"
like "so does the table" "$(cat out)" \
	'^ +\+3\.00 s .* \+30\.0% +1\.300 +10\.00 s +13\.00 s +FAIL +CPUTIME in solve > \+5%$'
is "not beyond 40 %" "$(gate 'CPUTIME in solve > +40%')" 0
is "29 % is exceeded, but not beyond noise" "$(gate 'CPUTIME in solve > +29%')" 0
like "which is said" "$(cat out)" ' pass \(noise\)  CPUTIME in solve > \+29%$'

# each CONDITION STATUS
while IFS='|' read -r condition wanted; do
	is "$condition" "$(gate "$condition")" "$wanted"
done <<'EOF'
CPUTIME (sec) in solve > +5%|3
CPUTIME self in solve > +5%|3
CPUTIME total in solve > +5%|3
CPUTIME self in main > +5%|0
CPUTIME in main > +5%|3
CPUTIME > +5%|3
CPUTIME > +14%|0
CPUTIME in smooth > +5%|0
CPUTIME in smooth < -5%|0
CPUTIME in solve > +2 s|3
CPUTIME in solve > +2000 ms|3
CPUTIME in solve > +4 s|0
CPUTIME in solve > 12 s|3
CPUTIME in solve > 14 s|0
CPUTIME in solve < 14 s|3
CPUTIME in solve < 12 s|0
CPUTIME in solve < +4 s|3
GKER:COUNT > +99%|3
GKER:COUNT > +100%|0
GKER:COUNT > 1999|3
GKER:COUNT > 2k|0
GKER:COUNT in axpy > +1|3
GKER in axpy > +50%|3
GKER in main > +50%|3
GKER:BLK_THR in axpy > +1%|0
GKER:BLK_THR in axpy > 127|3
EOF

is "several: one that holds is enough" \
	"$(gate 'CPUTIME in smooth > +5%' 'CPUTIME in solve > +5%' 'CPUTIME < 1 s')" 3
is "only that one is named" "$(cat err)" \
	"hpcprof-lite: --fail-if: the condition 'CPUTIME in solve > +5%' is true"
is "a function that no run has" "$(gate 'CPUTIME in slove > +5%')" 0
is "is a warning" "$(cat err)" \
	"hpcprof-lite: --fail-if: warning: 'CPUTIME in slove > +5%': no run has a function 'slove'"
like "and is absent in the table" "$(cat out)" ' absent +CPUTIME in slove > \+5%$'

# --- runs without a GPU
"$gen" --build 7 without-gpu
"$gen" --build 8 --gpu idle-gpu

# pair BASE NEW CONDITION: the status
pair() {
	status=0
	COLUMNS=160 "$HPCPROF" compare --no-structs --fail-if "$3" "$1" "$2" >out 2>err || status=$?
	echo $status
}
is "a GPU metric if the new run was measured without gpu=" \
	"$(pair new without-gpu 'GKER:COUNT < 2000')" 2
like "is a usage error" "$(cat err)" "'GKER:COUNT < 2000': not every run measured GKER:COUNT "
is "and so if the base was" "$(pair without-gpu new 'GKER > +5%')" 2
is "a run with gpu= that launches nothing counts as 0" \
	"$(pair new idle-gpu 'GKER:COUNT < 2000')" 3

is "a mean over no launches" "$(pair idle-gpu new 'GKER:BLK_THR in axpy > +1%')" 0
like "is a warning" "$(cat err)" "--fail-if: warning: 'GKER:BLK_THR in axpy > \+1%': \
GKER:BLK_THR is a mean over GKER:COUNT, which is 0 in all runs of a side$"
like "and is absent in the table" "$(cat out)" ' absent +GKER:BLK_THR in axpy > \+1%$'
is "without a sign only the new side matters" \
	"$(pair idle-gpu new 'GKER:BLK_THR in axpy > 127')" 3
is "which is absent here" "$(pair new idle-gpu 'GKER:BLK_THR in axpy < 1')" 0
COLUMNS=160 "$HPCPROF" compare -q --no-structs --fail-if 'GKER:BLK_THR > +1%' \
	--base base --base idle-gpu new >out 2>err || fail "an equal mean is no failure: $?"
like "a run without a launch does not count in the mean of its side" "$(cat out)" \
	' 1\.000 +128 +128 +pass +GKER:BLK_THR > \+1%$'
"$HPCPROF" compare -q --no-structs --fail-if 'GKER:BLK_THR > +1%' --junit absent.xml \
	idle-gpu new >out 2>err || fail "absent is no failure: $?"
like "JUnit: why it is absent" "$(cat absent.xml)" \
	'<skipped message="a side has no launch to average over"/>'

# --- the values are those of the report
job=$srcdir/tests/golden/prof/job
"$HPCPROF" -q --no-structs --to text --all "$job" |
	by_name '$1 == "by-function" && get("metric") == "CPUTIME (sec)" && get("name") !~ /^</ {
		print get("name") "\t" get("exclusive") "\t" get("inclusive") }' >functions
set --
while IFS='	' read -r name self total; do
	set -- "$@" --fail-if "CPUTIME self in $name > 0 s" --fail-if "CPUTIME in $name > 0 s"
done <functions
COLUMNS=160 "$HPCPROF" compare -q --no-structs "$@" "$job" "$job" 2>err |
	sed '1,/^Conditions of/d' | sed -nE 's/^ +0 s .* 1\.000 +([0-9.]+ ms) .*CPUTIME/\1/p' |
	sed -E 's/ (self )?in / /; s/ > 0 s$//' | sort >compared
awk -F'\t' 'function put(x) {
		if (x > 0) printf (x < 0.1 ? "%.2f" : "%.1f") " ms %s\n", x * 1000, $1 }
	{ put($2); put($3) }' functions | sort >reported
ok "the report has functions" [ "$(wc -l <reported)" -ge 20 ]
same "values of functions are those of the report" compared reported

# --- errors show the place
is "a bad value is a usage error" "$(gate 'CPUTIME in solve > fast')" 2
is "with the place" "$(cat err)" "$(
	cat <<'EOF'
hpcprof-lite: --fail-if: expected a value such as +5%, -10%, +200 ms, 2 s or 1 GiB at column 20:
hpcprof-lite: --fail-if:   CPUTIME in solve > fast
hpcprof-lite: --fail-if:                      ^
EOF
)"
# refused CONDITION COLUMN or a part of the message
while IFS='|' read -r condition what; do
	is "refused: $condition" "$(gate "$condition")" 2
	like "$what" "$(cat err)" "$what"
done <<'EOF'
CPUTIME in solve|'<' or '>' and a value at column 17:
> +5%|the name of a metric at column 1:
CPUTIME in > +5%|the name of a function at column 12:
CPUTIME > 5%|a sign \(\+5% is a change of 5 per cent\) at column 11:
CPUTIME > +5 parsecs|at column 14:
PAPI_TOT_CYC > +5%|no metric 'PAPI_TOT_CYC' was measured; there is: CPUTIME
CPUTIME > 5|CPUTIME \(sec\) needs a unit of time, as in 2 s
GKER:COUNT > 5 s|GKER:COUNT needs a number without a unit
EOF

# --- files
set -- --fail-if 'CPUTIME in solve > +5%' --fail-if 'CPUTIME in smooth > +5%' \
	--fail-if 'CPUTIME in slove > +5%' --fail-if 'CPUTIME in a<b>&"c|`d` > +5%'
echo old >gate.xml
status=0
"$HPCPROF" compare -q --no-structs --noise 1 "$@" --junit gate.xml --markdown gate.md \
	base new >out 2>err || status=$?
is "the gate fails with files too" "$status" 3
is "nothing else is left behind" "$(echo gate.*)" "gate.md gate.xml"
if have xmllint; then
	ok "xmllint reads the JUnit file" xmllint --noout gate.xml
	x() { xmllint --xpath "string($1)" gate.xml; }
	is "JUnit: tests" "$(x /testsuites/testsuite/@tests)" 4
	is "JUnit: failures" "$(x /testsuites/testsuite/@failures)" 1
	is "JUnit: skipped" "$(x /testsuites/testsuite/@skipped)" 2
	is "JUnit: the failed case" "$(x '//testcase[failure]/@name')" "CPUTIME in solve > +5%"
	like "JUnit: its numbers" "$(x '//failure/@message')" \
		'^base 10\.00 s, new 13\.00 s, change \+3\.00 s, sd .*, factor 1\.300$'
	"$HPCPROF" compare -q --no-structs --junit forbidden.xml --fail-if \
		"CPUTIME in a$(printf '\357\277\276\357\277\277\357\277\275') > +5%" \
		base new >out 2>err || fail "forbidden characters: $?"
	like "JUnit: characters that XML forbids" \
		"$(xmllint --xpath 'string(//testcase/@name)' forbidden.xml)" \
		"^CPUTIME in a$(printf '\357\277\275\357\277\275\357\277\275') > "
	is "JUnit: hostile names" "$(x '//testcase[4]/@name')" 'CPUTIME in a<b>&"c|`d` > +5%'
else
	skip "xmllint reads the JUnit file" "no xmllint here"
fi
like "Markdown: the verdict" "$(cat gate.md)" '^\*\*A condition fails\.\*\*$'
like "Markdown: the failed condition" "$(cat gate.md)" \
	'^\| FAIL \| `CPUTIME in solve > \+5%` \| 10\.00 s \| 13\.00 s \| \+3\.00 s \|'
like "Markdown: the function" "$(cat gate.md)" '^\| `solve` \| 10\.00 s \| 13\.00 s \|'
like "Markdown: hostile names" "$(cat gate.md)" \
	'`` CPUTIME in a<b>&"c\\\|`d` > \+5% ``'
is "Markdown: rows of a table have the columns of its heading" "$(sed 's/\\|//g' gate.md |
	awk -F'|' '/^\|/ { if (n && NF != n) print; n = NF } !/^\|/ { n = 0 }')" ""

status=0
"$HPCPROF" compare -q --no-structs --fail-if 'CPUTIME > +1%' --junit no/x base new \
	>out 2>err || status=$?
is "a file in a directory that is not there" "$status" 1
status=0
"$HPCPROF" compare --junit x.xml base new >out 2>err || status=$?
is "--junit without a condition" "$status" 2
"$HPCPROF" compare -q --no-structs --markdown /dev/stdout base new 2>err | cat >out
like "Markdown on standard output" "$(cat out)" '^### hpcprof-lite compare$'
ok "which is still a link" [ -L /dev/stdout ]
status=0
"$HPCPROF" compare -q --no-structs "$@" --junit late.xml --markdown late.md --html late.html \
	base new >/dev/full 2>err || status=$?
is "the text cannot be written" "$status" 1
is "but the files are there" "$(echo late.*)" "late.html late.md late.xml"
mkfifo pipe
status=0
"$HPCPROF" compare -q --no-structs --html pipe base new >out 2>err || status=$?
is "a page in what is no regular file" "$status $(cat err)" \
	"1 hpcprof-lite: pipe: is not a regular file; --html needs the name of a file"
ok "which stays what it is" [ -p pipe ]
status=0
(
	ulimit -f 0
	"$HPCPROF" compare -q --no-structs --markdown full.md base new >/dev/null 2>&1
) || status=$?
is "a full disk is an error" "$status" 1
is "without half a file" "$(echo full*)" "full*"
done_testing
