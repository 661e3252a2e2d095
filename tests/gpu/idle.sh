# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables of lib.sh and truth.sh
#
# Why a GPU was idle, who is to blame, and what threads waited for, of a workload that reads the
# clock itself around what it does meanwhile (tests/gpu/idle_ways.cu). Source after truth.sh and
# checks.sh. User: tests/gpu/all.sh.

# idle WAY FIELD: a field of the records gpu-idle of all GPUs; ns.
idle() {
	by_name -v field="$2" '$1 == "gpu-idle" { sum += get(field) }
		END { printf "%.0f\n", sum }' "all-$1"
}

# between WAY: idle between the first and the last operation.
between() {
	echo $(($(idle "$1" nothing_ns) + $(idle "$1" launch_ns) + $(idle "$1" sync_ns) + \
		$(idle "$1" queued_ns)))
}

# host WAY WHAT: a clock that the workload read.
host() { awk -v what="$2" '$1 == "host" && $2 == what { print $3 }' "out-$1"; }

# spent WAY METRIC [FUNCTION [gpu]]: of all, or below a function of the CPU, or of a kernel; ns.
# nvcc makes a function for the CPU of each kernel's name.
spent() {
	by_name -v metric="$2 (sec)" -v name="${3:-}" -v gpu="${4:-}" \
		'$1 == "tree" && get("metric") == metric && name == "" && get("depth") == 0 {
			s += get("inclusive") }
		$1 == "by-function" && get("metric") == metric && name != "" &&
			(gpu != "") == (get("module") ~ /\/gpubins\//) &&
			(get("name") == name || index(get("name"), name "(") == 1) {
				s += get("inclusive") }
		END { printf "%.0f\n", s * 1e9 }' "all-$1"
}

# percent NUMBER PERCENT
percent() { echo $(($1 * $2 / 100)); }

# idle_sums WAY: what holds to the nanosecond.
idle_sums() {
	idle_all=$(($(idle "$1" before_ns) + $(between "$1") + $(idle "$1" after_ns)))
	is "$1: the parts are the whole" "$(idle "$1" watched_ns)" \
		$(($(idle "$1" kernels_ns) + $(idle "$1" copies_ns) + idle_all))
	is "$1: idle time is blamed, or it is said why not" "$idle_all" \
		$(($(idle "$1" blamed_ns) + $(idle "$1" waiting_ns) + \
			$(idle "$1" unsampled_ns)))
	is "$1: the metric is what is blamed" "$(spent "$1" GPU_IDLE_CAUSE)" \
		"$(idle "$1" blamed_ns)"
	is "$1: waits are blamed, or it is said why not" "$(spent "$1" GSYNC)" \
		"$(by_name '$1 == "gpu-waits" {
			printf "%.0f\n", get("blamed_ns") + get("idle_ns") + get("unknown_ns") }' \
			"all-$1")"
	is "$1: the metric is what is blamed of waits" "$(spent "$1" CPU_IDLE_CAUSE)" \
		"$(by_name '$1 == "gpu-waits" { print get("blamed_ns") }' "all-$1")"
	diag "$(grep -E '^gpu-(idle|waits)' "all-$1")"
	diag "$(grep '^host' "out-$1" | tr '\n' ' ')"
}

# idle_elsewhere WAY: idle because the host did something else for a known time.
idle_elsewhere() {
	within "$1: nothing was launched while the host did something else" \
		"$(idle "$1" nothing_ns)" "$(percent "$(host "$1" work)" 99)" \
		$(($(host "$1" all) - $(host "$1" spin)))
}

check_idle_compute() {
	idle_elsewhere compute
	within "compute: the function that computes is to blame" \
		"$(spent compute GPU_IDLE_CAUSE host_compute)" \
		"$(percent "$(host compute work)" 85)" "$(percent "$(host compute work)" 105)"
	within "compute: the host waited for the kernel" \
		"$(spent compute CPU_IDLE_CAUSE spin gpu)" \
		"$(percent "$(host compute spin)" 90)" "$(host compute wait)"
}

check_idle_sleep() {
	idle_elsewhere sleep
	within "sleep: the function that sleeps is to blame" \
		"$(spent sleep GPU_IDLE_CAUSE host_sleep)" \
		"$(percent "$(host sleep work)" 85)" "$(percent "$(host sleep work)" 105)"
}

check_idle_sync() {
	within "sync: gaps follow a wait" "$(idle sync sync_ns)" "$(percent "$(between sync)" 80)" \
		"$(between sync)"
	within "sync: launches find the GPU idle" "$(idle sync latencies)" \
		"$(percent "$(truth sync kernel)" 80)" "$(truth sync kernel)"
	within "sync: latency of a launch, ns" "$(idle sync median_ns)" 1000 100000
}

check_idle_launch() {
	within "launch: launches come too slowly" "$(idle launch launch_ns)" \
		"$(percent "$(between launch)" 80)" "$(between launch)"
	within "launch: nobody waits" "$(idle launch sync_ns)" 0 "$(percent "$(between launch)" 5)"
}

check_idle_queue() {
	within "queue: the GPU is not idle" "$(between queue)" 0 "$(percent "$(host queue all)" 10)"
	within "queue: kernels wait in the queue" "$(idle queue queue_most)" \
		$(($(truth queue kernel) / 4)) "$(truth queue kernel)"
}

check_idle_copy() {
	within "copy: the GPU copies" "$(idle copy copies_ns)" \
		"$(percent $(($(idle copy copies_ns) + $(idle copy kernels_ns))) 95)" \
		"$(host copy all)"
	within "copy: the host waited for copies" "$(spent copy CPU_IDLE_CAUSE '<gpu copyin>')" \
		"$(percent "$(host copy wait)" 90)" "$(host copy wait)"
}

check_idle_overlap() {
	within "overlap: kernels run beside copies" "$(idle overlap overlap_ns)" \
		"$(percent "$(idle overlap kernels_ns)" 50)" "$(idle overlap kernels_ns)"
}

check_idle_shared() {
	idle_elsewhere shared
	for idle_function in host_compute other_compute; do
		within "shared: half of the blame is for $idle_function" \
			"$(spent shared GPU_IDLE_CAUSE $idle_function)" \
			"$(percent "$(host shared work)" 40)" "$(percent "$(host shared work)" 60)"
	done
}

idle_section() {
	use idle_ways || return 0
	for way in "compute 20" "sleep 20" "sync 2000" "launch 2000" "queue 2000" "copy 20" \
		"overlap 20" "shared 20"; do
		EVENTS='-e CPUTIME -e gpu=nvidia'
		# Only OFFCPU says that the driver's own threads wait, too.
		case $way in sleep*) EVENTS='-e CPUTIME -e OFFCPU -e gpu=nvidia' ;; esac
		# shellcheck disable=SC2086
		measured $way || continue
		way=${way%% *}
		all_launches "$way"
		idle_sums "$way"
		"check_idle_$way"
	done
	EVENTS=''
}
