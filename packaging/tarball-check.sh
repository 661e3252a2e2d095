#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Checks what a binary tarball has, without running it: each program and library needs glibc 2.28
# and what is beside it, what goes into measured programs needs libc alone, licences are complete,
# and no text names the prefix of the build. make tarball runs it before it packs.
# Usage: tarball-check.sh TREE PREFIX

. "${srcdir:-.}/tests/lib.sh"

cd "$1" || exit 99
prefix=$2
lib=lib/hpctoolkit-lite
bundled=$lib/bundled
libc='^(lib(c|m|dl|rt|pthread)\.so\.[0-9]+|ld-linux-x86-64\.so\.2)$'

find . -type f -exec sh -c 'head -c 4 "$1" | grep -q "^.ELF" && echo "${1#./}"' - {} \; |
	LC_ALL=C sort >"$T/elf"
each() { # COMMAND...: with each ELF file
	while read -r file; do "$@" "$file"; done <"$T/elf"
}
tag() { # NAME FILE: values in its dynamic section
	readelf -dW "$2" | sed -nE "s/.*\\($1\\).*\\[(.*)\\]\$/\\1/p"
}

is "programs and modules are there" "$(for name in bin/hpcprof-lite bin/hpcrun-lite \
	bin/hpcstruct-lite $lib/hpcrun-lite-attach $lib/libhpcrun-lite.so \
	$lib/libhpcrun-lite-mpi.so $lib/libhpcrun-lite-memory.so \
	$lib/libhpcrun-lite-opencl.so $lib/libhpcrun-lite-papi.so \
	$lib/libhpcrun-lite-torch.so; do
	grep -qx "$name" "$T/elf" || echo "$name"
done)" ''
is "... and no others" "$(grep -vE \
	"^(bin/hpc[a-z]*-lite|$lib/(hpcrun-lite-attach|libhpcrun-lite(-[a-z]+)?\.so))\$" "$T/elf" |
	grep -v "^$bundled/lib[A-Za-z0-9_-]*\.so\.[0-9.]*\$")" ''
is "nothing is CUDA's" "$(find . -name 'libcu*' -o -name 'libnv*' -o -name 'cupti*.h')" ''

versions() {
	readelf -VW "$1" | sed -n '/version_r/,$s/.*Name: \([A-Z][A-Za-z0-9_.]*\).*/\1/p' |
		grep -E '^(GLIBC|GLIBCXX|CXXABI|GCC)_' |
		grep -vE '^GLIBC_2\.([0-9]|1[0-9]|2[0-8])(\.[0-9]+)?$' | sed "s|^|$1 |"
}
is "nothing needs more than glibc 2.28, or C++" "$(each versions)" ''
absent() {
	tag NEEDED "$1" | grep -vE "$libc" | while read -r library; do
		[ -f "$bundled/$library" ] || echo "$1 $library"
	done
}
is "the libraries that they need are there" "$(each absent)" ''
each tag NEEDED >"$T/needed"
is "... and no others" "$(for file in "$bundled"/*; do
	grep -qxF "${file##*/}" "$T/needed" || echo "$file"
done)" ''

# into_programs: what hpcrun-lite loads into a measured program, and what that needs
into_programs() {
	for file in "$lib"/*.so "$bundled"/libpapi.so.* "$bundled"/libpfm.so.*; do
		tag NEEDED "$file" | grep -vE "$libc" | sed "s|^|${file##*/} |"
	done
}
is "measured programs get libc alone, and with events of PAPI its libraries" "$(into_programs |
	sed 's/\.so[.0-9]*/.so/g' | sort)" "libhpcrun-lite-papi.so libpapi.so
libpapi.so libpfm.so"
paths() {
	tag RPATH "$1" | sed "s|^|$1 RPATH |"
	tag RUNPATH "$1" | sed "s|^|$1 RUNPATH |"
}
is "programs find libraries, and PAPI its own" "$(each paths | sed 's/\.so\.[.0-9]*/.so/g')" \
	"bin/hpcprof-lite RPATH \$ORIGIN/../$bundled
bin/hpcstruct-lite RPATH \$ORIGIN/../$bundled
$bundled/libpapi.so RUNPATH \$ORIGIN
$lib/hpcrun-lite-attach RPATH \$ORIGIN/bundled
$lib/libhpcrun-lite-papi.so RUNPATH \$ORIGIN/bundled"
is "no text names the prefix of the build" "$(grep -rIl "$prefix" .)" ''

cd share/doc/hpctoolkit-lite/licences || exit 99
is "each library is in the list of licences" "$(for file in ../../../../"$bundled"/*; do
	grep -qwF "${file##*/}" LIST || echo "$file"
done)" ''
is "the list names licences" "$(grep -cE '^  [^ ]+-(LI|LG|CO|co)' LIST)" \
	"$(grep -c '^  from ' LIST)"
is "each licence is here" "$(sed -n '/^  from /!s/^  //p' LIST | tr ' ' '\n' |
	while read -r file; do [ -s "$file" ] || echo "$file"; done)" ''
is "... and each licence that one refers to" "$(
	grep -oh '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' -- *-copyright | sort -u |
		while read -r file; do [ -s "${file##*/}" ] || echo "$file"; done)" ''
done_testing
