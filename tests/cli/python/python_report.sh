#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Python in the report for people: frames of the interpreter between Python functions are left out,
# of a measurement that is kept (tests/golden/python); --interpreter shows them, and all sums are
# the same. python_report.sh --accept writes the expected tree anew.

. "${srcdir:-.}/tests/lib.sh"
golden=$srcdir/tests/golden/python
unset COLUMNS NO_COLOR
LC_ALL=C.UTF-8
export LC_ALL
mkdir "$T/m"
cp "$golden/python.hpcrun" "$T/m/" || exit 99

# tree OPTION...: the call paths, everything in them
tree() {
	"$HPCPROF" -q --no-structs --to text --by path --threshold 0 "$@" "$T/m" 2>"$T/err" |
		sed -n '/^Call paths/,/^$/p'
}

tree >"$T/folded"
[ "${1:-}" != --accept ] || cp "$T/folded" "$golden/tree.txt"
same "the tree as expected" "$T/folded" "$golden/tree.txt"
tree --interpreter >"$T/whole"

# own FILE: what functions and lines took themselves, in thousandths
own() { awk '$1 ~ /%$/ && $2 ~ /%$/ { n += $2 * 10 } END { printf "%.0f\n", n }' "$1"; }
is "nothing is lost: what functions took themselves" "$(own "$T/folded")" "$(own "$T/whole")"
is "there is something to leave out" "$(($(wc -l <"$T/whole") > $(wc -l <"$T/folded") + 10))" 1
like "a function that the interpreter called is called at a line of Python" "$(cat "$T/folded")" \
	'<genexpr> +work.py:3$'
unlike "... not in the interpreter" "$(cat "$T/folded")" '<genexpr> +0x'
like "--interpreter: as it was" "$(cat "$T/whole")" '<genexpr> +0x'
like "the first Python function stands below the entry" "$(sed -n 4p "$T/folded")" \
	'<module> \[work.py\]$'
like "an import is one row" "$(cat "$T/folded")" '<module> \[decoder.py\] +__init__.py:106$'
like "--internals: importlib is shown" "$(tree --internals)" '_find_and_load +work.py:1$'
like "extension modules stay" "$(cat "$T/folded")" 'unknown function> \[_json'
"$HPCPROF" -q --no-structs --to text --all "$T/m" >"$T/all" 2>"$T/err"
"$HPCPROF" -q --no-structs --to text --all --interpreter "$T/m" 2>"$T/err" >"$T/all-interpreter"
same "the complete text leaves nothing out" "$T/all" "$T/all-interpreter"
like "... it has the interpreter's frames" "$(cat "$T/all")" 'unknown function> \[python3.11\]'

# The code that python -X perf calls each function through is the interpreter's. The measurement is
# of CPython 3.12: genexpr < inner < Worker.method < the module.
mkdir "$T/perf"
cp "$golden/trampolines.hpcrun" "$golden/trampolines.perfmap" "$T/perf/" || exit 99
HPCTOOLKIT_LITE_CACHE='' "$HPCPROF" -q --no-structs --to text --by path,function --threshold 0 \
	"$T/perf" >"$T/trampolines" 2>"$T/err"
is "python -X perf: each function is there once, below its caller" \
	"$(sed 's/  */ /g' "$T/trampolines" | grep -oE \
		'(Worker.method|inner[^ ]*|py::.*|[^ ]*tramp[^ ]*)( .*)? perf_work.py:[0-9]+$' |
		sort -u)" \
	'Worker.method perf_work.py:11
Worker.method perf_work.py:6
inner perf_work.py:1
inner perf_work.py:7
inner.<locals>.<genexpr> perf_work.py:2'
unlike "python -X perf: no function of the map is left" "$(cat "$T/trampolines")" 'py::'
done_testing
