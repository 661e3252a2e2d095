#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Functions of assembler code whose symbols have no size, most of all in a stripped library:
# they end where their code ends, and what comes next, whose symbol was stripped, has no name. Where
# code cannot be followed, they reach to the next symbol.

. "${srcdir:-.}/tests/lib.sh"
cc=${CC:-gcc}
cc=${cc##* }
need strip "$cc"
grep -q '^#define HAVE_ZYDIS 1' "$builddir/config.h" ||
	skip_all "built without Zydis: no x86-64 code is decoded"

cat >"$T/l.S" <<'END'
	.text
	.p2align 4
	.globl with_loop, with_table, last
with_loop:              /* 13 bytes: the first return is passed by a jump */
	test %edi, %edi
	js 2f
1:	dec %edi
	jns 1b
	ret
2:	xor %eax, %eax
	jmp 1b
	.p2align 4
hidden:                 /* its symbol is stripped */
	ret
	.p2align 4
with_table:             /* ends unknown */
	jmp *%rax
	ret
	.p2align 4
last:
	ret
	.section .note.GNU-stack,"",@progbits
END
"$cc" -shared -nostdlib -o "$T/l.so" "$T/l.S" >"$T/cc.out" 2>&1 || skip_all "no assembler"
strip -o "$T/stripped.so" "$T/l.so"

# code_of NAME FILE: bytes of code of the function
code_of() {
	run_limited 60 "$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$2" >"$T/out" 2>&1 || {
		diag_file "$T/out"
		return
	}
	"$HPCSTRUCT" --print "$T/s" | awk -v name="$1" '
		/^function / { is = $3 == name }
		is && $1 == "code" { split($2, at, "-"); print at[1], at[2] }' |
		while read -r from to; do
			echo $((to - from))
		done
}

is "stripped: a function ends after its last instruction" \
	"$(code_of with_loop "$T/stripped.so")" 13
is "stripped: one that jumps through a table reaches to the next" \
	"$(code_of with_table "$T/stripped.so")" 16
is "stripped: the last one" "$(code_of last "$T/stripped.so")" 1
is "not stripped: the same" "$(code_of with_loop "$T/l.so")" 13
done_testing
