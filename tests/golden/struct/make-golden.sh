#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes the golden binaries and the structures expected of them, next to this script:
#
#	make-golden.sh binaries      builds the binaries anew (needs gcc 12, clang 14: other versions give other code)
#	make-golden.sh aarch64       builds those for aarch64 anew; part of the above
#	make-golden.sh structures    writes what hpcstruct-lite ($HPCSTRUCT) says of them to NAME.txt: read the differences before you commit
#
# The binaries are small shared libraries without start-up code. They and SHA256SUMS are checked in, as compilers differ by version.
set -e
cd "$(dirname "$0")"
loops=$(cd ../loops && pwd)

build() { # NAME COMPILER SOURCE FLAGS...
	out=$1 with=$2 source=$3
	shift 3
	# shellcheck disable=SC2086 # a compiler and its option
	$with "$@" -fPIC -shared -nostdlib -ffile-prefix-map="$PWD"=/src -ffile-prefix-map="$loops"=/src -fno-asynchronous-unwind-tables -funwind-tables \
		-Wl,--build-id=sha1 -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -Wl,--hash-style=gnu "$source" -o "$out.so"
	"${objcopy:-objcopy}" --remove-section=.comment --remove-section=.gnu.build.attributes "$out.so"
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
	aarch64
	sha256sum ./*.so >SHA256SUMS
}

# Needs the packages gcc-aarch64-linux-gnu and g++-aarch64-linux-gnu.
aarch64() {
	objcopy=aarch64-linux-gnu-objcopy
	for compiler in gcc clang; do
		cc=aarch64-linux-gnu-gcc cxx=aarch64-linux-gnu-g++
		[ $compiler = gcc ] || cc='clang --target=aarch64-linux-gnu' cxx='clang++ --target=aarch64-linux-gnu'
		tables=
		[ $compiler = clang ] || tables='--param case-values-threshold=4' # else gcc makes no table of so few cases
		for level in O0 O2; do
			# shellcheck disable=SC2086 # two words
			build loops-aarch64-$compiler-$level-g "$cc" "$loops/loops.c" -g -$level $tables
		done
		build names-aarch64-$compiler-O2-g "$cxx" names.cpp -g -O2 -fno-exceptions -fno-rtti
	done
	build shapes-aarch64-gcc-O2-bti aarch64-linux-gnu-gcc shapes.c -g -O2 -mbranch-protection=standard
	build table-aarch64-gas aarch64-linux-gnu-gcc table.s
	cp loops-aarch64-gcc-O2-g.so loops-aarch64-gcc-O2-stripped.so
	aarch64-linux-gnu-strip loops-aarch64-gcc-O2-stripped.so
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
aarch64) aarch64 && sha256sum ./*.so >SHA256SUMS ;;
*) echo "usage: make-golden.sh binaries|aarch64|structures" >&2; exit 2 ;;
esac
