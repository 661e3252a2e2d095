# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # variables of lib.sh
#
# What hpcprof-lite says of nccl_late.py against what the program noted itself: kernels, times of
# each GPU, who came last to operations and how long the other one waited. Source after truth.sh.
# User: tests/gpu/all.sh.

# nccl_values NAME: "WHAT VALUE" from the tables, in counts and ms. A WHAT that ends in a number is
# of that GPU.
nccl_values() {
	by_name '
		$1 == "gpu-device" { ordinal[get("id")] = get("ordinal") }
		$1 == "gpu-queue" { gpu[get("id")] = ordinal[get("device")] }
		$1 == "gpu-profile" { of[get("id")] = gpu[get("queue")] }
		function say(what, value) { printf "%s-%d %.3f\n", what, ordinal[$4], value }
		$1 == "nccl-device" {
			say("elapsed", get("elapsed_ns") / 1e6); say("nccl", get("nccl_ns") / 1e6);
				say("compute", get("compute_ns") / 1e6)
			say("overlap", get("overlap_ns") / 1e6); say("kernels", get("kernels"));
				say("operations", get("operations"))
			say("waited", get("waited_ns") / 1e6); say("last", get("last"))
		}
		$1 == "nccl-site" { operation[get("id")] = get("operation") }
		$1 == "nccl-late" {
			of_late = operation[get("site")] "-" of[get("profile")]
			n["last-" of_late] += get("operations");
				n["waited-for-" of_late] += get("waited_ns") / 1e6
		}
		END { for (what in n) printf "%s %.3f\n", what, n[what] }' "all-$1"
}

# check_nccl NAME
check_nccl() {
	is "$1: the program's own results" "$(grep '^result' "out-$1")" "result right"
	is "$1: nothing is lost" "$(n_losses "$1")" 0
	is "$1: elapsed = NCCL + compute - overlap + copies + idle" \
		"$(by_name '$1 == "nccl-device" {
			sum = get("nccl_ns") + get("compute_ns") - get("overlap_ns")
			sum += get("copy_ns") + get("idle_ns")
			printf "%d ", get("elapsed_ns") == sum }' "all-$1")" "1 1 "
	is "$1: each kernel has its counterpart" \
		"$(by_name '$1 == "nccl-ledger" { print get("alone") }' "all-$1")" 0
	is "$1: operations by line" \
		"$(by_name '$1 == "nccl-site" { sub(/.*:/, "", $column[$1, "place"]);
			print get("operation"), get("place"),
				get("operations") }' "all-$1" | sort)" \
		"$(awk '$1 == "site" && $2 != "Broadcast" { print $2, $3, $4 }' "out-$1" | sort)"
	nccl_values "$1" >"values-$1"
	while read -r _ what low high; do
		within "$1: $what" "$(awk -v what="$what" '$1 == what { v = $2 }
			END { print v + 0 }' "values-$1")" "$low" "$high"
	done <<-END
		$(grep '^bound' "out-$1")
	END
}

nccl_late() {
	NAME=nccl-late PROGRAM="$python $srcdir/tests/gpu/nccl/nccl_late.py" SAME='^result'
	EVENTS='-e gpu=nvidia' LIMIT=15
	measured 12 || return 0
	check_nccl nccl-late
	diag "$(tar -cf - m-nccl-late/*.hpcrun | gzip -9 | wc -c) bytes of measurement, compressed"
	NAME='' PROGRAM='' EVENTS='' LIMIT='' SAME=''
}
