#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcrun-lite --torch with a real PyTorch on processors: what nodes of autograd's graph do is below
# the function of the forward pass that made them. The program (torch_training.py) retains graphs,
# takes derivatives of derivatives, has checkpoints, throws, and trains in threads.

. "${srcdir:-.}/tests/lib.sh"

python=
for candidate in /usr/bin/python3 python3; do
	if [ -z "$python" ] && "$candidate" -c 'import torch' 2>/dev/null; then
		python=$candidate
	fi
done
[ -n "$python" ] || skip_all "no PyTorch here"
diag "PyTorch $("$python" -c 'import torch; print(torch.__version__)')"

program=$srcdir/tests/cli/torch/torch_training.py
"$python" "$program" >"$T/plain"
run_limited 120 "$HPCRUN" -q -e CPUTIME --torch -o "$T/m" -- "$python" "$program" \
	>"$T/out" 2>"$T/err"
is "status" "$?" 0
same "the output" "$T/out" "$T/plain"
"$HPCPROF" -q --to text,folded --all -o "$T/db" "$T/m" >"$T/all"
cat "$T"/db/folded/*.folded >"$T/paths"

# sum_of ERE [OTHER]: ms of the call paths that match, and do not match the other expression.
sum_of() {
	awk -v p="$1" -v other="${2:-^$}" '{ v = $NF; sub(/ [0-9]+$/, "") }
		$0 ~ p && $0 !~ other { n += v }
		END { printf "%.0f\n", n / 1e6 }' "$T/paths"
}

# A matrix product takes much longer than anything else; its derivative is one, too.
for kind in plain retained twice checkpoint throws threads handed; do
	ok "$kind: products of the forward pass" \
		test "$(sum_of ";forward_$kind;.*aten::mm")" -gt 0
	ok "$kind: their derivatives below the same function" \
		test "$(sum_of ";forward_$kind;backward;(backward;)?MmBackward0;aten::mm")" -gt 0
done
is "derivatives of products elsewhere, ms" \
	"$(sum_of ';MmBackward0' ';forward_[a-z]*;.*MmBackward0')" 0
is "... and below the engine" "$(sum_of 'autograd engine;MmBackward0')" 0
ok "derivatives of derivatives are below their derivative" \
	test "$(sum_of ';forward_twice;backward;backward;')" -gt 0
is "nodes of one forward function below another" \
	"$(sum_of ';forward_([a-z]*);.*;backward;.*;forward_')" 0
# Newer versions have functions of their own around checkpoint and below it.
checkpoint=';checkpointed;([^;]*;)?checkpoint;(Function.apply;)?backward;'
ok "a checkpoint's own backward pass is below the checkpoint" \
	test "$(sum_of "$checkpoint.*;forward_checkpoint;backward;")" -gt 0
is "threads: in the threads" "$(sum_of '^main.*;forward_threads')" 0
is "lost lines" "$(by_name '$1 == "loss" && get("cause") == "forward-lines"' "$T/all" | wc -l)" 0

done_testing
