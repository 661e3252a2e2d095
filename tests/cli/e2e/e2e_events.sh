#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Three events at once on real programs: CPUTIME, REALTIME and page faults give one database with
# three metrics.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"

public_tools || skip_all "the tools are not staged; run make check"
cp "$srcdir/tests/workload/e2e/threads.py" "$T/"
chmod a+r "$T/threads.py"
melt=$builddir/tests/workload/miniapp/melt
events="-e CPUTIME -e REALTIME -e perf::PAGE-FAULTS@100"

# three NAME COMMAND...: the command under the three events, and what the database says of each.
three() {
	t_name=$1
	shift
	# shellcheck disable=SC2086 # options
	both "$t_name" $events -- "$@"
	analyse "$t_name" text,cctdb "$M"
	for t_metric in CPUTIME REALTIME perf::PAGE-FAULTS; do
		holds "$t_name: metric $t_metric" "$t_name" \
			"metric [0-9]+ [a-z]+ [0-9]+ [^0-9]+ $t_metric"
	done
	holds "$t_name: page faults have values" "$t_name" "total 0 2"
	for t_file in meta.db profile.db cct.db trace.db metrics/default.yaml; do
		ok "$t_name: $t_file" test -s "$T/db-$t_name/$t_file"
	done
}

export e2e_user=nobody
if [ -x "$melt" ]; then
	public_copy "$melt"
	three melt "$T/melt" --cells 32 --steps 6 --threads 3
else
	skip "melt" "not built (no OpenMP)"
fi
three python /usr/bin/python3 "$T/threads.py"
# shellcheck disable=SC2016 # for perl
three perl perl -e 'my @a; push @a, $_ x 20 for 1 .. 300000; print scalar(@a), "\n"'

done_testing
