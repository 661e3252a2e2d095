#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Paths of launches below Python functions that are remembered and not walked again are those that a
# walk finds: with "check=1" each is walked again and compared. See "Remembered paths" in
# doc/unwinding.md and "Tags" in doc/python.md.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/python.sh"
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

LIBRARY=$builddir/.libs/libhpcrun-lite.so

# checked SETTINGS: runs again.py as the launcher would for "-e gpu=nvidia", with paths checked.
# Sets status, n_checked and n_differed.
checked() {
	rm -rf run
	mkdir run
	status=0
	# Expands in the inner shell, whose process becomes the program.
	# shellcheck disable=SC2016
	sh -c '
		settings="1;dir=$1;lib=$2;pid=$$;$3"
		library=$2
		shift 3
		LD_PRELOAD=$library HPCTOOLKIT_LITE=$settings exec "$@"' \
		sh "$T/run" "$LIBRARY" "say=0;check=1;$1" \
		"$PY" "$srcdir/tests/python/again.py" 150 \
		>out 2>err || status=$?
	cat run/*.hpcrun | tr '\0' '\n' | grep -a '^remembered call paths: ' >notes ||
		diag "no notes"
	n_checked=$(awk '{ n += $4 } END { print n + 0 }' notes)
	n_differed=$(awk '{ n += $6 } END { print n + 0 }' notes)
}

# Code objects have numbers since 3.12. Earlier paths with Python functions are walked each time.
has_numbers=$("$PY" -c 'import sys; print(int(sys.version_info >= (3, 12)))')

for settings in "python=1;gpu=nvidia" \
	"python=1;event=CPUTIME,1,1,0,0,250000,0,0;gpu=nvidia"; do
	checked "$settings"
	is "$settings: status" "$status" 0
	diag "$n_checked remembered, of about 7,000 of the main thread"
	is "$settings: paths are remembered" "$((n_checked > 5000))" "$has_numbers"
	is "$settings: paths that differ" "$n_differed" 0
done

done_testing
