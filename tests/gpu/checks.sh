# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# What is asked of measurements of the workloads in CUDA C++. Source after truth.sh; `measured` and
# `again` give the measurements, `use PROGRAM` says whether a program is there, UNITS is how many
# multiprocessors the device has, PC the event with samples. Users: tests/gpu/all.sh (a GPU) and
# tests/cli/gpu/nvidia_golden.sh (recordings).

# all_launches WAY: what the program counted is in the ledger, and nothing is lost.
all_launches() {
	is "$1: kernels launched" "$(launched "$1" kernel)" "$(truth "$1" kernel)"
	is "$1: graphs launched" "$(launched "$1" graph)" "$(truth "$1" graph)"
	is "$1: kernels done, those of graphs among them" \
		"$(by_name '$1 == "kernel" { n += get("launches") } END {
			print n + 0 }' "all-$1")" \
		"$(awk '$1 == "truth" && ($2 == "kernel" || $2 == "graph-kernels") { n += $3 }
			END { print n + 0 }' "out-$1")"
	is "$1: nothing is lost" "$(n_losses "$1")" 0
	is "$1: no time is out of order" \
		"$(by_name '$1 == "gpu-ledger" && get("of") == "all" { n += get("in_bad_order") }
			END { print n + 0 }' "all-$1")" 0
}

# same_time WAY KERNEL: the time of a kernel is that of events, within 1 %. Not while PC samples are
# taken, when events are some 20 us further apart.
same_time() {
	within "$1: time of $2 against events" "$(of_kernel "$1" "$2" seconds)" \
		"$(events "$1" "$2" | awk '{ print $1 * 0.99 }')" \
		"$(events "$1" "$2" | awk '{ print $1 * 1.01 }')"
	diag "$(of_kernel "$1" "$2" seconds) s, events $(events "$1" "$2") s"
}

# sampling WAY FIELD: of the record gpu-sampling.
sampling() {
	by_name -v field="$2" '$1 == "gpu-sampling" && get("of") == "all" {
		print get(field) }' "all-$1"
}

# sampled WAY: the samples are all there.
sampled() {
	is "$1: PC samples: what CUPTI counted is recorded or lost by name" \
		"$(sampling "$1" closes)" 1
	is "$1: all that were recorded are in the tree" \
		"$(($(sampling "$1" exact) + $(sampling "$1" apportioned)))" \
		"$(sampling "$1" recorded)"
	diag "$(by_name '$1 == "gpu-sampling" &&
		get("of") == "all" {
			printf "ranges %d taken %d recorded %d ", get("ranges"), get("taken"),
				get("recorded")
			printf "dropped %d outside %d exact %d ", get("dropped"),
				get("outside_code"), get("exact")
			printf "apportioned %d sampled %.3f s gaps %.3f s", get("apportioned"),
				get("sampled_ns") / 1e9, get("gap_ns") / 1e9 }' "all-$1")"
}

# line_of FILE MARK: the number of the line of FILE (below tests/gpu) with the comment MARK.
line_of() { grep -n "/\* $2 \*/" "$srcdir/tests/gpu/$1" | cut -d: -f1; }

# ---- launches
# --------------------------------------------------------------------------------------------------

check_graphs() {
	all_launches graphs
	is "graphs: copies and sets of nodes" "$(copied graphs n) $(filled graphs n)" \
		"$(awk '$1 == "truth" { n[$2] = $3 }
			END { print n["copy"] + n["graph-copies"], n["set"] + n["graph-sets"] }' \
				out-graphs)"
	for mark in CAPTURED_FIRST CAPTURED_LOOP EXPLICIT_FIRST EXPLICIT_SECOND; do
		ok "graphs: the place of the node is shown: $mark" grep \
			-q "^tree.*graph node of cuda_ways.cu:$(line_of cuda_ways.cu $mark), " \
			all-graphs
	done
}

launches_section() {
	use cuda_ways || return 0
	if measured overlap 4 200; then
		all_launches overlap
		is "overlap: a line for each stream" \
			"$(by_name '$1 == "queue" && get("operations") >= 200 { n++ }
				END { print n + 0 }' all-overlap)" 4
	fi
	if measured graphs 10; then check_graphs; fi
	if measured cluster 5; then
		all_launches cluster
		is "cluster: its size is known" \
			"$(by_name '$1 == "gpu-shape" && get("grid_x") == 64 &&
				get("cluster_x") == 4 { n++ }
				END { print n + 0 }' all-cluster)" 1
	fi
	for way in "cooperative 5" "jit 5" "blas 20" "copies 20" "threads 8 500" "devices 10"; do
		# shellcheck disable=SC2086
		measured $way || continue
		way=${way%% *}
		all_launches "$way"
		case $way in
		copies)
			is "copies: bytes" "$(copied copies bytes) $(filled copies bytes)" \
				"$(truth copies copy-bytes) $(truth copies set-bytes)"
			;;
		threads)
			is "threads: a line for each stream" \
				"$(by_name '$1 == "queue" && get("operations") >= 500 { n++ }
					END { print n + 0 }' all-threads)" 8
			;;
		devices)
			is "devices: as many as there are" \
				"$(by_name '$1 == "queue" && get("operations") > 0 {
					d[get("device")] }
					END { for (i in d) n++; print n + 0 }' all-devices)" \
						"$(awk '$1 == "devices" { print $2 }' out-devices)"
			;;
		esac
	done
	if measured tiny 20000; then
		all_launches tiny
		is "tiny: the path has all frames" \
			"$(by_name '$1 == "tree" && get("metric") == "GKER:COUNT" &&
				(get("kind") == "function" || get("kind") == "inlined") {
			if (get("name") ~ /^deeper/) n++; else if (get("name") ~ /^launch_tiny/ &&
				n > most) most = n;
			else if (get("name") ~ /^tiny/) n = 0 } END {
				print most + 0 }' all-tiny)" 30
	fi
}

# ---- kernels of which the truth is known
# -------------------------------------------------------------------------------

check_line() {
	all=$(in_function line hot_line)
	within "line: enough samples" "$all" 1000 1e12
	within "line: all but the start of a thread" "$(on_line line truth_kernels.cu HOT_LINE)" \
		"$(awk -v n="$all" 'BEGIN { print 0.999 * n }')" "$all"
}

check_ratio() {
	three=$(on_line ratio truth_kernels.cu LOOP_OF_3)
	one=$(on_line ratio truth_kernels.cu LOOP_OF_1)
	share "ratio: the loop with three times the rounds" "$three" $((three + one)) \
		"$(awk '$1 == "share" && $2 == "ratio" { print $3 }' out-ratio)" "$n"
}

check_barrier() {
	like "barrier: warps wait for it" "$(stall barrier wait_at_barrier)" '^SYNC (0\.[89]|1)'
}

check_chase() {
	like "chase: warps wait for memory" "$(stall chase follow)" '^GMEM (0\.[89]|1)'
	within "chase: on the line of the load" "$(on_line chase truth_kernels.cu CHASE_LINE)" \
		"$(in_function chase follow | awk '{ print 0.99 * $1 }')" \
		"$(in_function chase follow)"
	within "chase: the load is to blame" \
		"$(on_line chase truth_kernels.cu CHASE_LINE GINS:BLAME_GMEM)" \
		"$(in_function chase follow GINS:STL_GMEM | awk '{ print 0.99 * $1 }')" \
		"$(in_function chase follow GINS:STL_GMEM)"
}

check_pipe() {
	like "pipe: warps wait for the pipe" "$(stall pipe multiply)" '^PIPE '
}

# in_level N: samples in the inlined function of that level and below.
in_level() {
	by_name -v level="level$1" '$1 == "by-function" && get("metric") == "GINS" &&
		get("module") ~ /\/gpubins\// &&
		index(get("name"), level) { n += get("inclusive") } END { print n + 0 }' all-inline
}

check_inline() {
	one=$(in_level 1)
	within "inline: 32 of the 35 instructions of the loop are inlined" "$one" \
		"$(in_function inline all_levels | awk '{ print 0.85 * $1 }')" \
		"$(in_function inline all_levels)"
	for level in 2 3 4 5 6 7 8; do
		is "inline: level $level has all that level 1 has" "$(in_level $level)" "$one"
	done
}

# called_below MARK: samples of callee below the line that calls it.
called_below() {
	by_name -v place="truth_kernels.cu:$(line_of truth_kernels.cu "$1")" \
		'$1 == "tree" && get("metric") == "GINS" {
			if (get("kind") == "line") below = index(get("place"), place);
			else if (below && get("kind") == "function" &&
				get("name") ~ /^callee/) n += get("inclusive") }
		END { print n + 0 }' all-called
}

check_called() {
	inside=$(in_function called callee)
	within "called: nearly all is in the function that is called" "$inside" \
		"$(in_function called caller | awk '{ print 0.95 * $1 }')" \
		"$(in_function called caller)"
	three=$(called_below CALL_OF_3) one=$(called_below CALL_OF_1)
	is "called: all of it stands below the two calls" $((three + one)) "$inside"
	# Nobody says who called: it is shared out by the samples at the calls, which is no more
	# than a hint of how often each was made.
	within "called: more of it below the call that is made three times as often" \
		"$(awk -v a="$three" -v b="$one" 'BEGIN { print a / (a + b) }')" 0.6 0.9
	diag "called: $three and $one, by $(on_line called truth_kernels.cu \
		CALL_OF_3) and $(on_line called truth_kernels.cu CALL_OF_1) samples at the calls"
}

check_recurse() {
	within "recurse: samples in the recursive function" "$(in_function recurse down)" \
		"$(in_function recurse recursive | awk '{ print 0.8 * $1 }')" \
		"$(in_function recurse recursive)"
}

truth_section() {
	use truth_kernels || return 0
	n=${LAUNCHES:-40}
	EVENTS="-e CPUTIME -e $PC"
	for way in line ratio barrier chase pipe inline called recurse; do
		measured $way "$n" || continue
		all_launches $way
		sampled $way
		check_$way
	done
	NAME=times EVENTS='-e CPUTIME -e gpu=nvidia'
	if measured all "$n"; then
		all_launches times
		for kernel in hot_line two_loops wait_at_barrier follow multiply all_levels caller \
			recursive; do
			same_time times $kernel
		done
	fi
	NAME='' EVENTS=''
}

# ---- one kernel, two paths: samples that are shared out against those that know their launch
# ----------------------------

# agree DESCRIPTION WAY: the shares of the two paths in WAY-continuous and WAY-serialized.
agree() {
	a=$(below "$2-continuous" thrice) b=$(below "$2-continuous" once)
	c=$(below "$2-serialized" thrice) d=$(below "$2-serialized" once)
	within "$1" "$(awk -v a="$a" -v b="$b" -v c="$c" -v d="$d" 'BEGIN {
		x = a / (a + b) - c / (c + d); print 1 - (x < 0 ? -x : x) }')" 0.99 1
	diag "continuous $a to $b, serialized $c to $d"
}

paths_section() {
	use truth_kernels || return 0
	n=${LAUNCHES:-40}
	for way in paths mixed; do
		NAME=$way-continuous EVENTS="-e CPUTIME -e $PC"
		measured $way "$n" || return 0
		sampled "$NAME"
		NAME=$way-serialized EVENTS="-e CPUTIME -e $PC,mode=serialized" LIMIT=200
		[ ! -f "plain-$way-continuous" ] || cp "plain-$way-continuous" "plain-$NAME"
		again $way "$n"
		sampled "$NAME"
		is "$NAME: all samples know their launch" "$(sampling "$NAME" exact)" \
			"$(sampling "$NAME" recorded)"
		agree "$way: apportioned agrees with serialized" $way
		NAME='' EVENTS='' LIMIT=''
	done
	share "paths: three times the launches, serialized" "$(below paths-serialized thrice)" \
		$(($(below paths-serialized thrice) + $(below paths-serialized once))) 0.75 \
		$((4 * n))
	NAME=paths-bursts EVENTS="-e CPUTIME -e $PC,mode=bursts@20"
	if measured paths $((10 * n)); then
		sampled paths-bursts
		within "bursts: samples that know their launch" \
			"$(sampling paths-bursts exact)" 100 \
			1e12
		within "bursts: samples that do not" "$(sampling paths-bursts apportioned)" 100 1e12
		diag "$("$HPCPROF" --to text m-paths-bursts 2>/dev/null |
			sed -n '/PC samples:/,$p')"
	fi
	NAME='' EVENTS=''
}

# Kernels of 50 us that overlap: what CUPTI gives up when it also takes times, and that it gives up
# nothing when it does not.
overlap_section() {
	use cuda_ways || return 0
	NAME=overlap-pc EVENTS="-e CPUTIME -e $PC"
	measured overlap 4 1000 || return 0
	all_launches overlap-pc
	sampled overlap-pc
	diag "with times: $(sampling overlap-pc outside_code) of \
$(sampling overlap-pc taken) samples not attributed by CUPTI"
	NAME=overlap-notimes EVENTS="-e CPUTIME -e $PC,notimes"
	[ ! -f plain-overlap-pc ] || cp plain-overlap-pc plain-overlap-notimes
	again overlap 4 1000
	is "overlap-notimes: kernels launched" "$(launched overlap-notimes kernel)" \
		"$(truth overlap-notimes kernel)"
	sampled overlap-notimes
	is "overlap-notimes: all samples are attributed" \
		"$(sampling overlap-notimes outside_code)" 0
	NAME='' EVENTS=''
}

# ---- applications
# --------------------------------------------------------------------------------------------------

apps_section() {
	EVENTS="-e CPUTIME -e $PC"
	NAME=flow
	if use flowbox && measured "${STEPS:-400}"; then
		all_launches flow
		sampled flow
		within "flow: samples below main, with a full path" "$(below flow main)" 10000 1e12
		for f in advect smooth move_tracers between carried; do
			within "flow: samples in $f" "$(in_function flow $f)" 10 1e12
		done
	fi
	NAME=transformer
	if use transformer && measured "${TOKENS:-300}"; then
		all_launches transformer
		sampled transformer
	fi
	NAME='' EVENTS=''
}
