#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Ends: every way in which a program ends is seen by its parent as without us, and the measurement
# is readable after each.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

for how in return exit _exit _Exit quick_exit abort terminate segv kill pthread_exit thread_exit \
	nested atexit; do
	sacred "end by $how" sh -c "$W/sacred_exit $how; echo \$?"
	sacred_sampled "end by $how: readable"
	case $how in
	_exit) like "end by $how: the status is recorded" "$sacred_text" 'status 12' ;;
	_Exit) like "end by $how: the status is recorded" "$sacred_text" 'status 13' ;;
	quick_exit) like "end by $how: the status is recorded" "$sacred_text" 'status 14' ;;
	esac
done

# The report goes where nobody reads any more.
# shellcheck disable=SC2016 # for the shell
run_limited "$SACRED_LIMIT" sh -c '{ "$@"; echo $? >&3; } 3>"$0" 2>&1 | :' "$T/piped" \
	"$HPCRUN" -o "$T/piped-m" sh -c 'sleep 0.2; exit 3'
is "end with a closed pipe behind standard error" "$(cat "$T/piped")" 3

done_testing
