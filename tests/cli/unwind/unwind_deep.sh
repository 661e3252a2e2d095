#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Recursion deeper than any path: samples are below main, or the thread's function, and have the
# right leaf; and a sample of a deep recursion walks few frames.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

${CC:-gcc} -O1 -g -fno-optimize-sibling-calls -std=gnu11 -D_GNU_SOURCE \
	"$srcdir/tests/workload/unwind/unwind_deep.c" -o "$T/unwind_deep" -pthread || exit 99

# share FUNCTION: its total, in percent. The tree does not show all of a deep path.
share() {
	printf '%s\n' "$text" | sed -n '/^Functions/,/^Lines/p' | awk -v f="$1" '
		{ for (i = 1; i <= NF; i++) { if ($i ~ /%$/) total = $i; if ($i == f) {
		print total + 0; exit } } }'
}

# deep ROOT ARGUMENT...: where the time of this program is.
deep() {
	root=$1
	shift
	measure -e CPUTIME@f4000 -- "$T/unwind_deep" "$@"
	is "$*: exit status" "$status" 0
	sound "$*: files are sound"
	text=$("$HPCPROF" --to text -o "$T/db" "$OUT" 2>&1)
	rm -rf "$T/db"
	unlike "$*: no path has lost its root" "$text" 'incomplete paths: too deep'
	within "$*: below $root" "$(share "$root")" 95 100
	within "$*: frames of a path" "$(ratio "$(value n_frames)" "$(value recorded)")" 5 \
		"$(($1 < 8000 ? $1 + 20 : 400))"
}

deep deep_leaf 100 100 0
deep main 50000 200 0
within "... and the leaf is right" "$(share deep_leaf)" 60 100
like "... and the ledger says that paths are cut" "$text" \
	'[0-9] walks left out frames in the middle'
deep deep_root 100000 200 1
deep main 30000 200 0 20
deep deep_root 30000 200 1 20
done_testing
