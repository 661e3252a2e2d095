#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Each allocation of hpcstruct-lite fails in turn. It then exits with status 1 and a message, or its
# output is complete, or it says what is left out: libdwarf 0.11 crashes where 0.5 did not.

. "${srcdir:-.}/tests/lib.sh"
fail=$builddir/tests/struct/.libs/fail_alloc.so
if [ ! -e "$fail" ] || grep -q 'fsanitize=' "$builddir/config.log"; then
	skip_all "no shared libraries, or a sanitizer, whose malloc cannot be replaced"
fi
golden=$srcdir/tests/golden

# content: names and check sums of the output.
content() {
	if [ -d "$T/out" ]; then
		(cd "$T/out" && find . -type f -exec cksum {} + | sort)
	else
		cksum <"$T/out"
	fi
}

# each_fails WHAT STEP COMMAND...: lets the first allocation of COMMAND fail, then the one STEP
# later, and so on. COMMAND writes $T/out.
each_fails() {
	what=$1 step=$2 n=0 n_failed=0 wrong=
	shift 2
	rm -rf "$T/out"
	"$@" 2>"$T/err" || diag_file "$T/err"
	whole=$(content)
	while :; do
		rm -rf "$T/out" "$T/mark"
		FAIL_ALLOC=$n FAIL_ALLOC_MARK=$T/mark LD_PRELOAD=$fail "$@" 2>"$T/err"
		code=$?
		[ -e "$T/mark" ] || break
		case $code in
		0)
			[ "$(content)" = "$whole" ] || grep -q 'is left out$' "$T/err" ||
				wrong="$wrong $n: exit status 0, other output;"
			;;
		1) [ -s "$T/err" ] || wrong="$wrong $n: no message;" ;;
		*) wrong="$wrong $n: exit status $code;" ;;
		esac
		n_failed=$((n_failed + (code == 1)))
		n=$((n + step))
	done
	is "$what: no allocation that fails goes unnoticed" "$wrong" ""
	ok "... and $n_failed runs of $((n / step)) failed" test "$n_failed" -gt 5
}
print_to_out() {
	"$HPCSTRUCT" --print "$1" >"$T/out"
}

{
	printf '__kernel void '
	printf '%1500s' '' | tr ' ' n
	printf '(void)\n{\n}\n'
} >"$T/long.cl"
"$HPCSTRUCT" -q --no-cache -o "$T/long" "$T/long.cl"
each_fails "printing a name that is too long for a buffer" 1 print_to_out "$T/long"
"$HPCSTRUCT" -q --no-cache -o "$T/shapes" "$golden/struct/shapes-gcc-O2-g.so"
each_fails "printing a structure" 1 print_to_out "$T/shapes"

make() {
	"$HPCSTRUCT" -q -f -j1 --no-cache -o "$T/out" "$@"
}
each_fails "a library with DWARF" "$(thorough 4 1)" make "$golden/struct/shapes-clang-O2-g.so"
each_fails "compressed DWARF" "$(thorough 21 7)" make "$golden/struct/names-gcc-O2-gz.so"
each_fails "symbols" "$(thorough 4 1)" make "$golden/struct/names-gcc-O2-nog.so"
each_fails "a cubin" "$(thorough 4 1)" make "$golden/cubin/rdc_a.sm_90.rdc.cubin"
each_fails "source text" "$(thorough 4 1)" make "$golden/opencl/jacobi.cl"
extract() {
	"$HPCSTRUCT" -q -f -j1 --no-cache --gpu-code "$T/out" "$1"
}
each_fails "GPU code of a fat binary" "$(thorough 9 3)" extract "$golden/cubin/shared.speed.fatbin"

mkdir "$T/run"
"$builddir/tests/struct/make_run" "$T/run/0-h-1.hpcrun" "$golden/struct/shapes-gcc-O2-nog.so" \
	"$golden/struct/names-gcc-O2-nog.so"
each_fails "a measurement directory" "$(thorough 9 3)" make "$T/run"
done_testing
