#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The module map: a library that is opened and closed, each time elsewhere, keeps its number; the
# vdso is kept.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

measure -- "$LIFE" spin 0.1
sound "files are sound"
before=$(value modules)
measure -- "$LIFE" plugins "$PLUGIN" 10 0.02
is "the program runs" "$status" 0
sound "plugins: files are sound"
is "plugins: one module more" "$(value modules)" $((before + 1))
is "plugins: all paths are complete" "$(value complete)" "$(value recorded)"
is "plugins: no frame without module" "$(value lost-module-table)" 0

# The main thread has ended by pthread_exit: memory cannot be read by way of the process id any
# more.
measure -- "$LIFE" leaderless "$PLUGIN" 10 0.02
is "after pthread_exit of the main thread: the program runs" "$status" 0
sound "after pthread_exit: files are sound"
# the library, and libgcc if a sample came while pthread_exit used it
within "after pthread_exit: one module more, or two" "$(value modules)" $((before + 1)) \
	$((before + 2))
is "after pthread_exit: all paths are complete" "$(value complete)" "$(value recorded)"
is "after pthread_exit: no frame without module" "$(value lost-module-table)" 0

# Two libraries of one size without a build id, each where the other was.
measure -- "$LIFE" turns "$builddir/tests/workload/run/.libs/run_noid1.so" \
	"$builddir/tests/workload/run/.libs/run_noid2.so" 8 0.02
is "libraries in turn: the program runs" "$status" 0
sound "libraries in turn: files are sound"
is "libraries in turn: two modules more" "$(value modules)" $((before + 2))
is "libraries in turn: no frame without module" "$(value lost-module-table)" 0

# A relative path, and the directory is left: the name in the file must still be found.
mkdir "$T/lib"
cp "$PLUGIN" "$T/lib/relative.so"
(cd "$T/lib" && run_limited 60 "$HPCRUN" -q -o "$T/relative" "$LIFE" plugins ./relative.so 3 0.02)
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

# report: the functions and modules of the last measurement
report() {
	"$HPCPROF" -q --to text --by function,module -o "$T/database" "$OUT" 2>&1
	rm -rf "$T/database"
}

# A bundle starts its program through its dynamic loader. Then that is what /proc/self/exe names.
if have readelf; then
	loader=$(readelf -lW "$LIFE" | sed -n 's/.*interpreter: \(.*\)].*/\1/p')
	libc=$(ldd "$LIFE" | sed -n 's/.*libc\.so\.6 => \(.*\) (.*/\1/p')
	cp "$LIFE" "$T/without-id"
	objcopy --remove-section=.note.gnu.build-id "$T/without-id"
	for program in "$LIFE" "$T/without-id"; do
		measure -- "$loader" "$program" spin 0.2
		is "by the dynamic loader: ${program##*/} runs" "$status" 0
		sound "by the dynamic loader: files are sound"
		like "by the dynamic loader: functions have names" "$(report)" '%.* spin '
		like "by the dynamic loader: the program is the module" "$(report)" \
			"%.* $program\$"
		unlike "by the dynamic loader: nothing changed" "$(report)" 'changed since'
	done

	# A program with a glibc of its own.
	mkdir "$T/old"
	for file in "$loader" "$libc"; do older_libc "$file" "$T/old/${file##*/}"; done
	loader=$T/old/${loader##*/}
	measure -- "$loader" --library-path "$T/old" "$LIFE" plugins "$PLUGIN" 10 0.02
	is "with an older libc: the program runs" "$status $(cat "$T/stderr" | grep -c GLIBC)" "0 0"
	sound "with an older libc: files are sound"
	is "with an older libc: all paths are complete" "$(value complete)" "$(value recorded)"
	is "with an older libc: no frame without module" "$(value lost-module-table)" 0
	like "with an older libc: functions have names" "$(report)" '%.* plugin'
	# shellcheck disable=SC2016 # for the inner shell
	measure -- sh -c '"$@"; exit $?' sh "$loader" --library-path "$T/old" "$LIFE" spin 0.1
	is "with an older libc: as a child" "$status" 0
	sound "with an older libc: two files are sound"
	is "with an older libc: two processes" "$(n_processes)" 2
else
	skip "the dynamic loader, and an older libc" "no readelf here"
fi
done_testing
