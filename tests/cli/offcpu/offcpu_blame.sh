#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# BLAME: the time for which a lock was wanted is at the place of the thread that held it.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/offcpu/offcpu_lib.sh"

offcpu_measure "-e CPUTIME -e OFFCPU" "$OFFCPU_W/offcpu_locks"

# The last part of a wait, up to a sixteenth, is lost where the holder ends at once. On a busy
# machine the signal reaches the holder late.
for function in hold_working hold_asleep hold_writing; do
	truth=$(offcpu_truth_ms $function)
	within "$function is blamed for $truth ms" "$(offcpu_ms BLAME ";$function;")" \
		"$(echo "$truth" | awk '{ print $1 * 0.85 - 25 }')" \
		"$(echo "$truth" | awk '{ print $1 * 1.05 + 25 }')"
done
within "the one that works is blamed where it works" "$(offcpu_ms BLAME ';hold_working;work')" \
	"$(offcpu_ms BLAME ';hold_working;' | awk '{ print $1 * 0.8 }')" 1e9
# Taken at once, the sample is where the lock is held, which is a third of the time.
within "a lock that is held shortly: the blame is where it is held" \
	"$(offcpu_ms BLAME ';hold_often;hold_shortly;')" \
	"$(offcpu_ms BLAME ';hold_often;' | awk '{ print $1 * 0.6 }')" 1e9
within "... and there is some" "$(offcpu_ms BLAME ';hold_often;')" 30 1e9
is "nobody is blamed for a condition" "$(offcpu_ms BLAME 'hold_nothing|want_condition')" 0.000
is "nobody is blamed for waiting" "$(offcpu_ms BLAME ';want_')" 0.000

done_testing
