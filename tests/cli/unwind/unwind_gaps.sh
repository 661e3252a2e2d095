#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An executable that is not PIE and has gaps between its segments, as lld and large alignments make
# them: the loader then knows it segment by segment, and neither its build id nor its unwind tables
# lie in the segment of the code.
srcdir=${top_srcdir:-.}
. "$srcdir/tests/lib.sh"

${CC:-gcc} -O2 -g -no-pie -fomit-frame-pointer \
	-Wl,-z,separate-code,-z,max-page-size=0x200000,--build-id \
	-o "$T/deep" "$srcdir/tests/bench/deep.c" 2>"$T/err" ||
	skip_all "no linker that leaves gaps between segments"
run_limited 60 "$HPCRUN" -q -e CPUTIME@f1000 -o "$T/m" -- "$T/deep" 300 25 >"$T/out"
is "the program ends well" "$?" 0
run_limited 60 "$HPCPROF" --to text --all "$T/m" >"$T/all" 2>"$T/err"
is "it is analysed" "$?" 0
id=$(readelf -n "$T/deep" | sed -n 's/.*Build ID: //p')
like "its build id is recorded, and it has lines" "$(grep '^module' "$T/all")" "lines.$id"
ends=$(by_name '$1 == "end" && get("of") == "profile" && get("how") != "complete" &&
	get("n") > 0' "$T/all")
is "every call path is complete" "$ends" ""
is "no frame is guessed" "$(by_name '$1 == "context" &&
	get("guessed") == 1' "$T/all" | head -n 1)" ""
ok "the recursion is there" [ "$(by_name '$1 == "tree" &&
	get("name") == "descend"' "$T/all" | wc -l)" -ge 24 ]

# As older linkers lay it out: the tables lie in the data segment, their index in that of the code.
# And _start says nothing of itself.
cat >"$T/start.s" <<'END'
	.text
	.globl _start
	.type _start, @function
_start:
	xor %ebp, %ebp
	mov %rdx, %r9
	pop %rsi
	mov %rsp, %rdx
	and $-16, %rsp
	push %rax
	push %rsp
	xor %r8d, %r8d
	xor %ecx, %ecx
	mov $main, %rdi
	call __libc_start_main
	hlt
	.size _start, .-_start
	.section .note.GNU-stack, "", @progbits
END
if ${CC:-gcc} -O2 -g -fno-pie -fomit-frame-pointer -c -o "$T/deep.o" \
	"$srcdir/tests/bench/deep.c" 2>"$T/err" &&
	objcopy --set-section-flags .eh_frame=alloc,load,data "$T/deep.o" 2>"$T/err" &&
	${CC:-gcc} -no-pie -nostartfiles -Wl,-z,noseparate-code,-z,max-page-size=0x200000 \
		-o "$T/old" "$T/start.s" "$T/deep.o" 2>"$T/err"; then
	ended() {
		by_name -v other="$1" '
			$1 == "end" && get("of") == "all" && (get("how") == "complete") == !other {
				n += get("n") }
			END { print n + 0 }' "$T/all"
	}
	like "tables in the data segment" "$(readelf -SW "$T/old")" '[.]eh_frame  *[A-Z]+ .* WA '
	run_limited 60 "$HPCRUN" -q -e CPUTIME@f1000 -o "$T/m2" -- "$T/old" 300 25 >"$T/out"
	is "tables in the data segment: the program ends well" "$?" 0
	run_limited 60 "$HPCPROF" --to text --all "$T/m2" >"$T/all" 2>"$T/err"
	is "tables in the data segment: no call path is cut" "$(ended 1)" 0
	ok "tables in the data segment: there are some" [ "$(ended 0)" -gt 50 ]
else
	skip "tables in the data segment" "no linker that lays them out so"
fi

# A fibre's stack ends in code that nothing called.
${CC:-gcc} -O1 -g -o "$T/fiber" "$srcdir/tests/workload/unwind/unwind_fiber.c" || exit 99
run_limited 60 "$HPCRUN" -q -e CPUTIME@f1000 -o "$T/m3" -- "$T/fiber" >"$T/out"
is "fibres: the program ends well" "$?" 0
run_limited 60 "$HPCPROF" --to text --all "$T/m3" >"$T/all" 2>"$T/err"
is "fibres: no call path is cut" "$(by_name '
	$1 == "end" && get("of") == "all" && get("how") != "complete" { n += get("n") }
	END { print n + 0 }' "$T/all")" 0
like "fibres: the fibre's part is below its entry" "$(
	"$HPCPROF" -q --to folded -o "$T/folded" "$T/m3"
	cat "$T/folded/folded/CPUTIME.folded")" \
	'^[^;]*;fiber_entry;.*fiber_work'
done_testing
