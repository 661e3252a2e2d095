#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The handler calls neither malloc nor a lock that others may hold: a preloaded library counts the
# calls that come from inside it.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

library=$(find "$W/.libs" -name 'libsacred_preload.so' | head -n 1)
[ -n "$library" ] || skip_all "the counting library was not built"
[ -z "${SANITIZER:-}" ] ||
	skip_all "the launcher's sanitizer wants to be the first preloaded library"

pure() { # NAME COMMAND...
	pure_name=$1
	shift
	rm -rf "$T/m" "$T/purity"
	# shellcheck disable=SC2086 # words
	LD_PRELOAD=$library SACRED_PURITY=$T/purity run_limited 300 "$HPCRUN" \
		-q $SACRED_EVENTS -o "$T/m" "$@" >"$T/out" 2>&1
	# a program that starts it may make that many calls, too
	is "$pure_name: no call from the handler" "$(sort -u "$T/purity" 2>/dev/null)" \
		"0 of some calls inside"
}

pure "malloc storm" "$W/sacred_storm" malloc 40000
pure "thread storm" "$W/sacred_storm" threads 300
pure "throw storm" "$W/sacred_storm" throw 10000
pure "dlopen storm" "$W/sacred_storm" dlopen 200 \
	"$(find "$W/.libs" -name 'libsacred_library.so' | head -n 1)"

done_testing
