#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Inside the handler nothing allocates or locks, shown by interposition at a high rate in a program
# that does little else.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
NOMALLOC=$builddir/tests/workload/run/run_nomalloc

"$NOMALLOC" libm.so.6 prove >/dev/null 2>"$T/proof"
is "the check can fail" "$? $(cat "$T/proof")" "3 in handler: malloc"

for e in "-e CPUTIME@f5000" "-e CPUTIME@f4000 -e REALTIME@f4000"; do
	# shellcheck disable=SC2086 # options
	measure $e -- "$NOMALLOC" "$PLUGIN"
	is "$e: no allocation and no lock in the handler" "$status $(cat "$T/stdout")" \
		"0 many calls"
	sound "$e: files are sound"
	within "$e: samples fell into it" "$(value delivered)" 100 1000000
	# one path serves two metrics
	within "$e: paths are complete" "$(ratio "$(value complete)" "$(value recorded)")" 0.5 1
done
done_testing
