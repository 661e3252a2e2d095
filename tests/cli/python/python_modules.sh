#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Modules of PyTorch on the paths of kernels (hpcrun-lite --torch): each has the name that the
# program itself finds, for containers, copies, shared modules, classes with and without a
# dictionary, modules that change their name and those at the address of freed ones; in the main
# thread and, by guarded loads, in another; when paths are remembered, and in children of fork.
# PyTorch is not needed: functions of its names call the modules (tests/python/modules.py).

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/python.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

LIBRARY=$builddir/.libs/libhpcrun-lite.so

# compared NAME KIND: what differs between modules as the program says and as they are found
compared() {
	"$HPCPROF" -q --no-structs --to=text --all "m-$1" >"all-$1" 2>>"err-$1"
	"$PY" "$srcdir/tests/python/compare.py" "out-$1" "all-$1" modules
}

# measured NAME OLD|NEW OPTIONS...
measured() {
	name=$1
	kind=$2
	shift 2
	${DENY:-} "$HPCRUN" -e gpu=nvidia --torch "$@" -o "m-$name" "$PY" \
		"$srcdir/tests/python/modules.py" "$kind" ${ROUNDS:-} \
		>"out-$name" 2>"err-$name" || return
	compared "$name"
}

[ "$(thorough few all)" = few ] ||
	is "PyTorch 1: every module" "$(measured old OLD)" "same 1168"
is "PyTorch 2: every module" "$(measured new NEW)" "same 1168"
is "no path could not be read" "$(grep -c 'python-frames' err-new)" 0
is "PyTorch 1, with samples in between: every module" \
	"$(measured samples OLD -e CPUTIME@f4000)" "same 1168"
ROUNDS=100 # mostly, only what is in the modules is compared then
[ "$(thorough few all)" = few ] || like "often" "$(measured often OLD)" '^same [0-9]+$'
ROUNDS=late
measured late OLD >late
is "a name that changes is found within 509 launches" "$(awk '/^same 2000$/ { n += 2 }
	/^said 1000,/ && $4 + 0 >= 1000 - 509 && $4 + 0 <= 1000 + 509 { n++ }
	END { print n + 0 }' late)" 2
diag "$(cat late)"
ROUNDS=
DENY="$builddir/tests/workload/run/run_deny process_vm_writev=1 --"
is "where nothing can be read at once" "$(measured one-by-one OLD)" "same 1168"
DENY=

"$HPCRUN" -q -e gpu=nvidia -o m-without "$PY" "$srcdir/tests/python/modules.py" NEW >out-without
"$HPCPROF" -q --no-structs --to=text --all m-without >all-without
is "without --torch there is none" "$(grep -cF '[torch.nn]' all-without)" 0
"$PY" "$srcdir/tests/python/modules.py" NEW >out-alone
same "the output of the program" out-alone out-new

"$HPCPROF" -q --no-structs --to text --by torch-module --threshold 0 m-new >table 2>err
like "a table by module" "$(cat table)" '^Modules of PyTorch by their own '
like "... has containers in its names" "$(cat table)" ' layers\.4\.conv2 \(Leaf\)$'
"$HPCPROF" -q --no-structs --to text --by path --threshold 0 m-new \
	>tree 2>err
like "a module is below the line that called it" "$(cat tree)" \
	' layers\.0 \(Block\) +modules\.py:[0-9]+$'
like "... and above its function" "$(grep -A1 ' layers\.0 (Block) ' tree | tail -1)" \
	'(Block\.)?forward *$'
is "no function that calls modules is left" "$(grep -c '_call_impl' tree)" 0
"$HPCPROF" -q --no-structs --internals --to text --by path --threshold 0 \
	m-new >tree 2>err
like "--internals shows both" "$(cat tree)" '_call_impl'

# What the parent knows is in no file of the child. 3 ms at each place give about three samples.
"$HPCRUN" -q -e CPUTIME@f1000 --torch -o m-fork "$PY" "$srcdir/tests/python/modules.py" SPIN \
	fork >child 2>err
"$HPCPROF" -q --no-structs --to text --by torch-module --threshold 0 --process "$(cat child)" \
	m-fork >table 2>err
is "a child of fork: the outermost module" "$(grep -c ' Net$' table)" 1
like "... and the others" "$(cat table)" ' layers\.[0-4]\.conv[12] \(Leaf\)$'
is "... which have their names" "$(grep -c ' Leaf$\|unknown Python' table)" 0

# Paths that are remembered are those that a walk finds. CPython 3.12 and later only.
mkdir m-check
# shellcheck disable=SC2016 # expands in the inner shell, whose process becomes the program
sh -c '
	settings="1;dir=$1;lib=$2;pid=$$;say=0;trace=1;check=1;python=1;torch=1;gpu=nvidia"
	library=$2
	shift 2
	LD_PRELOAD=$library HPCTOOLKIT_LITE=$settings exec "$@"' \
	sh "$T/m-check" "$LIBRARY" "$PY" "$srcdir/tests/python/modules.py" NEW 40 \
	>out-check 2>err-check
cat m-check/*.hpcrun | tr '\0' '\n' | grep -a '^remembered call paths: ' >notes ||
	diag "no notes"
diag "$(cat notes)"
has_numbers=$("$PY" -c 'import sys; print(int(sys.version_info >= (3, 12)))')
is "paths are remembered" "$(awk '{ n += $4 } END { print int(n > 500) }' notes)" "$has_numbers"
is "... and none that is another one" "$(awk '{ n += $6 } END { print n + 0 }' notes)" 0
[ "$(thorough few all)" = few ] ||
	is "... with the same names" "$(compared check)" \
		"same $(grep -c '^launch' out-check)"

done_testing
