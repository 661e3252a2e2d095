#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The shadow-stack check, 10,000 samples or more: see tests/workload/unwind/unwind_shadow.cc.
. "${top_srcdir:-.}/tests/lib.sh"

work=$srcdir/tests/workload/unwind
libs="$builddir/.libs/libhlunwind.a $builddir/.libs/libhlsafe.a -ldl -lrt -lpthread"
samples=$(thorough 5000 40000)

# check NAME C++-COMPILER OPTIONS...
# shellcheck disable=SC2086
check() {
	name=$1 cxx=$2
	shift 2
	if ! command -v "$cxx" >/dev/null; then
		skip "$name" "no $cxx"
		return
	fi
	if ! $cxx "$@" -D_GNU_SOURCE -I"$srcdir" "$work/unwind_shadow.cc" $libs -o "$T/shadow" \
		-pthread >"$T/out" 2>&1 ||
		! ${CC:-gcc} "$@" -shared -fPIC "$work/unwind_shadow_plugin.c" -o "$T/plugin.so" \
		>>"$T/out" 2>&1; then
		fail "$name" "does not build"
		diag_file "$T/out"
		return
	fi
	judge "$name"
}

# judge NAME: runs what check has built
judge() {
	name=$1
	run_limited 120 "$T/shadow" "$T/plugin.so" "$samples" >"$T/out" 2>&1
	status=$?
	if [ "$status" -eq 0 ]; then
		pass "$name"
		tail -n 2 "$T/out"
	else
		fail "$name" "status $status"
		diag_file "$T/out"
	fi
}

check "gcc -O2 -fomit-frame-pointer" g++ -O2 -fomit-frame-pointer
# As before glibc 2.35: the table that we make of the loaded objects, while one comes and goes.
OWN_TABLE=yes
export OWN_TABLE
[ ! -x "$T/shadow" ] || judge "the same, with a table of objects of our own"
unset OWN_TABLE
[ "$(thorough few all)" = few ] || check "gcc -O0" g++ -O0
clangxx=$(echo "${CLANG:-clang}" | sed 's/clang\(-[0-9]*\)\{0,1\}$/clang++\1/')
check "clang -O2" "$clangxx" -O2
done_testing
