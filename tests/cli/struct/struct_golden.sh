#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Golden structures: what hpcstruct-lite says of the binaries in tests/golden/struct equals, byte
# for byte, what was read and found right when they were checked in.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/struct
demangles=no
if grep -q '^#define HAVE_IBERTY 1' "$builddir/config.h"; then demangles=yes; fi
has_loops=no
if grep -q '^#define HAVE_ZYDIS 1' "$builddir/config.h"; then has_loops=yes; fi

ok "the binaries are those the structures were made from" \
	sh -c "cd '$golden' && sha256sum -c SHA256SUMS"
for text in "$golden"/*.txt; do
	name=${text##*/}
	name=${name%.txt}
	case $name-$demangles in
	names-*-no) skip "$name" "built without libiberty: names are not demangled"; continue ;;
	esac
	case $name-$has_loops in
	*-aarch64-*) ;;
	*-no)
		if grep -q '^ *loop 0x' "$text"; then
			skip "$name" "built without Zydis: no loops"
			continue
		fi
		;;
	esac
	if ! "$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$golden/$name.so" >"$T/err" 2>&1; then
		fail "$name: analysis"
		diag_file "$T/err"
		continue
	fi
	"$HPCSTRUCT" --print "$T/s" | sed '/^binary /d' >"$T/$name.txt"
	same "$name" "$T/$name.txt" "$text"
	case $name in
	loops-*-O0-g) optimised=0 ;;
	loops-*-g) optimised=1 ;;
	*) continue ;;
	esac
	awk -v src=loops.c: -v optimised=$optimised -f "$srcdir/tests/golden/loops/truth.awk" \
		"$srcdir/tests/golden/loops/loops.c" "$T/$name.txt" >"$T/wrong"
	same "$name: the loops of its source and no others" "$T/wrong" /dev/null
done

"$HPCSTRUCT" -q -f --no-cache -j1 -o "$T/one" "$golden/shapes-gcc-O2-g.so"
"$HPCSTRUCT" -q -f --no-cache -j4 -o "$T/four" "$golden/shapes-gcc-O2-g.so"
same "the file does not depend on the number of threads" "$T/one" "$T/four"
done_testing
