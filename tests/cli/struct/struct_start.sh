#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# `main` of stripped programs, from the start-up code: its name and its extent are those that the
# symbol table of the same program gives before it is stripped (nm is the judge). Programs of
# glibc's crt1.o of today and, as bytes, of older ones.

. "${srcdir:-.}/tests/lib.sh"
cc=${CC:-gcc}
cc=${cc##* }
need strip nm "$cc"

# main is not the first function of the program
cat >"$T/p.c" <<'END'
int helper(int n);
__attribute__((noinline)) int helper(int n) { __asm__ volatile("" : "+r"(n)); return n + 1; }
int main(int argc, char **argv) { (void)argv; return helper(argc) == 0; }
END

# main_of FILE: the address of what hpcstruct-lite calls main.
main_of() {
	run_limited 60 "$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$1" >"$T/out" 2>&1 || {
		diag_file "$T/out"
		return
	}
	"$HPCSTRUCT" --print "$T/s" | sed -n 's/^function \(0x[0-9a-f]*\) main .*/\1/p'
}
symbol_of() {
	nm "$1" | sed -n 's/^0*\([0-9a-f]*\) T main$/0x\1/p'
}

# check WHAT COMPILER FLAGS...
check() {
	what=$1 with=$2
	shift 2
	if ! have "$with" || ! "$with" -O2 "$T/p.c" -o "$T/p" "$@" >"$T/cc.out" 2>&1; then
		skip "$what" "it cannot be built here"
		return
	fi
	strip -o "$T/stripped" "$T/p"
	is "$what" "$(main_of "$T/stripped")" "$(symbol_of "$T/p")"
}
# shellcheck disable=SC2046 # one name or none
for with in "$cc" $(thorough "" "${CLANG:-clang}"); do
	check "$with: PIE" $with -pie -fPIE
	check "$with: not PIE" $with -no-pie -fno-pie
	check "$with: static" $with -static
	check "$with: static PIE" $with -static-pie -fPIE
	check "$with: not PIE, indirect calls" $with -no-pie -fno-pie -fcf-protection=full
	check "$with: the linker leaves the slot of main" $with -pie -fPIE -Wl,--no-relax
	check "$with: linked by lld" $with -pie -fPIE -fuse-ld=lld
	check "$with: linked by gold" $with -pie -fPIE -fuse-ld=gold
done
check "named, too" "$cc" -pie -fPIE
is "... is _start" "$("$HPCSTRUCT" --print "$T/s" | grep -c '^function 0x[0-9a-f]* _start ')" 1

# _start as glibc had it before 2.34, and code that only looks like it: linked, never run
# start NAME ADDRESS_OF_FINI ADDRESS_OF_INIT LOAD_OF_MAIN CALL
start() {
	cat >"$T/start.S" <<END
	.globl _start
	.type _start,@function
_start:	endbr64
	xor %ebp,%ebp
	mov %rdx,%r9
	pop %rsi
	mov %rsp,%rdx
	and \$-16,%rsp
	push %rax
	push %rsp
	$1
	$2
	$3
	$4
	hlt
	.section .note.GNU-stack,"",@progbits
END
}
cat >>"$T/p.c" <<'END'
void __libc_csu_init(void);
void __libc_csu_init(void) {}
void __libc_csu_fini(void);
void __libc_csu_fini(void) {}
END
start 'mov $__libc_csu_fini,%r8' 'mov $__libc_csu_init,%rcx' 'mov $main,%rdi' \
	'call *__libc_start_main@GOTPCREL(%rip)'
check "glibc 2.31, not PIE" "$cc" -no-pie -fno-pie -nostartfiles "$T/start.S"
start 'mov $__libc_csu_fini,%r8' 'mov $__libc_csu_init,%rcx' 'mov $main,%rdi' \
	'call __libc_start_main@plt'
check "glibc 2.24, not PIE, through the procedure linkage table" "$cc" -no-pie -fno-pie \
	-nostartfiles "$T/start.S"
start 'lea __libc_csu_fini(%rip),%r8' 'lea __libc_csu_init(%rip),%rcx' 'lea main(%rip),%rdi' \
	'call *__libc_start_main@GOTPCREL(%rip)'
check "glibc 2.31, PIE" "$cc" -pie -fPIE -nostartfiles "$T/start.S"
start 'xor %r8d,%r8d' 'xor %ecx,%ecx' 'mov $main,%edi' 'bnd call __libc_start_main@plt'
check "short forms" "$cc" -no-pie -fno-pie -nostartfiles "$T/start.S"

# refuse WHAT: the program has no main that we know
refuse() {
	if "$cc" -O2 -pie -fPIE -nostartfiles "$T/p.c" "$T/start.S" -o "$T/p" 2>"$T/cc.out"; then
		strip -o "$T/stripped" "$T/p"
		is "$1" "$(main_of "$T/stripped")" ""
		like "$1: its functions have no names" "$("$HPCSTRUCT" --print "$T/s")" \
			"<unknown at $(symbol_of "$T/p")>"
	else
		fail "$1" "$(cat "$T/cc.out")"
	fi
}
start 'xor %r8d,%r8d' 'xor %ecx,%ecx' 'lea main(%rip),%rdi' 'call *puts@GOTPCREL(%rip)'
refuse "another function is called"
start 'xor %r8d,%r8d' 'nop' 'lea main(%rip),%rdi' 'call *__libc_start_main@GOTPCREL(%rip)'
refuse "an instruction is not one of _start"
start 'xor %r8d,%r8d' 'xor %ecx,%ecx' 'lea 1+main(%rip),%rdi' \
	'call *__libc_start_main@GOTPCREL(%rip)'
refuse "the address is not that of a function"
done_testing
