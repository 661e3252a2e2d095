#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Storms at 10 kHz: no hang, same output, a closed ledger.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

# Threads by each way to start one.
for kind in joined detached c11 handle deep space timer clone; do
	n=$(thorough 100 100000)
	sacred "$n threads, $kind" "$W/sacred_threads" "$kind" "$n"
done

[ -x "$W/sacred_storm" ] || skip_all "no C++ compiler here"
library=$(find "$W/.libs" -name 'libsacred_library.so' | head -n 1)

storm() { # NAME ARGUMENTS...
	sacred "storm: $*" "$W/sacred_storm" "$@"
	sacred_sampled "storm: $1: the ledger closes"
}
storm throw 10000
storm malloc 40000
storm threads 300
storm fork 150
storm dlopen 300 "$library"
storm signals 10000
storm timers 800

done_testing
