#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The OpenCL workloads by themselves, without the tool: they compute what they say, print the same
# in every run, and their counts are what they did. The other ocl_*.sh rest on that.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"

# twice NAME STATUS COMMAND...: two runs print the same and end so; the counts of the second one are
# then in truth NAME.
twice() {
	w_name=$1
	w_status=$2
	shift 2
	for w_run in 1 2; do
		rm -f "$ocl_truths/$w_name"
		w_got=0
		OCL_TRUTH=$ocl_truths/$w_name run_limited 120 "$@" >"$T/$w_name.$w_run" \
			2>"$T/$w_name.err" || w_got=$?
		is "$w_name: status" "$w_got" "$w_status"
	done
	same "$w_name: prints the same twice" "$T/$w_name.1" "$T/$w_name.2"
}

# PoCL refuses options that it does not know, as it refuses to compile anything for some processors;
# every test of a device is skipped then.
if [ "$("$W/ocl_device")" = "Portable Computing Language" ]; then
	w_got=0
	w_said=$(POCL_CACHE_DIR=$T/refused POCL_EXTRA_BUILD_FLAGS=-unknown-option "$W/ocl_device" \
		2>&1 >/dev/null) || w_got=$?
	is "a device that compiles nothing: status" "$w_got" 77
	like "a device that compiles nothing: said last" "$(echo "$w_said" | tail -n 1)" \
		'^the OpenCL device compiles nothing: OpenCL error -'
else
	skip "a device that compiles nothing" "not PoCL"
fi

twice paths 0 "$W/ocl_paths" 20
is "paths: kernels counted" "$(truth paths count kernel)" 80
is "paths: the parts are the whole" \
	"$(($(truth paths ns kernel:path_once) + $(truth paths ns kernel:path_thrice)))" \
	"$(truth paths ns kernel)"
twice calls 0 "$W/ocl_calls"
twice calls-times 0 "$W/ocl_calls" profiling out-of-order
is "calls: counts do not depend on the queue" "$(grep -E '^(count|bytes)' "$ocl_truths/calls")" \
	"$(grep -E '^(count|bytes)' "$ocl_truths/calls-times")"
is "calls: times are there when asked for" \
	"$(truth calls events kernel) $(truth calls-times events kernel)" "0 3"
twice errors 3 "$W/ocl_errors"
twice queues 0 "$W/ocl_queues" 5
twice solver 0 "$W/ocl_solver" 48
like "solver: solved" "$(cat "$T/solver.2")" ', solved$'
twice storm 0 "$W/ocl_storm" 3 1000
like "storm: every kernel ran" "$(cat "$T/storm.2")" ': 48000 of 48000$'
is "storm: kernels counted" "$(truth storm count kernel)" 3000
twice loose 0 "$W/ocl_storm" 3 1000 loose
like "storm, objects released early: every kernel ran" "$(cat "$T/loose.2")" ': 48000 of 48000$'
for way in return:4 exit:5 _exit:8 thread:7 never:0 gone:0 failed:0 fork:0 before:0 exec:4; do
	twice "end-${way%:*}" "${way#*:}" "$W/ocl_end" "${way%:*}"
done

done_testing
