#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Python frames above launches of kernels: the whole path of each is what the program itself saw by
# sys._getframe, for calls of every kind, on a driver that does not exist
# (tests/gpu/fake/fake_cuda.c); and the report names the line of the script.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/python.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

# measured NAME OPTIONS...: the program under the launcher; its paths as it says and as they are
# found.
measured() {
	name=$1
	shift
	${DENY:-} "$HPCRUN" -e gpu=nvidia "$@" -o "m-$name" "$PY" \
		"$srcdir/tests/python/launches.py" >"out-$name" 2>"err-$name" || return
	"$HPCPROF" -q --no-structs --to=text --all "m-$name" >"all-$name" 2>>"err-$name"
	"$PY" "$srcdir/tests/python/compare.py" "out-$name" "all-$name"
}

is "every path of a launch, with samples in between" "$(measured samples -e CPUTIME@f4000)" \
	"same 640"
within "hardly a path could not be read: a sample in the middle of a call" \
	"$(by_name '$1 == "loss" && get("cause") == "python-frames" { n = get("n") }
		END { print n + 0 }' all-samples)" 0 \
	"$(by_name '$1 == "ledger" && get("of") == "all" {
		print 16 + int(get("delivered") / 200) }' all-samples)"
is "the ledger closes" "$(grep -cx 'closes	1' all-samples)" 1
DENY="$builddir/tests/workload/run/run_deny process_vm_writev=1 --"
is "without samples, where nothing can be read at once" "$(measured one-by-one)" "same 640"
DENY="$builddir/tests/workload/run/run_deny process_vm_readv=1 process_vm_writev=1 --"
[ "$(thorough few all)" = few ] ||
	is "nor looked at without a probe" "$(measured probed -e CPUTIME@f1000)" "same 640"
DENY=
measured native -a native >/dev/null
is "native frames alone where they are asked for" "$(grep -cE '^file.*launches\.py$' all-native)" 0

done_testing
