#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Recordings of OpenCL programs on an NVIDIA H200 (tests/golden/opencl-nvidia): what the analysis
# says of them is what the programs counted and read themselves in the same runs. Needs no device
# and no OpenCL.

# shellcheck disable=SC2034,SC2154 # variables of lib.sh, and for ocl.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
ocl_device=no
. "$srcdir/tests/ocl.sh"

golden=$srcdir/tests/golden/opencl-nvidia
ocl_truths=$golden/truths
ok "the recordings are those that were committed" \
	sh -c "cd '$golden' && sha256sum --quiet -c SHA256SUMS"

# read_back NAME
read_back() {
	ok "$1: analysis" run_limited 120 "$HPCPROF" -q --no-structs --to text --all -o "$T/db-$1" \
		"$golden/$1"
	mv "$T/.ok.out" "$T/text-$1"
	holds "$1: the ledger of samples closes" "$1" "closes 1"
	accounted "$1"
}

read_back paths
same_time "paths: kernel time" "$(gpu_total paths "GKER (sec)")" "$(truth paths ns kernel)"
is "paths: kernel time, to the nanosecond" "$(gpu_total paths "GKER (sec)")" \
	"$(awk -v n="$(truth paths ns kernel)" 'BEGIN { printf "%.9f", n / 1e9 }')"
is "paths: kernels by name" \
	"$(by_name '$1 == "kernel" { printf "%s %d,", get("name"),
		get("launches") }' "$T/text-paths")" \
	"work 4,other 4,"
like "paths: the device" "$(grep '^gpu-device' "$T/text-paths")" 'NVIDIA H200'

read_back calls
is "calls: kernels" "$(launched calls kernel)" 6
within "calls: times of kernels with an event are among those of all" \
	"$(gpu_total calls "GKER (sec)")" 0.000000001 1
holds "calls: what the driver gives no times for is lost, and said so" calls \
	"gpu-loss all - - no-times [01] 19"
# Each loss is of a copy (a map, unmap or migration) or a marker; all others are in the tree.
is "calls: launched, in the tree" "$(by_name '$1 == "gpu-kind" &&
	get("of") == "all" { printf "%s %d %d,", get("kind"), get("launched"),
		get("joined") }' "$T/text-calls")" \
	"kernel 6 6,copy 48 39,set 6 6,alloc 6 6,free 6 6,sync 91 91,marker 13 3,"
is "calls: bytes to the device" "$(gpu_total calls "GXCOPY:H2D (B)")" \
	"$(truth calls bytes write).000000000"

done_testing
