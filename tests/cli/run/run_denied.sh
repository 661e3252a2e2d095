#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# System calls that fail, as in containers and on other file systems: another way is taken, said,
# and the values stay right. And the memory we take.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
DENY=$builddir/tests/workload/run/run_deny

"$DENY" madvise=1 -- true
is "a filter can be set here" "$?" 0

# denied WHAT... -- MODE ARGUMENTS: launcher and program run under the filter.
denied() {
	what=
	while [ "$1" != -- ]; do
		what="$what $1"
		shift
	done
	shift
	UNDER="$DENY$what --"
	measure -e "${event:-CPUTIME}" -- "$LIFE" "$@"
	UNDER=
	is "denied$what: the program runs" "$status" 0
	sound "denied$what: files are sound"
}
weights() {
	weights_fit "denied$what: weights are the CPU time" 3 10
}

denied perf_event_open=1 -- spin 0.3
weights
# of which the thread has 100 to 1000 in a second, less what falls on others
within "denied perf_event_open: samples come on the tick" "$(value count0)" 12 \
	$(($(value cpu_ns) / 1000000 + 20))
like "denied perf_event_open: the file says so" \
	"$(tr -c '[:print:]' '\n' <"$(echo "$OUT"/*.hpcrun)")" \
	'CPUTIME: timer on the thread.s CPU clock'
denied ring=1 -- spin 0.3
weights
like "denied ring=1: the file says so" "$(tr -c '[:print:]' '\n' <"$(echo "$OUT"/*.hpcrun)")" \
	'sampled only at the kernel.s tick'
denied ring=1 -- descriptors
is "denied ring=1: descriptors are those the program would have" "$(cat "$T/stdout")" \
	"$("$LIFE" descriptors)"
denied timer_create=11 -- spin 0.2
weights
denied perf_event_open=1 timer_create=11 -- spin 0.2
is "denied both: no sample" "$(value delivered)" 0
denied fallocate=95 -- wander 0.2
weights
is "denied fallocate: nothing is lost" "$(value recorded)" \
	"$(($(value delivered) - $(value lost-busy)))"
denied fallocate=95 madvise=22 ftruncate=22 -- threads 100 0.003
denied process_vm_readv=1 -- plugins "$PLUGIN" 5 0.03
is "denied process_vm_readv: paths are complete" "$(value complete)" "$(value recorded)"
n_modules=$(value modules)
denied process_vm_readv=13 -- plugins "$PLUGIN" 5 0.03 # as a filter may be written
is "denied$what: paths are complete" "$(value complete)" "$(value recorded)"
is "denied$what: the same modules" "$(value modules)" "$n_modules"
UNDER="$DENY fallocate=28 --"
measure -- "$LIFE" spin 0.1
UNDER=
is "no space at all: the program runs" "$status" 0
like "no space at all: the user is told" "$(cat "$T/stderr")" \
	'no space on the device.*runs unmeasured'

# At most 4 MiB and 64 bytes a context node.
alone=$("$LIFE" memory 0.1)
measure -e CPUTIME@f10000 -- "$LIFE" memory 1
sound "memory: files are sound"
took=$(($(cat "$T/stdout") - alone))
within "memory: resident KiB beyond 64 bytes for each of $(value nodes) nodes" \
	$((took - $(value nodes) * 64 / 1024)) -1000000 4096
done_testing
