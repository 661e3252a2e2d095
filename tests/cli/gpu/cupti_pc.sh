#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# gpu=nvidia,pc from end to end, on a driver and a CUPTI that do not exist
# (tests/gpu/fake/fake_cuda.c, fake_pc.c): samples and records come together, all sums close in
# every mode, samples stand under who launched their kernel, and what cannot be had is said exactly,
# while operations are traced all the same. tests/gpu/all.sh asks the same of a GPU.

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake
FAKE_UUID=$(printf '%032x' $$)
LOCK=/tmp/hpctoolkit-lite-pc-$FAKE_UUID
export FAKE_UUID
at_exit 'rm -f "$LOCK"'

# sampled NAME OPTIONS WAY [ARG...]: into m-NAME, out-NAME, err-NAME, all-NAME
sampled() {
	name=$1
	options=$2
	shift 2
	status=0
	run_limited 60 "$HPCRUN" -v -e "gpu=nvidia,$options" -o "m-$name" "$CUDA_CALLS" "$@" \
		>"out-$name" 2>"err-$name" || status=$?
	run_limited 60 "$HPCPROF" --to text --all "m-$name" >"all-$name" 2>"prof-$name" ||
		diag_file "prof-$name"
}
# sampling NAME FIELD: of the sums over all ranges: 5 total, 6 recorded, 7 dropped, 8 outside, 9
# under their launch, 10 apportioned, 13 ns without samples, 14 full buffers, 15 closes
sampling() {
	by_name -v field="$2" '$1 == "gpu-sampling" && get("of") == "all" {
		print get(field) }' "all-$1"
}
# samples NAME METRIC: in the whole tree
samples() {
	by_name -v m="$2" '$1 == "tree" && get("metric") == m && get("depth") == 0 {
		n = get("inclusive") } END { print n + 0 }' \
		"all-$1"
}
joined() {
	by_name '$1 == "gpu-kind" && get("of") == "all" && get("kind") == "kernel" {
		n = get("joined") } END { print n + 0 }' \
		"all-$1"
}
# closes NAME: the ledger, the sums of CUPTI, and the sums of the tree
closes() {
	is "$1: the ledger closes" "$(awk '$1 == "gpu-closes" { print $2 }' "all-$1")" 1
	is "$1: all samples are accounted for" "$(sampling "$1" taken)" \
		$(($(sampling "$1" recorded) + $(sampling "$1" dropped) + \
			$(sampling "$1" outside_code)))
	is "$1: those that are recorded are in the tree" "$(samples "$1" GINS)" \
		"$(sampling "$1" recorded)"
}
# below NAME FUNCTION: samples below a function of the program
below() {
	by_name -v f="$2" '$1 == "tree" && get("metric") == "GINS" && get("kind") == "function" &&
		get("name") == f { n += get("inclusive") } END { print n + 0 }' "all-$1"
}

# 30 kernels of 200 us and 10 of 100, on 12 units of 1 GHz: 2^15 cycles are the first period that
# gives less than 600,000 samples/s
sampled paths pc paths
is "paths: the program's status" "$status" 0
like "paths: what is done is said" "$(cat err-paths)" \
	'gpu=nvidia: PC sampling of GPU 0: continuous, a sample every 2\^15 cycles of a multiprocessor, 366,210 a second at most'
closes paths
within "paths: as many as period and device promise" "$(sampling paths taken)" 2558 2568
is "paths: every kernel has its times" "$(joined paths)" 40
within "paths: they are apportioned by time" "$(below paths often)" \
	$(($(sampling paths recorded) * 6 / 7 - 30)) $(($(sampling paths recorded) * 6 / 7 + 30))
is "paths: each sample has one reason" "$(samples paths GINS)" \
	$(($(samples paths GINS:STL_NONE) + $(samples paths GINS:STL_ANY)))
is "paths: reasons by their names, whatever CUPTI's numbers" "$(samples paths GINS:STL_ANY)" \
	$(($(samples paths GINS:STL_IDEP) + $(samples paths GINS:STL_GMEM)))
is "paths: those without an issue are counted apart" "$(samples paths GINS:STL_GMEM_NI)" \
	"$(samples paths GINS:STL_GMEM)"
within "paths: ... and are not all" "$(samples paths GINS:STL_IDEP_NI)" 1 \
	$(($(samples paths GINS:STL_IDEP) - 1))
is "paths: nothing is left in /tmp" "$([ -e "$LOCK" ] && echo there)" ""

sampled exp pc@12 paths
closes exp
within "a shorter period: eight times as many" "$(sampling exp taken)" 20500 20520

sampled serialized pc,mode=serialized paths
closes serialized
is "serialized: all samples know their launch" \
	"$(sampling serialized exact) $(sampling serialized apportioned)" \
	"$(sampling serialized recorded) 0"
within "serialized: they stand under it" "$(below serialized often)" \
	$(($(sampling serialized recorded) * 6 / 7 - 30)) \
	$(($(sampling serialized recorded) * 6 / 7 + 30))

# beyond the bound on records: summed up where they were launched, and still known to be of there
status=0
run_limited 60 "$HPCRUN" -v --gpu-memory 0 -e gpu=nvidia,pc,mode=serialized -o m-summed \
	"$CUDA_CALLS" paths >out-summed 2>err-summed || status=$?
run_limited 60 "$HPCPROF" --to text --all m-summed >all-summed 2>prof-summed ||
	diag_file prof-summed
closes summed
is "summed up: all samples know their launch" \
	"$(sampling summed exact) $(sampling summed apportioned)" \
	"$(sampling summed recorded) 0"
is "summed up: they stand under it" "$(below summed often) $(below summed seldom)" \
	"$(below serialized often) $(below serialized seldom)"
# a graph's samples are those of all its kernels
sampled graph-serialized pc@9,mode=serialized graph
closes graph-serialized
is "serialized graph: its kernels" "$(by_name '$1 == "tree" && get("metric") == "GINS" &&
	get("kind") == "function" && (get("name") == "spin" || get("name") == "empty") {
		n[get("name")] += get("inclusive") }
	END { print (n["spin"] > n["empty"]) + 0, (n["empty"] > 0) + 0 }' all-graph-serialized)" \
		"1 1"

sampled notimes pc,notimes paths
closes notimes
is "notimes: kernels are there, without times" \
	"$(joined notimes) $(by_name '$1 == "tree" && get("metric") == "GKER (sec)" &&
		get("depth") == 0' all-notimes)" "40 "

sampled bursts pc,mode=bursts@50 storm 200000
closes bursts
within "bursts: some samples know their launch" "$(sampling bursts exact)" 1 \
	"$(sampling bursts recorded)"
is "bursts: every kernel is there" "$(joined bursts)" \
	"$(awk '$1 == "truth" && $2 == "kernel" { print $3 }' out-bursts)"

# a period that is much too short: the buffer runs over, and sampling comes back with longer ones
# (a busy machine may let the tool look once in all that time)
for kernels in 80000 240000 720000; do
	sampled over pc@7 busy $kernels
	if [ "$(sampling over buffer_full)" -ge 2 ] &&
		[ "$(sampling over recorded)" -ge 1000 ]; then break; fi
	rm -rf m-over
done
closes over
like "over: it is said" "$(cat err-over)" \
	'gpu=nvidia: PC samples came faster than CUPTI can process them, so some periods have none; from now on there is one every 2\^[0-9]+ cycles'
within "over: how often" "$(sampling over buffer_full)" 2 24
is "over: how long there was none" "$([ "$(sampling over gap_ns)" -gt 0 ] && echo said)" said
within "over: then there are samples" "$(sampling over recorded)" 1000 100000000
is "over: every kernel is there" "$(joined over)" $((kernels + 1))

sampled contexts pc contexts
closes contexts
within "contexts: each is sampled" "$(by_name '$1 == "gpu-sampling" &&
	get("of") == "all" { print get("ranges") }' all-contexts)" 5 12
is "contexts: kernels of all" "$(joined contexts)" 55

sampled variants pc@9,mode=serialized variants
closes variants
is "variants: kernels of one name in two code objects" \
	"$(by_name '$1 == "tree" && get("metric") == "GINS" && get("kind") == "function" &&
		get("name") == "same"' all-variants | wc -l)" 2

for way in graph unfinished fork _exit; do
	sampled $way pc $way
	closes $way
done
is "_exit: all samples of a short run" "$(sampling _exit taken)" "$(sampling paths taken)"

# launches of graphs have no records where there are no times, and none when the process is at its
# end
sampled graph-untimed pc,notimes graph
is "graphs without times: the ledger closes" \
	"$(awk '$1 == "gpu-closes" { print $2 }' all-graph-untimed)" 1
is "graphs without times: their launches" \
	"$(by_name '$1 == "gpu-loss" && get("of") == "all" &&
		get("cause") == "no-times" { print get("n") }' all-graph-untimed)" 10
sampled late pc late
is "launched at exit: the ledger closes" "$(awk '$1 == "gpu-closes" { print $2 }' all-late)" 1
is "launched at exit: never done" "$(by_name '$1 == "gpu-loss" && get("of") == "all" &&
	get("cause") == "never-done" { print get("n") }' all-late)" 2

# processes: a child that uses what it has not, one of its own, a program that is started, an exec
# that fails and one that does not
while read -r way child kernels files; do
	sampled "$way" pc "$way"
	closes "$way"
	is "$way: status, child, kernels, processes" \
		"$status $(grep child "out-$way") $(joined "$way") $(awk '$1 == "process"' \
		"all-$way" | wc -l)" "0 child $child $kernels $files"
done <<EOF
forkuse 6 2 2
forkfirst 7 80 2
spawn 0 42 2
EOF
sampled exec pc exec
closes exec
is "exec: status, kernels, images" \
	"$status $(joined exec) $(awk '$1 == "process"' all-exec | wc -l)" "0 51 2"
within "exec: samples of the second" "$(sampling exec taken)" 2558 2570

# the end is bounded, whatever runs
for options in pc pc,notimes; do
	sampled endless $options endless
	is "endless, $options: the program ends" "$status" 0
	like "endless, $options: it is said" "$(cat err-endless)" \
		'gpu=nvidia: kernels are still running: PC samples that CUPTI has not delivered are lost'
	is "endless, $options: the ledger closes" \
		"$(awk '$1 == "gpu-closes" { print $2 }' all-endless)" 1
	is "endless, $options: that samples are in no count is in one" \
		"$(sampling endless cut_ends)" 1
	like "endless, $options: ... and is in the report" "$("$HPCPROF" -q m-endless 2>&1)" \
		'1 of them at the end of a context,
			where kernels still ran or CUPTI could not be asked: the last samples of it are in no count'
	rm -rf m-endless
done

# SIGKILL: what was handed out is there
sampled killed pc killed
is "killed: the samples of 0.3 s ago are there" "$(sampling killed taken)" "$(sampling paths taken)"

# no rights, another process, an answer as the second process gets it: operations are traced
FAKE_CUDA=refused
export FAKE_CUDA
sampled refused pc paths
like "no rights: what would help is said" "$(cat err-refused)" \
	'gpu=nvidia: PC sampling of GPU 0 is not permitted: it needs root, CAP_SYS_ADMIN, or the option NVreg_RestrictProfilingToAdminUsers=0 of the kernel module nvidia'
is "no rights: operations are traced" "$status $(joined refused)" "0 40"
FAKE_CUDA=pcunknown
sampled unknown pc killed
like "CUPTI fails: it is said" "$(cat err-unknown)" \
	'gpu=nvidia: PC sampling of GPU 0 has stopped: CUPTI_ERROR'
is "CUPTI fails: operations are traced" "$(joined unknown)" 40
FAKE_CUDA=pcdropped
sampled dropped pc paths
closes dropped
within "samples that the device dropped are counted" "$(sampling dropped dropped)" 40 60
unset FAKE_CUDA

# as another process has it
: >"$LOCK"
(flock 9 && exec sleep 3600) 9<"$LOCK" &
other=$!
at_exit '[ -z "$other" ] || kill "$other" 2>/dev/null'
until ! flock -n "$LOCK" true; do
	sleep 0.05
done
sampled second pc paths
like "another process samples: it is said" "$(cat err-second)" \
	"gpu=nvidia: PC sampling of GPU 0 is disabled: another process samples this GPU, and CUPTI supports only one; operations are still traced. Its lock is $LOCK"
is "another process samples: operations are traced" \
	"$status $(joined second) $(samples second GINS)" "0 40 0"
kill "$other"
wait "$other" 2>/dev/null
other=
sampled third pc paths
is "then it is the next one's" "$(sampling third recorded)" "$(samples third GINS)"

# what the launcher lets through
for options in pc@4 pc@32 pc,mode=fast pc,mode=bursts@60 mode=serialized notimes \
	pc,notimes,mode=bursts pcs; do
	"$HPCRUN" -e "gpu=nvidia,$options" -o m-wrong true >out 2>err
	is "$options: a usage error" "$? $([ -e m-wrong ] && echo there)" "2 "
done
like "... that says why" "$("$HPCRUN" -e gpu=nvidia,pc@40 true 2>&1)" \
	'gpu=nvidia cannot sample at pc@40: the period is 2\^EXP cycles, EXP from 5 to 31'
like "-L shows the options" "$("$HPCRUN" -L)" \
	' options: pc\[@EXP\], mode=continuous\|serialized\|bursts\[@N\], notimes,$'
like "--help names them" "$("$HPCRUN" --help)" 'gpu=nvidia,pc\[@EXP\]'

done_testing
