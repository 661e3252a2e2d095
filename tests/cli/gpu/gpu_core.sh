#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The core of GPU measurement, end to end, with a vendor that does not exist: whatever a program
# does, each launch stands under its path or in the ledger, and the program lives and ends as
# without us.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

FAKE=$builddir/tests/workload/gpu/gpu_fake
BACKEND=$builddir/tests/workload/gpu/.libs/gpu_fake_backend.so
GPU_CHECK=$builddir/tests/workload/gpu/gpu_check
LIBRARY=$builddir/.libs/libhpcrun-lite.so
say=1
gpu_bytes=1073741824

# fake MODE NUMBERS: runs it as the launcher would for "-e CPUTIME -e gpu=fake" (which the launcher
# refuses: there is no such vendor). $limit: a shell command before it.
limit=:
event=CPUTIME,1,1,0,0,1000000,0,0
also=
fake() {
	rm -rf "$OUT"
	mkdir "$OUT"
	status=0
	# Expands in the inner shell: the process that prints the report is the one that becomes the
	# program
	# shellcheck disable=SC2016
	run_limited 120 sh -c '
		dir=$1 library=$2 settings=$3 limit=$4 also=$5 option=$6
		shift 6
		eval "$limit"
		LD_PRELOAD="$library $also" HPCTOOLKIT_LITE="1;dir=$dir;lib=$library;pid=$$;$settings;gpu=fake,$option" exec "$@"' \
		sh "$OUT" "$LIBRARY" "say=$say;gpubytes=$gpu_bytes;event=$event" "$limit" "$also" \
		"${gpu_option:-an option}" \
		"$FAKE" "$BACKEND" "$@" >"$T/stdout" 2>"$T/stderr" || status=$?
}

# closes DESCRIPTION [-k]: every identity of CPU and GPU holds in every file of the run; leaves the
# values in $T/values.
closes() {
	sound "$1: CPU side" ${2:+"$2"}
	"$GPU_CHECK" ${2:+"$2"} "$OUT"/*.hpcrun >"$T/values" 2>&1
	tap_check=$?
	if [ $tap_check -eq 0 ]; then pass "$1: GPU side"; else
		fail "$1: GPU side"
		grep '^#' "$T/values" | head -n 20
	fi
}

# counts DESCRIPTION NAME VALUE ...
counts() {
	what=$1
	shift
	while [ $# -gt 0 ]; do
		is "$what: $1" "$(value "$1")" "$2"
		shift 2
	done
}

fake basic 1000
is "a plain run: exit status" "$status" 0
like "a plain run: the back end is let in" "$(cat "$T/stdout")" '^measured 1$'
like "a plain run: the line at the end" "$(cat "$T/stderr")" ', 3,000 GPU operations, 0 lost$'
closes "a plain run"
counts "a plain run" launched 3000 recorded 3000 ops 3000 ops_without_launch 0 launches_without_op \
	0 without_path 0 places 3 busy_ns 3050000 amount 4096000 \
	devices 1 queues 2 codes 1 functions 2 shapes 2 backends 1
like "a plain run: the leaf is the call" "$(cat "$T/values")" '^leaf gpu_fake_backend.so 3000$'
like "a plain run: ... below what made it" "$(cat "$T/values")" '^caller (lt-)?gpu_fake 3000$'
like "a plain run: the entrance is kept" "$(cat "$T/values")" \
	'^backend fake 0 a library of the tests$'
content=$(awk '$1 == "code" { print $2 }' "$T/values")
is "a plain run: the code is kept under its hash" "$(ls "$OUT/gpubins")" "$content"
is "a plain run: ... as it was" "$(cat "$OUT/gpubins/$content")" \
	"$(printf 'kernel void first() {}\nkernel void second() {}')"
within "a plain run: bytes a launch with its operation" "$(ratio "$(value record_bytes)" 3000)" 56 \
	90

say=2
fake basic 10
like "verbose: who came in, and how" "$(cat "$T/stderr")" '^  gpu=fake: a library of the tests$'
like "verbose: launches" "$(cat "$T/stderr")" '^  GPU operations launched +30$'
say=1

fake threads 8 5000
is "threads: exit status" "$status" 0
closes "threads"
counts "threads" launched 40000 recorded 40000 ops 40000 ops_without_launch 0 launches_without_op \
	0 without_path 0
"$CHECK" "$OUT"/*.hpcrun >"$T/values"
counts "threads: the vendor's own thread is not measured" threads 10

fake unseen 500
closes "a thread that is not measured"
counts "a thread that is not measured" launched 500 ops 500 lost-no-path 500 without_path 500 \
	launch_lost 0

fake by_id 20000 4294960000
closes "32-bit ids that wrap"
counts "32-bit ids that wrap" launched 20000 recorded 20000 ops 24000 ops_without_launch 0 \
	launches_without_op 0 launched-graph 2000
like "32-bit ids that wrap: they did" "$(cat "$T/stdout")" '^last_id 4294979999$'

gpu_bytes=65536
fake by_id 20000 4294960000
closes "beyond the bound, by id"
counts "beyond the bound, by id" launched 20000 ops_without_launch 0 launches_without_op 0
is "beyond the bound, by id: each is a record or summed up" \
	$(($(value ops) + $(value aggregate_ops))) 24000
is "beyond the bound, by id: busy time" $(($(value busy_ns) + $(value aggregate_busy_ns))) \
	$((24000 * 900))
within "beyond the bound, by id: most are summed up" "$(value aggregated)" 15000 19999
within "beyond the bound, by id: bytes" "$(value record_bytes)" 65536 131072
fake threads 4 5000
closes "beyond the bound, threads"
is "beyond the bound, threads: each is a record or summed up" \
	$(($(value ops) + $(value aggregate_ops))) 20000
like "beyond the bound, threads: the line says so" "$(cat "$T/stderr")" \
	'20,000 GPU operations \([0-9,]+ summed up\), 0 lost'
gpu_bytes=0
fake basic 1000
closes "summed up from the start"
counts "summed up from the start" launched 3000 aggregated 3000 recorded 0 ops 0 aggregate_ops \
	3000 aggregates 6 aggregate_busy_ns 3050000
gpu_bytes=1073741824

fake forks 100 50
is "fork: exit status" "$status" 0
closes "fork"
is "fork: two files" "$(n_files)" 2
counts "fork" launched 751 recorded 751 ops 751 ops_without_launch 0 launches_without_op 0 codes 2 \
	queues 4 backends 2
is "fork: the code is kept once" "$(find "$OUT/gpubins" -type f | wc -l | tr -d ' ')" 1

# The place of a launch is that of the thread's last one where the path is the same: not in another
# process, for another back end, or where other frames are left out.
fake again:fork 20
is "one path, and a fork: exit status" "$status" 0
closes "one path, and a fork"
counts "one path, and a fork" launched 60 ops 60 without_path 0 places 2
fake again:entered 20
closes "one path, and frames that say nothing from then on"
counts "one path, and frames that say nothing from then on" launched 40 places 2
is "one path, and frames that say nothing from then on: leaves" \
	"$(grep -c '^leaf .* 20$' "$T/values")" 2
event="$event;gpu=other,"
fake two_hosts 20
event=${event%;*}

is "one path, and two back ends: exit status" "$status" 0
closes "one path, and two back ends"
counts "one path, and two back ends" backends 2 launched 40 places 2

fake switched 10
is "started while it is stopped: exit status, the last call counts, and errno is kept" \
	"$status $(grep "^gpu_fake" "$T/stderr")" "0 "
closes "started while it is stopped"
counts "started while it is stopped" launched 30 ops 30 launches_without_op 0

for how in exit _exit quick_exit exec; do
	fake end:$how 100
	is "end by $how: exit status" "$status" 0
	closes "end by $how"
	counts "end by $how: the back end delivered" launched 100 ops 100 launches_without_op 0
done
fake end:noexec 100
is "an exec that fails: exit status" "$status" 0
closes "an exec that fails"
counts "an exec that fails: measured on" launched 400 ops 400 launches_without_op 0
fake end:handler 100
is "_exit in a signal handler: exit status" "$status" 0
closes "_exit in a signal handler"
counts "_exit in a signal handler: the back end is not called" launched 100 ops 0 \
	launches_without_op 100
fake end:kill 1000
is "killed: exit status" "$status" 137
closes "killed" -k
counts "killed: all is there" launched 1000 recorded 1000 launches_without_op 1000 with_path 1000

# Killed in the midst of it, again and again: every file can be read, and all but what each thread
# was about to write is there.
for round in $(thorough "1 3" "1 2 3 4 5"); do
	# shellcheck disable=SC2016 # expands in the inner shell, whose process is the program soon
	limit='(until "'$GPU_CHECK'" -k "$dir"/*.hpcrun 2>/dev/null | grep -q "^launched [1-9]" || ! kill -0 $$; do sleep 0.05; done; sleep 0.'$round'; kill -9 $$) &'
	fake threads 6 100000000
	is "killed in a storm, $round: exit status" "$status" 137
	closes "killed in a storm, $round" -k
	within "killed in a storm, $round: launches" "$(value launched)" 1 100000000
	within "killed in a storm, $round: ops without launch" "$(value ops_without_launch)" 0 0
done
limit=:

fake storm 4 20
is "forks and the end among launching threads: exit status" "$status" 0
closes "forks and the end among launching threads" -k
is "forks and the end among launching threads: files" "$(n_files)" 21
counts "forks and the end among launching threads" ops_without_launch 0 without_path 0
"$GPU_CHECK" "$OUT"/*.hpcrun | awk '$1 == "launched" && $2 == 20 { n++ }
	$1 == "launches_without_op" && $2 == 0 { m++ } END { print n + 0, (m >= 20) }' \
		>"$T/children"
is "forks and the end among launching threads: children have their own, all delivered" \
	"$(cat "$T/children")" "20 1"

fake busy 400
closes "samples in launches"
"$CHECK" "$OUT"/*.hpcrun >"$T/values"
counts "samples in launches: none is lost" lost-busy 0
within "samples in launches: they are there" "$(value recorded)" 20 100000
# PAPI has a handler of its own; libpapi_pmu.so lets it work where the machine has no counters.
also=$(find "$builddir/tests/workload/run/.libs" -name libpapi_pmu.so | head -n 1)
event=perf::TASK-CLOCK,4,1,0,0,1000000,0,0
if [ -f "$builddir/.libs/libhpcrun-lite-papi.so" ] && [ -n "$also" ]; then
	fake busy 400
	closes "samples of PAPI in launches"
	"$CHECK" "$OUT"/*.hpcrun >"$T/values"
	counts "samples of PAPI in launches: none is lost" lost-busy 0
	diag "PAPI: $(value recorded) samples"
else
	skip "samples of PAPI in launches" "no PAPI here"
fi
# A period of the length of what is done at the end, with signals blocked. If it were shorter,
# handlers that take long would rest on a busy machine.
also='' event=REALTIME,2,1,0,0,100000,0,0
for round in 1 2 3; do
	fake busy 5
	closes "samples at the end, $round"
	"$CHECK" "$OUT"/*.hpcrun >"$T/values"
	counts "samples at the end, $round: none is lost" lost-busy 0
done
event=CPUTIME,1,1,0,0,1000000,0,0

fake jumps 50
is "a signal handler jumps out of launches: exit status" "$status" 0
closes "a signal handler jumps out of launches" -k # a jump between a record and its count
within "a signal handler jumps out of launches: what was left is counted" "$(value lost-busy)" 0 50
counts "a signal handler jumps out of launches: others are well" without_path 0 ops 300

fake leaves 200
is "threads end out of launches: exit status" "$status" 0
closes "threads end out of launches" -k
counts "threads end out of launches: who comes after them is well" without_path 0 ops 300

limit="ulimit -f 600"
fake basic 100000
is "file size limit: no SIGXFSZ" "$status" 0
closes "file size limit"
within "file size limit: the rest is counted" "$(value launch_lost)" 100000 300000
within "file size limit: most of it at the launch" "$(value ops_without_launch)" 0 0
limit=:

disk=$T/disk
mkdir "$disk"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=3000k none "$disk" 2>/dev/null; then
	at_exit "umount '$disk'"
	OUT=$disk/out
	fake basic 100000
	is "disk full: exit status" "$status" 0
	closes "disk full"
	within "disk full: the rest is counted" "$(value launch_lost)" 100000 299000
	like "disk full: the line says so" "$(cat "$T/stderr")" \
		'GPU operations, [0-9,]+ lost \(no-space [0-9,]+\)'
	rm -rf "$OUT"
	dd if=/dev/zero of="$disk/fill" bs=1k count=1940 2>/dev/null
	limit="dd if=/dev/zero of='$disk/fill2' bs=1k 2>/dev/null"
	fake basic 10
	is "disk full from the start: the program runs" "$status" 0
	limit=:
	rm -rf "$OUT"
	OUT=$T/out
else
	skip "disk full" "not root, or tmpfs cannot be mounted here"
fi

# Paths of launches that are remembered are those that a walk finds: here both are done.
event="$event;check=1"
for mode in "threads 4 5000" "forks 100 50" "jumps 50"; do
	# shellcheck disable=SC2086 # a mode and its arguments
	fake $mode
	cat "$OUT"/*.hpcrun | tr '\0' '\n' | grep -a '^remembered call paths: ' >"$T/notes"
	like "${mode%% *}: paths are remembered" "$(cat "$T/notes")" ': [1-9][0-9]* checked'
	is "${mode%% *}: paths that differ" "$(grep -cv ' 0 differed$' "$T/notes")" 0
done
event=${event%;*}

# With some back ends the kernel's event costs too much in a thread that launches often.
# sources CPU_SOURCE [OPTION]: sets by_event and by_timer, per cent of the weights. At a period of
# 5 ms a busy machine cannot switch the thread so often that the event costs too much. Where others
# ran at the second expiry, the thread has the event after 50 ms.
sources() {
	gpu_bytes=1048576 event=CPUTIME,1,1,0,0,5000000,0,$1 gpu_option=${2:-}
	fake basic 600000
	sound "CPU source $1: files are sound"
	all=$(($(value event_ns) + $(value timer_ns) + 1))
	by_event=$(($(value event_ns) * 100 / all)) by_timer=$(($(value timer_ns) * 100 / all))
}
if "$HPCRUN" -q -o "$T/probe" -e CPUTIME,perf -- true >"$T/why" 2>&1; then
	sources 0 timer
	within "a thread that launches often has the timer" "$by_timer" 95 100
	within "... which expires every 10 ms: samples a second" \
		$(($(value timer_samples) * 1000000000 / ($(value timer_ns) + 1))) 30 130
	sources 0
	# not for long where busy neighbours have it switched 10,000 times a second
	within "a back end that does not ask for it: it has the event" "$by_event" 5 100
	sources 1 timer
	# until it begins, the tick samples the thread: for longer beside busy neighbours
	within "CPUTIME,perf: it has the event" "$by_event" 50 100
else
	skip "the timer of a thread that launches" "$(head -n 1 "$T/why")"
fi

# Without the tool, and where it was not asked for.
"$FAKE" "$BACKEND" basic 10 >"$T/stdout"
is "without the tool: the program runs" $? 0
like "without the tool: no table" "$(cat "$T/stdout")" '^measured 0$'
measure -- "$FAKE" "$BACKEND" basic 10
is "not asked for: exit status" "$status" 0
like "not asked for: no table" "$(cat "$T/stdout")" '^measured 0$'
"$GPU_CHECK" "$OUT"/*.hpcrun >"$T/values"
counts "not asked for: nothing of it in the file" backends 0 devices 0 launched 0
unlike "not asked for: no word of it in the report" "$(cat "$T/stderr")" GPU

done_testing
