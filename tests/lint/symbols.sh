#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What our libraries call of others inside the measured process, read from the built files: nothing but the names of symbols.txt, and in the objects of the
# signal path only those marked so. A clock_gettime or a memcpy of libc's there may be one of the program's, with a lock of its own.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

need readelf nm
allowed=$srcdir/tests/lint/symbols.txt

# not_allowed WHO...: the names on standard input that no line of these kinds allows
not_allowed() {
	awk -v who=" $* " '
		FILENAME != "-" && /^#/ { next }
		FILENAME != "-" { if (index(who, " " $1 " ")) { if ($2 ~ /\*$/) head[substr($2, 1, length($2) - 1)] = 1; else name[$2] = 1 } next }
		{
			for (h in head) if (index($1, h) == 1) next
			if (!($1 in name)) print $1
		}' "$allowed" - | sort -u
}

is "the lint sees a name that is not allowed" "$(printf '%s\n' environ clock_gettime _ITM_x | not_allowed all)" clock_gettime

# Of every relocation that names a symbol: whoever defines it first is called.
for library in '' -opencl -cupti -papi; do
	file=$builddir/.libs/libhpcrun-lite$library.so
	[ -f "$file" ] || continue
	names=$(readelf -rW "$file" | awk '$3 ~ /^R_X86_64_(JUMP_SLOT|GLOB_DAT|64|COPY)$/ && $5 != "" { sub(/@.*/, "", $5); print $5 }')
	like "libhpcrun-lite$library.so: names are found" "$names" '^dlsym$|^PAPI_start$'
	is "libhpcrun-lite$library.so: nothing else can be replaced" "$(printf '%s\n' "$names" | not_allowed all handler "${library#-}")" ''
done

# The signal path. Names that another object of the library defines are ours; that of the string functions holds none of them back.
objects=$(find "$builddir/common" "$builddir/hpcrun-lite" -path '*/.libs/*' -name 'lib*.o' | LC_ALL=C sort)
# shellcheck disable=SC2086 # words
# shellcheck disable=SC2046 # one word an object
nm -g --defined-only $(printf '%s\n' "$objects" | grep -E '/(libhl(safe|string|cct|unwind|python|gpu)_la|libhpcrun_lite_la)-') | awk 'NF == 3 { print $3 }' | sort -u >"$T/ours"
n=0
for object in $(printf '%s\n' "$objects" | grep -E '/(libhl(safe|string|cct|unwind|python)_la-|libhpcrun_lite_la-(sample|control|file_fault|hook_signal|hook_signal_bus|signal_table|hook_wait_restart)\.o)'); do
	n=$((n + 1))
	nm -u "$object" | awk '{ print $2 }' | grep -v '^_GLOBAL_OFFSET_TABLE_$' | sort -u | comm -23 - "$T/ours" | not_allowed handler >"$T/wrong"
	[ ! -s "$T/wrong" ] || is "${object##*/}: calls that a handler may make" "$(tr '\n' ' ' <"$T/wrong")" ''
done
within "objects of the signal path" "$n" 20 100
done_testing
