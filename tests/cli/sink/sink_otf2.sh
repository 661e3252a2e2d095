# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# The OTF2 archive of a hand-made model as the OTF2 tools see it: otf2-print reads it through,
# unwind distances follow the definition, sums and counts are the model's, failures leave nothing
# behind.
. "${top_srcdir:-.}/tests/lib.sh"

FIXTURE=$builddir/tests/unit/sink/sink_fixture
JUDGE=$srcdir/tests/judge
grep -q '^#define HAVE_OTF2 ' "$builddir/config.h" || skip_all "built without OTF2"
need otf2-print "${PYTHON3:-python3}"

# judged DESCRIPTION FORM ARGUMENTS...: the archive reads through and its facts are those of the
# model
n=0
judged() {
	desc=$1
	form=$2
	shift 2
	n=$((n + 1))
	mkdir "$T/db$n"
	kinds="profiles total function"
	if [ "$form" = callingcontext ]; then kinds="$kinds samples"; fi
	if "$FIXTURE" otf2 "$T/db$n" form="$form" "$@" &&
		"$PYTHON3" "$JUDGE/read_otf2.py" "$T/db$n/otf2/traces.otf2" >"$T/got$n"; then
		"$FIXTURE" sums - "$@" >"$T/want"
		# shellcheck disable=SC2086 # a list of words
		ok "$desc" "$PYTHON3" "$JUDGE/compare_facts.py" -t 1e-5 "$T/got$n" "$T/want" $kinds
	else
		fail "$desc"
	fi
}

judged "two processes, three metrics, loops" callingcontext loops=1 n_metrics=3 recursion=30
judged "one thread without time line: totals and ledger are there" callingcontext n_processes=1 \
	n_threads=1 n_metrics=1 ranks=0 traces=0
judged "many threads of processes without ranks" callingcontext n_processes=5 n_threads=10 \
	n_extra=30 n_samples=100 ranks=0
judged "deep recursion" callingcontext recursion=1000 n_samples=100 n_processes=1
judged "no samples at all" callingcontext n_samples=0
judged "Enter and Leave: two processes, three metrics, loops" enterleave loops=1 n_metrics=3 \
	recursion=30
judged "Enter and Leave: many threads" enterleave n_processes=2 n_threads=10 n_extra=30 \
	n_samples=100
judged "Enter and Leave: deep recursion" enterleave recursion=1000 n_samples=100 n_processes=1

judged "GPUs of two ranks: streams, attributes, ledgers" callingcontext n_gpu_ops=50 loops=1
judged "GPUs of processes without ranks" callingcontext n_gpu_ops=33 n_processes=3 n_threads=1 \
	ranks=0
judged "GPUs, Enter and Leave" enterleave n_gpu_ops=50

otf2-print -G "$T/db9/otf2/traces.otf2" >"$T/gpu-defs"
like "a device is a node below its host" "$(cat "$T/gpu-defs")" \
	'^SYSTEM_TREE_NODE .*Name: "GPU 0: Synthetic GPU" .*Class: "accelerator" .*Parent: "node::node1"'
like "a GPU context is a group, created by the process" "$(cat "$T/gpu-defs")" \
	'Type: ACCELERATOR, Parent: "accelerator::GPU 0: Synthetic GPU" <[0-9]+>, Creator: "MPI Rank 1" <1>$'
like "a lane of a queue is a stream" "$(cat "$T/gpu-defs")" \
	'^LOCATION .*Name: "GPU 0 queue 1 lane 1" .*Type: ACCELERATOR_STREAM, # Events: 100, Group: "GPU 0 context 0 of MPI Rank 0"'
# the calling contexts above a kernel, from itself to the entry
parent() {
	sed -n \
		"s/^CALLING_CONTEXT  *$1  Region: \"\([^\"]*\)\" <[0-9]*>, .*Parent: \(.* <\([0-9]*\)>\|UNDEFINED\)\$/\3 \1/p" \
		"$T/gpu-defs"
}
kernel=$(otf2-print "$T/db9/otf2/traces.otf2" |
	sed -n 's/^CALLING_CONTEXT_ENTER .*Calling Context: "saxpy.* <\([0-9]*\)>, .*/\1/p' |
	head -1)
above=
while [ -n "$kernel" ]; do
	line=$(parent "$kernel")
	kernel=${line%% *}
	above="$above < ${line#* }"
done
is "a kernel is called where the CPU launched it" "$above" \
	" < saxpy(float, float const*, float*) < <gpu kernel> < clEnqueueNDRangeKernel < main < main thread"
otf2-print "$T/db9/otf2/traces.otf2" | grep -A1 '^CALLING_CONTEXT_ENTER' >"$T/gpu-events"
like "a kernel has its launch characteristics" "$(cat "$T/gpu-events")" \
	'\("grid x" <[0-9]+>; UINT32; 16\).*\("registers" <[0-9]+>; UINT32; 40\).*\("correlation id" '
like "a copy has bytes and direction" "$(cat "$T/gpu-events")" \
	'\("bytes" <[0-9]+>; UINT64; [0-9]+\), \("direction" <[0-9]+>; STRING; "H2D" <[0-9]+>\)'

is "the ledger is in it" "$(grep '^ledger	loss: no-space' "$T/got1" | tr '\t' ' ')" \
	"ledger loss: no-space 4"
otf2-print -A "$T/db1/otf2/traces.otf2" >"$T/anchor" 2>&1
like "the creator is named" "$(cat "$T/anchor")" "hpctoolkit-lite"
otf2-print -G "$T/db1/otf2/traces.otf2" | grep -a '^INTERRUPT_GENERATOR\|^CLOCK\|^LOCATION_GROUP ' \
	>"$T/defs"
like "an interrupt generator for each event, with its period" "$(cat "$T/defs")" \
	'"CPUTIME" <[0-9]+>, Mode: TIME, Base: DECIMAL, Exponent: -9, Period: 1000000$'
like "... counting ones too" "$(cat "$T/defs")" \
	'"perf::PAGE-FAULTS" <[0-9]+>, Mode: COUNT, Base: DECIMAL, Exponent: 0, Period: 100$'
like "times are those of the day" "$(cat "$T/defs")" \
	"Ticks per Seconds: 1000000000, Global Offset: 1700000000000000000"
like "a rank is named as one" "$(cat "$T/defs")" 'Name: "MPI Rank 1" .*Type: PROCESS'

if have otf2-snapshots; then
	cp -R "$T/db6" "$T/snap"
	ok "otf2-snapshots reads the Enter/Leave form" otf2-snapshots -n 3 \
		"$T/snap/otf2/traces.otf2"
else
	skip "otf2-snapshots" "not here"
fi

# The judge must be able to say no: an event of another location's file, a lost file.
cp -R "$T/db1" "$T/broken"
cp "$T/broken/otf2/traces/0.evt" "$T/broken/otf2/traces/1.evt"
not_ok "the judge sees exchanged events" "$PYTHON3" "$JUDGE/read_otf2.py" \
	"$T/broken/otf2/traces.otf2"
rm "$T/broken/otf2/traces/1.evt"
not_ok "the judge sees a lost file" "$PYTHON3" "$JUDGE/read_otf2.py" "$T/broken/otf2/traces.otf2"

# Failures.
"$FIXTURE" otf2 "$T/db1" 2>"$T/err" && rc=0 || rc=$?
is "an existing archive is refused" "$rc" 1
is "... with the file and the cause" "$(cat "$T/err")" "sink_fixture: $T/db1/otf2: File exists"
ok "... and left as it was" "$PYTHON3" "$JUDGE/read_otf2.py" "$T/db1/otf2/traces.otf2"
"$FIXTURE" otf2 "$T/none" 2>"$T/err" && rc=0 || rc=$?
is "a directory that is not there is an error" "$rc" 1
is "... with the file and the cause" "$(cat "$T/err")" \
	"sink_fixture: $T/none/otf2: No such file or directory"
if [ "$(id -u)" -eq 0 ] && mkdir "$T/full" && mount -t tmpfs -o size=256k tmpfs "$T/full" \
	2>/dev/null; then
	at_exit "umount '$T/full'"
	"$FIXTURE" otf2 "$T/full" n_samples=100000 2>"$T/err" && rc=0 || rc=$?
	is "a full file system is an error" "$rc" 1
	like "... with the file and the cause" "$(cat "$T/err")" \
		"^sink_fixture: $T/full/otf2/traces/[0-9].evt: No space left on device$"
	is "... said once" "$(grep -c '^sink_fixture:' "$T/err")" 1
	is "... and leaves nothing" "$(find "$T/full" -mindepth 1)" ""
else
	skip "a full file system" "needs root and mount"
fi

# Memory does not grow with the time line: 1,000,000 samples would need 12 MB or more.
if grep -q 'fsanitize=' "$builddir/Makefile" 2>/dev/null &&
	grep -q '^HL_SANITIZE_CFLAGS = -' "$builddir/Makefile"; then
	skip "a long time line is written with little memory" "a sanitizer needs more"
else
	mkdir "$T/long"
	within "a long time line is written with little memory (KiB)" \
		"$("$FIXTURE" otf2 "$T/long" n_processes=1 n_threads=1 n_metrics=1 \
		n_samples=1000000 workers=1 peak=1)" 1000 16384
fi
# libc's gethostid, which the library calls, asks the name service, and that may take long to say
# that it knows nothing.
mkdir "$T/host"
LD_DEBUG=bindings "$FIXTURE" otf2 "$T/host" 2>"$T/bindings"
unlike "no name server is asked about this host" "$(grep gethostid "$T/bindings")" \
	'to [^ ]*libc[.]so'

done_testing
