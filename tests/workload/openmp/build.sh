#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the OpenMP workloads as their users would: with gcc for its libgomp (NAME.libgomp), with
# clang for libomp (NAME.libomp), and with gcc for libomp, which has the functions of libgomp too
# (NAME.compat). A compiler that is not here, or has no OpenMP, is left out; the tests skip its
# programs. Usage: build.sh SOURCE-DIR OUTPUT-DIR
src=$1
out=$2
flags="-O2 -g -fopenmp -D_GNU_SOURCE"
clang=${CLANG:-clang}
clangxx=$(echo "$clang" | sed 's/clang\(-[0-9]*\)\{0,1\}$/clang++\1/')

# works COMPILER SUFFIX: it compiles and links a parallel region.
works() {
	case $2 in
	f90) # shellcheck disable=SC2016 # a directive
		printf '!$omp parallel\n!$omp end parallel\nend\n' ;;
	*) printf 'int main(void)\n{\n#pragma omp parallel\n\t{ }\n\treturn 0;\n}\n' ;;
	esac >"$out/try.$2"
	$1 -fopenmp -o "$out/try" "$out/try.$2" >"$out/try.log" 2>&1
	works_status=$?
	rm -f "$out/try" "$out/try.$2" "$out/try.log"
	[ $works_status -eq 0 ] ||
		echo "OpenMP workloads: $1 cannot build OpenMP programs, left out"
	return $works_status
}

# build COMPILER RUN-TIME SUFFIX
build() {
	works "$1" "$3" || return 0
	for file in "$src"/*."$3"; do
		# shellcheck disable=SC2086 # words
		$1 $flags -o "$out/$(basename "$file" ".$3").$2" "$file" -ldl || exit 1
	done
}

# libraries COMPILER RUN-TIME
libraries() {
	works "$1" c || return 0
	# shellcheck disable=SC2086 # words
	$1 $flags -shared -fPIC -DPLUGIN -o "$out/plugin.$2.so" "$src/omp_both.c" &&
		$1 $flags -shared -fPIC -DTOOL_LIBRARY -o "$out/tool.$2.so" "$src/omp_tool.c" ||
		exit 1
}

# both_compilers: objects of gcc, linked by clang.
both_compilers() {
	works gcc c && works "$clang" c || return 0
	for name in omp_paths omp_waits; do
		# shellcheck disable=SC2086 # words
		gcc -std=gnu11 $flags -c -o "$out/try.o" "$src/$name.c" &&
			$clang -fopenmp -o "$out/$name.compat" "$out/try.o" || exit 1
	done
	rm -f "$out/try.o"
}

mkdir -p "$out" && rm -f "$out"/*.libgomp "$out"/*.libomp "$out"/*.compat "$out"/*.so || exit 1
build "gcc -std=gnu11" libgomp c
build g++ libgomp cc
build gfortran libgomp f90
build "$clang -std=gnu11" libomp c
build "$clangxx" libomp cc
libraries "gcc -std=gnu11" libgomp
libraries "$clang -std=gnu11" libomp
both_compilers
