#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The profile for pprof: go tool pprof reads the sums, call paths and threads of the complete text;
# protoc knows every field; foreign names are valid strings; a failure leaves nothing behind.
. "${srcdir:-.}/tests/lib.sh"

GEN=$builddir/tests/gen/gen_measurement
FIXTURE=$builddir/tests/unit/sink/sink_fixture
JUDGE=$srcdir/tests/judge
need "${PYTHON3:-python3}" go
go tool pprof -h >"$T/help" 2>&1 || grep -q symbolize "$T/help" || skip_all "no go tool pprof"

# decode FILE: with the schema; a field that is not in it has a number for a name
decode() {
	gzip -dc "$1" | protoc -I "$JUDGE" --decode=judge.Profile pprof.proto >"$T/decoded" &&
		! grep -Eq '^ *[0-9]+[: ]' "$T/decoded"
}

# agree NAME DIRECTORY: two tests
agree() {
	rm -rf "$T/db"
	"$HPCPROF" -q --no-structs --to text,pprof --all -o "$T/db" "$2" >"$T/all" 2>"$T/err" ||
		fail "$1: written" "$(cat "$T/err")"
	ok "$1: the text and go tool pprof agree" \
		"$PYTHON3" "$JUDGE/compare_pprof.py" "$T/all" "$T/db/profile.pb.gz"
	if have protoc; then
		ok "$1: protoc knows every field" decode "$T/db/profile.pb.gz"
	else
		skip "$1: protoc knows every field" "no protoc here"
	fi
}
"$GEN" -n 150 -s 300 "$T/one"
agree "one thread" "$T/one"
"$GEN" -p 3 -t 2 -n 120 -s 150 -m 3 -r -b "$T/ranks"
agree "ranks and threads, three metrics" "$T/ranks"
"$GEN" -p 2 -t 2 -n 400 -s 300 -m 2 -b -l -w "$T/losses"
agree "guessed frames and partial call paths" "$T/losses"
more=$(thorough "" "prof/gpu-killed opencl-nvidia/paths")
for golden in prof/job prof/gpu $more forks python; do
	agree "$golden" "$srcdir/tests/golden/$golden"
done

# As a user sees it.
profile=$T/gpu/profile.pb.gz
"$HPCPROF" -q --no-structs --to pprof -o "$T/gpu" "$srcdir/tests/golden/prof/gpu"
pprof() { go tool pprof -symbolize=none "$@" "$profile" 2>&1; }
like "-top shows the first metric" "$(pprof -top)" '^Type: CPUTIME$'
like "... and its build id" "$(pprof -top)" '^Build ID: 1111111111111111111111111111111111111111$'
like "-peek shows callers" "$(pprof -sample_index=GKER -peek 'stencil')" '% \| +<gpu kernel>$'
like "inlined calls are marked" "$(pprof -sample_index=GINS -top)" 'fma_of \(inline\)$'
is "-traces has the way to a kernel" \
	"$(pprof -sample_index=GKER -traces | grep -A3 50us | head -4 | tr -s ' ' | tr '\n' ';')" \
	" 50us stencil; <gpu kernel>; synthetic::step_15(double*, int); main thread;"
like "-tags has ranks" "$(pprof -tags)" '^ +20[.]0ms \(50[.]00%\): 1$'
is "-tagfocus takes a rank" "$(pprof -tagfocus="rank=^1\$" -top | grep -c "Active filters")" 1

# The comparison can say no.
"$HPCPROF" -q --no-structs --to text --all "$srcdir/tests/golden/prof/gpu" |
	sed 's/^\(value	0	[0-9]*	0	0[.]00\)[0-9]/\19/' >"$T/changed"
not_ok "another value is seen" "$PYTHON3" "$JUDGE/compare_pprof.py" "$T/changed" "$profile"

mkdir "$T/quotes"
"$FIXTURE" pprof "$T/quotes" n_gpu_ops=5
like "bytes that are no UTF-8 are replaced" \
	"$(go tool pprof -symbolize=none -raw "$T/quotes/profile.pb.gz" 2>&1)" \
	'bad�� "quoted" \\name\\ '
if [ "$(id -u)" -eq 0 ] && mkdir "$T/full" &&
	mount -t tmpfs -o size=16k tmpfs "$T/full" 2>/dev/null; then
	at_exit "umount '$T/full'"
	"$FIXTURE" pprof "$T/full" n_extra=2000 2>"$T/err" && rc=0 || rc=$?
	is "a full file system is an error" "$rc" 1
	like "... with the file and the cause" "$(cat "$T/err")" \
		"^sink_fixture: $T/full/profile.pb.gz: No space left on device$"
	is "... and leaves nothing" "$(find "$T/full" -mindepth 1)" ""
else
	skip "a full file system" "needs root and mount"
fi
done_testing
