#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Of a big library only the functions with samples are analysed. What is said of them is what the
# whole analysis says, and the cache grows with what is asked for.

. "${srcdir:-.}/tests/lib.sh"

make_run=$builddir/tests/struct/make_run
[ -x "$make_run" ] || skip_all "no tests/struct/make_run"
[ "$(uname -m)" = x86_64 ] || skip_all "x86-64 code"
cat >"$T/big.c" <<'EOF'
#include <stdlib.h>
int limit;
static __attribute__((noinline)) void give_up(int why) { limit = why; abort(); }
static __attribute__((noinline)) void stop(int why) { give_up(why + 1); }
__attribute__((noinline)) int summed(const int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++) {
		if (p[i] > limit)
			stop(p[i]);
		s += p[i] / (i + 1);
	}
	return s;
}
__attribute__((noinline)) int chosen(int what, int *p)
{
	for (int i = 0; i < p[0]; i++)
		switch (what ^ p[i]) {
		case 0: p[i] += 2; break;
		case 1: p[i] *= 3; break;
		case 2: p[i] /= 5; break;
		case 3: p[i] ^= 7; break;
		case 4: p[i] -= 11; break;
		case 5: stop(i);
		}
	return p[1];
}
__attribute__((noinline)) int other(int n) { while (n % 7) n = n * 3 + 1; return n; }
EOF
cat >"$T/fill.s" <<'EOF'
	.text
	.macro fill_one
	.type filler\@, @function
filler\@:
	.fill 440, 1, 0x90
	ret
	.size filler\@, . - filler\@
	.endm
	.rept 2000
	fill_one
	.endr
	.fill 64, 1, 0x90
# if gives_up returned, the loop would have two entries
	.type looped, @function
looped:	test %edi, %edi
	jns 2f
	call gives_up
1:	inc %eax
2:	dec %edi
	jns 1b
	ret
	.size looped, . - looped
	.type gives_up, @function
gives_up:
	jmp goes
	.size gives_up, . - gives_up
	.type goes, @function
goes:	call exits@PLT
	.size goes, . - goes
	.globl exits
	.type exits, @function
exits:	ud2
	.size exits, . - exits
# ends where the next one starts
	.globl unsized, sized
	.type unsized, @function
unsized: test %edi, %edi
	js moved.cold
	ret
	.type sized, @function
sized:	ret
	.size sized, . - sized
	.type moved, @function
moved:	ret
	.size moved, . - moved
	.fill 64, 1, 0x90
	.type moved.cold, @function
moved.cold:
	ud2
	.size moved.cold, . - moved.cold
	.section .note.GNU-stack
EOF
lib=$T/libbig.so
gcc -O2 -fPIC -shared -Wl,--build-id -o "$lib" "$T/big.c" "$T/fill.s" || skip_all "no compiler"
addr_of() { nm "$lib" | awk -v name="$1" '$3 == name { sub(/^0+/, "", $1); print $1 }'; }
block_of() { # NAME FILE: what a printed structure says of the function
	awk -v name="$1" '/^function/ { on = $3 == name } on && NF { print }' "$2"
}
run_of() { # DIRECTORY ADDRESS...
	at=$T/$1/x.hpcrun
	mkdir -p "$T/$1"
	shift
	printf 'at:%s\n' "$@" | xargs "$make_run" "$at" "unused:$lib"
}
said() { { "$HPCSTRUCT" -j 1 "$@" >/dev/null; } 2>&1; }
print_cached() { "$HPCSTRUCT" --print "$HPCTOOLKIT_LITE_CACHE"/*.hpcstruct >"$1"; }

"$HPCSTRUCT" --no-cache -o "$T/whole.hpcstruct" "$lib"
"$HPCSTRUCT" --print "$T/whole.hpcstruct" >"$T/whole.txt"
is "asked for by name, a binary is analysed as a whole" "$(grep -c ^partial: "$T/whole.txt")" 0
like "with a loop" "$(block_of summed "$T/whole.txt")" "^ +loop "

is "of one entry: what it calls does not return" "$(block_of looped "$T/whole.txt" |
	grep -c '^ *loop .*\(irreducible\|entries\)')" 0

run_of one "$(addr_of summed)"
like "the functions with samples" "$(said "$T/one")" "1 made, 0 up to date, 0 missing"
print_cached "$T/one.txt"
like "the file says that it has some of them" "$(cat "$T/one.txt")" "^partial: "
is "nothing else is in it" "$(grep -c ^function "$T/one.txt")" 1
is "what it says is what the whole says" "$(block_of summed "$T/one.txt")" \
	"$(block_of summed "$T/whole.txt")"
like "it is made once" "$(said "$T/one")" "0 made, 1 up to date, 0 missing"

nowhere=$(printf %x $((0x$(addr_of looped) - 32)))
run_of two "$(addr_of chosen)" "$(addr_of looped)" "$nowhere"
like "another run samples other functions" "$(said "$T/two")" "1 made, 0 up to date, 0 missing"
print_cached "$T/two.txt"
for f in summed chosen looped; do
	is "what it says of $f is what the whole says" "$(block_of $f "$T/two.txt")" \
		"$(block_of $f "$T/whole.txt")"
done
is "the first run's functions stay" "$(grep -c ^function "$T/two.txt")" 3
like "the first run is up to date" "$(said "$T/one")" "0 made, 1 up to date, 0 missing"
like "and so is an address that is in no function" "$(said "$T/two")" \
	"0 made, 1 up to date, 0 missing"

"$HPCSTRUCT" --no-cache -q "$T/one"
like "the same beside the measurement" \
	"$("$HPCSTRUCT" --print "$T/one/structs/"*.hpcstruct | grep -c ^function)" "^1$"

run_of three "$(addr_of other)"
cp "$T/two/x.hpcrun" "$T/one/y.hpcrun"
like "which gets the functions of a process that is there later" \
	"$(said --no-cache "$T/one")" "1 made, 0 up to date, 0 missing"
"$HPCSTRUCT" --print "$T/one/structs/"*.hpcstruct >"$T/beside.txt"
is "beside those it had" "$(grep -c ^function "$T/beside.txt")" 3
like "it is made once" "$(said --no-cache "$T/one")" "0 made, 1 up to date, 0 missing"
mv "$lib" "$lib.away"
cp "$T/three/x.hpcrun" "$T/one/z.hpcrun"
like "without the binary it stays" "$(said --no-cache "$T/one")" "0 made, 1 up to date, 0 missing"
mv "$lib.away" "$lib"

"$HPCSTRUCT" -q -o "$T/again.hpcstruct" "$lib"
print_cached "$T/cached.txt"
same "a whole analysis replaces it in the cache" "$T/cached.txt" "$T/whole.txt"
like "which has everything" "$(said "$T/three")" "0 made, 1 up to date, 0 missing"

: >"$HPCTOOLKIT_LITE_CACHE/$(basename "$HPCTOOLKIT_LITE_CACHE"/*.hpcstruct)"
like "a damaged file is made again" "$(said "$T/three")" "1 made, 0 up to date, 0 missing"

rm "$HPCTOOLKIT_LITE_CACHE"/*.hpcstruct
run_of parts "$(addr_of unsized)" "$(addr_of moved.cold)"
said "$T/parts" >/dev/null
print_cached "$T/parts.txt"
is "a function without size, and one by its code that was moved away" \
	"$(grep -c ^function "$T/parts.txt")" 2
for f in unsized moved; do
	is "what it says of $f is what the whole says" "$(block_of $f "$T/parts.txt")" \
		"$(block_of $f "$T/whole.txt")"
done

n_whole=0
for round in 1 2 3 4 5 6; do
	rm "$HPCTOOLKIT_LITE_CACHE"/*.hpcstruct
	said "$T/two" >/dev/null &
	said "$T/three" >/dev/null
	wait
	print_cached "$T/both.txt"
	[ "$(grep -c ^function "$T/both.txt")" -ne 3 ] || n_whole=$((n_whole + 1))
done
like "two at once: the cache has the functions of both" "$n_whole" "^[56]$"

cat >"$T/more.c" <<'EOF'
static inline int twice(int n) { return n % 9 * 2; }
__attribute__((noinline)) int added(const int *p, int n)
{
	int s = 0;
	for (int i = 0; i < n; i++)
		s += twice(p[i]) / (i + 1);
	return s;
}
EOF
gcc -g -O2 -fPIC -shared -Wl,--build-id -o "$lib" "$T/big.c" "$T/more.c" "$T/fill.s"
rm -r "$HPCTOOLKIT_LITE_CACHE"
"$HPCSTRUCT" --no-cache -f -o "$T/whole.hpcstruct" "$lib"
"$HPCSTRUCT" --print "$T/whole.hpcstruct" >"$T/whole.txt"
like "with debug information: an inlined call" "$(block_of added "$T/whole.txt")" "inline .* twice"
run_of debug "$(addr_of summed)"
said "$T/debug" >"$T/said"
print_cached "$T/one.txt"
is "some functions are analysed" "$(grep -c ^function "$T/one.txt")" 1
is "as in the whole" "$(block_of summed "$T/one.txt")" "$(block_of summed "$T/whole.txt")"
run_of debug "$(addr_of added)"
said "$T/debug" >"$T/said"
print_cached "$T/two.txt"
for f in summed added; do
	is "then of another file: $f as in the whole" "$(block_of $f "$T/two.txt")" \
		"$(block_of $f "$T/whole.txt")"
done
done_testing
