#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A measurement directory on a file server that becomes slow, full, bad or silent while the program
# runs. FUSE stands for the server: the program does not wait for it, and nothing is lost.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"
storage_as_user

serve served || skip_all "$reason"
OUT=$T/served/out
TMPDIR=$NODE
export TMPDIR

# turns_bad NAME WORD: a program during which that server begins to do WORD
turns_bad() {
	echo "echo '$2' >'$T/$1.word'; i=0; while [ \$i -lt 200000 ]; do i=\$((i + 1)); done"
}
# served WORD [LAUNCHER OPTIONS]: measures it.
served() {
	storage_word=$1
	shift
	echo ok >"$T/served.word"
	measure "$@" -e CPUTIME@f1000 -- sh -c "$(turns_bad served "$storage_word")"
}

# The helper waits for the server, the program for 10 s: meanwhile we go on with another server.
serve silent || skip_all "$reason"
mkdir "$T/silent.node"
TMPDIR=$T/silent.node run_limited 120 "$HPCRUN" -o "$T/silent/out" -e CPUTIME@f1000 -- \
	sh -c "$(turns_bad silent hang)" >"$T/silent.stdout" 2>"$T/silent.stderr" &
silent=$!

served ok -v
like "the node's directory is chosen by the file system" "$(cat "$T/stderr")" \
	'measuring .* into .*/served/out, by way of .*/node/hpcrun-lite-'
collected "the files are copied"
sound "they are sound"
made=$(sed -n 's/^create .*[.]\(hpcrun\|so\)$/\1/p' "$T/served.log" | sort | uniq -c |
	tr -s ' \n' ' ')
is "the server makes one file, and one for the vDSO" "$made" ' 1 hpcrun 1 so '

# Each write takes 50 ms there.
served slow
is "slow: status" "$status" 0
sound "slow: the files are sound"

for word in eio enospc; do
	served $word
	is "$word: status" "$status" 0
	is "$word: the data stay on the node" "$(on_node)" 1
	like "$word: the user is told" "$(cat "$T/stderr")" \
		'/served/out: cannot copy the measurement of process [0-9]+ there; it is in .*/node/hpcrun-lite-[0-9]+-[0-9a-f]+ on .*; fetch it there with hpcrun-lite --collect .*/served/out$'
	like "$word: no sample is lost" "$(cat "$T/stderr")" ' samples, 0 lost, '
	rc=0
	"$HPCRUN" --collect "$OUT" >"$T/text" 2>&1 || rc=$?
	is "$word: --collect fails as long as the server does" "$rc" 1
	like "$word: ... and says so" "$(cat "$T/text")" \
		'^hpcrun-lite: .*/served/out/.*\.hpcrun: cannot copy the measurement \((Input/output error|No space left on device)\)$'
	echo ok >"$T/served.word"
	"$HPCRUN" --collect "$OUT" >"$T/text" 2>&1
	collected "$word: then it copies them"
	sound "$word: the files are sound"
done

TMPDIR=$T/served measure -v -- true
like "TMPDIR on a file server: another place is chosen" "$(cat "$T/stderr")" \
	', by way of /(var/tmp|dev/shm)/hpcrun-lite-'
measure --local none -- true
is "--local none: the file is where it was asked for" \
	"$(od -An -c -N 7 "$OUT"/*.hpcrun | tr -d ' ')" HPCRUNL

# What was written is in memory and cannot reach the server.
measure --local none -- sh -c "echo eio >'$T/served.word'; sync '$OUT'/*.hpcrun; exit 3"
is "--local none, eio: status" "$status" 3
like "--local none, eio: the user is told" "$(cat "$T/stderr")" \
	'/served/out/.*[.]hpcrun: the file system has failed \(input/output error\); the measurement of process [0-9]+ may not be on the disk$'
echo ok >"$T/served.word"

# ---- the silent server ----

status=0
wait $silent || status=$?
OUT=$T/silent/out NODE=$T/silent.node
is "silent: status" "$status" 0
like "silent: the user is told" "$(cat "$T/silent.stderr")" \
	'/silent/out: copying the measurement of process [0-9]+ there takes longer than 10 s and goes on without the program; if it is stopped, the data are in .*/silent[.]node/hpcrun-lite-[0-9]+-[0-9a-f]+ on .*; fetch it there with hpcrun-lite --collect .*/silent/out$'
like "silent: the report says that it may be without other files" "$(cat "$T/silent.stderr")" \
	'^hpcrun-lite: read it with hpcprof-lite .*/silent/out \(files that were already copied are not counted\)$'
is "silent: the data are on the node" "$(on_node)" 1
echo ok >"$T/silent.word"
collected "silent: when the server answers, they are copied"
sound "silent: they are sound"

done_testing
