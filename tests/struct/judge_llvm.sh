#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Compares the structures of libraries with what llvm-symbolizer and llvm-objdump say of them
# (judge_llvm.py); doc/structures.md has figures. A part of no test: it takes packages, which may be
# those of another machine, unpacked below DIR with "dpkg -x", with their packages -dbg. Needs llvm,
# c++filt, readelf, and the objdump of the machine for names of stubs.
#
# Usage: HPCSTRUCT=build/hpcstruct-lite/hpcstruct-lite tests/struct/judge_llvm.sh DIR LIBRARY...
#	LIBRARY  the name of a file below DIR, without a directory

set -u
[ $# -ge 2 ] || { sed -n '/^# Usage/,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
judge=$(cd "$(dirname "$0")" && pwd)/judge_llvm.py
HPCSTRUCT=${HPCSTRUCT:?"the program to judge"}
dir=$1
shift
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT

# printed BINARY OPTIONS...: what the structure says, in $T/printed
printed() {
	binary=$1
	shift
	"$HPCSTRUCT" -q -f --no-cache "$@" -o "$T/structure" "$binary" &&
		"$HPCSTRUCT" --print "$T/structure" >"$T/printed"
}

for name; do
	library=$(find "$dir" -name "$name" -type f ! -path '*/debug/*' | head -n 1)
	[ -n "$library" ] || { echo "$name: not there"; continue; }
	id=$(readelf -n "$library" 2>/dev/null | sed -n 's/ *Build ID: //p')
	debug=$dir/usr/lib/debug/.build-id/$(echo "$id" | sed 's/^../&\//').debug
	! readelf -SW "$library" | grep -q '\.debug_info' || debug=$library
	if [ -e "$debug" ] && printed "$library" --debug-dir "$dir/usr/lib/debug"; then
		echo "$name places: $(python3 "$judge" places "$T/printed" "$debug")"
	fi
	# without lines, so that no loops of one line are joined
	llvm-objcopy --strip-debug "$library" "$T/binary" && printed "$T/binary" &&
		echo "$name loops: $(python3 "$judge" loops "$T/printed" "$T/binary")"
done
