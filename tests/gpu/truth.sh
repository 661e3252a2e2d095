# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# Holds what the tools say of a CUDA workload against what the workload counted itself in the same run. Source after tests/lib.sh, in a directory to write in; CUDA_CALLS is
# the workload. Users: tests/cli/cupti_trace.sh (a driver that does not exist) and tests/gpu/trace.sh (a GPU).

# plain WAY [ARG...]: without the tool, into plain-WAY; its status in plain_status.
plain() {
	plain_status=0
	run_limited 120 "$CUDA_CALLS" "$@" >"plain-$1" 2>&1 || plain_status=$?
}

# measured WAY [ARG...]: with it, into m-WAY, out-WAY, err-WAY and all-WAY. OPTIONS: more of hpcrun-lite.
measured() {
	plain "$@"
	rm -rf "m-$1"
	measured_status=0
	# shellcheck disable=SC2086 # options are words
	run_limited 120 "$HPCRUN" -e CPUTIME -e gpu=nvidia ${OPTIONS:-} -o "m-$1" "$CUDA_CALLS" "$@" >"out-$1" 2>"err-$1" || measured_status=$?
	is "$1: the program's status" "$measured_status" "$plain_status"
	is "$1: what the program counted" "$(grep -E '^(truth|child)' "out-$1")" "$(grep -E '^(truth|child)' "plain-$1")"
	run_limited 120 "$HPCPROF" --to text --all "m-$1" >"all-$1" 2>"prof-$1" || diag_file "prof-$1"
	is "$1: the GPU ledger closes" "$(awk '$1 == "gpu-closes" { print $2 }' "all-$1")" 1
}

# truth WAY NAME: the workload's count.
truth() {
	awk -v name="$2" '$1 == "truth" && $2 == name { print $3 }' "out-$1"
}

# launched WAY KIND, joined WAY KIND, lost WAY CAUSE
launched() { awk -v kind="$2" '$1 == "gpu-kind" && $2 == "all" && $5 == kind { n = $6 } END { print n + 0 }' "all-$1"; }
joined() { awk -v kind="$2" '$1 == "gpu-kind" && $2 == "all" && $5 == kind { n = $7 + $8 } END { print n + 0 }' "all-$1"; }
lost() { awk -v cause="$2" '$1 == "gpu-loss" && $2 == "all" && $5 == cause { n = $7 } END { print n + 0 }' "all-$1"; }
n_losses() { awk '$1 == "gpu-loss" && $2 == "all" { n += $7 } END { print n + 0 }' "all-$1"; }

# copied WAY FIELD: over all directions; 3: how many, 4: bytes. filled WAY FIELD
copied() { awk -v f="$2" '$1 == "copies" && $2 != "set" { n += $f } END { print n + 0 }' "all-$1"; }
filled() { awk -v f="$2" '$1 == "copies" && $2 == "set" { n += $f } END { print n + 0 }' "all-$1"; }

# of_kernel WAY NAME FIELD: 5: how many, 6: seconds; over all code objects. Fields are separated by tabs.
of_kernel() { awk -F'\t' -v name="$2" -v f="$3" '$1 == "kernel" && $2 == name { n += $f } END { printf "%.9g\n", n }' "all-$1"; }
