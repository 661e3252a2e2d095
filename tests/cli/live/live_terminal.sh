#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcprof-lite --live on a terminal: screens that fit, last seconds beside the whole run, a new
# size, q and Ctrl-C, and a terminal that is as it was before.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/live/live_lib.sh"
PYTHON3=${PYTHON3:-python3}
need "$PYTHON3"

# fact NAME: of the last run of live_terminal.py
fact() { sed -n "s/^$1 //p" "$T/facts" | head -n 1; }
on_terminal() {
	run_limited 60 "$PYTHON3" "$srcdir/tests/cli/live/live_terminal.py" "$@" \
		"$HPCPROF" --live "$T/run" >"$T/facts" 2>"$T/errors" || diag_file "$T/errors"
}

start run 2 -e CPUTIME -e OFFCPU
on_terminal 24 80 q
is "q ends it, with status 0" "$(fact status)" 0
is "the terminal is as it was" "$(fact restored) $(fact left-alternate) $(fact cursor)" "1 1 1"
within "a screen has the rows of the terminal at most" "$(fact rows)" 10 24
within "... and its columns" "$(fact columns)" 40 80
is "no line about progress is in it" "$(fact progress)" 0
sed '/^AFTER$/,$d' "$T/facts" >"$T/screen"
like "it has the state" "$(cat "$T/screen")" '^running: [0-9.]* m?s; 1 process, 2 threads'
like "... the processors" "$(cat "$T/screen")" \
	'^processors in use: [0-9.]+ in the last [0-9]+ s, [0-9.]+ in the whole run'
like "... the account of time" "$(cat "$T/screen")" '^ +last +whole +where the time of 2 threads'
like "... functions" "$(cat "$T/screen")" \
	'^ *[0-9.]+% +[0-9.]+% +[0-9.]+% +[0-9.]+%  assemble_phase'
like "... call paths" "$(cat "$T/screen")" '^ *[0-9.]+%  .* > work > descend > assemble_phase'
sed '1,/^AFTER$/d' "$T/facts" >"$T/after"
like "afterwards the screen is on the terminal" "$(cat "$T/after")" '^running: '
like "... with a line that the run goes on" "$(cat "$T/after")" 'the run goes on'

on_terminal 24 80 large
within "a larger terminal is used" "$(fact last-rows)" 10 34
within "... with its columns" "$(fact last-columns)" 40 120
on_terminal 12 50 '^C'
is "Ctrl-C ends it by SIGINT" "$(fact status)" -2
is "... with the terminal as it was" "$(fact restored) $(fact left-alternate) $(fact cursor)" \
	"1 1 1"
within "a small terminal is enough" "$(fact rows)" 5 12
within "... with few columns" "$(fact columns)" 30 50
finish "$MEASURED"

done_testing
