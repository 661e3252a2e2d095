#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Kernels of NCCL in all outputs, of measurements whose truth tests/gen/gen_nccl.h says: times by
# rank, and who came last to collective operations, where it can be told.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/judge/browser.sh"
unset COLUMNS NO_COLOR
LC_ALL=C.UTF-8
export LC_ALL

# job NAME [PARAMETER...]: a measurement
job() {
	name=$1
	shift
	"$builddir/tests/gen/gen_nccl_main" "$T/$name" "$@" || exit 99
}
# report NAME OPTION...: of the measurement
report() {
	name=$1
	shift
	"$HPCPROF" -q --no-structs --to text "$@" "$T/$name" \
		2>"$T/err" || fail "$name: status" "$(cat "$T/err")"
}
section() { report "$@" | sed -nE '/^NCCL/,/^[A-KO-Z]|^Modules/p' | sed '$d;s/ *$//'; }

job two
section two >"$T/got"
cat >"$T/wanted" <<'END'
NCCL: 72.00 ms in 48 kernels, 45.0% of the time of the GPUs, 11.1% of it hidden by other kernels
     NCCL  share   exposed   compute      idle    waited  was last
 38.00 ms  47.5%  32.00 ms  31.84 ms  12.16 ms   6.00 ms         2  rank 0
 34.00 ms  42.5%  32.00 ms  31.84 ms  12.16 ms   2.00 ms         6  rank 1

  In 16 operations kernels waited 8.00 ms for the last rank, most often for rank 1: in 6
   8.00 ms  in 8 AllReduce at train.c:20 in step
   6.00 ms    last in 75.0% of them, 1.00 ms behind, 1.00 ms at most: rank 1
   2.00 ms    last in 25.0% of them, 1.00 ms behind, 1.00 ms at most: rank 0

END
same "the section of the report" "$T/got" "$T/wanted"

# ---- of many ranks the one that is most often late is among those that are shown

job many n_ranks=30 late=22
is "of many ranks some are shown, and the slowest" \
	"$(section many | sed -n 's/.*  \(rank [0-9]*\)$/\1/p;s/^ *\(\.\.\. .*\)/\1/p' |
		head -n 26 | tail -n 7 | tr '\n' ',')" \
	"rank 19,rank 22,... 5 more ...,rank 26,rank 27,rank 28,rank 29,"

# ---- every output has the same numbers

report two --all | by_name '$1 == "nccl-device" {
	print get("process"), get("device"), get("elapsed_ns"), get("nccl_ns"), get("compute_ns"),
	get("overlap_ns"), get("copy_ns"), get("idle_ns"), get("kernels"),
	get("operations"), get("waited_ns"), get("last") }' >"$T/devices"
is "--all: devices" "$(cat "$T/devices")" \
	"0 0 80000000 38000000 31840000 6000000 4000000 12160000 24 16 6000000 2
1 1 80000000 34000000 31840000 2000000 4000000 12160000 24 16 2000000 6"
is "--all: who came last, and where" \
	"$(report two --all | by_name '$1 == "nccl-late" {
		print get("rank"), get("operations"), get("waited_ns"), get("behind_ns"),
		get("most_behind_ns"), get("place") }')" \
	"1 6 6000000 6000000 1000000 /src/train.c:20
0 2 2000000 2000000 1000000 /src/train.c:20"
"$HPCPROF" -q --no-structs --to json -o "$T/db" "$T/two" >"$T/out" 2>&1 ||
	fail "the outputs" "$(cat "$T/out")"
if have jq; then
	is "json: devices" "$(jq -r '.nccl.devices[] | [.process, .device, .elapsed_ns, .nccl_ns,
		.compute_ns, .overlap_ns, .copy_ns, .idle_ns, .kernels, .operations, .waited_ns,
		.last] | join(" ")' "$T/db/profile.json")" "$(cat "$T/devices")"
	is "json: who came last" "$(jq -r '. as $p | .nccl.sites[] | .last[] |
		[$p.processes[$p.profiles[.profile].process].rank, .operations, .waited_ns,
		$p.contexts[.context].line] | join(" ")' "$T/db/profile.json")" "1 6 6000000 20
0 2 2000000 20"
	is "json: queues that belong together" \
		"$(jq -c '.nccl.communicators' "$T/db/profile.json")" \
		'[{"kernels":24,"operations":16,"queues":[1,3]}]'
else
	skip "json" "no jq here"
fi
if have sqlite3 && "$HPCPROF" -q --no-structs --to sqlite -o "$T/sql" "$T/two" 2>"$T/err"; then
	is "sqlite: devices" "$(sqlite3 -separator ' ' "$T/sql/profile.sqlite" \
		'SELECT * FROM nccl_device')" "$(cat "$T/devices")"
	is "sqlite: who came last" "$(sqlite3 -separator ' ' "$T/sql/profile.sqlite" \
		'SELECT p.rank, l.operations, l.waited_ns, s.operation, c.line FROM nccl_late l
		JOIN nccl_site s ON s.id = l.site JOIN profile r ON r.id = l.profile
		JOIN process p ON p.id = r.process JOIN context c ON c.id = l.context')" \
			"1 6 6000000 AllReduce 20
0 2 2000000 AllReduce 20"
else
	skip "sqlite" "no sqlite3 here, or built without it"
fi
if [ -n "$browser" ]; then
	# the same with CPU time, of which rank 1 needs 80 ms, the other one 40 ms
	job cpu n_samples=40
	"$HPCPROF" -q --no-structs --to html -o "$T/page" "$T/cpu" >"$T/out" 2>&1
	browse nccl "$T/page/report.html" >"$T/checks" || fail 'the browser ends well' \
		"$(tail -n 3 "$T/err")"
	is 'html: all checks ran' "$(grep -c . "$T/checks")" 7
	while read -r line; do
		case $line in
		ok*) ok "${line#ok }" true ;;
		*) fail "${line#not ok }" ;;
		esac
	done <"$T/checks"
else
	skip "html" 'no chromium, its driver or python3-selenium here'
fi

# ---- which queues belong together

job groups n_ranks=4 n_groups=2
is "groups: ranks 0 and 2, and ranks 1 and 3" \
	"$(report groups --all | by_name '
		$1 == "nccl-comm" { printf "%s%s", end, get("kernels"); end = "\n" }
		$1 == "nccl-queue" { printf " %s", get("queue") }')" "24 1 5
24 3 7"
section groups >"$T/got"
like "groups: who came last" "$(cat "$T/got")" 'for rank 2: in 6$'

job gpus in_one_process=1
like "GPUs of one process have names of their own" "$(section gpus)" 'pid 100, GPU 1$'

job order other_order=1
section order >"$T/got"
like "another order of operations: there is no counterpart" "$(cat "$T/got")" \
	'^  48 kernels have no counterpart that is known on another GPU: doc/nccl.md$'
is "... and nobody came last" "$(grep -c 'last rank' "$T/got")" 0

# ---- parts, and nothing

section two --rank 1 >"$T/got"
like "--rank: the times of one" "$(cat "$T/got")" '^ 34.00 ms .* rank 1$'
like "... without a counterpart" "$(cat "$T/got")" '24 kernels have no counterpart'
like "--time: half of the operations" "$(section two --time 50%:)" 'In 8 operations kernels waited'

job none none=1
is "without a kernel of NCCL nothing appears" "$(report none | grep -c NCCL)" 0
is "... in --all neither" "$(report none --all | grep -c nccl)" 0

# ---- a recording of two GPUs, against the program's own clocks (tests/golden/nccl)

mkdir "$T/m-late"
for file in "$srcdir"/tests/golden/nccl/*.gz; do
	name=${file##*/}
	gzip -dc "$file" >"$T/m-late/${name%.gz}"
done
cp "$srcdir/tests/golden/nccl/job" "$T/m-late"
cp "$srcdir/tests/golden/nccl/late.out" "$T/out-late"
cd "$T" || exit 99
. "$srcdir/tests/gpu/truth.sh"
. "$srcdir/tests/gpu/nccl/nccl.sh"
analysed late
check_nccl late
is "all bounds were looked at" "$(grep -c '^bound' out-late)" 28

done_testing
