#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Faults of real life in replays: the ledger shows each, all sums still close, and nothing hangs.

. "${srcdir:-.}/tests/lib.sh"
cd "$T" || exit 99
. "$srcdir/tests/gpu/recorded.sh"

record calls ,pc calls
facts calls
# Faults at the second drain need some drains, which come by the clock: a run of one on a busy
# machine is made again, longer.
for kernels in 10000 20000 40000 80000; do
	rm -rf busy
	record busy ,pc busy $kernels
	facts busy
	ranges=$(sampling busy ranges)
	[ "${ranges:-0}" -lt 4 ] || break
done
record graph '' graph
facts graph
record threads '' storm 1000 3
facts threads

# with RECORDING FAULT [OPTION...]: a replay with it, into f
with() {
	with_from=$1
	with_fault=$2
	shift 2
	replay "$with_from" f --inject "$with_fault" "$@"
	is "$with_fault: it is played" "$replay_status" 0
	facts f
	is "$with_fault: the sums close" "$(closes f)" 1
}
without_ids() { by_name -v OFS='\t' '$1 == "gpu-op" { $column[$1, "launch_id"] = "-" } 1' "$1"; }
n_kernels=$(kind busy kernel | cut -d' ' -f1)

with busy dropped-buffers
is "dropped buffers: all records are counted as dropped" "$(loss f dropped) $(kind f kernel)" \
	"$n_kernels $n_kernels 0"
with threads dropped-buffers:2
is "dropped buffers: what was not dropped is joined" \
	"$(($(loss f dropped) + $(kind f kernel | cut -d' ' -f2)))" \
	"$(kind threads kernel | cut -d' ' -f1)"
within "dropped buffers: some were" "$(loss f dropped)" 1 2999

with busy lost-record:100
is "lost records: their operations are never done" \
	"$(loss f never-done) $(kind f kernel | cut -d' ' -f2)" \
	"$((n_kernels / 100)) $((n_kernels - n_kernels / 100))"

# Of the last of 10 launches with 4 nodes each the last one has no record, as the launches before
# had: 41 records, one of a kernel beside them.
with graph lost-record:41
is "a lost record of a graph: its launches are joined" "$(kind f graph) $(loss f never-done)" \
	"10 10 0"
is "a lost record of a graph: its operation is never done" \
	"$(by_name '$1 == "gpu-graph-loss" && get("of") == "all" {
		print get("cause"), get("n") }' all-f)" \
	"never-done 1"
is "a graph without losses has none" "$(grep -c '^gpu-graph-loss' all-graph)" 0

with threads wrap:500
without_ids all-threads >want
without_ids all-f >got
same "ids that wrap around: nothing but ids differs" got want
with calls wrap:3 --shuffle-streams 3
is "... whatever the order" "$(kind f copy) $(kind f kernel) $(loss f refused)" \
	"$(kind calls copy) $(kind calls kernel) $(loss calls refused)"

with busy clock-step:1000
within "a step of the clock: operations before their launches are counted" \
	"$(by_name '$1 == "gpu-ledger" && get("of") == "all" {
		print get("in_bad_order") }' all-f)" 1000 "$n_kernels"
is "a step of the clock: all are joined" "$(kind f kernel)" "$(kind busy kernel)"

with busy out-of-memory:1
within "out of memory: a gap in the samples" \
	"$(by_name '$1 == "gpu-sampling" && get("of") == "all" {
		print get("gap_ns") }' all-f)" 1 1e12
within "out of memory: no sample is made up" "$(sampling f taken)" 0 "$(sampling busy taken)"
is "out of memory: operations are traced all the same" "$(kind f kernel)" "$(kind busy kernel)"
with busy buffer-full:1
within "a full buffer: counted" "$(by_name '$1 == "gpu-sampling" &&
	get("of") == "all" { print get("buffer_full") }' all-f)" 1 100
is "a full buffer: operations are traced all the same" "$(kind f kernel)" "$(kind busy kernel)"

with calls unknown-call
like "an unknown call: named" "$(cat said-f)" 'has an unknown call, cuLaunchSomethingNew_v9'
n=$(loss f never-done)
within "an unknown call: launches without records are never done" "$n" 1 100
is "an unknown call: taken for what its name begins like" "$(kind f kernel | cut -d' ' -f1)" \
	"$(($(kind calls kernel | cut -d' ' -f1) + n))"

with calls early-unload
is "a module that is gone early: its kernels are joined" "$(kind f kernel)" "$(kind calls kernel)"
is "a module that is gone early: without their code" "$(find f -name '*.gpubin' | wc -l)" 0
is "a module that is gone early: samples are there" "$(sampling f taken) $(sampling f recorded)" \
	"$(sampling calls taken) $(sampling calls recorded)"

with threads out-of-order
same "records out of order: nothing differs" all-f all-threads
with threads out-of-order --shuffle-streams 9
same "... whatever the order of threads" all-f all-threads

with calls subscriber
like "another subscriber: said" "$(cat said-f)" \
	'another tool uses CUPTI, which supports only one: a tool that was put in; only the CPU is measured'
is "another subscriber: no operation" "$(kind f kernel)" "0 0"

# all at once
run_limited 60 "$REPLAY_ALTERED" -q busy -o all --shuffle-streams 1 --inject dropped-buffers:3 \
	--inject lost-record:50 --inject wrap:100 --inject clock-step:20 --inject out-of-memory:2 \
	--inject unknown-call:1000 \
	--inject out-of-order:2 >said 2>&1
is "all at once: played" "$?" 0
facts all
is "all at once: the sums close" "$(closes all)" 1

done_testing
