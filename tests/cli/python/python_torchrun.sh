#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Ranks that PyTorch's torchrun starts, on the CPU: one directory for a run, also if a rank fails
# and all are started again; ranks and roles in the report and in filters.

. "${srcdir:-.}/tests/lib.sh"
for python in "${PYTHON3:-python3}" /usr/bin/python3 ''; do
	[ -z "$python" ] || ! "$python" -c 'import torch.distributed as d
assert d.is_gloo_available()' 2>/dev/null || break
done
[ -n "$python" ] || skip_all "no python3 with torch and gloo"
cd "$T" || exit 99
unset FAIL RANK WORLD_SIZE LOCAL_RANK TORCHELASTIC_RUN_ID COLUMNS NO_COLOR
OMP_NUM_THREADS=1 LC_ALL=C.UTF-8
export OMP_NUM_THREADS LC_ALL
# PyTorch 1.13 with Python 3.11 does not accept its own default of -r and -t
torchrun="$python -m torch.distributed.run -r 1 -t 1 --standalone --nproc_per_node 2"
script=$srcdir/tests/python/ranks.py
report() { "$HPCPROF" -q --no-structs --to text --threshold 0 "$@" 2>"$T/err"; }
# processes MEASUREMENT [OPTION...]: rank and role of each, sorted
processes() {
	report --by thread "$@" | awk '/^Processes by/ { on = 1; next } /^$/ { on = 0 }
		on && / pid / { rank = $0 ~ /rank/ ? $0 : "-"; sub(/.*rank /, "", rank)
		sub(/ .*/, "", rank)
		role = $0; sub(/.*pid [0-9.]+/, "", role); sub(/ [^ ]*, [0-9]+ threads?$/, "", role)
		gsub(/^, |,$/, "", role); print rank, role }' | LC_ALL=C sort
}
results() { cat "$T/$1".? | sort; }

# shellcheck disable=SC2086 # words
run_limited 300 $torchrun "$script" "$T/plain" >out 2>&1
[ -e plain.1 ] || skip_all "torchrun does not work here: $(tail -n 1 out)"

# shellcheck disable=SC2086 # words
run_limited 300 "$HPCRUN" -o around -- $torchrun "$script" "$T/around" >out 2>&1
is "around torchrun: status" $? 0
like "... the line at the end counts its ranks" "$(cat out)" 'hpcrun-lite: 5 processes, '
is "... the ranks compute the same" "$(results around)" "$(results plain)"
is "... its agent is no rank, workers are of their rank" "$(processes around)" \
	"- torchrun agent
0 
0 DataLoader worker 0
1 
1 DataLoader worker 0"
is "--rank: one of them" "$(processes around --rank 1)" "1 
1 DataLoader worker 0"
like "the report compares ranks, without the agent" "$(report around)" \
	'\([01]\) .* \([01]\) +worked$'

FAIL=yes
export FAIL
# shellcheck disable=SC2086 # words
run_limited 300 $torchrun --max_restarts 1 --no_python "$HPCRUN" -q -o inside -- "$python" \
	"$script" "$T/inside" >out 2>&1
is "inside, with a rank that fails: status" $? 0
is "... the ranks compute the same" "$(results inside)" "$(results plain)"
is "... one directory" "$(echo inside*/job)" inside/job
# rank 0 is stopped at any place of the first attempt, with or without a worker
is "... with both attempts" "$(processes inside | grep -v DataLoader | tr '\n' ';')" "0 ;0 ;1 ;1 ;"

done_testing
