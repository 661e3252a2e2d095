#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Of big cubins a measurement keeps the kernels that ran. What hpcstruct-lite says of the kernels of
# a golden cubin that were cut out of it, one by one, is what it says of the cubin.

. "${srcdir:-.}/tests/lib.sh"

cut=$builddir/tests/unit/cupti/test_cupti_cut
[ -x "$cut" ] || skip_all "no tests/unit/cupti/test_cupti_cut"

# said FILE: of functions, loops, calls and waits, in any order and without addresses
said() {
	"$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$1" >"$T/err" 2>&1 &&
		"$HPCSTRUCT" --print "$T/s" | sed 's/0x[0-9a-f]*/@/g' |
		grep -v -e '^binary ' -e '^build-id ' -e '^calls$' -e '^waits$' -e '^$'
}

for name in inline.sm_90 operations.sm_75 operations.sm_80 operations.sm_90 shared.sm_90; do
	file=$srcdir/tests/golden/cubin/$name.plain.cubin
	rm -rf "$T/parts"
	mkdir "$T/parts"
	ok "$name: the kernels are cut out" "$cut" "$file" "$T/parts"
	said "$file" | sort >"$T/whole"
	for part in "$T"/parts/*.cubin; do
		said "$part"
	done | sort >"$T/all"
	like "$name: has kernels" "$(cat "$T/all")" "kernel registers"
	same "$name: they have the same structure" "$T/all" "$T/whole"
done
done_testing
