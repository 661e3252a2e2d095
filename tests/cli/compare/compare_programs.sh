#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Comparisons of real programs whose change is known: a function that takes longer, is inlined, is
# renamed; a kernel that runs twice as often, on PoCL.
. "${srcdir:-.}/tests/lib.sh"

need gcc
unset COLUMNS NO_COLOR
cd "$T" || exit 99

# build NAME FLAG...: each in its own directory, under the same name
build() {
	mkdir -p "$1"
	to=$1
	shift
	source=$srcdir/tests/workload/prof/compare_work.c
	gcc -O1 -g "$@" "$source" -o "$to/compare_work" || exit 99
}
measure() {
	"$HPCRUN" -q -e "${3:-CPUTIME@f250}" -o "m-$1" -- \
		"$1/compare_work" "$2" >/dev/null 2>"$1/err"
}
# real TABLE: the rows beyond noise
real() {
	awk -v name="$1" '
		index($0, name " by change") == 1 { on = 1; getline; next }
		/^$/ || /^----/ { on = 0 }
		on { print $NF }' out
}
compare() { COLUMNS=80 "$HPCPROF" compare -q "$@" >out 2>err; }

build base
build faults -DFAULTS
build more-faults -DFAULTS -DPERCENT=150
build inlined -DINLINED
build renamed -DRELAX=relax_faster

# Time is never the same twice, page faults are.
if "$HPCRUN" -L | sed '/^Not here/q' | grep -q 'perf::PAGE-FAULTS'; then
	for program in faults more-faults; do
		measure $program 100 perf::PAGE-FAULTS@10 ||
			fail "$program cannot be measured: $(cat $program/err)"
	done
	compare --noise 1 m-faults m-more-faults
	is "half as many events more in a function are found, and nothing else" \
		"$(real Functions)" relax
	like "and counted" "$(cat out)" '^ +\+(4,9|5,0)[0-9][0-9] .* 1\.(49|50).  relax$'
else
	skip "half as many events more in a function are found" "no perf::PAGE-FAULTS here"
fi

for program in inlined renamed; do
	measure $program 320 || fail "$program cannot be measured: $(cat $program/err)"
done

measure base 320
compare --noise 5 m-base m-inlined
unlike "an inlined function is the same function" "$(sed '/^Lines/q' out)" ' (gone|new)  relax'
like "which is compared" "$(cat out)" '  relax$'
compare --noise 5 m-base m-renamed
like "a renamed function is suggested" "$(cat out)" '^  relax -> relax_faster: '
compare --noise 5 --rename relax=relax_faster m-base m-renamed
unlike "and is the same one when told" "$(sed '/^Lines/q' out)" ' (gone|new)  relax'

build rebuilt -DPERCENT=101
measure rebuilt 320
rm -rf m-rebuilt/binaries # or the one that ran is still there
build rebuilt -DPERCENT=102
compare m-rebuilt m-base
like "a base that was rebuilt since is a warning" "$(cat err)" \
	'm-rebuilt: warning: a binary was rebuilt since the run, so its functions have no names'
like "and is in the head" "$(cat out)" '^    m-rebuilt: .*; names are missing$'

paths=$builddir/tests/workload/opencl/ocl_paths
POCL_CACHE_DIR=$T/pocl
export POCL_CACHE_DIR
if [ -x "$paths" ] && "$paths" 2 >/dev/null 2>&1; then
	"$HPCRUN" -q -e gpu=opencl -o m-once -- "$paths" 30 >/dev/null 2>err
	"$HPCRUN" -q -e gpu=opencl -o m-twice -- "$paths" 60 >/dev/null 2>err
	COLUMNS=160 "$HPCPROF" compare -q --fail-if 'GKER:COUNT > +99%' m-once m-twice >out 2>err
	is "OpenCL: a kernel twice as often fails the gate" $? 3
	like "by exactly that" "$(cat out)" ' \+100\.0% +2\.000 .* GKER:COUNT$'
else
	skip "OpenCL: a kernel twice as often fails the gate" "no OpenCL device here"
fi
done_testing
