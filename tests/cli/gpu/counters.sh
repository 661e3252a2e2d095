#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia,counters=... from end to end, on a driver and a CUPTI that do not exist
# (tests/gpu/fake/fake_counters.c): a kernel of T ns reads T bytes.

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

# value NAME METRIC FUNCTION: of it and of what it called
value() {
	by_name -v metric="$2" -v name="$3" '$1 == "by-function" && get("metric") == metric &&
		get("name") == name { n = get("inclusive") } END { printf "%.0f\n", n }' "all-$1"
}

# a known sum, by kernel and by calling function: 30 launches of 200 us, and 10 of 100 us
measure_calls dram counters=dram paths
is "bytes read" "$(value dram dram__bytes_read.sum spin)" 7000000
is "bytes read, by one caller" "$(value dram dram__bytes_read.sum often)" 6000000
is "bytes read, by the other" "$(value dram dram__bytes_read.sum seldom)" 1000000
is "bytes written" "$(value dram dram__bytes_write.sum spin)" 3500000
is "launches counted" "$(value dram GCTR:COUNT spin)" 40
is "nothing else is noted" "$(grep -c 'gpu=nvidia: .*count' err-dram)" 0
like "the report" "$("$HPCPROF" m-dram 2>/dev/null)" \
	'^GPU counters: 40 of 40 kernels, one at a time$' \
	'^ +7\.00 ms  10\.01 MiB  1\.50 G  75% memory +spin$' \
	'^  roof of memory: 2\.00 GB/s, 1000 MHz twice, 8 bits$'

# several passes only if the user says so
measure_calls refused counters=dram+flops paths
is "refused: nothing is counted" "$(value refused GCTR:COUNT spin)" 0
is "refused: kernels are there" "$(launched refused kernel)" "$(truth refused kernel)"
like "refused: a note" "$(cat err-refused)" \
	'gpu=nvidia: the counters need 2 passes; ask for fewer, or add replay-kernels to run each '
rm -rf m-refused
measure_calls refused counters=smsp__sass_thread_inst_executed_op_ffma_pred_on.sum paths
is "instructions: nothing is counted" "$(value refused GCTR:COUNT spin)" 0
like "instructions: a note" "$(cat err-refused)" \
	'gpu=nvidia: CUPTI counts smsp__sass_.*_ffma_pred_on.sum only in kernels that it replays; add'
measure_calls replayed counters=dram+l2+flops,replay-kernels paths
is "replayed: hits" "$(value replayed lts__t_sectors_lookup_hit.sum spin)" 875000
is "replayed: misses" "$(value replayed lts__t_sectors_lookup_miss.sum spin)" 2625000
is "replayed: multiply-adds" \
	"$(value replayed smsp__sass_thread_inst_executed_op_ffma_pred_on.sum spin)" 120
is "replayed: kernels have times, ns" \
	"$(by_name '$1 == "by-function" && get("metric") == "GCTR (sec)" && get("name") == "spin" {
		printf "%.0f", get("inclusive") * 1e9 }' all-replayed)" 7000000
is "replayed: no kernel is lost" "$(launched replayed kernel)" "$(truth replayed kernel)"
like "replayed: half precision is left out" "$(cat err-replayed)" \
	'gpu=nvidia: this GPU has no counter smsp__sass_thread_inst_executed_op_hadd_pred_on.sum; it'
like "replayed: the report" "$("$HPCPROF" m-replayed 2>/dev/null)" \
	'1\.50 G  25\.0%  34\.3 k ' '^  roof of FP32: unknown for this GPU$'

# each launch has its own, of several threads and more than there is room for at once
measure_calls storm counters=dram storm 500 4
is "storm: all are counted" "$(value storm GCTR:COUNT empty)" "$(truth storm kernel)"
is "storm: bytes read" "$(value storm dram__bytes_read.sum empty)" \
	$(($(truth storm kernel) * 2000))
measure_calls own counters=sm__warps_launched.sum paths
is "a counter of the user's own" "$(value own sm__warps_launched.sum spin)" 40
measure_calls contexts counters=dram contexts
is "contexts: all are counted" \
	"$(($(value contexts GCTR:COUNT spin) + $(value contexts GCTR:COUNT empty)))" \
	"$(truth contexts kernel)"

# at the end nobody waits for a kernel that does not end
measure_calls unfinished counters=dram unfinished
is "unfinished: all are counted" \
	"$(($(value unfinished GCTR:COUNT spin) + $(value unfinished GCTR:COUNT empty)))" \
	"$(truth unfinished kernel)"
measure_calls endless counters=dram endless
is "endless: nothing is counted" "$(grep -c 'GCTR' all-endless)" 0

# neither graphs are counted nor what is launched while one is captured
measure_calls graph counters=dram graph
is "graph: nothing is counted" "$(grep -c 'GCTR' all-graph)" 0
is "graph: its kernels are there" "$(launched graph graph)" "$(truth graph graph)"

# CUPTI has not all values: the others are there
FAKE_CUDA=miscounting measure_calls miscounting counters=dram paths
is "miscounting: some are counted" "$(value miscounting GCTR:COUNT spin)" 3
is "miscounting: bytes read" "$(value miscounting dram__bytes_read.sum spin)" 600000
like "miscounting: a note" "$(cat err-miscounting)" \
	'gpu=nvidia: CUPTI has not counted some of the kernels$'

# without rights the program goes on, and all else is there
FAKE_CUDA=no-rights measure_calls rights counters=dram paths
is "no rights: kernels are there" "$(launched rights kernel)" "$(truth rights kernel)"
is "no rights: said once" "$(grep -c 'the counters cannot be read' err-rights)" 1
like "no rights: a note" "$(cat err-rights)" \
	'gpu=nvidia: the counters cannot be read: .*only root may read counters.*no kernel is counted$'

# other outputs
"$HPCPROF" --to json -o o-json m-replayed >/dev/null 2>&1
is "json" "$(python3 -c '
import json
p = json.load(open("o-json/profile.json"))
c = p["counters"]
k = c["kernels"][0]
print(c["roof_bytes_per_second"], p["functions"][k["function"]]["name"], k["counted"],
      k["bytes_read"], k["bytes_written"], k["l2_hits"], k["operations"]["FP32"])')" \
	"2000000000 spin 40 7000000 3500000 875000 240"
"$HPCPROF" --to html -o o-html m-dram >/dev/null 2>&1
is "html: there is a page" "$(test -s o-html/report.html && echo yes)" yes

# what is wrong on the command line
like "no such set" "$("$HPCRUN" -e gpu=nvidia,counters=drum true 2>&1)" \
	"gpu=nvidia has no counters 'drum'; it has the sets dram, l2, flops, tensor, roofline, and"
like "with samples" "$("$HPCRUN" -e gpu=nvidia,counters=dram,pc true 2>&1)" \
	'gpu=nvidia cannot count in the same run: counters=... excludes pc and record'
like "replay of nothing" "$("$HPCRUN" -e gpu=nvidia,replay-kernels true 2>&1)" \
	'gpu=nvidia replays kernels only to count: replay-kernels needs counters=...'

done_testing
