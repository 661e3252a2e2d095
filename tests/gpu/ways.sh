# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The ways of tests/gpu/cuda_calls, each against its own count. Source after truth.sh.

measured paths
is "paths: kernels" "$(launched paths kernel) $(joined paths kernel)" "40 40"
is "paths: waits" "$(joined paths sync)" "$(truth paths sync)"
is "paths: nothing is lost" "$(n_losses paths)" 0
within "paths: the kernels' time" "$(of_kernel paths spin seconds)" 0.007 0.0075
is "paths: kernels by their name" "$(of_kernel paths spin launches)" 40

measured calls
for kind in kernel copy set alloc free sync; do
	is "calls: $kind launched" "$(launched calls $kind)" "$(truth calls $kind)"
done
is "calls: refused" "$(lost calls refused) $(n_losses calls)" "2 2"
# on a line of refused(), with CUDA_ERROR_INVALID_VALUE
is "calls: what was refused, and where" "$(by_name '
	$1 == "tree" && get("metric") == "GREFUSED:COUNT" && get("kind") == "root" {
		print get("inclusive") }' all-calls) $(grep -c \
	'^tree.*<gpu kernel refused: CUDA_ERROR_INVALID_VALUE>' all-calls)" "2 2"
like "calls: the report names call, place and error" \
	"$("$HPCPROF" -q --to text m-calls 2>/dev/null)" \
	'^The driver refused 2 operations' '<gpu kernel refused: CUDA_ERROR_INVALID_VALUE>' \
	"cuLaunchKernel at cuda_calls.c:$(grep -n 'cuLaunchKernel(cuda_empty, 0, 1' \
		"$srcdir/tests/gpu/cuda_calls.c" | cut -d: -f1) in refused"
is "calls: kernels joined" "$(joined calls kernel)" $(($(truth calls kernel) - 2))
is "calls: bytes copied" "$(copied calls n) $(copied calls bytes)" \
	"$(truth calls copy) $(truth calls copy-bytes)"
is "calls: bytes set" "$(filled calls n) $(filled calls bytes)" \
	"$(truth calls set) $(truth calls set-bytes)"

measured memory 500
for kind in alloc free; do
	is "memory: $kind launched" "$(launched memory $kind)" "$(truth memory $kind)"
done
is "memory: peak and end of the device, allocations, what was refused" "$(by_name '
	$1 == "gpu-memory" && get("memory") == "device" { print get("device"), get("peak_bytes"),
		get("end_bytes"), get("allocations"), get("freed"), get("refused"),
		get("refused_most_bytes") }' all-memory)" \
	"0 $((22 << 20)) $((2 << 20)) 2006 2005 1 $((1 << 45))"
is "memory: pinned" "$(by_name '$1 == "gpu-memory" && get("memory") == "pinned" {
	print get("peak_bytes"), get("end_bytes"), get("allocations") }' all-memory)" \
	"$((1 << 20)) $((1 << 20)) 1"
# at NAME: what was live at the peak and at the end in and below a function
at() {
	for metric in PEAK END; do
		by_name -v name="$1" -v metric="GMEM:$metric (B)" '$1 == "by-function" &&
			get("metric") == metric && get("name") == name { n += get("inclusive") }
			END { printf "%d ", n / 1048576 }' all-memory
	done
}
is "memory: at the peak and at the end, by function" "$(at hold)$(at scratch)" "6 2 16 0 "
like "memory: the report" "$("$HPCPROF" -q --to text m-memory 2>/dev/null)" \
	'^GPU memory, ' '^ *22.00 MiB .* 2.00 MiB .* GPU 0' \
	'failed: 1 allocations, the largest of 32'

measured graph
is "graph: launches of graphs" "$(launched graph graph)" "$(truth graph graph)"
is "graph: kernels that were captured are none" "$(launched graph kernel)" "$(truth graph kernel)"
is "graph: kernels of its nodes" \
	"$(of_kernel graph spin launches) $(of_kernel graph empty launches)" "10 21"
is "graph: fills of its nodes" "$(filled graph n)" 10
is "graph: nothing is lost" "$(n_losses graph)" 0

measured variants
is "variants: kernels of one name in two code objects" \
	"$(by_name '$1 == "kernel" && get("name") == "same" {
		print get("launches"), get("shape") }' all-variants | sort |
	tr '\n' ' ')" "3 1 x 1 3 1 x 2 "

measured times
within "times: kernels against events" "$(of_kernel times spin seconds)" \
	"$(awk -v slack="${SLACK:-0.01}" '$1 == "events-ns" {
		printf "%.6f", $2 * (1 - slack) * 1e-9 }' out-times)" \
			"$(awk '$1 == "events-ns" { printf "%.6f", $2 * 1.005e-9 }' out-times)"

measured storm 20000 4
is "storm: every one of them" "$(joined storm kernel)" "$(truth storm kernel)"
is "storm: nothing is lost" "$(n_losses storm)" 0
OPTIONS="--gpu-memory 0"
measured storm 20000 4
OPTIONS=''
is "storm: every one of them, summed up" "$(joined storm kernel)" "$(truth storm kernel)"

measured fault
is "fault: the kernels before it are there, all others are lost, and said so" \
	"$(launched fault kernel) $(($(joined fault kernel) + $(n_losses fault)))" "4 4"
within "fault: how many those are" "$(joined fault kernel)" 1 3
measured contexts
is "contexts: kernels of all of them" "$(joined contexts kernel) $(n_losses contexts)" \
	"$(truth contexts kernel) 0"

measured unfinished
is "unfinished: what ends soon is waited for" "$(joined unfinished kernel)" 2
measured endless
is "endless: what does not is lost, and said so" \
	"$(joined endless kernel) $(lost endless never-done)" "1 1"
measured fork
is "fork: the parent's" "$(joined fork kernel)" 2
is "fork: the child ends as it would" "$(grep -c '^child 5$' out-fork)" 1
measured _exit
is "_exit: what was done is there" "$(joined _exit kernel)" 40
measured killed
is "killed: what was done 0.5 s ago is there" "$(joined killed kernel)" 40
