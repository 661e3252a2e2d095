#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The module map: a library that is opened and closed, each time elsewhere, keeps its number; the
# vdso is kept.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

measure -- "$LIFE" spin 0.1
sound "files are sound"
before=$(value modules)
measure -- "$LIFE" plugins "$PLUGIN" 20 0.05
is "the program runs" "$status" 0
sound "plugins: files are sound"
is "plugins: one module more" "$(value modules)" $((before + 1))
is "plugins: all paths are complete" "$(value complete)" "$(value recorded)"
is "plugins: no frame without module" "$(value lost-module-table)" 0

# The main thread has ended by pthread_exit: memory cannot be read by way of the process id any
# more.
measure -- "$LIFE" leaderless "$PLUGIN" 20 0.05
is "after pthread_exit of the main thread: the program runs" "$status" 0
sound "after pthread_exit: files are sound"
is "after pthread_exit: one module more" "$(value modules)" $((before + 1))
is "after pthread_exit: all paths are complete" "$(value complete)" "$(value recorded)"
is "after pthread_exit: no frame without module" "$(value lost-module-table)" 0

# Two libraries of one size without a build id, each where the other was.
measure -- "$LIFE" turns "$builddir/tests/workload/run/.libs/run_noid1.so" \
	"$builddir/tests/workload/run/.libs/run_noid2.so" 8 0.05
is "libraries in turn: the program runs" "$status" 0
sound "libraries in turn: files are sound"
is "libraries in turn: two modules more" "$(value modules)" $((before + 2))
is "libraries in turn: no frame without module" "$(value lost-module-table)" 0

# A relative path, and the directory is left: the name in the file must still be found.
mkdir "$T/lib"
cp "$PLUGIN" "$T/lib/relative.so"
(cd "$T/lib" && run_limited 60 "$HPCRUN" -q -o "$T/relative" "$LIFE" plugins ./relative.so 3 0.1)
like "a library opened by a relative path has its full name" \
	"$(strings -a "$T"/relative/*.hpcrun 2>/dev/null ||
	tr -c '[:print:]' '\n' <"$(echo "$T"/relative/*.hpcrun)")" \
	"^$T/lib/relative.so"

vdso=$(find "$OUT/vdso" -name '*.so' | head -n 1)
is "the vdso's image is an ELF file" \
	"$(dd if="$vdso" bs=1 count=4 2>/dev/null | od -An -c | tr -d ' ')" '177ELF'
if have readelf; then
	like "its name is its build id" "$(readelf -n "$vdso")" "Build ID: $(basename "$vdso" .so)"
fi
done_testing
