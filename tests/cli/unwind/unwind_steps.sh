#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The every-instruction check with many compilers and options: see
# tests/workload/unwind/unwind_steps.c.
. "${top_srcdir:-.}/tests/lib.sh"

work=$srcdir/tests/workload/unwind
flags="-std=gnu11 -D_GNU_SOURCE -I$srcdir"
libs="$builddir/.libs/libhlunwind.a $builddir/.libs/libhlsafe.a -ldl -lrt -lpthread"
CC=${CC:-gcc}

echo '#include <libunwind.h>' >"$T/have.c"
$CC -fsyntax-only "$T/have.c" 2>/dev/null || skip_all "no libunwind to judge by"
command -v g++ >/dev/null || skip_all "no g++"

# Word splitting of options is meant.
# shellcheck disable=SC2086
$CC -O1 -g $flags -c "$work/unwind_steps.c" -o "$T/judge.o" || exit 99
$CC -O2 -shared -fPIC "$work/unwind_plugin.c" -Wl,-z,lazy -o "$T/plugin.so" || exit 99
UNWIND_PLUGIN=$T/plugin.so
export UNWIND_PLUGIN

# check NAME C-COMPILER C++-COMPILER OPTIONS...: builds the code with them and steps through it.
# shellcheck disable=SC2086
check() {
	step_through "" "$@"
}

# The same without tables for the C code.
check_bare() {
	step_through "-fno-asynchronous-unwind-tables -fno-exceptions" "$@"
}

# shellcheck disable=SC2086
step_through() {
	bare=$1 name=$2 cc=$3 cxx=$4
	shift 4
	if ! command -v "$cc" >/dev/null || ! command -v "$cxx" >/dev/null; then
		skip "$name" "no $cc or $cxx"
		return
	fi
	$cc "$@" $bare $flags -c "$work/unwind_code.c" -o "$T/code.o" &&
		$cxx "$@" -I"$srcdir" -c "$work/unwind_code_cxx.cc" -o "$T/code_cxx.o" &&
		g++ -Wl,-z,lazy "$T/judge.o" "$T/code.o" "$T/code_cxx.o" $libs -o "$T/steps" || {
		fail "$name" "does not build"
		return
	}
	run_limited 120 "$T/steps" ${bare:+--bare} >"$T/out" 2>&1
	status=$?
	if [ "$status" -eq 77 ]; then
		skip "$name" "no libunwind.so.8"
	elif [ "$status" -eq 0 ]; then
		pass "$name"
		tail -n 3 "$T/out"
	else
		fail "$name" "status $status"
		diag_file "$T/out"
	fi
}

check "gcc -O2 -fomit-frame-pointer" gcc g++ -O2 -fomit-frame-pointer
clangxx=$(echo "${CLANG:-clang}" | sed 's/clang\(-[0-9]*\)\{0,1\}$/clang++\1/')
if [ "$(thorough few all)" = all ]; then
	check "gcc -O0" gcc g++ -O0
	check "clang -O2 -fomit-frame-pointer" "${CLANG:-clang}" "$clangxx" -O2 \
		-fomit-frame-pointer
	check_bare "gcc -O0 without tables" gcc g++ -O0
	check_bare "gcc -O2 without tables" gcc g++ -O2 -fomit-frame-pointer
	check_bare "clang -O2 without tables" "${CLANG:-clang}" "$clangxx" -O2 \
		-fomit-frame-pointer
	check "gcc -O1" gcc g++ -O1
	check "gcc -O2 -fcf-protection" gcc g++ -O2 -fcf-protection
	check "gcc -O3 -fno-plt" gcc g++ -O3 -fno-plt
	check "clang -O0" "${CLANG:-clang}" "$clangxx" -O0
	check "clang -O3" "${CLANG:-clang}" "$clangxx" -O3
	check_bare "gcc -O1 without tables" gcc g++ -O1
	check_bare "gcc -O3 without tables" gcc g++ -O3 -fcf-protection -mavx2
	check_bare "clang -O0 without tables" "${CLANG:-clang}" "$clangxx" -O0
fi
done_testing
