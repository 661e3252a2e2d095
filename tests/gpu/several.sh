# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# What is asked of measurements with several GPUs (tests/gpu/several_gpus.cu, or a workload with the
# same ways): each operation is on its own GPU's line, counts and times close for each GPU, samples
# stand below what launched on the GPU that took them, and processes keep out of each other's way.
# Source after truth.sh and checks.sh; SEVERAL is the workload. Users: tests/gpu/all.sh,
# tests/cli/gpu/cupti_several.sh.

# on_gpu WAY GPU KIND FIELD: operations of a kind on a GPU, from the time line: n, or s.
on_gpu() {
	by_name -v gpu="$2" -v kind="$3" -v field="$4" \
		'$1 == "gpu-device" { ordinal[get("id")] = get("ordinal") }
			$1 == "gpu-queue" { device[get("id")] = ordinal[get("device")] }
			$1 == "gpu-profile" { of[get("id")] = device[get("queue")] }
		$1 == "gpu-op" && get("kind") == kind && of[get("profile")] == gpu { n++;
			s += (get("end_ns") - get("start_ns")) * 1e-9 }
		END { if (field == "n") print n + 0; else printf "%.9f\n", s }' "all-$1"
}

# said WAY GPU WHAT: the workload's own word.
said() {
	awk -v gpu="$2" -v what="$3" '$1 == "gpu" && $2 == gpu && $3 == what { print $4 }' "out-$1"
}

# lines_of WAY: "GPU D stream" for each line of the trace, with how many of them there are.
lines_of() {
	by_name '$1 == "gpu-queue" { split(get("name"), w, " "); n[w[1] " " w[2] " " w[3]]++ }
		END { for (i in n) print n[i], i }' "all-$1" | sort -k3
}

kernels_by_gpu() {
	for gpu in 0 1; do
		is "$1: kernels on GPU $gpu" "$(on_gpu "$1" $gpu kernel n)" \
			"$(said "$1" $gpu kernels)"
	done
}

# in_loop WAY FUNCTION MARK: samples on the line with the comment, below a function of the CPU.
in_loop() {
	by_name -v name="$2" -v place="/several_gpus.cu:$(line_of several_gpus.cu "$3")" \
		'$1 == "tree" && get("metric") == "GINS" {
		if (below && get("depth") <= below) below = 0
		if (get("kind") == "function" && (get("name") == name ||
			index(get("name"), name "(") == 1 ||
			index(get("name"), name ".") == 1)) below = get("depth")
		if (below && get("kind") == "line" &&
			substr(get("place"), length(get("place")) - length(place) + 1) == place)
			n += get("exclusive") }
			END { print n + 0 }' "all-$1"
}

# below_of WAY FUNCTION: samples below a function of the CPU, also one that the compiler has cloned.
below_of() {
	by_name -v name="$2" '$1 == "tree" && get("metric") == "GINS" &&
		get("kind") == "function" &&
		(get("name") == name || index(get("name"), name "(") == 1 ||
			index(get("name"), name ".") == 1) { n += get("inclusive") }
		END { print n + 0 }' "all-$1"
}

check_one() {
	all_launches one
	kernels_by_gpu one
	for gpu in 0 1; do
		within "one: time of the kernels on GPU $gpu against events" \
			"$(on_gpu one $gpu kernel s)" \
			"$(said one $gpu events-ns | awk -v slack="${SLACK:-0.01}" '{
				print $1 * (1 - slack) * 1e-9 }')" \
					"$(said one $gpu events-ns | awk '{ print $1 * 1.01e-9 }')"
		diag "GPU $gpu: $(on_gpu one $gpu kernel s) s, events $(said one $gpu events-ns) ns"
	done
	is "one: limits of both GPUs, for the occupancy" \
		"$(by_name '$1 == "gpu-device-limits" { d[get("device")] }
			END { for (i in d) n++; print n + 0 }' all-one)" \
				"$(awk -F'\t' '$1 == "gpu-device" { n++ }
					END { print n + 0 }' all-one)"
}

check_peers() {
	all_launches peers
	is "peers: copies and bytes" "$(copied peers n) $(copied peers bytes)" \
		"$(truth peers copy) $(truth peers copy-bytes)"
	is "peers: those between GPUs" \
		"$(by_name '$1 == "copies" && get("direction") == "P2P" {
			print get("n"), get("bytes") }' all-peers)" \
		"$(awk '$1 == "peer-copies" { print $2, $4 }' out-peers)"
	diag "peers: $(by_name '$1 == "copies" &&
		get("n") { printf "%s %d of %d bytes in %.6f s; ", get("direction"), get("n"),
			get("bytes"), get("ns") / 1e9 }' all-peers)"
	diag "peers: copies on GPU 0 $(on_gpu peers 0 copy n), on GPU 1 $(on_gpu peers 1 copy n)"
}

# Each GPU runs its own loop of one kernel.
check_loops() {
	all_launches loops
	kernels_by_gpu loops
	sampled loops
	is "loops: both GPUs are sampled" \
		"$(grep -c '^note.*PC sampling of GPU [01]: continuous' all-loops)" 2
	first=$(in_loop loops on_first LOOP_OF_FIRST) \
		second=$(in_loop loops on_second LOOP_OF_SECOND)
	within "loops: samples of the first's loop below it" "$first" \
		"$(below_of loops on_first | awk '{ print 0.98 * $1 }')" \
		"$(below_of loops on_first)"
	within "loops: samples of the second's loop below it" "$second" \
		"$(below_of loops on_second | awk '{ print 0.98 * $1 }')" \
		"$(below_of loops on_second)"
	own_loops loops
	within "loops: enough of both" \
		"$(awk -v a="$first" -v b="$second" 'BEGIN { print a < b ? a : b }')" 1000 1e12
	is "loops: all samples are of one or the other" \
		$(($(below_of loops on_first) + $(below_of loops on_second))) "$(samples loops)"
	within "loops: both gave as many for the time of their kernels" \
		"$(echo "$(below_of loops on_first) $(below_of loops on_second) $(on_gpu loops 0 \
		kernel s) $(on_gpu loops 1 kernel s)" | awk '{ print ($1 / $3) / ($2 / $4) }')" \
		0.97 1.03
	diag "$first and $second samples; kernels $(on_gpu loops 0 kernel s) and $(on_gpu loops 1 \
		kernel s) s"
}

# A sample stands at the next instruction in memory, also behind a branch that is taken: so a launch
# may have some where the other loop begins.
own_loops() {
	within "$1: samples of the second GPU's loop below the first's launches" \
		"$(in_loop "$1" on_first LOOP_OF_SECOND)" 0 \
		"$(below_of "$1" on_first | awk '{ print 0.001 * $1 }')"
	within "$1: samples of the first GPU's loop below the second's launches" \
		"$(in_loop "$1" on_second LOOP_OF_FIRST)" 0 \
		"$(below_of "$1" on_second | awk '{ print 0.001 * $1 }')"
}

# own_gpu NAME VISIBLE GPU MS [FILE]: one process on one GPU, with samples, until FILE is there.
own_gpu() {
	# shellcheck disable=SC2086 # events are words
	CUDA_VISIBLE_DEVICES=$2 run_limited 60 "$HPCRUN" -v $EVENTS -o "m-$1" "$SEVERAL" own "$3" \
		"$4" ${5:+"$5"} >"out-$1" 2>"err-$1"
	echo "$?" >"status-$1"
}

# alone NAME OTHER: the share of the kernels' time in which OTHER, on the same GPU, had no kernel.
alone() {
	cat "all-$2" "all-$1" | by_name 'BEGIN { n = 0 }
		$1 == "# gpu-op" { is_own++ }
		$1 != "gpu-op" || get("kind") != "kernel" { next }
		{ start = get("start_ns"); end = get("end_ns") }
		is_own == 1 { from[n] = start; to[n++] = end; next }
		{ all += end - start
		for (i = 0; i < n; i++) {
			a = from[i] > start ? from[i] : start; b = to[i] < end ? to[i] : end
			if (b > a) shared += b - a } }
		END { print all ? 1 - shared / all : 0 }'
}

# check_sampled NAME [SHARE]: a process that samples its GPU has its kernels, and as many samples as
# were promised. SHARE: of its kernels' time it had the GPU for itself (default 1).
check_sampled() {
	is "$1: status" "$(cat "status-$1")" 0
	all_launches "$1"
	sampled "$1"
	is "$1: nobody is in its way" "$(grep -c 'is disabled' "err-$1")" 0
	within "$1: samples, of those that were promised" \
		"$(by_name '$1 == "gpu-sampling" && get("of") == "all" &&
			get("promised") > 0 { print get("taken") / get("promised") }' "all-$1")" \
				"$(awk -v share="${2:-1}" 'BEGIN { print 0.9 * share }')" 1.05
}

# Two processes at the same time, each on a GPU of its own, which is number 0 for each of them.
check_two_gpus() {
	own_gpu own-a 0 0 800 &
	a=$!
	own_gpu own-b 1 0 800 &
	wait $! $a
	for name in own-a own-b; do
		analysed $name
		check_sampled $name
		is "$name: its GPU is number 0" \
			"$(by_name '$1 == "queue" &&
				get("operations") > 0 {
					print get("device") }' all-$name | sort -u)" 0
	done
}

# Two processes on one GPU: the second is told, and traced in full. The first has all its samples of
# the time in which it had the GPU. While both have kernels, the GPU is given to them in turn, and
# the time of a kernel goes on meanwhile.
check_one_gpu() {
	rm -f end-same-a status-same-a
	own_gpu same-a 0,1 1 300 end-same-a &
	until grep -qs 'PC sampling of GPU 1: continuous' err-same-a || [ -e status-same-a ]; do
		sleep 0.1
	done
	own_gpu same-b 0,1 1 300
	touch end-same-a
	wait $!
	analysed same-b
	analysed same-a
	share=$(alone same-a same-b)
	diag "same-a had the GPU for itself in $share of the time of its kernels"
	within "same-a: it had the GPU for itself, and it had not" "$share" 0.05 0.95
	check_sampled same-a "$share"
	is "same-b: status" "$(cat status-same-b)" 0
	all_launches same-b
	like "same-b: it is told" "$(cat err-same-b)" \
		'PC sampling of GPU 1 is disabled: another process samples this GPU, and CUPTI supports only one; operations are still traced'
	is "same-b: no samples" "$(samples same-b)" 0
}

# False: there is one GPU.
in_one_process() {
	measured one "${ONE:-400}" || return 1
	check_one
	if measured threads "${THREADS:-300}"; then
		all_launches threads
		kernels_by_gpu threads
		is "threads: two lines on each GPU" \
			"$(lines_of threads | sed -n 1,2p | tr '\n' ' ')" \
			"2 GPU 0 stream 2 GPU 1 stream "
	fi
	if measured peers "${COPIES:-20}"; then check_peers; fi
	EVENTS="-e CPUTIME -e $PC"
	if measured loops "${LOOPS:-300}"; then check_loops; fi
	for mode in notimes mode=serialized mode=bursts@20; do
		NAME=loops-${mode#mode=} EVENTS="-e CPUTIME -e $PC,$mode"
		[ ! -f plain-loops ] || cp plain-loops "plain-$NAME"
		again loops "${LOOPS:-300}" || continue
		sampled "$NAME"
		own_loops "$NAME"
		within "$NAME: samples below both" "$(in_loop "$NAME" on_first LOOP_OF_FIRST)" \
			1000 "$(samples "$NAME")"
	done
	NAME='' EVENTS=''
}

several_section() {
	PROGRAM=$SEVERAL
	in_one_process || return 0
	EVENTS="-e CPUTIME -e $PC"
	check_two_gpus
	check_one_gpu
	EVENTS=''
}
