#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Go programs: functions and lines are those that Go's own tools (nm, addr2line) give, inlined calls
# those that llvm-symbolizer gives. Go's own table (.gopclntab) is not read.

. "${srcdir:-.}/tests/lib.sh"
have go || skip_all "no go here"
cd "$T" || exit 99
HOME=$T GOCACHE=$builddir/tests/go GOFLAGS=-mod=mod GOPROXY=off GOTOOLCHAIN=local CGO_ENABLED=1
export HOME GOCACHE GOFLAGS GOPROXY GOTOOLCHAIN CGO_ENABLED
echo "module example" >go.mod
cat >main.go <<'END'
package main

type shape interface{ area() float64 }
type square struct{ a float64 }

func (s square) area() float64 { return s.a * s.a }

//go:noinline
func leaf(n int) int {
	s := 0
	for i := 0; i < n; i++ {
		s += twice(i)
	}
	return s
}

func twice(i int) int { return once(i) + once(i+1) }

func once(i int) int {
	if i%3 == 0 {
		return i * 7
	}
	return i ^ 5
}

func main() {
	f := func(x int) int { return leaf(x) + 1 }
	var s shape = square{2}
	println(f(1000), s.area())
}
END

# structure NAME: as text
structure() {
	run_limited 60 "$HPCSTRUCT" -f --no-cache -o "$1.hpcstruct" "$1" >"$1.out" 2>&1 &&
		"$HPCSTRUCT" --print "$1.hpcstruct" >"$1.txt"
}
# Without the marks of calling conventions; one function may stand for several equal ones of generic
# types.
functions_of_nm() {
	go tool nm "$1" | awk \
		'$2 ~ /^[Tt]$/ { a = $1; $1 = $2 = ""; sub(/^ +/, "");
			sub(/\.abi(0|internal)$/, ""); sub(/\[.*\]/, "[]"); gsub(/·/, ".");
			print "0x" a, $0 }' | sort -u
}
functions_of() {
	sed -n 's/^function \(0x[0-9a-f]*\) \(.*\) from [a-z]*$/\1 \2/p' "$1.txt" | sed \
		's/ at [^ ]*$//; s/\[.*\]/[]/; s/·/./g' | sort -u
}
# Go's functions that nm has and we do not: C's have other names.
missing() {
	functions_of "$1" >"$1.ours"
	functions_of_nm "$1" | grep -v '^0x[0-9a-f]* \(runtime\.etext\|runtime\.text\|.*\.cold\)$' |
		grep '^0x[0-9a-f]* [A-Za-z0-9_/]*\.' | comm -23 - "$1.ours" | head -n 5
}
lines_differ() {
	awk '/^ +0x[0-9a-f]+-0x[0-9a-f]+ [^ ]+:[0-9]+$/ &&
			n++ % 7 == 0 { split($1, a, "-"); print a[1], $2 }' "$1.txt" >"$1.places"
	cut -d' ' -f1 "$1.places" | go tool addr2line "$1" | awk 'NR % 2 == 0' >"$1.judged"
	cut -d' ' -f2 "$1.places" | paste -d' ' - "$1.judged" |
		awk '$1 != $2 { n++ } END { print n + 0 }'
}

if ! go build -o exe . 2>build.err; then
	skip_all "go builds nothing: $(tail -n 1 build.err)"
fi
ok "a program" structure exe
is "no word" "$(grep -c warning exe.out)" 0
is "every function of nm" "$(missing exe)" ""
within "and that is many" "$(wc -l <exe.ours)" 500 100000
# DWARF and Go's own table, which addr2line reads, differ at a few prologues
within "lines as addr2line has them, but for a few" "$(lines_differ exe)" 0 20
within "and those are many" "$(wc -l <exe.places)" 1000 1000000
is "what is inlined" "$(awk '/^function .* main\.leaf at / { on = 1 }
	on && /inline/ { print $3, $NF } on && /^$/ { exit }' exe.txt | sed 's|/[^ ]*/||')" \
	"main.twice main.go:12
main.once main.go:17
main.once main.go:17"
is "the look at the stack is no loop" \
	"$(awk '/^function .* main\.main at / { on = 1 } /^$/ { on = 0 } on && / loop / { n++ }
		END { print n + 0 }' exe.txt)" 0
if have llvm-symbolizer; then
	leaf=$(sed -n 's/^function \(0x[0-9a-f]*\) main\.leaf .*/\1/p' exe.txt)
	ours=$(awk '/^function .* main\.leaf at / { on = 1 }
		on && /inline .* main\.once / { getline; split($1, a, "-"); print a[1]; exit }' \
			exe.txt)
	is "llvm-symbolizer says the same" \
		"$(echo "$ours" | llvm-symbolizer --obj=exe -i | grep '^main\.' | tr '\n' ' ')" \
			"main.once main.twice main.leaf "
	unlike "in main.leaf" "$leaf" "^$"
else
	skip "llvm-symbolizer says the same" "it is not here"
	skip "in main.leaf" "it is not here"
fi

done_testing
