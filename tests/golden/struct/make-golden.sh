#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes the golden binaries and the structures expected of them, next to this script:
#
#	make-golden.sh binaries      builds the binaries anew (needs gcc 12, clang 14: other versions give other code)
#	make-golden.sh structures    writes what hpcstruct-lite ($HPCSTRUCT) says of them to NAME.txt: read the differences before you commit
#
# The binaries are small shared libraries without start-up code. They and SHA256SUMS are checked in, as compilers differ by version.
set -e
cd "$(dirname "$0")"

build() { # NAME COMPILER SOURCE FLAGS...
	out=$1 with=$2 source=$3
	shift 3
	"$with" "$@" -fPIC -shared -nostdlib -ffile-prefix-map="$PWD"=/src -fno-asynchronous-unwind-tables -funwind-tables \
		-Wl,--build-id=sha1 -Wl,-z,noseparate-code -Wl,--hash-style=gnu "$source" -o "$out.so"
	objcopy --remove-section=.comment --remove-section=.gnu.build.attributes "$out.so"
}

binaries() {
	rm -f ./*.so
	for compiler in gcc clang; do
		cxx=g++
		[ $compiler = gcc ] || cxx=clang++
		for level in O0 O2 O3lto; do
			flags=-${level}
			[ $level = O3lto ] && flags='-O3 -flto'
			# shellcheck disable=SC2086 # several flags
			build shapes-$compiler-$level-g $compiler shapes.c -g $flags
			# shellcheck disable=SC2086
			build shapes-$compiler-$level-nog $compiler shapes.c $flags
			# shellcheck disable=SC2086
			build names-$compiler-$level-g $cxx names.cpp -g -fno-exceptions -fno-rtti $flags
		done
		build names-$compiler-O2-nog $cxx names.cpp -O2 -fno-exceptions -fno-rtti
		cp shapes-$compiler-O2-nog.so shapes-$compiler-O2-stripped.so
		strip shapes-$compiler-O2-stripped.so
	done
	for version in 2 3 4; do
		build shapes-gcc-O2-dwarf$version gcc shapes.c -g -gdwarf-$version -gstrict-dwarf -O2
	done
	build names-gcc-O2-gz g++ names.cpp -g -gz -O2 -fno-exceptions -fno-rtti
	build shapes-gcc-O2-ibt gcc shapes.c -g -O2 -fcf-protection=full -Wl,-z,ibtplt
	sha256sum ./*.so >SHA256SUMS
}

structures() {
	for f in ./*.so; do
		"${HPCSTRUCT:?}" -q -f --no-cache -o "$f.hpcstruct" "$f"
		"$HPCSTRUCT" --print "$f.hpcstruct" | sed '/^binary /d' >"${f%.so}.txt"
		rm -f "$f.hpcstruct"
	done
}

case $1 in
binaries | structures) "$1" ;;
*) echo "usage: make-golden.sh binaries|structures" >&2; exit 2 ;;
esac
