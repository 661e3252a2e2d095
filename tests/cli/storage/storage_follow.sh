#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copies from the node while programs run: what is in the measurement directory after a kill, after
# the loss of the node, and while the file server does not answer. And what the program sees of it.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"
storage_as_user
HPCTOOLKIT_LITE_COPY_MS=200

# soon COMMAND...: waits until it succeeds
soon() {
	for turn in $(seq $((20 * tap_patience))); do
		! "$@" || return 0
		sleep 0.1
	done
	return 1
}
# n_copied N: N files or more show what was copied while their processes run.
n_copied() {
	[ "$(grep -a -l '^copied 20..-..-.. ..:..:.. UTC$' "$OUT"/*.hpcrun 2>/dev/null |
		wc -l)" -ge "$1" ]
}
# copied_again FILE: ... and the file was copied after the time in $before.
copied_again() {
	[ "$(grep -a '^copied ' "$1")" != "$before" ]
}
# followers: how many processes copy from the node
followers() {
	for process in /proc/[0-9]*; do
		readlink "$process/fd/3" 2>/dev/null
	done | grep -c "^$NODE/"
}
# started_followers: the same, even if they do not have it open: /proc/PID of each
started_followers() {
	for process in /proc/[0-9]*; do
		case $(tr '\0' ' ' 2>/dev/null <"$process/cmdline") in
		*" --follow "*" $NODE/"*) echo "$process" ;;
		esac
	done 2>/dev/null
}
no_followers() {
	[ "$(followers)$(started_followers)" = 0 ]
}
# last_written: when the files were written. A copy that is being made has changed it for a moment.
last_written() {
	for turn in 1 2 3 4 5; do
		stat -c '%n %y' "$OUT"/*.hpcrun
		sleep 0.1
	done | sort | sort -s -u -k 1,1
}
# shown DIRECTORY: what hpcprof-lite says of it
shown() {
	"$HPCPROF" --to text --by thread "$1" >"$T/text" 2>&1
}

# ---- the node is lost ----

rm -rf "$OUT"
# needs: run_life
# One of three processes is a child of fork without a file of its own. It samples so seldom that it
# needs none on a busy machine either.
# shellcheck disable=SC2016 # the measured shell's
"$HPCRUN" -q -o "$OUT" --local "$NODE" -e CPUTIME@f20 -- sh -c \
	'(while :; do :; done) & "$0" spin 100' "$LIFE" >"$T/stdout" 2>&1 &
runs=$!
soon n_copied 2
is "a running program: its files are copied" $? 0
is "... by one process" "$(followers)" 1
is "... which the program does not see" "$(cat "/proc/$runs/task/$runs/children" | wc -w)" 2
written=$(last_written)
before=$(grep -a '^copied ' "$OUT"/*.hpcrun | sort | tail -n 1 | sed 's/.*:copied/copied/')
soon copied_again "$(ls "$OUT"/*.hpcrun | tail -n 1)"
is "... again and again" $? 0
is "... which is no sign that processes start or end there" \
	"$(last_written | grep -F -x -c "$written")" "$(echo "$written" | wc -l)"
mv "$NODE" "$NODE.lost"
mkdir "$NODE"
# shellcheck disable=SC2046 # a list
kill -KILL $(cat "/proc/$runs/task/$runs/children") $runs
wait $runs 2>/dev/null
rm -rf "$NODE.lost"
shown "$OUT"
is "a lost node: all processes are there" "$(grep -c '^  3 processes on ' "$T/text")" 1
like "... and what was recorded until the last copy" "$(cat "$T/text")" \
	'^Ledger: [1-9][0-9,]* samples delivered = [0-9,]+ in the tree [+] 0 lost; it closes for every thread that is not still being written$'
like "... and that the end is missing" "$(cat "$T/text")" \
	'^  3 processes were copied while running: the end is missing, see the notes$'
like "... and where it was" "$(cat "$T/text")" \
	'^  note: the copy of process [0-9]+ ends at 20..-..-.. ..:..:.. UTC; the rest was on .* \(/.*/node/hpcrun-lite-.*hpcrun\)$'
like "... and the user is told" "$(cat "$T/text")" \
	'warning: copied at 20..-..-.. ..:..:.. UTC while the process ran; what it recorded later is not on this node any more \('
soon no_followers
is "a lost node: nothing goes on there" $? 0

# ---- ranks without standard descriptors ----

rm -rf "$OUT" "$T/go"
for rank in 0 1 2; do
	# shellcheck disable=SC2016 # the measured shell's
	PMI_RANK=$rank PMI_SIZE=3 "$HPCRUN" -q -o "$OUT" --local "$NODE" -- sh -c \
		'until [ -e "$0" ]; do sleep 0.1; done' "$T/go" <&- >&- 2>&- &
done
soon n_copied 3
is "standard descriptors closed: the files are copied" "$?" 0
is "... by one process" "$(followers) $(started_followers | wc -l)" "1 1"
: >"$T/go"
wait
soon no_followers
is "... which ends" "$(started_followers)" ""

# ---- a program that ends before the first copy ----

# It would be 20 minutes until it asks whether anything still runs.
HPCTOOLKIT_LITE_COPY_MS=36000000 measure --local "$NODE" -- sh -c 'exit 3'
soon no_followers
is "a program that ends: the process that copies ends" "$status $?" "3 0"

# ---- a signal, and a file that somebody else has locked ----

rm -rf "$OUT"
# shellcheck disable=SC2016 # the measured shell's
"$HPCRUN" -q -o "$OUT" --local "$NODE" -- sh -c '"$0" forever & "$0" forever & wait' "$LIFE" &
runs=$!
soon n_copied 3
follower=$(started_followers)
kill -IO "${follower#/proc/}"
# shellcheck disable=SC2046 # a list
set -- $(cat "/proc/$runs/task/$runs/children")
locked=$(ls "$NODE"/*/*"-$1.hpcrun")
rm -f "$T/go" "$T/locked"
flock "$locked" sh -c ": >'$T/locked'; until [ -e '$T/go' ]; do sleep 0.1; done" &
locker=$!
soon [ -e "$T/locked" ]
kill -KILL "$1"
before=$(grep -a '^copied ' "$OUT"/*"-$2.hpcrun")
soon copied_again "$(ls "$OUT"/*"-$2.hpcrun")"
is "SIGIO, and a file that is locked: the others are copied" $? 0
: >"$T/go"
wait $locker
kill "$2" $runs
wait $runs 2>/dev/null
collected "... and that one when it is free"

# ---- a program that is bound to a core ----

# started_by COMMAND...: starts the process that copies this way; its id in $follower.
started_by() {
	rm -rf "$OUT"
	"$@" "$HPCRUN" -q -o "$OUT" --local "$NODE" -- "$LIFE" forever &
	runs=$!
	soon n_copied 1
	follower=$(started_followers)
}
end_it() {
	kill $runs
	wait $runs 2>/dev/null
	collected "$1"
}
cores() {
	sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "$1"
}
core=$(cores /proc/self/status | sed 's/[-,].*//')
if all=$(taskset -c 0-1023 cat /proc/self/status 2>"$T/stderr" | cores -) &&
	chrt -b 0 true 2>>"$T/stderr" && [ "$all" != "$core" ]; then
	started_by taskset -c "$core" chrt -b 0
	is "bound to a core: the program" "$(cores /proc/$runs/status)" "$core"
	is "... and the process that copies is not" "$(cores "$follower/status")" "$all"
	is "... and has the ordinary policy" "$(awk '{ print $41 }' "$follower/stat")" 0
	end_it "... and the end copies the file"
else
	skip "a program that is bound to a core" "no taskset or chrt, or one core"
fi

# ---- a process is killed, the node is not ----

# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '"$0" spin 0.2; kill -KILL $$' "$LIFE"
is "SIGKILL: status" "$status" 137
soon no_followers
collected "SIGKILL: the file is copied soon"
sound "SIGKILL: it is sound" -k
is "SIGKILL: the directory on the node is removed" "$(ls "$NODE")" ''

# The next copy would be made after 15 s or more.
# shellcheck disable=SC2016 # the measured shell's
HPCTOOLKIT_LITE_COPY_MS=30000 measure --local "$NODE" -- sh -c \
	'"$0" spin 0.2; kill -KILL $$' "$LIFE"
collected "SIGKILL of the last process: its file is copied at once"
soon no_followers
is "SIGKILL of the last process: the process that copies ends" $? 0

# ---- a program that takes long to start ----

# shellcheck disable=SC2016 # the measured shell's
cat >"$T/slow.c" <<-'END'
	#include <stdlib.h>
	#include <unistd.h>
	int slow;
	__attribute__((constructor)) static void start(void)
	{
		while (access(getenv("SLOW_GO"), F_OK) != 0)
			usleep(10000);
	}
END
echo 'extern int slow; int main(void) { for (;;) slow++; }' >"$T/late.c"
if ${CC:-cc} -shared -fPIC -o "$T/libslow.so" "$T/slow.c" >"$T/cc" 2>&1 &&
	${CC:-cc} -o "$T/late" "$T/late.c" -L"$T" -lslow -Wl,-rpath,"$T" >"$T/cc" 2>&1; then
	rm -rf "$OUT" "$T/go"
	SLOW_GO=$T/go "$HPCRUN" -q -o "$OUT" --local "$NODE" -- "$T/late" &
	runs=$!
	sleep 4 # 20 periods
	is "no file yet: none is copied" "$(grep -c . "$OUT"/*.hpcrun 2>/dev/null)" ''
	: >"$T/go"
	soon n_copied 1
	is "... until the program has one" $? 0
	kill $runs
	wait $runs 2>/dev/null
	collected "... and its end copies it"
else
	skip "a program that takes long to start" "it cannot be built"
fi

# ---- a server that does not answer, or fails ----

if serve served; then
	OUT=$T/served/out
	TMPDIR=$NODE "$HPCRUN" -q -o "$OUT" -e CPUTIME@f1000 -- "$LIFE" forever >"$T/stdout" 2>&1 &
	runs=$!
	soon n_copied 1
	for word in eio hang; do
		echo $word >"$T/served.word"
		sleep 1
		# What the server has: the node's name is another one of the same length.
		rm -rf "$T/back"
		cp -R "$T/served.back/out" "$T/back"
		LC_ALL=C sed -i "s/^host ./host _/" "$T/back"/*.hpcrun
		shown "$T/back"
		like "$word: another node reads what was copied before" "$(cat "$T/text")" \
			'^Ledger: [0-9,]+ samples delivered = [0-9,]+ in the tree [+] 0 lost; it closes for'
		like "$word: ... which says where the rest is" "$(cat "$T/text")" \
			'warning: copied at .* while the process ran; what it recorded later is on _.* \(/.*hpcrun\); run hpcrun-lite --collect there$'
		before=$(grep -a '^copied ' "$T/back"/*.hpcrun)
		echo ok >"$T/served.word"
		soon copied_again "$(ls "$OUT"/*.hpcrun)"
		is "$word: it goes on when the server answers" $? 0
	done
	kill $runs
	wait $runs
	is "a server that answers again: status" $? 143
	collected "a server that answers again: the file is copied as a whole"
	sound "a server that answers again: it is sound" -k
	OUT=$T/out
else
	skip "a server that does not answer" "$reason"
fi

# ---- a program that would inherit the process ----

as_root=
[ "$(id -u)" -eq 0 ] || as_root=-Ur
if unshare $as_root -pf --mount-proc true 2>/dev/null; then
	rm -rf "$OUT"
	# shellcheck disable=SC2016 # the measured shell's
	unshare $as_root -pf --mount-proc "$HPCRUN" -q -o "$OUT" --local "$NODE" sh -c \
		'sleep 0.5; read -r children </proc/1/task/1/children; echo "$children"' \
		>"$T/stdout"
	is "process 1 of a container has no child of ours" "$(cat "$T/stdout")" ''
	collected "... and its files are copied at its end"
else
	skip "process 1 of a container" "no right to make one"
fi

done_testing
