#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Builds the OpenMP workloads as their users would: with gcc for its libgomp, and with clang for
# libomp. A compiler that is not here, or has no OpenMP, is left out; the tests skip its programs.
# Usage: build.sh SOURCE-DIR OUTPUT-DIR; makes OUTPUT-DIR/NAME.libgomp and NAME.libomp.
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
	return $works_status
}

# build COMPILER RUN-TIME SUFFIX
build() {
	if ! works "$1" "$3"; then
		echo "OpenMP workloads: $1 cannot build OpenMP programs, left out"
		return 0
	fi
	for build_file in "$src"/*."$3"; do
		build_name=$(basename "$build_file" ".$3")
		# shellcheck disable=SC2086 # words
		$1 $flags -o "$out/$build_name.$2" "$build_file" || exit 1
	done
}

mkdir -p "$out" && rm -f "$out"/*.libgomp "$out"/*.libomp || exit 1
build "gcc -std=gnu11" libgomp c
build g++ libgomp cc
build gfortran libgomp f90
build "$clang -std=gnu11" libomp c
build "$clangxx" libomp cc
