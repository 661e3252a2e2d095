#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What is copied from the node, and what is removed there: only what is proved to be ours, complete
# and of a process that has ended. And what the program sees of it: nothing.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"

storage_as_user
ENDS=$T/ends
${CC:-cc} -O1 -pthread -o "$ENDS" "$srcdir/tests/workload/storage/ends.c" >"$T/cc" 2>&1 ||
	skip_all "ends.c cannot be built"
host=$(uname -n)

# collect DIRECTORY...: the status in $rc, what was said in $T/text
collect() {
	rc=0
	TMPDIR=$NODE "$HPCRUN" --collect "$@" >"$T/text" 2>&1 || rc=$?
}

# begun: a process writes to a file of the node.
begun() {
	for turn in $(seq $((10 * tap_patience))); do
		! grep -q '^HPCRUNL' "$NODE"/*/*.hpcrun 2>/dev/null || break
		sleep 0.1
	done
}

# ---- ends beside starts ----

measure --local "$NODE" -- sh -c 'seq 300 | xargs -P 8 -n 1 /bin/true'
is "many that start and end: status" "$status" 0
collected "many that start and end: all are copied"
bad=0
for file in "$OUT"/*.hpcrun; do
	[ "$(head -c 7 "$file")" = HPCRUNL ] || bad=$((bad + 1))
done 2>/dev/null
is "many that start and end: no file without a header" "$bad" 0

# ---- what the program sees ----

measure --local "$NODE" -- "$ENDS" adopt
is "a program that adopts orphans gets none of ours" "$(cat "$T/stdout")" "status 5"
collected "... and the files are copied"

# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c 'exec 0<&- 1>&-; exit 6'
is "standard descriptors closed" "$status $(grep -c 'cannot copy' "$T/stderr")" "6 0"
collected "standard descriptors closed: the file is copied"

measure --local "$NODE" -- "$ENDS" full
is "no free descriptor" "$status $(grep -c 'cannot copy' "$T/stderr")" "0 0"
collected "no free descriptor: the file is copied"

measure --local "$NODE" -- "$ENDS" ignore
is "SIGCHLD is ignored" "$status $(grep -c 'cannot copy' "$T/stderr")" "0 0"
collected "SIGCHLD is ignored: the file is copied"

# The copy has to wait for a lock, the process must not: its other threads would run on.
rm -f "$T/go" "$T/locked"
(
	until set -- "$NODE"/*/*.hpcrun && [ -e "$1" ]; do sleep 0.1; done
	exec flock -o "$1" sh -c ": >'$T/locked'; until [ -e '$T/go' ]; do sleep 0.1; done"
) &
locker=$!
measure --local "$NODE" -- "$ENDS" fault "$T/written" "$T/locked"
is "a fault: status" "$status" 139
# Each write comes 1 ms or more after the last one. Waiting for the copy took 10 s.
within "a fault: what another thread wrote after it" \
	"$(($(wc -c <"$T/written") - $(cat "$T/stdout")))" 0 2000
is "a fault: the file is on the node" "$(on_node) $(waiting)" "1 1"
: >"$T/go"
wait $locker
collected "a fault: the files are copied when the process has gone"
sound "a fault: they are sound" -k

# ---- an exec that fails, when the maker of the file has ended ----

measure --local "$NODE" -- "$ENDS" exec 0.2
for turn in 1 2 3 4 5 6 7 8 9 10; do
	[ ! -s "$T/stdout" ] || break
	sleep 0.5
done
collected "an exec that fails in a child that goes on: the file is copied"
sound "an exec that fails in a child that goes on: it is sound"
weights_fit "an exec that fails in a child that goes on: nothing is lost" 3 100
within "an exec that fails in a child that goes on: its CPU time" "$(value cpu_ns)" \
	"$(($(cat "$T/stdout") / 10 * 9))" "$(($(cat "$T/stdout") / 10 * 12 + 100000000))"

# ---- children that outlive the process whose file they use ----

# settled FILES: the child has ended and all files are copied.
settled() {
	for turn in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		[ "$(n_files) $(on_node) $(waiting)" != "$1 0 0" ] || break
		sleep 0.3
	done
}

measure --local "$NODE" -- "$ENDS" become 0.1
settled 2
collected "an exec in a child that goes on: the files are copied"
sound "an exec in a child that goes on: they are sound"
is "an exec in a child that goes on: all are there" "$(n_processes) $(value live)" "3 0"

measure --local "$NODE" -- "$ENDS" thread 0.2
settled 2
collected "a child that gets a file of its own: the files are copied"
sound "a child that gets a file of its own: they are sound"
is "a child that gets a file of its own: all are there, once" \
	"$(n_processes) $(awk '$1 == "pid"' "$T/values" | sort | uniq -d | wc -l)" "2 0"

measure --local "$NODE" -- "$ENDS" late 0.2
settled 1
collected "a child that begins when its parent has ended: the file is copied"
sound "a child that begins when its parent has ended: it is sound"
is "a child that begins when its parent has ended: its data are there" "$(n_processes)" 2
weights_fit "a child that begins when its parent has ended: nothing is lost" 3 100

# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '(exit 0); kill -TERM $$'
collected "a fatal signal of a process that has forked: the file is copied"
sound "a fatal signal of a process that has forked: it is sound" -k
is "a fatal signal of a process that has forked: all are there" "$(n_processes)" 2

# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '(sleep 0.3; exit 0) & kill -TERM $$'
settled 2
collected "a fatal signal of a process with a child that goes on: the files are copied"
sound "a fatal signal of a process with a child that goes on: they are sound" -k
is "a fatal signal of a process with a child that goes on: all are there" "$(n_processes)" 3

measure --local "$NODE" -- "$ENDS" unwaited
is "a child that was killed and is not waited for: status" "$status" 0
collected "a child that was killed and is not waited for: the file is copied"

# ---- a fork that fails ----

measure --local "$NODE" -- "$ENDS" alone
if [ "$status" -ne 3 ]; then
	is "a fork that fails: status" "$status" 0
	collect "$OUT"
	collected "a fork that fails: --collect removes what is on the node"
else
	skip "a fork that fails" "root may fork"
fi

# ---- an exec of a program that cannot be measured ----

echo 'int main(void) { return 7; }' >"$T/static.c"
if ${CC:-cc} -static -o "$T/static" "$T/static.c" >"$T/cc" 2>&1; then
	measure --local "$NODE" -- sh -c 'exec "$0"' "$T/static"
	is "an exec of a static program: status" "$status" 7
	collected "an exec of a static program: the file is copied"
	sound "an exec of a static program: it is sound"
else
	skip "an exec of a static program" "the C library is not here as an archive"
fi

# ---- a killed process ----

killed() {
	# shellcheck disable=SC2016 # the measured shell's
	measure --local "$NODE" -- sh -c '"$0" spin 0.1; kill -KILL $$' "$LIFE"
}
killed
mv "$OUT" "$OUT.killed"
measure --local "$NODE" -- true
is "another run of that name leaves its data alone" "$(on_node)" 1
collect "$OUT"
like "--collect on the other run: a warning" "$rc $(cat "$T/text")" \
	'warning: 1 file in /.*/hpcrun-lite-.* belong to an earlier measurement directory of this name; remove them, or run hpcrun-lite --collect on that one$'
is "--collect on the other run leaves its data alone" "$(on_node)" 1
collect "$OUT.killed"
is "--collect on its own directory copies them" "$rc $(on_node)" "0 0"
rm -rf "$OUT.killed"

killed
target=$(grep -l '^host ' "$OUT"/*.hpcrun)
echo 'not ours' >"$target"
collect "$OUT"
is "a file of that name that is not ours: --collect leaves it and the data alone" \
	"$(cat "$target") $(on_node)" "not ours 1"
rm -rf "${NODE:?}"/*

# ---- a note that names something else ----

mkdir "$T/evil"
echo 'years of work' >"$T/thesis.hpcrun"
printf '%s\nhost %s\nfile %s\n' \
	'hpctoolkit-lite: this file is empty until the data are copied to it' "$host" \
	"$T/thesis.hpcrun" >"$T/evil/thesis.hpcrun"
collect "$T/evil"
is "a note that names a file of the user" "$rc $(cat "$T/thesis.hpcrun")" "1 years of work"
like "... is refused" "$(cat "$T/text")" 'cannot copy the measurement \(Operation not permitted\)$'
collect "$T/evil" "$T/thesis.hpcrun"
is "--collect takes one directory" "$rc $(head -n 1 "$T/text")" \
	"2 hpcrun-lite: --collect takes one directory (--help lists the options)"

# ---- the directory on the node ----

mkdir "$T/away"
# The process behind the link is killed, so that its file would stay there.
rm -rf "$OUT" "$T/go"
# shellcheck disable=SC2016 # the measured shell's
"$HPCRUN" -q -o "$OUT" --local "$NODE" -- sh -c \
	'until [ -e "$0" ]; do :; done; sh -c "kill -KILL \$\$"; exit 5' "$T/go" &
runs=$!
begun
(cd "$NODE" && name=$(echo hpcrun-lite-*) && mv "$name" before && ln -s "$T/away" "$name")
: >"$T/go"
wait $runs
is "a link in place of the directory on the node: status" "$?" 5
is "a link in place of the directory on the node: nothing is made behind it" "$(ls "$T/away")" ''
rm -rf "${NODE:?}"/*

# ---- containers that share the directory on the node ----

as_root=
[ "$(id -u)" -eq 0 ] || as_root=-Ur
if unshare $as_root -pf --mount-proc true 2>/dev/null; then
	rm -rf "$OUT"
	"$HPCRUN" -q -o "$OUT" --local "$NODE" -- "$LIFE" forever &
	runs=$!
	begun
	TMPDIR=$NODE unshare $as_root -pf --mount-proc "$HPCRUN" --collect "$OUT" >"$T/text" 2>&1
	like "another PID namespace: --collect leaves a running process its file" \
		"$(on_node) $(tail -n 1 "$T/text")" \
		'^1 .* 1 more are in use by processes of this node$'
	kill $runs
	wait $runs 2>/dev/null
	collected "... and its end copies it"
else
	skip "another PID namespace" "no right to make one"
fi
if unshare $as_root -u true 2>/dev/null; then
	rm -rf "$OUT"
	# shellcheck disable=SC2016 # the inner shell's
	unshare $as_root -u sh -c 'hostname n1.cluster.org; exec "$@"' sh "$HPCRUN" -q -o "$OUT" \
		--local "$NODE" -- sh -c 'exec sh -c "exit 0"'
	collected "a host name with dots: what the process was before an exec is copied"
else
	skip "a host name with dots" "no right to set one"
fi

done_testing
