#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measurement files that are on the node while their processes run: every end of a process has its
# file copied, or leaves it where --collect finds it. Whatever the measurement directory is on.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"
storage_as_user

# needs: run_life
measure --local "$NODE" -- sh -c "'$LIFE' wander 0.2; exit 7"
is "the status is the program's" "$status" 7
collected "the files are copied"
sound "they are sound"
is "all processes are there" "$(n_processes)" 2
is "the directory on the node is removed" "$(ls "$NODE")" ''
like "the report counts all processes" "$(cat "$T/stderr")" ': 2 processes, 2 threads, '

# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c 'exec sh -c "exec sh -c \"exit 5\""'
is "a chain of programs: status" "$status" 5
collected "a chain of programs: the files are copied"
sound "a chain of programs: they are sound"
is "a chain of programs: all are there" "$(n_processes)" 3

measure --local "$NODE" -- sh -c 'exec /no/such/program'
is "an exec that fails: status" "$status" 127
collected "an exec that fails: the file is copied"
sound "an exec that fails: it is sound"

# A job at its time limit.
# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c 'kill -TERM $$'
is "SIGTERM: status" "$status" 143
collected "SIGTERM: the file is copied"
sound "SIGTERM: it is sound" -k

# Children of fork that outlive the process whose file they use: two that end, one that gets a file
# of its own, later.
# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '
	until [ -e "'"$T/go"'" ]; do :; done &
	(until [ -e "'"$T/go"'" ]; do :; done; i=0; while [ $i -lt 20 ]; do i=$((i + 1)); done) &
	exit 3'
is "children that outlive their parent: status" "$status" 3
is "children that outlive their parent: the file is kept for them" "$(waiting)" 0
within "children that outlive their parent: on the node" "$(on_node)" 1 3
: >"$T/go"
collected "children that outlive their parent: the files are copied again"
sound "children that outlive their parent: they are sound"
is "children that outlive their parent: all are there, once" \
	"$(awk '$1 == "pid"' "$T/values" | sort | uniq -d | wc -l) $(value live)" "0 0"

# ---- killed ----

# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '"$0" spin 0.2; kill -KILL $$' "$LIFE"
is "SIGKILL: status" "$status" 137
is "SIGKILL: the data are on the node" "$(on_node) $(waiting)" "1 1"
"$HPCPROF" --to text --by thread "$OUT" >"$T/text" 2>&1
like "SIGKILL: hpcprof-lite reads them there" "$(cat "$T/text")" '^  2 processes on '
sed -i 's/^host .*/host elsewhere/' "$(grep -l '^host ' "$OUT"/*.hpcrun)"
"$HPCPROF" --to text --by thread "$OUT" >"$T/text" 2>&1
like "another node's: hpcprof-lite says where they are" "$(cat "$T/text")" \
	'its data are still on elsewhere \(/.*/node/hpcrun-lite-.*\); run hpcrun-lite --collect there$'
like "another node's: ... and shows the rest" "$(cat "$T/text")" '^  1 process on '
rc=0
"$HPCRUN" --collect "$OUT" >"$T/text" 2>&1 || rc=$?
like "another node's: --collect says so" "$(cat "$T/text")" \
	'^hpcrun-lite: .*/out: warning: the data of 1 file are on elsewhere \(/.*\); run hpcrun-lite --collect there$'
is "another node's: --collect fails" "$rc" 1
sed -i "s/^host .*/host $(uname -n)/" "$(grep -l '^host ' "$OUT"/*.hpcrun)"
rc=0
"$HPCRUN" --collect "$OUT" >"$T/text" 2>&1 || rc=$?
like "--collect copies them" "$rc $(cat "$T/text")" \
	'^0 hpcrun-lite: .*/out: 1 file copied from this node, [0-9]+ bytes$'
collected "--collect: nothing is left"
sound "--collect: the files are sound" -k
is "--collect: the directory on the node is removed" "$(ls "$NODE")" ''

# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '"$0" spin 5 & sleep 0.3; kill -KILL $!; wait; exit 0' "$LIFE"
is "a killed child: its data are on the node" "$(on_node) $(waiting)" "1 1"
like "a killed child: the report says so" "$(cat "$T/stderr")" \
	'/out \(1 file is still on this node; see hpcrun-lite --collect\)$'
"$HPCRUN" --collect "$OUT" >"$T/text" 2>&1
collected "a killed child: --collect copies them"

(
	cd "$T" && exec "$HPCRUN" -q -o "$OUT-gone" --local "$NODE" sh -c \
		"rm -rf '$OUT-gone'; exit 4"
) >"$T/stdout" 2>"$T/stderr"
is "the directory is removed: status" "$?" 4
like "the directory is removed: the user is told" "$(cat "$T/stderr")" \
	'-gone: cannot copy the measurement of process [0-9]+ there; it is in .* on .*; fetch it there with hpcrun-lite --collect .*-gone$'
rm -rf "${NODE:?}"/*

# ---- no room, no rights ----

mkdir "$T/foreign"
(cd "$T" && "$HPCRUN" -q -o "$T/f" --local "$T/foreign" true)
key=$(cd "$T" && "$HPCRUN" -v -o "$T/f" --local "$T/foreign" true 2>&1 |
	sed -n 's/.*by way of .*\/\(hpcrun-lite-[^ ]*\)$/\1/p')
like "-v says where the data are" "$key" '^hpcrun-lite-[0-9]+-[0-9a-f]{16}$'
ln -s /tmp "$T/foreign/$(cd "$T" && "$HPCRUN" -v -o "$T/g" --local "$T/foreign" true 2>&1 |
	sed -n 's/.*by way of .*\/\(hpcrun-lite-[^ ]*\)$/\1/p')"
rm -rf "$T/g"
rc=0
"$HPCRUN" -o "$T/g" --local "$T/foreign" true 2>"$T/stderr" || rc=$?
is "a directory of that name that is not ours" "$rc $(cat "$T/stderr")" \
	"1 hpcrun-lite: $T/foreign: cannot keep the measurement here while the program runs (Operation not permitted); choose another directory with --local"

measure --local none -- true
is "--local none" "$(od -An -c -N 7 "$OUT"/*.hpcrun | tr -d ' ')" HPCRUNL

if [ -n "${STORAGE_SMALL:-}" ]; then
	NODE=$STORAGE_SMALL
	measure --local "$NODE" -e CPUTIME@f5000 -- "$LIFE" threads 120 0.005
	is "little room on the node: status" "$status" 0
	collected "little room on the node: the file is copied"
	sound "little room on the node: the rest went to the directory"
	is "little room on the node: nothing is lost" \
		"$(value lost-no-space) $(value lost-trace)" "0 0"
	within "little room on the node: more than was there" \
		"$(wc -c <"$(ls "$OUT"/*.hpcrun)")" 100000 100000000
else
	skip "little room on the node" "no right to mount"
fi

done_testing
