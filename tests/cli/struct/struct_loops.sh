#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Loops in structure files: those of annotated sources, as gcc and clang compile them at all levels,
# and no others; --no-loops; code without debug information; damaged code.

. "${srcdir:-.}/tests/lib.sh"

grep -q '^#define HAVE_ZYDIS 1' "$builddir/config.h" ||
	skip_all "built without Zydis: no loops in x86-64 code"
[ "$(uname -m)" = x86_64 ] || skip_all "not x86-64"
golden=$srcdir/tests/golden/loops

# make_structure BINARY [OPTIONS...]: $T/s and its text $T/s.txt
make_structure() {
	binary=$1
	shift
	run_limited 120 "$HPCSTRUCT" -q -f --no-cache "$@" -o "$T/s" "$binary" &&
		"$HPCSTRUCT" --print "$T/s" >"$T/s.txt"
}
count_loops() {
	grep -c '^ *loop 0x' "$1"
}

# judge NAME SOURCE COMPILER FLAGS...
judge() {
	what=$1 source=$2 with=$3
	shift 3
	optimised=1
	case " $* " in *" -O0 "*) optimised=0 ;; esac
	if ! "$with" "$@" -g "$golden/$source" -o "$T/bin" >"$T/cc.out" 2>&1; then
		skip "$what" "the compiler refuses: $(head -n 1 "$T/cc.out")"
		return
	fi
	make_structure "$T/bin"
	awk -v src="$source:" -v optimised=$optimised -f "$golden/truth.awk" "$golden/$source" \
		"$T/s.txt" >"$T/wrong" 2>&1
	if [ -s "$T/wrong" ]; then
		fail "$what"
		diag_file "$T/wrong"
	else
		pass "$what"
	fi
}

for cc in gcc clang; do
	cxx=g++
	[ $cc = gcc ] || cxx=clang++
	for level in -O0 -O2 $(thorough "" "-O1 -O3 -Os"); do
		if have $cc; then
			judge "$cc $level" loops.c $cc $level -fPIC -shared
		else
			skip "$cc $level" "no $cc here"
		fi
		if have $cxx; then
			judge "$cxx $level" loops.cc $cxx $level -fPIC -shared
		else
			skip "$cxx $level" "no $cxx here"
		fi
	done
	# tables of addresses instead of distances
	if have $cc; then
		judge "$cc, position-dependent" loops.c $cc -O2 -fno-pic -no-pie \
			-nostartfiles -Wl,-e,plain -Wl,--unresolved-symbols=ignore-all
	fi
	if have $cc; then
		judge "$cc, DWARF 4, inlined less" loops.c $cc -O2 -fno-inline-small-functions \
			-gdwarf-4 -fPIC -shared
	fi
done

# Two loops whose line is the same, as the outer one has no condition; and one loop that compilers
# give two headers.
cat >"$T/same.c" <<'END'
int use(int);
void one_line(int n) { while (1) for (int i = 0; i < n; i++) use(i); }
void code_behind(int n)
{
	while (1) { for (int i = 0; i < n; i++) use(i);
		use(-1); }
}
char *one_loop(const char *s, const char *t)
{
	int c = *s, k;
	while (1) {
		if (c != '0') {
			for (k = 0; t[k] != 0; ++k)
				if (t[k] != s[k])
					break;
			if (t[k] != 0)
				break;
			s += k - 1;
		}
		c = *++s;
	}
	return (char *)s;
}
END
deepest() { # FUNCTION: how deep its loops are nested
	awk -v name="$1" '/^function / { on = $3 == name }
		on && /^ *loop / { match($0, /^ */); if (RLENGTH > n) n = RLENGTH }
		END { print n / 2 }' "$T/s.txt"
}
for cc in gcc clang; do
	for level in -O0 $(thorough "" -O1) -O2; do
		have $cc || continue
		$cc -g $level -fPIC -shared "$T/same.c" -o "$T/same.so" &&
			make_structure "$T/same.so"
		is "$cc $level: a loop in an endless loop on one line" "$(deepest one_line)" 2
		is "$cc $level: ... with code of the endless loop behind it" \
			"$(deepest code_behind)" 2
		within "$cc $level: a loop with two headers is one" "$(deepest one_loop)" 1 2
	done
done

need gcc objdump strip
gcc -g -O2 -fPIC -shared "$golden/loops.c" -o "$T/bin"
ok "there is a jump table to be found" \
	sh -c "objdump -d --no-show-raw-insn '$T/bin' | grep -q 'jmp *\*%r'"

make_structure "$T/bin"
cp "$T/s" "$T/with"
cp "$T/s.txt" "$T/with.txt"
make_structure "$T/bin" -j4
same "the file does not depend on the number of threads" "$T/s" "$T/with"
make_structure "$T/bin" --no-loops
is "--no-loops: none" "$(count_loops "$T/s.txt")" 0
flat() {
	sed 's/^ *//; /^loop /d; /^inline /d; /^code /d' "$1" | grep '^0x' |
		awk '{ split($1, a, "-"); print a[1], $2 }' | sort
}
# an interval may be said in two pieces where a loop starts: every start of one without loops is a
# start with them
flat "$T/s.txt" >"$T/without.starts"
flat "$T/with.txt" >"$T/with.starts"
is "loops change no line" "$(comm -23 "$T/without.starts" "$T/with.starts" | wc -l)" 0
"$HPCSTRUCT" -q -o "$T/up" "$T/bin" && "$HPCSTRUCT" -q --no-loops -o "$T/up" "$T/bin"
is "a structure with loops is not one without" \
	"$("$HPCSTRUCT" --print "$T/up" | grep -c '^ *loop 0x')" 0
"$HPCSTRUCT" -q -o "$T/up" "$T/bin"
is "... and the other way round" "$("$HPCSTRUCT" --print "$T/up" | grep -c '^ *loop 0x')" \
	"$(count_loops "$T/with.txt")"

gcc -g -O0 -fPIC -shared "$golden/loops.c" -o "$T/bin"
make_structure "$T/bin"
n=$(count_loops "$T/s.txt")
strip -o "$T/stripped" "$T/bin"
make_structure "$T/stripped"
is "without debug information and symbols there are as many" "$(count_loops "$T/s.txt")" "$n"

# calls that never come back, known by name and by what is in the function: their line is in no
# loop, as nothing leads back from them
inside() { # LINE: how often it stands directly in a loop
	awk -v line=":$1\$" '/^ *(loop|inline|function) / { match($0, /^ */);
		in_loop[RLENGTH] = $1 == "loop" }
		/^ *0x/ { match($0, /^ */); if ($NF ~ line && in_loop[RLENGTH - 2]) n++ }
		END { print n + 0 }' "$T/s.txt"
}
make_structure "$T/bin"
for call in 'abort();' 'exit(cond(1));' 'fatal("three");'; do
	is "nothing comes back from $call" \
		"$(inside "$(grep -nF "$call" "$golden/loops.c" | cut -d: -f1)")" 0
done
is "... but from use(i) in the same loop" "$(inside "$(awk '/void checks/ { on = 1 }
	on && /use\(i\);/ { print FNR; exit }' "$golden/loops.c")")" 1

fuzz=$builddir/tests/fuzz/fuzz_flow
ok "mutants of code" run_limited 300 "$fuzz" -n 400 "$T/bin" \
	"$srcdir/tests/golden/struct/shapes-gcc-O2-g.so" \
	"$srcdir/tests/golden/struct/names-clang-O2-g.so" \
	"$srcdir/tests/golden/struct/loops-aarch64-gcc-O2-g.so" \
	"$srcdir/tests/golden/struct/table-aarch64-gas.so"
for f in "$srcdir"/tests/fuzz/corpus/flow/*; do
	if [ -f "$f" ]; then ok "corpus: ${f##*/}" run_limited 60 "$fuzz" "$f"; fi
done
done_testing
