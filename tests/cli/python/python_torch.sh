#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Operators of PyTorch and roles of processes in the report, of a measurement that is kept
# (tests/golden/torch): data-parallel training with two ranks and DataLoader workers.
# python_torch.sh --accept writes the expected parts anew.

. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
golden=$srcdir/tests/golden/torch
unset COLUMNS NO_COLOR
LC_ALL=C.UTF-8
export LC_ALL
mkdir "$T/m"
for f in "$golden"/*.hpcrun.gz; do
	gzip -dc "$f" >"$T/m/$(basename "$f" .gz)" || exit 99
done
"$top_builddir/tests/gen/gen_names" "$T/m" "$golden/names.txt" || exit 99

# report OPTION...
report() { "$HPCPROF" -q --no-structs --to text "$@" "$T/m" 2>"$T/err"; }

report --by path --threshold 1 | sed -n '/^Call paths/,/^$/p' >"$T/tree"
report --by thread | sed -n '/^Processes by/,/^$/p' >"$T/processes"
report --by operator | sed -n '/^Operators of/,/^$/p' >"$T/operators"
if [ "${1:-}" = --accept ]; then
	cp "$T/operators" "$golden/operators.txt"
	cp "$T/tree" "$golden/tree.txt"
	cp "$T/processes" "$golden/processes.txt"
fi
same "the tree as expected" "$T/tree" "$golden/tree.txt"
same "the processes as expected" "$T/processes" "$golden/processes.txt"
same "the operators as expected" "$T/operators" "$golden/operators.txt"
report >"$T/whole"
is "the report has the table" "$(grep -c '^Operators of PyTorch by' "$T/whole")" 1
like "workers of a rank are no ranks" "$(cat "$T/whole")" \
	'^Parallel efficiency \(POP\) of 2 processes'
report --internals >"$T/internals"
is "--internals: there is none" "$(grep -c '^Operators of PyTorch by' "$T/internals")" 0

like "an operator is below the line of Python that led to it" "$(cat "$T/tree")" \
	'aten::linear +linear.py:114$'
like "so is the engine" "$(cat "$T/tree")" 'autograd engine +__init__.py:197$'
like "a module is below the line that called it" "$(cat "$T/tree")" \
	'Linear.forward +container.py:204$'
for rank in 0 1; do
	like "rank $rank has two workers" "$(cat "$T/processes")" \
		"rank $rank vm pid [0-9]+, DataLoader worker [01], .*"
	is "... and no more" "$(grep -c "rank $rank .*DataLoader worker" "$T/processes")" 2
done

# names OPTION...: the functions with time, from the complete text
names() { report --all "$@" | by_name '$1 == "function" { print get("name") }'; }
# whole OPTION...: the time of the root
whole() { report --all "$@" | by_name '$1 == "total" && get("context") == 0 &&
	get("metric") == 0'; }
glue='redispatch|c10::Dispatcher::call|autograd::Engine::|THPVariable_|^Module\._call_impl$|_ops::'
names >"$T/names"
names --internals >"$T/all-names"
is "no function of the dispatcher is left" "$(grep -cE "$glue" "$T/names")" 0
is "--internals: they are there" "$(($(grep -cE "$glue" "$T/all-names") > 20))" 1
is "--internals: no operators are made" "$(grep -c '^aten::\|^autograd engine' "$T/all-names")" 0
is "nothing is lost" "$(whole)" "$(whole --internals)"
is "... and there is something" "$([ -n "$(whole)" ] && echo yes)" yes

done_testing
