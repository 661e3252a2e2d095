#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Complete stacks, at least 99.9 %, on C, C++ and Rust programs built with -O2 and without frame
# pointers: see tests/workload/unwind/unwind_complete.c.
. "${top_srcdir:-.}/tests/lib.sh"

work=$srcdir/tests/workload/unwind
libs="$builddir/.libs/libhlunwind.a $builddir/.libs/libhlsafe.a -ldl -lrt -lpthread"
UNWIND_COMPLETE=$T/result
export UNWIND_COMPLETE

# shellcheck disable=SC2086
${CC:-gcc} -O2 -shared -fPIC -std=gnu11 -D_GNU_SOURCE -I"$srcdir" -Wl,-z,now \
	"$work/unwind_complete.c" $libs -o "$T/complete.so" || exit 99

# paths_complete NAME COMMAND...: at least 1000 samples, in so many runs as that takes; 999 of 1000
# to the root, hardly any marked.
paths_complete() {
	name=$1
	shift
	samples=0 complete=0 marked=0
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		rm -f "$T/result"
		status=0
		run_limited 100 env LD_PRELOAD="$T/complete.so" "$@" >"$T/out" 2>&1 || status=$?
		if [ "$status" -ne 0 ]; then
			fail "$name" "status $status"
			diag_file "$T/out"
			return
		fi
		diag_file "$T/result"
		read -r _ n _ n_complete _ n_marked <"$T/result"
		samples=$((samples + n)) complete=$((complete + n_complete)) \
			marked=$((marked + n_marked))
		[ "$samples" -lt 1000 ] || break
	done
	ok "$name" test "$samples" -ge 1000 -a $((samples - complete)) -le $((samples / 1000)) -a \
		"$marked" -le $((samples / 100))
}

if command -v g++ >/dev/null; then
	g++ -O2 -fomit-frame-pointer -std=c++17 "$work/unwind_load.cc" -o "$T/load_cxx" || exit 99
	paths_complete "C++ -O2" "$T/load_cxx" 60
else
	skip "C++ -O2" "no g++"
fi
if "${RUSTC:-rustc}" --version >/dev/null 2>&1; then
	"${RUSTC:-rustc}" -O "$work/unwind_load.rs" -o "$T/load_rust" || exit 99
	paths_complete "Rust -O" "$T/load_rust" 160
else
	skip "Rust -O" "no rustc"
fi
# C as the distribution builds it: a compressor and a compiler (cc1 is C++ without exceptions).
if command -v xz >/dev/null; then
	head -c 1000000 "$(command -v "${CC:-gcc}")" /proc/self/exe "$T/complete.so" \
		/lib/x86_64-linux-gnu/libc.so.6 2>/dev/null >"$T/data"
	paths_complete "xz" xz -kf -9 "$T/data"
else
	skip "xz" "no xz"
fi
cc1=$(${CC:-gcc} -print-prog-name=cc1plus)
if [ -x "$cc1" ]; then
	g++ -E -std=c++17 "$work/unwind_load.cc" -o "$T/load.ii" || exit 99
	paths_complete "cc1plus" "$cc1" -fpreprocessed -quiet -O2 -std=c++17 \
		"$T/load.ii" -o "$T/load.s"
else
	skip "cc1plus" "not found"
fi
done_testing
