#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite compare on synthetic pairs whose difference is known, letter by letter in 80 and 160
# columns. compare.sh --accept writes the expected text anew.
. "${srcdir:-.}/tests/lib.sh"

gen=$builddir/tests/gen/gen_compare
golden=$srcdir/tests/golden/compare
accept=no
[ "${1:-}" = --accept ] && accept=yes
unset COLUMNS NO_COLOR
cd "$T" || exit 99

"$gen" --kernels 1000 base
"$gen" --build 3 --moved 7 --kernels 2000 --solve 11000 new
"$gen" --build 4 --name solve_fast --solve 9000 renamed
"$gen" base-again
"$gen" --build 5 --inlined inlined
"$gen" --ranks 4 ranks
"$gen" --ranks 4 --slow 2 slow
"$gen" --ranks 5 more

# expect NAME COLUMNS ARGUMENT...
expect() {
	name=$1
	columns=$2
	shift 2
	COLUMNS=$columns "$HPCPROF" compare --no-structs --noise 1 "$@" >out 2>err ||
		fail "$name: status $?"
	is "$name: nothing to complain of" "$(cat err)" ""
	is "$name: no line is longer than $columns" \
		"$(awk -v n="$columns" 'length($0) > n' out)" ""
	if [ $accept = yes ]; then cp out "$golden/$name.txt"; fi
	same "$name as expected" out "$golden/$name.txt"
}
expect changed-80 80 base new
expect changed-160 160 base new
expect renamed-80 80 base-again renamed
expect ranks-80 80 ranks slow

"$HPCPROF" compare --no-structs base "$srcdir/tests/golden/prof/job" >out 2>err
like "another program: status and warning" "$? $(cat err)" \
	'^0 hpcprof-lite: .*/job: warning: this is a run of synthetic, and the first base is one of app'

# real NAME: the rows of a table beyond noise: change and name
real() {
	awk -v name="$1" '
		index($0, name " by change") == 1 { on = 1; getline; next }
		/^$/ || /^----/ { on = 0 }
		on { print $1, $2, $NF }' out
}
compare() { COLUMNS=80 "$HPCPROF" compare --no-structs --noise 1 "$@" >out 2>err; }

compare base new
is "a loop 10 % longer, in another build, with moved lines: the function" "$(real Functions)" \
	"+1.00 s solve"
is "its line" "$(real Lines)" "+1.00 s solve.c:32"
is "its call path" "$(real 'Call paths')" "+1.00 s solve"
is "a kernel twice as often" "$(real 'GPU kernels')" "+202.5 ms axpy"
like "the number of launches" "$(cat out)" ' 1,000 -> 2,000  axpy$'
compare base-again inlined
is "a function inlined into another module: no difference" "$(real Functions)$(real Lines)" ""
unlike "and nothing is gone" "$(cat out)" 'gone|  new  '
like "with both functions compared" "$(cat out)" '^---- noise: 2 rows within 3\.[0-9] sd'
compare base-again renamed
like "a renamed function is suggested" "$(cat out)" '^  solve -> solve_fast: -1\.00 s in total'
compare --rename solve=solve_fast base-again renamed
is "and is one function when the user says so" "$(real Functions)" "-1.00 s solve_fast"
unlike "without a suggestion" "$(cat out)" 'Renamed'
is "and without a warning" "$(cat err)" ""
"$gen" --name 'operator==(A const&, A const&)' --build 9 overload
compare --rename slove=solve_fast --rename smooth=smoother overload renamed
is "a base function that no run has is a warning" "$(cat err)" \
	"hpcprof-lite: --rename: warning: no base run has a function 'slove'"
compare --rename 'operator==(A const&, A const&)=solve_fast' overload renamed
is "the first = ends the old name" "$(cat err)" \
	"hpcprof-lite: --rename: warning: no base run has a function 'operator'"
compare ranks slow
is "a rank that is slow" "$(real Ranks)" "+10.00 s 2"
compare ranks more
like "a rank that only one side has" "$(real Ranks)" '^\+20\.00 s 4$'

# Several runs of a side.
compare --base base --base base-again base base-again
like "runs of a side are counted" "$(cat out)" '^  base, 2 runs: values are means of them$'
like "their spread is measured" "$(cat out)" '^  runs of a side differ by 0% beyond sampling$'
compare --base base-again --base renamed base-again renamed
is "equal sides have no difference" "$(real Functions)$(real Lines)" ""

# Options.
compare --by rank,line ranks slow
is "--by: only these tables" "$(grep -c ' by change of ' out)" 2
compare --metric GKER base new
like "--metric without its unit" "$(cat out)" '^Comparison of GKER \(sec\)$'
compare --rows 0 base new
like "--rows 0: only a count" "$(cat out)" '^ +1 more beyond noise \(--rows\)$'
compare --noise 5 base new
is "--noise 5: 10 % is noise" "$(real Functions)" ""
COLUMNS=80 "$HPCPROF" compare --no-structs base new >out 2>err
like "3 % is assumed" "$(cat out)" '^  runs are assumed to differ by 3% \(--noise\)'
compare --sort total base new
like "--sort total: main has the change of what it calls" "$(cat out)" \
	'^Functions by change of their total'

# refused STATUS PATTERN ARGUMENT...
refused() {
	wanted=$1
	pattern=$2
	shift 2
	status=0
	compare "$@" || status=$?
	is "refused: $*" "$status" "$wanted"
	like "with a reason" "$(cat err)" "$pattern"
	is "and no report" "$(cat out)" ""
}
refused 2 'compare needs a base and a new measurement directory' base
refused 2 'compare needs a base and a new measurement directory'
refused 2 'compare needs a base and a new measurement directory' --base base
refused 2 "no metric 'NONE' was measured; there is: CPUTIME, GPUOP, GKER, GKER:COUNT" \
	--metric NONE base new
refused 2 "GKER:BLK_THR is a mean over GKER:COUNT, which tables cannot show" \
	--metric GKER:BLK_THR base new
refused 2 "'x' is none of function, line, path, kernel, rank" --by x base new
refused 2 "wants OLD=NEW, not 'a='" --rename a= base new
refused 2 "wants a number of percent from 0 to 100" --noise x base new
refused 2 "--rows wants a number from 0 to 1000000" --rows x base new
refused 2 "--sort: 'x' is none of self, total" --sort x base new
refused 1 'absent: No such file or directory' base absent

ok "a full disk is an error" sh -c '! "$1" compare --no-structs base new >/dev/full' - "$HPCPROF"
ln -s base compare
ok "a measurement called compare can be read" "$HPCPROF" -q --to text --no-structs ./compare

# Names that are hostile.
"$gen" --name "$(printf 'a|\033[31m`<b>&"\302\205\377')" --build 6 hostile
compare base-again hostile
unlike "nothing harmful reaches a terminal" "$(LC_ALL=C tr -d '\n\t\040-\176' <out | od -An -c)" .
done_testing
