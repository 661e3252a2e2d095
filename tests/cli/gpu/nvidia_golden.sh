#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Measurements of CUDA programs on an NVIDIA H200 (tests/golden/nvidia): what the analysis says of
# them is what the programs counted, timed and knew by construction in the same runs, by the same
# checks that tests/gpu/all.sh makes on a GPU. Needs no GPU and no CUDA.

# shellcheck disable=SC2034,SC2154 # variables of lib.sh, and for checks.sh
. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
golden=${NVIDIA_GOLDEN:-$srcdir/tests/golden/nvidia}
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/checks.sh"
UNITS=132
PC=gpu=nvidia,pc
ok "the recordings are those that were committed" \
	sh -c "cd '$golden' && sha256sum --quiet -c SHA256SUMS"
cd "$T" || exit 99

use() { :; }

# One measurement and what the program said in the same run; code objects and structures of programs
# are shared by all. False: there is none of this name.
again() {
	name=${NAME:-$1}
	[ -f "$golden/$name.hpcrun.gz" ] || return 1
	mkdir -p "m-$name/structs" "m-$name/gpubins" || exit 99
	gzip -dc "$golden/$name.hpcrun.gz" >"m-$name/norank-vm-1.hpcrun"
	for f in "$golden"/structs/*.gz; do
		gzip -dc "$f" >"m-$name/structs/$(basename "$f" .gz)"
	done
	for f in "$golden"/gpubins/*.gz; do
		gzip -dc "$f" >"m-$name/gpubins/$(basename "$f" .gz)"
	done
	cp "$golden/$name.out" "out-$name"
	analysed "$name"
}
measured() { again "$@"; }

LAUNCHES=$(cat "$golden/launches")
launches_section
truth_section
paths_section
overlap_section
apps_section
done_testing
