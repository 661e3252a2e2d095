#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Modules of PyTorch in the outputs, of a measurement that is kept (tests/golden/python-modules):
# tree, table, and the same names in every format. python_modules_report.sh --accept writes the
# expected parts anew.

. "${srcdir:-.}/tests/lib.sh"
golden=$srcdir/tests/golden/python-modules
unset COLUMNS NO_COLOR
LC_ALL=C.UTF-8
export LC_ALL
mkdir "$T/m"
# `hpcrun-lite -e CPUTIME@f1000 --torch --no-trace python3 -S -E modules.py SPIN`, CPython 3.11,
# with tests/python/modules.py
cp "$golden/modules.hpcrun" "$T/m/" || exit 99

# report OPTION...
report() { "$HPCPROF" -q --no-structs "$@" "$T/m" 2>"$T/err"; }

report --to text --by path --depth 12 --threshold 0.5 | sed -n '/^Call paths/,/^$/p' >"$T/tree"
report --to text --by torch-module --threshold 0 | sed -n '/^Modules of/,/^$/p' >"$T/table"
if [ "${1:-}" = --accept ]; then
	cp "$T/tree" "$golden/tree.txt"
	cp "$T/table" "$golden/table.txt"
fi
same "the tree as expected" "$T/tree" "$golden/tree.txt"
same "the table as expected" "$T/table" "$golden/table.txt"

# whole OPTION...: the time of the root
whole() { report --to text --all "$@" | by_name '$1 == "total" && get("context") == 0 &&
	get("metric") == 0'; }
is "nothing is lost" "$(whole)" "$(whole --internals)"
is "... and there is something" "$([ -n "$(whole)" ] && echo yes)" yes
report --to text --all >"$T/all"
by_name '$1 == "module" && get("path") == "[torch.nn]" { m = get("id") }
	$1 == "function" && get("module") == m { print get("name") }' "$T/all" | sort >"$T/names"
is "modules" "$(wc -l <"$T/names")" "$(sort -u "$T/names" | wc -l)"
is "... many" "$(($(wc -l <"$T/names") > 30))" 1
like "a name beyond ASCII" "$(cat "$T/names")" '^größe \(Leaf\)$'
report --to folded,json,sqlite -o "$T/db"
for file in folded/CPUTIME.folded profile.json profile.sqlite; do
	set -- "$T/db/$file"
	n=0
	while read -r name; do
		grep -aqF "$name" "$1" || n=$((n + 1))
	done <"$T/names"
	is "$file: names that are missing" "$n" 0
done

done_testing
