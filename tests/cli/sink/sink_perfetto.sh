#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The trace for Perfetto: protoc decodes every packet, and tracks, samples with their call paths,
# GPU operations with their arguments, and flows are those of the complete text. Foreign names are
# valid strings, memory does not grow with samples, and a failure leaves nothing behind.
. "${top_srcdir:-.}/tests/lib.sh"

GEN=$builddir/tests/gen/gen_measurement
FIXTURE=$builddir/tests/unit/sink/sink_fixture
JUDGE=$srcdir/tests/judge
need "${PYTHON3:-python3}" protoc

compare() { "$PYTHON3" "$JUDGE/compare_perfetto.py" "$@"; }

# agree NAME DIRECTORY...
agree() {
	name=$1
	shift
	rm -rf "$T/db"
	"$HPCPROF" -q --no-structs --to text,perfetto --all -o "$T/db" "$@" >"$T/all" \
		2>"$T/err" || fail "$name: written" "$(cat "$T/err")"
	# shellcheck disable=SC2086 # none or one
	ok "$name: the text and the trace agree" \
		compare $leaves "$T/all" "$T/db/trace.perfetto-trace"
}
leaves=
"$GEN" -n 150 -s 300 "$T/one"
agree "one thread" "$T/one"
"$GEN" -p 3 -t 2 -n 120 -s 150 -m 3 -r -b "$T/ranks"
agree "ranks and threads, three metrics" "$T/ranks"
"$GEN" -p 2 -t 2 -n 200 -s 150 -m 2 -b -l -w -g 150 "$T/losses"
agree "guessed frames, partial call paths, GPU operations" "$T/losses"
more=$(thorough "" "prof/job prof/killed prof/gpu-killed opencl-nvidia/paths")
for golden in prof/gpu $more forks; do
	agree "$golden" "$srcdir/tests/golden/$golden"
done
"$GEN" -p 2 -t 2 -S 2 "$T/again"
agree "processes and threads of the same numbers" "$T/ranks" "$T/again"
mkdir "$T/nvidia"
gzip -dc "$srcdir/tests/golden/nvidia/threads.hpcrun.gz" >"$T/nvidia/0-h-1.hpcrun"
ln -s "$srcdir/tests/golden/nvidia/gpubins" "$T/nvidia/gpubins"
agree "NVIDIA GPU, launches from several threads" "$T/nvidia"
"$HPCRUN" -q -o "$T/off" -e CPUTIME "$builddir/tests/workload/run/control" once >"$T/out" 2>&1
agree "measurement stopped and started" "$T/off"
like "... which is a slice" "$(compare "$T/all" "$T/db/trace.perfetto-trace")" \
	' [1-9][0-9]* times off, 0 differ$'
agree "below a function" --below main "$T/losses"
# holds TEXT...: whether the trace has it, each
holds() {
	"$PYTHON3" -c 'import sys
sys.path.insert(0, sys.argv[1])
from compare_perfetto import packets
print(*(text in packets(sys.argv[2]) for text in map(str.encode, sys.argv[3:])))' \
		"$JUDGE" "$T/db/trace.perfetto-trace" "$@"
}
is "... whose gaps are not called time without measurement" \
	"$(holds "not in the part" "measurement off")" "True False"
agree "a part" --rank 1 --time :50% "$T/ranks"
is "... is a label of its processes" \
	"$(holds "part of the run: rank 1; time :50% (" "not in the part")" "True False"
agree "a part of a run with GPUs" --time :45% "$srcdir/tests/golden/prof/gpu"
is "... and what had to be left out" "$(holds "left out, because they have no time line: ")" True
"$HPCRUN" -q -o "$T/python" -e CPUTIME "$PYTHON3" -c '
def burn(n):
    return sum(i * i for i in range(n))
burn(3000000)' >"$T/out" 2>&1
leaves=--leaves
agree "Python" "$T/python"

# fixture NAME ARGUMENTS...: of a hand-made model
fixture() {
	name=$1
	shift
	rm -rf "$T/db" && mkdir "$T/db"
	"$FIXTURE" text - all=1 "$@" >"$T/all"
	"$FIXTURE" perfetto "$T/db" "$@"
	ok "$name: the text and the trace agree" compare "$T/all" "$T/db/trace.perfetto-trace"
}
fixture "quotes, control characters and bytes that are no UTF-8" n_gpu_ops=50 n_samples=50
fixture "deep recursion" recursion=1000 n_samples=100 n_threads=1
fixture "no time lines" traces=0

# The comparison can say no.
trace=$T/gpu/trace.perfetto-trace
"$HPCPROF" -q --no-structs --to text,perfetto --all -o "$T/gpu" \
	"$srcdir/tests/golden/prof/gpu" >"$T/all"
for record in sample gpu-op; do
	by_name -v OFS='\t' -v r=$record '
		$1 == r && !n++ { $column[r, r == "sample" ? "time_ns" : "start_ns"]++ }
		{ print }' "$T/all" >"$T/changed"
	not_ok "another time of a $record is seen" compare "$T/changed" "$trace"
done
by_name -v OFS='\t' '$1 == "profile" && get("id") == 0 { $column[$1, "name"] = "other" }
	{ print }' "$T/all" >"$T/changed"
not_ok "another name of a thread is seen" compare "$T/changed" "$trace"

"$GEN" -t 2 -n 300 -s 40000 "$T/long"
"$HPCPROF" -q --no-structs --to perfetto -o "$T/long.db" "$T/long"
size=$(stat -c %s "$T/long.db/trace.perfetto-trace")
within "the trace in percent of a measurement of 80,000 samples" \
	"$((size * 100 / $(du -bs "$T/long" | cut -f1)))" 10 150
if grep -q '^HL_SANITIZE_CFLAGS = -' "$builddir/Makefile"; then
	skip "a long time line is written with little memory" "a sanitizer needs more"
else
	mkdir "$T/memory"
	within "a long time line is written with little memory (KiB)" \
		"$("$FIXTURE" perfetto "$T/memory" n_processes=1 n_threads=1 n_metrics=1 \
			n_samples=1000000 workers=1 peak=1)" 1000 10240
fi

if [ "$(id -u)" -eq 0 ] && mkdir "$T/full" &&
	mount -t tmpfs -o size=16k tmpfs "$T/full" 2>/dev/null; then
	at_exit "umount '$T/full'"
	"$FIXTURE" perfetto "$T/full" n_samples=100000 2>"$T/err" && rc=0 || rc=$?
	is "a full file system is an error" "$rc" 1
	like "... with the file and the cause" "$(cat "$T/err")" \
		"^sink_fixture: $T/full/trace.perfetto-trace: No space left on device$"
	is "... and leaves nothing" "$(find "$T/full" -mindepth 1)" ""
else
	skip "a full file system" "needs root and mount"
fi
done_testing
