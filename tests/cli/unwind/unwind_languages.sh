#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Code without .eh_frame is followed by Go's own tables, by frame pointers, or not at all, and no
# frame is invented. See doc/unwinding.md.
. "${top_srcdir:-.}/tests/lib.sh"
HOME=$T GOCACHE=$builddir/tests/go GOFLAGS=-p=1 DEBUGINFOD_URLS=
export HOME GOCACHE GOFLAGS DEBUGINFOD_URLS
work=$srcdir/tests/workload/unwind

# paths NAME COMMAND...: measures it. Sets n, complete and guessed (numbers of paths), makes $T/all.
# $structs: an option of hpcprof-lite.
structs=
paths() {
	name=$1
	shift
	rm -rf "$T/m"
	status=0
	run_limited 120 "$HPCRUN" -q -e CPUTIME@f1000 -o "$T/m" -- "$@" \
		>"$T/out" 2>"$T/err" || status=$?
	is "$name: the program ends well" "$status" 0
	# shellcheck disable=SC2086 # an option or none
	run_limited 120 "$HPCPROF" $structs --to text --all "$T/m" >"$T/all" 2>"$T/err"
	n=$(ends '.*') complete=$(ends complete)
	guessed=$(by_name '$1 == "ledger" && get("of") == "all" {
		print get("marked") + 0 }' "$T/all")
	diag "$name: $n paths, $complete complete, $guessed with a guess"
}
# ends HOW: paths that ended so.
ends() {
	by_name -v how="^$1\$" '
		$1 == "end" && get("of") == "all" && get("how") ~ how { n += get("n") }
		END { print n + 0 }' "$T/all"
}
# mostly PER-CENT: so many paths are complete.
mostly() {
	diag "$name: at least $1 % of more than 20"
	ok "$name: most paths are complete" test "$n" -gt 20 -a $((complete * 100)) -ge $((n * $1))
}
# below FUNCTION OUTER: per cent of the samples in FUNCTION that have OUTER further out. Contexts
# come after their parents.
below() {
	by_name -v inner="$1" -v outer="$2" '
		$1 == "function" { name[get("id")] = get("name") }
		$1 == "context" {
			c = get("id"); up = get("parent"); f = name[get("function")]
			in_it[c] = in_it[up] || f == inner
			out_of_it[c] = out_of_it[up] || f == outer }
		$1 == "value" { own[get("context")] += get("point") }
		END {
			for (c in own) {
				all += in_it[c] ? own[c] : 0
				right += in_it[c] && out_of_it[c] ? own[c] : 0
			}
			printf "%d\n", all ? 100 * right / all + 0.5 : 0
		}' "$T/all"
}
# invented: functions that are not those of the program and its start, in paths through stale_burn.
invented() {
	by_name '
		$1 == "function" { name[get("id")] = get("name") }
		$1 == "context" { parent[get("id")] = get("parent");
			is[get("id")] = name[get("function")] }
		END {
			# a guess may be right
			real = "^(stale_outer|main|_start|__libc_start.*|stale_burn)"
			real = real "( \\[guessed\\])?$"
			for (c in is)
				if (is[c] == "stale_burn")
					for (p = parent[c]; p in parent; p = parent[p])
						if (is[p] != "" && is[p] !~ real)
							print is[p]
		}' "$T/all" | sort -u
}

for way in -fomit-frame-pointer -fno-omit-frame-pointer; do
	${CC:-gcc} -O1 -g -fcf-protection=none -fno-asynchronous-unwind-tables -fno-unwind-tables \
		"$way" "$work/unwind_stale.c" -o "$T/stale" || exit 99
	paths "C, no tables, $way" "$T/stale" 0.3
	is "$name: nothing is invented" "$(invented)" ""
	[ "$way" = -fomit-frame-pointer ] || {
		mostly 90
		is "$name: none of them is a guess" "$guessed" 0
		is "$name: the callers are there" "$(below stale_burn main)" 100
	}
done

if go version >/dev/null 2>&1 && go build -o "$T/cgo" "$work/unwind_go.go" 2>"$T/err"; then
	paths "Go, with C" "$T/cgo"
	mostly 98
	ok "$name: in Go, goexit is outermost" test "$(below main.inGo runtime.goexit)" -ge 98
	like "$name: that it ended past exit() is said" \
		"$("$HPCPROF" --to text "$T/m" 2>"$T/err")" \
		'unknown status .a Go program, which does not call exit'
	ok "$name: C is called from Go" test "$(below in_c main.main.func1)" -ge 95
else
	skip "Go" "no go with cgo"
fi

structs=--no-structs # what follows counts paths alone
# the compiler takes half as long if it does not compile itself with care
if command -v javac >/dev/null && javac -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -d "$T" \
	"$work/UnwindJava.java" 2>"$T/err"; then
	paths "Java, with frame pointers" java -XX:+PreserveFramePointer -XX:+UseSerialGC \
		-cp "$T" UnwindJava
	mostly 85
	paths "Java, without" java -XX:+UseSerialGC -cp "$T" UnwindJava
	ok "$name: no path with a guess is complete" test $((complete + guessed)) -le "$n"
else
	skip "Java" "no javac"
fi

if command -v node >/dev/null; then
	cat >"$T/fib.js" <<-'END'
		function fib(n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
		let sum = 0;
		for (let i = 0; i < 2; i++) sum += fib(31);
		console.log(sum);
	END
	paths "node" node --interpreted-frames-native-stack "$T/fib.js"
	mostly 60
	ok "$name: few are guessed" test $((guessed * 100)) -le $((n * 35))
else
	skip "node" "no node"
fi
done_testing
