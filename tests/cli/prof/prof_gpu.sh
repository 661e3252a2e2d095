#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite on GPU measurements: the text of golden synthetic jobs letter by letter, sums of the
# complete text, and what the run time writes for a vendor that does not exist. prof_gpu.sh --accept
# writes the expected text anew.
. "${srcdir:-.}/tests/lib.sh"

golden=$(cd "$srcdir/tests/golden/prof" && pwd -P)
accept=no
[ "${1:-}" = --accept ] && accept=yes
unset COLUMNS NO_COLOR

# expect NAME COMMAND...: standard output equals golden/NAME.txt
expect() {
	name=$1
	shift
	"$@" >"$T/raw" 2>"$T/err" || fail "$name: status $?"
	sed "s|$golden|GOLDEN|g" "$T/raw" >"$T/out"
	if [ $accept = yes ]; then cp "$T/out" "$golden/$name.txt"; fi
	same "$name as expected" "$T/out" "$golden/$name.txt"
}

cd "$golden" || exit 99
for m in gpu gpu-killed; do
	expect $m-text env LC_ALL=C.UTF-8 "$HPCPROF" --no-structs --to text $m
	"$HPCPROF" --no-structs --to text --all $m >"$T/all-$m" 2>"$T/err"
	is "$m: nothing to complain of" "$(grep -c . "$T/err")" 0
	expect $m-sums by_name "$(cat "$srcdir/tests/cli/prof/sums.awk")" "$T/all-$m"
	"$HPCPROF" --no-structs --to text --all -j 3 $m >"$T/j3" 2>&1
	same "$m: the number of workers changes nothing" "$T/j3" "$T/all-$m"
	ok "$m: database and trace" "$HPCPROF" -q --no-structs --to \
		"${OUTPUTS#text,}" -o "$T/$m-db" $m
done

# the order in which directories are named changes nothing
mkdir "$T/a" "$T/b"
cp -r gpu/0-* gpu/structs "$T/a"
cp -r gpu/1-* gpu/structs "$T/b"
"$HPCPROF" --no-structs --to text --all "$T/a" "$T/b" >"$T/ab" 2>"$T/err"
"$HPCPROF" --no-structs --to text --all "$T/b" "$T/a" >"$T/ba" 2>"$T/err"
same "two directories in either order" "$T/ab" "$T/ba"
sed "s|$T/[ab]|gpu|g" "$T/ab" >"$T/ab.out"
sed "s|$golden/||g" "$T/all-gpu" >"$T/gpu.out" # code objects
same "and it is the job" "$T/ab.out" "$T/gpu.out"
# What tests/gen/gen_gpu.c puts into it: 2 x 2 threads with 20 operations each.
is "gpu: operations that threads launched" "$(by_name '
	$1 == "gpu-kind" && get("of") == "all" { n += get("launched") }
	END { print n }' "$T/all-gpu")" 108
is "gpu: every line has as many fields as names" "$(awk -F '\t' '
	/^# / { if (NF > 1) n[substr($1, 3)] = NF; next }
	NF != n[$1] && !($1 == "thread" && NF > n[$1]) { print $1; exit }' "$T/all-gpu")" ""

# nothing but a GPU was asked for, and it was not used
"$builddir/tests/gen/gen_measurement" -s 0 -m 0 -n 16 --event gpu=opencl "$T/none"
is "nothing measured: status" "$("$HPCPROF" --to text "$T/none" 2>"$T/err" >/dev/null; echo $?)" 1
like "nothing measured: why" "$(cat "$T/err")" \
	'no CPU event was asked for, and opencl saw no operation \(the program did not use it\)$'

FAKE=$builddir/tests/workload/gpu/gpu_fake
BACKEND=$builddir/tests/workload/gpu/.libs/gpu_fake_backend.so
LIBRARY=$builddir/.libs/libhpcrun-lite.so
if [ -n "${SANITIZER:-}" ]; then # the rest preloads the run time
	done_testing
	exit
fi

# fake BYTES MODE NUMBERS...: measures it as the launcher would for "-e CPUTIME -e gpu=fake"
fake() {
	rm -rf "$T/run"
	mkdir "$T/run"
	bytes=$1
	shift
	# shellcheck disable=SC2016 # expands in the inner shell
	run_limited 60 sh -c '
		dir=$1 library=$2 bytes=$3
		shift 3
		LD_PRELOAD=$library HPCTOOLKIT_LITE="1;dir=$dir;lib=$library;pid=$$;say=1;trace=1;gpubytes=$bytes;event=CPUTIME,1,1,0,0,1000000,0,0;gpu=fake,an option" exec "$@"' \
		sh "$T/run" "$LIBRARY" "$bytes" "$FAKE" "$BACKEND" "$@" >"$T/stdout" \
		2>"$T/stderr" || : # some are killed
	"$HPCPROF" -q --to text --all "$T/run" >"$T/all" 2>"$T/err" ||
		fail "hpcprof-lite: status $?"
}
launched() {
	by_name '$1 == "gpu-kind" && get("of") == "all" { n += get("launched") } END {
		print n + 0 }' "$T/all"
}

lots=1073741824
fake $lots basic 1000
is "a vendor: launches" "$(launched)" 3000
like "a vendor: the ledger closes" "$(cat "$T/all")" '^gpu-closes	1$'
is "a vendor: nothing to complain of" "$(grep -vc 'structure' "$T/err")" 0
like "a vendor: kernels at the line of their definition" "$(cat "$T/all")" \
	'^function	[0-9]+	[0-9]+	[0-9]+	2	.*	second	'
is "a vendor: each below its call" "$(by_name '$1 == "tree" && get("metric") == "GPUOP (sec)" &&
	get("kind") == "function" { printf "%s ", get("name") }' "$T/all" | sed 's/.* basic //')" \
	"launch_from_a launch <gpu kernel> first launch_from_b launch <gpu kernel> second launch <gpu copyin> "
fake 65536 by_id 20000 4294960000
is "ids over the wrap, then summed up: launches" "$(launched)" \
	"$(sed -n 's/^launches //p' "$T/stdout")"
like "ids over the wrap, then summed up: the ledger closes" "$(cat "$T/all")" '^gpu-closes	1$'
fake 0 basic 1000
is "all summed up: launches" "$(launched)" 3000
like "all summed up: the ledger closes" "$(cat "$T/all")" '^gpu-closes	1$'
for mode in 'threads 4 2000' 'storm 4 3' 'unseen 300' 'forks 100 50' 'end:noexec 100' \
	'end:handler 100' 'end:kill 1000'; do
	# shellcheck disable=SC2086 # words
	fake $lots $mode
	like "$mode: the ledger closes" "$(cat "$T/all")" '^gpu-closes	1$'
done
# launches that nobody ever speaks of again, in a process that ends in order: the difference is
# stated
fake $lots busy 30
lost=$(sed -n 's/^launches //p' "$T/stdout")
is "forgotten launches: the ledger says how many" \
	"$(by_name '$1 == "gpu-ledger" && get("of") == "all" {
		print get("unexplained") }' "$T/all")" "$lost"
like "forgotten launches: it does not close" "$(cat "$T/all")" '^gpu-closes	0$'
done_testing
