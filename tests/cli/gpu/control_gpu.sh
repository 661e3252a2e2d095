#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that start and stop their measurement and use GPUs: CUDA on a driver and a CUPTI that do
# not exist, which also say what was left switched on, and OpenCL on a real one. What was asked for
# while measurement was on is all there, the rest is nowhere, and the ledger closes.
# shellcheck disable=SC2034,SC2154 # truth.sh and lib.sh

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_stop
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake
SAME='^truth'

# kernels NAME: those of graphs included.
kernels() { by_name '$1 == "gpu-op" && get("kind") == "kernel"' "all-$1" | wc -l; }

# counted NAME: all that the program counted was launched, and all of it is joined.
counted() {
	is "$1: kernels, graphs and their kernels, copies, waits" \
		"$(kernels "$1") $(launched "$1" graph) $(joined "$1" copy) $(launched "$1" \
		copy) $(launched "$1" sync) $(launched "$1" alloc) $(launched "$1" free)" \
		"$(($(truth "$1" kernel) + $(truth "$1" graph-ops))) $(truth "$1" \
		graph) $(truth "$1" copy) $(truth "$1" copy) $(truth "$1" sync) $(truth "$1" \
		alloc) $(truth "$1" free)"
	is "$1: nothing is lost, nothing is anybody's" \
		"$(n_losses "$1") $(by_name '$1 == "by-function" &&
			get("name") == "other_part"' "all-$1" | wc -l)" "0 0"
}

# parts NAME OPTIONS...
for options in gpu=nvidia gpu=nvidia,pc gpu=nvidia,pc,mode=serialized; do
	EVENTS="-e CPUTIME -e $options" NAME=$options measured parts
	counted "$options"
	is "$options: what is left on while it is off" "$(grep '^off' "out-$options")" \
		"off: callbacks 0 kinds 0 sampling 0
off: callbacks 0 kinds 0 sampling 0"
	EVENTS="-e $options" NAME=$options-flight measured parts flight
	counted "$options-flight"
done
is "with kernels in flight nothing is left on either" "$(grep '^off' out-gpu=nvidia-flight)" \
	"off: callbacks 0 kinds 0 sampling 0
off: callbacks 0 kinds 0 sampling 0"
EVENTS="-e gpu=nvidia" measured ended
counted ended
is "threads that have ended call no more" "$(grep '^off' out-ended)" \
	"off: callbacks 0 kinds 0 sampling 0
off: callbacks 0 kinds 0 sampling 0"
EVENTS="-e gpu=nvidia" OPTIONS="-ds" NAME=delay measured delay
counted delay
is "delay: nothing is on before" "$(grep '^before' out-delay)" \
	"before the start: callbacks 0 kinds 0 sampling 0"
EVENTS="-e gpu=nvidia" OPTIONS="-ds" NAME=delay-flight measured delay flight
counted delay-flight
# modules that are loaded while CUPTI does not sample have no samples later: so it does, and what
# comes is dropped
EVENTS="-e gpu=nvidia,pc" OPTIONS="-ds" NAME=delay-pc measured delay
counted delay-pc
like "delay, with PC samples: after the first stop all is off" "$(cat out-delay-pc)" \
	'^off: callbacks 0 kinds 0 sampling 0$'
EVENTS="-e gpu=nvidia" OPTIONS="--gpu-memory 0" NAME=summed measured parts
is "summed: launched, and nothing lost" \
	"$(launched summed kernel) $(launched summed graph) $(n_losses summed)" \
	"$(truth summed kernel) $(truth summed graph) 0"
EVENTS="-e gpu=nvidia" OPTIONS="" measured threads
# Launches under way at that moment may be lost, which is counted.
is "threads: all that was launched is joined or lost" \
	"$(($(joined threads kernel) + $(n_losses threads)))" "$(launched threads kernel)"
within "threads: few are lost" "$(n_losses threads)" 0 200
EVENTS="-e gpu=nvidia,pc" OPTIONS="" NAME=threads-pc measured threads
is "threads-pc: all that was launched is joined or lost" \
	"$(($(joined threads-pc kernel) + $(n_losses threads-pc)))" "$(launched threads-pc kernel)"
within "threads-pc: few are lost" "$(n_losses threads-pc)" 0 200
# CUPTI cannot be switched beside a thread that is inside of a call without harm to all that the
# thread launches later
for options in gpu=nvidia gpu=nvidia,pc; do
	EVENTS="-e $options" NAME=inside-$options measured inside
	is "inside-$options: kernels" \
		"$(launched "inside-$options" kernel) $(joined "inside-$options" \
		kernel) $(n_losses "inside-$options")" \
		"$(truth "inside-$options" kernel) $(truth "inside-$options" kernel) 0"
done
# Threads that came to use CUDA while it was off: CUPTI is told of launches whose beginning it did
# not tell, so in a moment of load some may be lost.
EVENTS="-e gpu=nvidia" measured late
is "late: all that was launched is joined or lost" "$(($(joined late kernel) + $(n_losses late)))" \
	"$(launched late kernel)"
EVENTS="-e gpu=nvidia" measured handler
counted handler

# a recording plays as it was
for options in gpu=nvidia gpu=nvidia,pc; do
	"$HPCRUN" -q --record-gpu -e "$options" -o "rec-$options" "$CUDA_CALLS" parts flight \
		>"out-rec-$options" 2>"err-rec-$options"
	mkdir r
	mv "rec-$options" r/m
	"$HPCPROF" --to text --all r/m 2>/dev/null | grep -Ev '^(ledger|(# )?cpu)' >recorded
	mv r old
	mkdir r
	ok "$options: a replay" "$HPCRUN" replay old/m -o r/m
	"$HPCPROF" --to text --all r/m 2>/dev/null | grep -Ev '^(ledger|(# )?cpu)' >replayed
	same "$options: a replay gives what was recorded" recorded replayed
	rm -rf r old
done
done_testing
