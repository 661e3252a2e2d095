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
	awk -F'\t' '
		$1 == "gpu-device" { ordinal[$2] = $4 }
		$1 == "gpu-queue" { gpu[$2] = ordinal[$4] }
		$1 == "gpu-profile" { of[$2] = gpu[$3] }
		function say(what, value) { printf "%s-%d %.3f\n", what, ordinal[$4], value }
		$1 == "nccl-device" {
			say("elapsed", $5 / 1e6); say("nccl", $6 / 1e6); say("compute", $7 / 1e6)
			say("overlap", $8 / 1e6); say("kernels", $11); say("operations", $12)
			say("waited", $13 / 1e6); say("last", $14)
		}
		$1 == "nccl-site" { operation[$2] = $4 }
		$1 == "nccl-late" {
			of_late = operation[$2] "-" of[$4]
			n["last-" of_late] += $6; n["waited-for-" of_late] += $7 / 1e6
		}
		END { for (what in n) printf "%s %.3f\n", what, n[what] }' "all-$1"
}

# check_nccl NAME
check_nccl() {
	is "$1: the program's own results" "$(grep '^result' "out-$1")" "result right"
	is "$1: nothing is lost" "$(n_losses "$1")" 0
	is "$1: elapsed = NCCL + compute - overlap + copies + idle" \
		"$(awk -F'\t' '$1 == "nccl-device" {
			printf "%d ", $5 == $6 + $7 - $8 + $9 + $10 }' "all-$1")" "1 1 "
	is "$1: each kernel has its counterpart" \
		"$(awk -F'\t' '$1 == "nccl-ledger" { print $2 }' "all-$1")" 0
	is "$1: operations by line" \
		"$(awk -F'\t' '$1 == "nccl-site" { sub(/.*:/, "", $7);
			print $4, $7, $5 }' "all-$1" | sort)" \
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
