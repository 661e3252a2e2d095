# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# Holds what the tools say of a CUDA workload against what the workload counted itself in the same
# run. Source after tests/lib.sh, in a directory to write in; CUDA_CALLS is the workload. Users:
# tests/cli/gpu/cupti_trace.sh (a driver that does not exist), tests/gpu/trace.sh and
# tests/gpu/all.sh (a GPU).

# Not from the environment.
NAME='' PROGRAM='' EVENTS='' OPTIONS='' SAME=''

# plain WAY [ARG...]: without the tool, into plain-WAY; its status in plain_status. PROGRAM: another
# workload than CUDA_CALLS, as words. NAME: WAY in the names of files.
plain() {
	name=${NAME:-$1}
	plain_status=0
	# shellcheck disable=SC2086 # a program may be an interpreter and a script
	run_limited "${LIMIT:-120}" ${PROGRAM:-"$CUDA_CALLS"} "$@" >"plain-$name" \
		2>"plain-err-$name" || plain_status=$?
}

# measured WAY [ARG...]: with it, into m-WAY, out-WAY, err-WAY and all-WAY. EVENTS: what is
# measured; OPTIONS: more of hpcrun-lite. SAME: lines that are to be as without the tool. Fails,
# after a word of why, when the program cannot be run here.
measured() {
	plain "$@"
	if [ "$plain_status" -eq 77 ]; then
		skip "$name" "$(head -n 1 "plain-$name")"
		return 1
	fi
	again "$@"
}

# again WAY [ARG...]: the same, held against the plain run that there is.
again() {
	name=${NAME:-$1}
	rm -rf "m-$name"
	measured_status=0
	# shellcheck disable=SC2086 # options are words
	run_limited "${LIMIT:-120}" "$HPCRUN" ${EVENTS:--e CPUTIME -e gpu=nvidia} \
		${OPTIONS:-} -o "m-$name" ${PROGRAM:-"$CUDA_CALLS"} "$@" >"out-$name" \
		2>"err-$name" || measured_status=$?
	is "$name: the program's status" "$measured_status" "$plain_status"
	is "$name: what the program counted and computed" \
		"$(grep -E "${SAME:-^(truth|child|result)}" "out-$name")" \
		"$(grep -E "${SAME:-^(truth|child|result)}" "plain-$name")"
	analysed "$name"
}

# analysed NAME: m-NAME into all-NAME.
analysed() {
	run_limited "${LIMIT:-120}" "$HPCPROF" --to text --all "m-$1" >"all-$1" 2>"prof-$1" ||
		diag_file "prof-$1"
	is "$1: the GPU ledger closes" "$(awk '$1 == "gpu-closes" { print $2 }' "all-$1")" 1
}

# truth WAY NAME: the workload's count.
truth() {
	awk -v name="$2" '$1 == "truth" && $2 == name { print $3 }' "out-$1"
}

# launched WAY KIND, joined WAY KIND, lost WAY CAUSE; graph_lost WAY CAUSE: operations of graphs
launched() {
	by_name -v kind="$2" '$1 == "gpu-kind" && get("of") == "all" && get("kind") == kind {
		n = get("launched") }
		END { print n + 0 }' "all-$1"
}
joined() {
	by_name -v kind="$2" '$1 == "gpu-kind" && get("of") == "all" && get("kind") == kind {
		n = get("joined") + get("aggregated") }
		END { print n + 0 }' "all-$1"
}
lost() {
	by_name -v cause="$2" '$1 == "gpu-loss" && get("of") == "all" && get("cause") == cause {
		n = get("n") }
		END { print n + 0 }' "all-$1"
}
graph_lost() {
	by_name -v cause="$2" '$1 == "gpu-graph-loss" && get("of") == "all" &&
		get("cause") == cause { n = get("n") }
		END { print n + 0 }' "all-$1"
}
n_losses() { by_name '$1 == "gpu-loss" && get("of") == "all" { n += get("n") } END {
	print n + 0 }' "all-$1"; }

# copied WAY FIELD: over all directions: n, bytes. filled WAY FIELD
copied() {
	by_name -v field="$2" '$1 == "copies" && get("direction") != "set" { n += get(field) }
		END { print n + 0 }' "all-$1"
}
filled() {
	by_name -v field="$2" '$1 == "copies" && get("direction") == "set" { n += get(field) }
		END { print n + 0 }' "all-$1"
}

# of_kernel WAY NAME FIELD: launches, seconds; over all code objects. NAME as the source has it,
# without arguments.
of_kernel() {
	by_name -v name="$2" -v field="$3" \
		'$1 == "kernel" && (get("name") == name || index(get("name"), name "(") == 1) {
			n += get(field) }
			END { printf "%.9g\n", n }' "all-$1"
}

# ---- PC samples: hpcprof-lite says samples by function, line and path ----

# samples WAY [METRIC]: all of them.
samples() {
	by_name -v metric="${2:-GINS}" '$1 == "tree" && get("metric") == metric &&
		get("kind") == "root" { n += get("inclusive") }
		END { printf "%.0f\n", n }' "all-$1"
}

# in_function WAY NAME [METRIC]: samples in a function of a GPU and below it; below WAY NAME
# [METRIC]: below one of the CPU. nvcc makes a function for the CPU of each kernel's name.
in_function() {
	by_name -v name="$2" -v metric="${3:-GINS}" \
		'$1 == "by-function" && get("metric") == metric && get("module") ~ /\/gpubins\// &&
			(get("name") == name || index(get("name"), name "(") == 1) {
				n += get("inclusive") }
			END { printf "%.0f\n", n }' "all-$1"
}

below() {
	by_name -v name="$2" -v metric="${3:-GINS}" \
		'$1 == "by-function" && get("metric") == metric && get("module") !~ /\/gpubins\// &&
			(get("name") == name || index(get("name"), name "(") == 1) {
				n += get("inclusive") }
			END { printf "%.0f\n", n }' "all-$1"
}

# on_line WAY FILE MARK [METRIC]: samples on the line of FILE (below tests/gpu) that has the comment
# MARK, without what it calls.
on_line() {
	at=$(grep -n "/\* $3 \*/" "$srcdir/tests/gpu/$2" | cut -d: -f1)
	by_name -v place="/${2##*/}:$at" -v metric="${4:-GINS}" \
		'$1 == "by-line" && get("metric") == metric && index(get("place"), place) &&
			substr(get("place"), length(get("place")) - length(place) + 1) == place {
				n += get("exclusive") }
			END { printf "%.0f\n", n }' "all-$1"
}

# share DESCRIPTION GOT ALL TRUTH LAUNCHES: GOT of ALL samples are a share of TRUTH, within 3 sigma.
# Units take their samples in step with their own clock, and a launch begins anywhere in an
# interval: so besides the binomial deviation each launch may have one sample more or less on each
# of UNITS units, together.
share() {
	within "$1" "$2" \
		"$(awk -v n="$3" -v p="$4" -v l="$5" -v u="${UNITS:-132}" 'BEGIN {
			s = sqrt(n * p * (1 - p) + l * u * u / 6);
			printf "%.0f", n * p - 3 * s }')" \
		"$(awk -v n="$3" -v p="$4" -v l="$5" -v u="${UNITS:-132}" 'BEGIN {
			s = sqrt(n * p * (1 - p) + l * u * u / 6); printf "%.0f", n * p + 3 * s }')"
	diag "$(awk -v got="$2" -v n="$3" -v p="$4" 'BEGIN {
		if (n) printf "%.0f of %.0f samples, %.4f; truth %.4f", got, n, got / n, p }')"
}

# events WAY KERNEL: the program's own time of the launches of a kernel, s.
events() {
	awk -v kernel="$2" '$1 == "events-ns" && $2 == kernel { printf "%.9f", $3 * 1e-9 }' "out-$1"
}

# stall WAY NAME: the stall reason with most samples in a kernel, and its share, of those with which
# nothing was issued.
stall() {
	by_name -v name="$2" '$1 == "by-function" && get("metric") ~ /^GINS:STL_/ &&
		get("metric") !~ /STL_(ANY|NONE)$|_NI$/ && get("module") ~ /\/gpubins\// &&
			(get("name") == name || index(get("name"), name "(") == 1) {
				n[get("metric")] += get("inclusive"); all += get("inclusive") }
		END { for (r in n) if (n[r] > n[most]) most = r;
		printf "%s %.4f\n", substr(most, 10), all ? n[most] / all : 0 }' "all-$1"
}
