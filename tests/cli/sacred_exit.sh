#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Ends: every way in which a program ends is seen by its parent as without us, and the measurement is readable after each.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

for how in return exit _exit _Exit quick_exit abort terminate segv kill pthread_exit thread_exit nested atexit; do
	sacred "end by $how" sh -c "$W/sacred_exit $how; echo \$?"
	sacred_sampled "end by $how: readable"
	case $how in
	_exit) like "end by $how: the status is recorded" "$sacred_text" 'status 12' ;;
	_Exit) like "end by $how: the status is recorded" "$sacred_text" 'status 13' ;;
	quick_exit) like "end by $how: the status is recorded" "$sacred_text" 'status 14' ;;
	esac
done

done_testing
