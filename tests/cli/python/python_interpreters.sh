#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Interpreters inside of the interpreter: each function has the time that it took and no other,
# whichever interpreter is shown; what is not shown stands as the interpreter's C functions.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/python.sh"
cd "$T" || exit 99

run_limited 120 "$HPCRUN" -q -o m "$PY" "$srcdir/tests/python/interpreters.py" >out 2>err ||
	diag_file err
grep -q '^none$' out && skip_all "$PY has no module for interpreters"
"$HPCPROF" -q --no-structs --to text --all m >all 2>err || diag_file err

# took NAME: CPU time at a Python function and below it, in ms
took() {
	by_name -v name="$1" '$1 == "by-function" && get("metric") == "CPUTIME (sec)" &&
		get("name") == name &&
		get("module") !~ /python3|\.so/ { s += get("inclusive") } END {
			printf "%.0f\n", s * 1000 }' all
}
n_shown=0
while read -r _ name ns; do
	ms=$((ns / 1000000)) got=$(took "$name")
	if [ "$name" != outer ] && [ "$got" -eq 0 ]; then continue; fi
	n_shown=$((n_shown + 1))
	within "$name: its time, in ms" "$got" $((ms * 85 / 100 - 5)) $((ms * 115 / 100 + 5))
done <out
# by which interpreter's frames CPython keeps under its key: the first one's before 3.12, the
# running one's since
case $("$PY" -c 'import sys; print(sys.version_info >= (3, 12))') in
True) is "all are shown" "$n_shown" 5 ;;
*) is "the first one's alone are shown" "$n_shown" 1 ;;
esac
within "hardly a path has frames that could not be read, in percent of the samples" \
	"$(by_name '$1 == "loss" && get("of") == "all" && get("cause") == "python-frames" {
		n = get("n") }
		$1 == "sample" { all++ } END { printf "%.0f\n", all ? n * 100 / all : 100 }' all)" \
			0 5

done_testing
