#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A rank whose backward pass is slow at one layer: the finding names the rank, the module and the
# forward line. Two ranks train with gloo and DistributedDataParallel (torch_straggler.py).

. "${srcdir:-.}/tests/lib.sh"
for python in /usr/bin/python3 "${PYTHON3:-python3}" ''; do
	[ -z "$python" ] || ! "$python" -c 'import torch.distributed as d
assert d.is_gloo_available()' 2>/dev/null || break
done
[ -n "$python" ] || skip_all "no python3 with torch and gloo"
cd "$T" || exit 99
unset COLUMNS NO_COLOR
WORLD_SIZE=2 OMP_NUM_THREADS=1 MEETING=$T/meeting
# that of torchrun
MASTER_ADDR=127.0.0.1 MASTER_PORT=1 TORCHELASTIC_RUN_ID=straggler
export WORLD_SIZE OMP_NUM_THREADS MEETING MASTER_ADDR MASTER_PORT TORCHELASTIC_RUN_ID
program=$srcdir/tests/cli/torch/torch_straggler.py

RANK=0 LOCAL_RANK=0 run_limited 120 "$HPCRUN" -q --torch -e CPUTIME@f200 -e OFFCPU -o m -- \
	"$python" "$program" 10 0.5 >out.0 2>err.0 &
first=$!
RANK=1 LOCAL_RANK=1 run_limited 120 "$HPCRUN" -q --torch -e CPUTIME@f200 -e OFFCPU -o m -- \
	"$python" "$program" 10 0.5 >out.1 2>err.1
is "rank 1 ends" $? 0
status=0
wait "$first" || status=$?
is "rank 0 ends" "$status" 0
same "both have the same parameters" out.0 out.1

"$HPCPROF" -q --to text,brief m >both 2>err
sed -n '/^{$/,$p' both >brief.json
"$python" -c '
import json
f = [x for x in json.load(open("brief.json"))["findings"] if x["cause"] == "straggler"][0]
place = f["places"][0]
print(f["subject"])
print("%s:%d in %s" % (place["file"].rsplit("/", 1)[-1], place["line"], place["function"]))
print(f["evidence"][0]["value"])' >found 2>>err || diag_file err
is "the rank and the module" "$(sed -n 1p found)" \
	"rank 1, in the backward pass of module.blocks.1.fc (Linear)"
is "the forward line" "$(sed -n 2p found)" \
	"torch_straggler.py:$(grep -n 'self.fc(x)' "$program" | cut -d: -f1) in Block.forward"
within "10 times 0.5 s, and what else made it late, in ms" \
	"$(awk 'NR == 3 { printf "%d", $1 * 1000 }' found)" 2500 60000
like "the report has it" "$(sed -n '/^What matters most/,/^$/p' both)" \
	'which  rank 1, in the backward pass of module.blocks.1.fc \(Linear\)'
like "the account names the waits" "$(sed -n '/^Where the time of/,/^$/p' both)" \
	'PyTorch collect'
done_testing
