#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Why an OpenCL device was idle, who is to blame, and what threads waited for, of programs that read
# the clock themselves around what they do meanwhile. What the device did has exact bounds: it was
# idle at least while the host says that it did something else, and at most when no command ran.
# Bounds of samples are wide, as other programs may have the processors.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"
public_workloads ocl_idle

# blamed NAME FUNCTION: and what nobody is blamed for, as it had no sample; in ns.
blamed() {
	echo $(($(ns "$(gpu_total "$1" "GPU_IDLE_CAUSE (sec)" "$2")") + \
		$(idle "$1" unsampled_ns)))
}

# run NAME EVENTS WAY ROUNDS
run() {
	native "$1" "$W/ocl_idle" "$3" "$4"
	# shellcheck disable=SC2086 # options are words
	measured "$1" "$1" $2 -e gpu=opencl -- "$W/ocl_idle" "$3" "$4"
	analyse "$1" text "$M"
	sums "$1"
	diag "$(grep -E "^gpu-(idle|waits)	" "$T/text-$1")"
}

# idle NAME FIELD: a field of the record gpu-idle, in ns.
idle() {
	by_name -v field="$2" '$1 == "gpu-idle" { sum += get(field) }
		END { printf "%.0f\n", sum }' "$T/text-$1"
}

# between NAME: idle between the first and the last operation.
between() {
	echo $(($(idle "$1" nothing_ns) + $(idle "$1" launch_ns) + $(idle "$1" sync_ns) + \
		$(idle "$1" queued_ns)))
}

# part NUMBER PERCENT
part() { echo $(($1 * $2 / 100)); }

# ns SECONDS
ns() { awk -v s="$1" 'BEGIN { printf "%.0f\n", s * 1e9 }'; }

# sums NAME: what holds to the nanosecond.
sums() {
	all_idle=$(($(idle "$1" before_ns) + $(between "$1") + $(idle "$1" after_ns)))
	is "$1: the parts are the whole" "$(idle "$1" watched_ns)" \
		$(($(idle "$1" kernels_ns) + $(idle "$1" copies_ns) + all_idle))
	is "$1: idle time is blamed, or it is said why not" "$all_idle" \
		$(($(idle "$1" blamed_ns) + $(idle "$1" waiting_ns) + \
			$(idle "$1" unsampled_ns)))
	is "$1: the metric is what is blamed" \
		"$(ns "$(gpu_total "$1" "GPU_IDLE_CAUSE (sec)")")" "$(idle "$1" blamed_ns)"
	is "$1: waits are blamed, or it is said why not" \
		"$(ns "$(gpu_total "$1" "GSYNC (sec)")")" \
		"$(by_name '$1 == "gpu-waits" {
			printf "%.0f\n", get("blamed_ns") + get("idle_ns") + get("unknown_ns") }' \
			"$T/text-$1")"
	is "$1: the metric is what is blamed of waits" \
		"$(ns "$(gpu_total "$1" "CPU_IDLE_CAUSE (sec)")")" \
		"$(by_name '$1 == "gpu-waits" { print get("blamed_ns") }' "$T/text-$1")"
	for metric in "kernels_ns GKER" "copies_ns GXCOPY"; do
		same_time "$1: commands ran for as long as they say: $metric" \
			"$(gpu_total "$1" "${metric#* } (sec)")" "$(idle "$1" "${metric% *}")"
	done
}

# busy_elsewhere NAME: idle because the host did something else for a known time.
busy_elsewhere() {
	within "$1: nothing was launched while the host did something else" \
		"$(idle "$1" nothing_ns)" "$(part "$(truth "$1" ns host:work)" 99)" \
		$(($(truth "$1" ns host:all) - $(truth "$1" ns kernel)))
}

run compute "-e REALTIME" compute 3
busy_elsewhere compute
# When it has no processor, threads that are blocked are to blame.
within "compute: the function that computes is to blame" "$(blamed compute host_compute)" \
	"$(part $(($(truth compute ns host:work) - $(truth compute ns host:away))) 60)" \
	$(($(truth compute ns host:work) * 105 / 100 + $(idle compute unsampled_ns)))
within "compute: the host waited for the kernel" \
	"$(ns "$(gpu_total compute "CPU_IDLE_CAUSE (sec)" busy)")" \
	"$(part "$(truth compute ns kernel)" 70)" "$(part "$(truth compute ns host:wait)" 100)"

run sleep "-e REALTIME" sleep 3
busy_elsewhere sleep
is "sleep: every launch finds the device idle" "$(idle sleep latencies)" 3
within "sleep: the function that sleeps is to blame" \
	"$(blamed sleep host_sleep)" "$(part "$(truth sleep ns host:work)" 60)" \
	$(($(truth sleep ns host:work) * 105 / 100 + $(idle sleep unsampled_ns)))

# The CPU's time does not pass while it sleeps: nobody is blamed for what nobody saw.
run unseen "-e CPUTIME" sleep 3
busy_elsewhere unseen
within "unseen: without a sample nobody is blamed" "$(idle unseen unsampled_ns)" \
	"$(part "$(truth unseen ns host:work)" 60)" "$(idle unseen watched_ns)"
within "unseen: nor is the function" \
	"$(ns "$(gpu_total unseen "GPU_IDLE_CAUSE (sec)" host_sleep)")" 0 \
	"$(part "$(truth unseen ns host:work)" 20)"

# in_time NAME: idle between operations, less what other programs may have caused: the device had
# no processor for what was launched, or the host had none and launched late.
in_time() {
	in_time_ns=$(($(between "$1") - $(idle "$1" queued_ns) - $(truth "$1" ns host:late)))
	echo $((in_time_ns > 0 ? in_time_ns : 0))
}

export e2e_structs=--no-structs # no function is looked for below

# 20: a host that loses its processor on the way out of a wait does not see how long.
run sync "-e CPUTIME" sync 300
within "sync: gaps follow a wait" "$(idle sync sync_ns)" "$(part "$(in_time sync)" 20)" \
	"$(between sync)"

run launch "-e CPUTIME" launch 300
within "launch: most gaps end with a launch that came too late" "$(idle launch launch_ns)" \
	"$(part "$(in_time launch)" 90)" "$(between launch)"
is "launch: nobody waits before the end" $(($(idle launch sync_ns) > $(part "$(between launch)" \
	20))) 0

run copy "-e CPUTIME" copy 32
within "copy: more copying than computing" "$(idle copy copies_ns)" "$(idle copy kernels_ns)" \
	"$(idle copy watched_ns)"

"$HPCPROF" --to text "$T/m-compute/m" >"$T/report" 2>/dev/null
like "the report has the table" "$(grep -A 3 '^Why GPUs were idle' "$T/report")" ' idle: '
like "the report blames the line" "$(cat "$T/report")" 'ocl_idle\.c:[0-9]* in host_compute'
like "the report has what threads waited for" \
	"$(sed -n '/While CPU threads waited/,/^$/p' "$T/report")" ' busy$'

done_testing
