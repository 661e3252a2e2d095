#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the workloads of libgomp: gomp_odd, gomp_jit, and gomp_host with libraries that bring their
# own run time: the usual libgomp, two copies of it under other names, as Python packages have them,
# and libomp, whose GOMP_* functions code of gcc can use. Without gcc's OpenMP nothing is built.
# Usage: build.sh SOURCE-DIR OUTPUT-DIR
src=$1
out=$2
flags="-O2 -g -Wall -Wextra -D_GNU_SOURCE -std=gnu11"

mkdir -p "$out" && rm -f "$out"/gomp_odd "$out"/gomp_host "$out"/gomp_jit "$out"/gomp_unload \
	"$out"/*.so* || exit 1
# shellcheck disable=SC2086 # words
if ! gcc $flags -fopenmp -o "$out/gomp_odd" "$src/gomp_odd.c"; then
	echo "libgomp workloads: gcc cannot build OpenMP programs, left out"
	exit 0
fi
gomp=$(ldd "$out/gomp_odd" | sed -n 's/.*libgomp\.so\.1 => \(\S*\) .*/\1/p')
omp=$(${CLANG:-clang} -print-file-name=libomp.so.5 2>/dev/null)
# shellcheck disable=SC2086 # words
gcc $flags -o "$out/gomp_host" "$src/gomp_host.c" -ldl &&
	gcc $flags -o "$out/gomp_unload" "$src/gomp_unload.c" -ldl &&
	gcc $flags -o "$out/gomp_jit" "$src/gomp_jit.c" -ldl || exit 1

# plugin NAME LIBRARY: a plugin with this run time.
plugin() {
	# shellcheck disable=SC2086 # words
	gcc $flags -fopenmp -fPIC -c -o "$out/$1.o" "$src/gomp_plugin.c" &&
		gcc -shared -o "$out/$1.so" "$out/$1.o" "$2" "-Wl,-rpath,\$ORIGIN" &&
		rm "$out/$1.o" || exit 1
}

plugin usual "$gomp"
for copy in libgo-1 libgo-2; do # names of the same length
	LC_ALL=C sed "s/libgomp\.so\.1/$copy.so.1/g" "$gomp" >"$out/$copy.so.1" || exit 1
	plugin "with_$copy" "$out/$copy.so.1"
done
if [ -e "$omp" ]; then plugin with_libomp "$omp"; fi
