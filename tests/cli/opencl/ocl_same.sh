#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A program that uses OpenCL does not notice the tool: queue properties, reference counts, profiling
# information, callbacks, error codes, data, exit status are those of a run without it, for every
# command there is, for calls that are refused, and for programs that end in any way; and the ledger
# closes each time. As an ordinary user.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"
public_workloads ocl_calls ocl_errors ocl_queues ocl_storm ocl_end
export e2e_structs=--no-structs

# compare NAME COMMAND...: native, and through both entrances; with the layer also analysed.
compare() {
	c_name=$1
	shift
	native "$c_name" "$@"
	case $c_name in
	calls | errors | loose | end-return | end-_exit) c_preload=yes ;;
	*) c_preload=$(thorough no yes) ;;
	esac
	[ $c_preload = no ] ||
		measured "$c_name-preload" "$c_name" -e gpu=opencl,preload -- "$@"
	measured "$c_name-layer" "$c_name" -e CPUTIME -e gpu=opencl -- "$@"
	analyse "$c_name-layer" text "$M"
	holds "$c_name-layer: the ledger of the GPU closes" "$c_name-layer" "gpu-closes 1"
}

compare calls "$W/ocl_calls"
accounted calls-layer
compare calls-times "$W/ocl_calls" profiling
accounted calls-times-layer
within "calls-times: times of kernels with an event are among those of all" \
	"$(gpu_total calls-times-layer "GKER (sec)")" \
	"$(truth calls-times-layer ns kernel | awk '{ printf "%.9f", $1 * 0.999e-9 }')" 10
compare calls-old "$W/ocl_calls" old
[ "$(thorough few all)" = few ] || compare calls-out-of-order "$W/ocl_calls" out-of-order
compare errors "$W/ocl_errors"
is "errors: accepted kernels are in the ledger" "$(launched errors-layer kernel)" \
	"$(counted errors-layer kernel native)"
holds "errors: the one behind a failed event is lost as failed" errors-layer \
	"gpu-loss all - - failed [01] 1"
[ "$(thorough few all)" = few ] || { # see ocl_truth.sh
	compare queues "$W/ocl_queues" 5
	accounted queues-layer
}
compare loose "$W/ocl_storm" 3 2000 loose
accounted loose-layer

for way in return _exit never gone $(thorough "" "exit thread failed"); do
	compare "end-$way" "$W/ocl_end" "$way"
	is "end-$way: every kernel is in the ledger" "$(launched "end-$way-layer" kernel)" \
		"$(counted "end-$way-layer" kernel)"
done
for way in never gone; do
	holds "end-$way: what waits for ever is told apart" "end-$way-layer" \
		"gpu-loss all - - never-done [01] 10"
done

done_testing
