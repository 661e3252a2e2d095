#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every process is recorded, however it came about and however it ends.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# mode STATUS PROCESSES EXIT_KINDS NAME ARGUMENTS...
mode() {
	want=$1 processes=$2 kinds=$3
	shift 3
	measure -- "$LIFE" "$@"
	is "$1: exit status" "$status" "$want"
	sound "$1: files are sound" "${flag:-}"
	is "$1: number of processes" "$(n_processes)" "$processes"
	is "$1: how they ended" "$(sed -n 's/^exit_kind //p' "$T/values" | sort | tr '\n' ' ')" \
		"$kinds"
}

mode 0 4 "1 1 1 1 " forks 3
weights_fit "forks: all CPU time is sampled" 7 50
is "forks: children have threads" "$(value threads)" 7
mode 0 2 "1 1 " thread-forks
# The child of _Fork is found when it makes a thread.
mode 0 3 "1 2 2 " bare-forks
mode 0 1 "1 " denied-forks
mode 0 6 "1 2 2 2 2 2 " vforks
mode 8 1 "2 " quick_exit
mode 9 1 "2 " _exit
mode 0 2 "1 3 " exec "$LIFE" spin 0.1
mode 0 1 "1 " exec-fails
weights_fit "exec-fails: sampling goes on" 7 50
flag=-k
mode 134 1 "4 " abort
mode 139 1 "4 " fault
flag=

# The library's constructor comes before ours, and so does what it does in a child.
measure -- env LD_PRELOAD="$CONSTRUCTOR" "$LIFE" forks 1
is "a thread made by a handler of fork: exit status" "$status" 0
sound "a thread made by a handler of fork: files are sound"
is "a thread made by a handler of fork: each process, and env" "$(n_processes)" 3

measure -- sh -c "'$LIFE' spin 0.1; ('$LIFE' spin 0.1 | cat); exec '$LIFE' spin 0.1"
is "a shell script: exit status" "$status" 0
sound "a shell script: files are sound"
weights_fit "a shell script: the programs are sampled" 5 50
is "two lines are printed" "$(wc -l <"$T/stderr" | tr -d ' ')" 2
like "the line says what was measured" "$(cat "$T/stderr")" \
	'^hpcrun-lite: [0-9]+ processes, [0-9]+ threads, [0-9]+ samples, [0-9]+ lost.*, 0 truncated stacks, [0-9.]+% of CPU time in handlers$'
like "the last line is the command that reads it" "$(tail -n 1 "$T/stderr")" \
	'^hpcrun-lite: read it with hpcprof-lite /[^ ]*/out$'
is "the line sums over all processes" \
	"$(sed -n 's/.*threads, \([0-9]*\) samples.*/\1/p' "$T/stderr")" "$(value recorded)"

measure -v -- "$LIFE" spin 0.1
like "-v prints a table" "$(cat "$T/stderr")" '^  samples delivered +[0-9]+$'
measure -q -- "$LIFE" spin 0.1
is "-q prints nothing" "$(cat "$T/stderr")" ""
measure --no-trace -- "$LIFE" spin 0.1
sound "--no-trace: files are sound"
is "--no-trace: no time line" "$(value trace)" 0
done_testing
