#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Children of fork that record little need no file: they are in their parent's.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# kinds: how the processes ended, in order.
kinds() {
	sed -n 's/^exit_kind //p' "$T/values" | sort | uniq -c |
		awk '{ printf "%s of %s; ", $1, $2 }'
}

for _ in 1 2 3; do # a child that a busy machine keeps waiting may get a file
	measure -- "$LIFE" small-forks 20
	[ "$(n_files)" -gt 1 ] || break
done
is "children that end at once: exit status" "$status" 0
sound "they are recorded"
is "each of them, and their children" "$(n_processes)" 31
is "in one file" "$(n_files)" 1
is "with how they ended" "$(kinds)" "21 of 1; 10 of 2; "
is "and a thread each" "$(value threads)" 31
like "the line at the end counts them" "$(cat "$T/stderr")" \
	'^hpcrun-lite: 31 processes, 31 threads, '
"$HPCPROF" -o "$T/db" "$OUT" >"$T/report" 2>"$T/err"
is "hpcprof-lite reads them" $? 0
like "as processes" "$(cat "$T/report")" '^  31 processes on '
is "and has nothing to warn of" "$(grep -c warning "$T/err")" 0

# Of many, too: their slabs are more than a reader with a bound of reads would come to.
many=$(thorough 0 16000)
if [ "$many" -gt 0 ]; then
	measure -- "$LIFE" small-forks "$many"
	like "the line at the end counts $many of them" "$(tr -d , <"$T/stderr")" \
		"^hpcrun-lite: $((many * 3 / 2 + 1)) processes "
fi

measure -- "$LIFE" lone-forks wander
is "a child that records much: exit status" "$status" 0
sound "is recorded"
is "in a file of its own" "$(n_files) $(n_processes)" "2 2"
weights_fit "without loss" 2 50

measure -- "$LIFE" lone-forks killed
is "a child that is killed: exit status" "$status" 0
sound "is recorded" -k
is "with no word of its end" "$(n_files): $(kinds)" "1: 1 of 0; 1 of 1; "

measure -- sh -c "'$LIFE' exec-fails; (cd / && exec '$LIFE' spin 0.1)"
sound "children that start another program are recorded"
weights_fit "with what that program does" 3 50

# Once it is another user, or elsewhere, a process cannot make its file any more.
if [ "$(id -u)" -eq 0 ]; then
	for what in user user-by-number user-of-files root; do
		chmod 755 "$T"
		measure -- "$LIFE" lone-forks $what
		is "a child in another $what: exit status" "$status" 0
		sound "is recorded"
		is "in a file of its own" "$(n_files)" 2
		weights_fit "without loss" 2 50
	done
else
	skip "a child that becomes another user" "needs root"
fi
done_testing
