#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcprof-lite --live: the last seconds are those of the phase that the program is in, processes
# that start later are seen, and it ends with the run. What it shows of the whole run is what the
# report says. It leaves the files alone, and costs little. hpcprof-lite DIR says that a run goes
# on. The judge is a program whose phase the test chooses.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/live/live_lib.sh"

# in_phase FILE NAME: in the last line the function has nearly all of the last seconds.
in_phase() {
	tail -n 1 "$1" | grep -Eq "; (9[5-9]|100)\.[0-9]% $2"
}

# ---- phases, and a second program ----

"$HPCRUN" -q -o "$T/run" -- sh -c '"$0" 2; "$0" 1' "$PHASES" >"$T/pids" 2>"$T/err" &
await "a program" test -s "$T/pids"
first=$(head -n 1 "$T/pids")
at_exit "kill -9 $first 2>/dev/null"
look run
ok "the last seconds are in the first phase" await "phase 1" in_phase "$T/run.live" assemble_phase
sleep 3
kill -USR1 "$first"
ok "... and later in the second one" await "phase 2" in_phase "$T/run.live" solve_phase

"$HPCPROF" -q --to text,html -o "$T/db" "$T/run" >"$T/report" 2>&1
like "a report of a running program says so" "$(cat "$T/report")" \
	'^  2 processes are still running: this is what was recorded so far'
"$HPCPROF" -q --to text --all "$T/run" >"$T/all" 2>/dev/null
# if the last seconds were not only those, it would be 5 % at most when the last line has so little
within "... and has both phases" "$(awk '/^Functions by/ { on = 1 } /^$/ { on = 0 }
	on && / assemble_phase / { print $1 + 0; exit }' "$T/report")" 12 90
is "... in every output" "$(by_name '$1 == "live"' "$T/all" | wc -l)" 2

kill -USR1 "$first"
await "the second program" sh -c '[ "$(wc -l <"$0")" -eq 2 ]' "$T/pids"
second=$(tail -n 1 "$T/pids")
at_exit "kill -9 $second 2>/dev/null"
ok "a program that starts later is seen" await "phase 1" in_phase "$T/run.live" assemble_phase
kill -USR1 "$second"
await "phase 2" in_phase "$T/run.live" solve_phase
cp "$T/run"/*.hpcrun "$T/"
kill -USR1 "$second"
status=0
wait $LOOKER || status=$?
is "it ends with the run, with status 0" "$status" 0
like "... says so" "$(cat "$T/run.said")" 'the run has ended; hpcprof-lite .*/run shows all of it'
like "... and shows the whole run" "$(cat "$T/run.live")" '^ended: .*; 3 processes, 4 threads'

# ---- the same numbers as in the report ----

# shares FILE: self and total of functions, from the lines below a heading
shares() {
	awk '/  functions? / { on = 1; next } /^$/ { on = 0 } on && $NF ~ /_phase$/ { print }' "$1"
}
"$HPCPROF" -q --to text "$T/run" >"$T/report" 2>/dev/null
awk '/^Functions by/ { on = 1 } /^$/ { on = 0 }
	on && $6 ~ /_phase$/ { print $6, $1, $4 }' "$T/report" | sort >"$T/reported"
"$HPCPROF" --live "$T/run" >"$T/ended" 2>"$T/said"
is "a run that has ended is shown once" "$(grep -c '^ended' "$T/ended")" 1
shares "$T/ended" | awk '{ print $3, $1, $2 }' | sort >"$T/shown"
is "two functions are shown" "$(wc -l <"$T/shown")" 2
same "their shares are those of the report" "$T/reported" "$T/shown"
grep 'elapsed$' "$T/report" | sed 's/.*, \(.*\) elapsed/\1/' >"$T/reported"
sed -n 's/^ended: \([^;]*\);.*/\1/p' "$T/ended" >"$T/shown"
same "... as is the elapsed time" "$T/reported" "$T/shown"

# ---- killed; no structure; names ----

start killed 1
look killed
await "phase 1" in_phase "$T/killed.live" assemble_phase
like "before it ends it is running" "$("$HPCPROF" -q --to text "$T/killed" 2>/dev/null)" \
	'^  1 process is still running'
kill -9 "$MEASURED"
status=0
wait $LOOKER || status=$?
is "it ends when the program is killed" "$status" 0
unlike "... which the report does not take for running" \
	"$("$HPCPROF" -q --to text "$T/killed" 2>/dev/null)" 'is still running'

# ---- a directory that cannot be written, and files that nobody changed ----

start reader 1
if [ "$(id -u)" -eq 0 ]; then chmod 755 "$T/reader"; fi
chmod a-w "$T/reader"
sum_of() { find "$T/reader" ! -name '*.hpcrun' -exec ls -ld --time-style=full-iso {} + | cksum; }
before=$(sum_of)
look reader
await "phase 1" in_phase "$T/reader.live" assemble_phase
kill -TERM $LOOKER
status=0
wait $LOOKER || status=$?
is "SIGTERM ends it as it does any program" "$status" 143
like "... and it says that the run goes on" "$(cat "$T/reader.said")" 'the run goes on'
is "the directory is as it was" "$(sum_of)" "$before"
if have strace; then
	run_limited 60 strace -f -e trace=openat,open,flock,fcntl -o "$T/strace" timeout 3 \
		"$HPCPROF" --live "$T/reader" >/dev/null 2>&1
	ok "it opened measurement files" grep -q 'hpcrun"' "$T/strace"
	unlike "... never to write, and locked nothing" "$(cat "$T/strace")" \
		'hpcrun".*(O_RDWR|O_WRONLY)|flock\(|F_SETLK|F_OFD'
else
	skip "it opened measurement files" "no strace"
	skip "... never to write, and locked nothing" "no strace"
fi
finish "$MEASURED"

# ---- another host ----

run_limited 20 timeout -s TERM 3 "$HPCPROF" --live "$srcdir/tests/golden/prof/gpu-killed" \
	>"$T/out" 2>"$T/said" || :
like "a process of another host may run" "$(cat "$T/out")" \
	'^on other hosts, and perhaps running: 1 process'
like "... which a note says, too" "$(cat "$T/said")" 'nobody here knows whether the run goes on'
like "its kernels are shown" "$(cat "$T/out")" '  stencil \(16\)'

# ---- nothing to look at ----

status=0
run_limited 20 "$HPCPROF" --live "$T/none" >"$T/out" 2>"$T/said" || status=$?
is "a directory that never comes: status 1" "$status" 1
like "... with what to do" "$(cat "$T/said")" 'start the program with hpcrun-lite -o '
mkdir "$T/late"
look late
await "a note" grep -q 'waiting' "$T/late.said"
rmdir "$T/late"
start late 1
ok "a run that begins later is seen" await "phase 1" in_phase "$T/late.live" assemble_phase
kill -9 "$MEASURED"
not_ok "--prometheus-file alone is refused" "$HPCPROF" --prometheus-file "$T/x" "$T/run"
not_ok "--live with outputs is refused" "$HPCPROF" --live --to html "$T/run"

done_testing
