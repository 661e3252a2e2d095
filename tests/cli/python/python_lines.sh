#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Lines of code units, decoded from CPython's line tables: equal to what the interpreter that is
# installed says of itself, for thousands of functions.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/python.sh"

"$PY" -W ignore "$srcdir/tests/python/lines.py" "$builddir/tests/python/decode_lines" >"$T/out" \
	2>"$T/err"
is "every unit of every function" "$(head -n 5 "$T/out")" "same many many"
diag_file "$T/err"

done_testing
