#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Backward passes below the forward line, of a measurement of a real training that is kept
# (tests/golden/torch_backward). torch_golden.sh --accept writes the expected parts anew.
# needs: gen_names

. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
golden=$srcdir/tests/golden/torch_backward
HPCTOOLKIT_LITE_CACHE=$T/cache
export HPCTOOLKIT_LITE_CACHE
mkdir "$T/m"
for f in "$golden"/*.hpcrun.gz; do
	gzip -dc "$f" >"$T/m/$(basename "$f" .gz)" || exit 99
done
"$top_builddir/tests/gen/gen_names" "$T/m" "$golden/names.txt" || exit 99

# report OPTION...
report() { "$HPCPROF" -q --no-structs --to text "$@" "$T/m" 2>"$T/err"; }

report --by path --threshold 3 | sed -n '/^Call paths/,/^$/p' >"$T/tree"
report --by operator | sed -n '/^Operators of/,/^$/p' >"$T/operators"
if [ "${1:-}" = --accept ]; then
	cp "$T/tree" "$golden/tree.txt"
	cp "$T/operators" "$golden/operators.txt"
fi
same "the tree as expected" "$T/tree" "$golden/tree.txt"
same "the operators as expected" "$T/operators" "$golden/operators.txt"

# whole OPTION...: the time of the root
whole() { report --all "$@" | by_name '$1 == "total" && get("context") == 0 &&
	get("metric") == 0'; }
is "nothing is lost" "$(whole)" "$(whole --internals)"
is "... and there is something" "$([ -n "$(whole)" ] && echo yes)" yes
report --internals --by path --threshold 3 >"$T/internals"
like "--internals: the nodes are below the engine" "$(cat "$T/internals")" \
	'torch::autograd::Engine::evaluate_function'
unlike "... and below no module" "$(grep -A1 'conv[12] (Conv2d)' "$T/internals")" 'backward'

done_testing
