#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What matters most: programs with one known cause each have it as the first finding, and what a
# cure would give. The report and --to brief have the same findings. Other programs may take the
# processors meanwhile, which is a finding of its own and is left out here.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

[ -z "${SANITIZER:-}" ] || skip_all "the program has a sanitizer"
PLANTED=$builddir/tests/workload/parallel/planted
PYTHON=${PYTHON3:-python3}
have "$PYTHON" || skip_all "no python3"

# causes: of --to brief, a line each: cause, likely gain / elapsed time, cost / elapsed time.
causes() {
	"$PYTHON" -c '
import json, sys
d = json.load(open(sys.argv[1]))
e = d["run"]["elapsed_sec"]
for f in d["findings"]:
    if f["cause"] not in ("no-processor", "no-lines", "disturbed"):
        print(f["cause"], f["gain_sec"]["likely"] / e, f["cost_sec"] / e)' "$T/$1.json"
}
# planted CAUSE [ARGUMENT...]
planted() {
	cause=$1
	rm -rf "$T/m"
	ok "$cause: measured" "$HPCRUN" -q -e CPUTIME -e OFFCPU -o "$T/m" -- "$PLANTED" "$@"
	"$HPCPROF" -q --to text,brief "$T/m" >"$T/both" 2>"$T/err" ||
		fail "$cause" "$(cat "$T/err")"
	sed -n '/^{$/,$p' "$T/both" >"$T/$cause.json"
	sed '/^{$/,$d' "$T/both" >"$T/$cause.text"
	causes "$cause" >"$T/causes"
}

for cause in mutex balance page-faults; do
	planted $cause
	is "$cause: is the first finding" "$(sed -n '1s/ .*//p' "$T/causes")" $cause
done
planted file-calls "$T/written"
is "file-calls: is the first finding" "$(sed -n '1s/ .*//p' "$T/causes")" file-calls
planted few-samples
is "few-samples: is the only finding" "$(sed 's/ .*//' "$T/causes")" few-samples
planted none
# to start takes a part of half a second
is "none: nothing costs much" "$(awk '$2 > 0.12' "$T/causes")" ""
planted sleep
is "sleep: is the first finding" "$(sed -n '1s/ .*//p' "$T/causes")" sleep

# share CAUSE: of the elapsed time that a cure likely gives.
share() {
	causes "$1" | awk -v c="$1" '$1 == c { print $2; exit }'
}
# beside busy neighbours the work takes several times as long
within "sleep: 20 x 50 ms of 20 x 75 ms and more" "$(share sleep)" 0.1 0.65
within "mutex: one thread waits while the other holds it" "$(share mutex)" 0.15 0.55
within "balance: 0.5 s and 0.1 s of work" "$(share balance)" 0.2 0.5

like "the report has it" "$(sed -n '/^What matters most/,/^$/p' "$T/sleep.text")" \
	"threads that sleep"
like "... with its line" "$(sed -n '/^What matters most/,/^$/p' "$T/sleep.text")" \
	"where .*planted[.]c:[0-9]+ in sleeps"
look=$("$PYTHON" -c '
import json, sys
print(next(f["look"] for f in json.load(open(sys.argv[1]))["findings"] if f["cause"] == "sleep"))' \
	"$T/sleep.json")
eval "set -- $look"
shift
like "the command of a finding shows more of it" "$("$HPCPROF" -q "$@" 2>&1)" "part of the run: "

# Kept runs: a job that hung, ranks with unequal work and many messages, regions of OpenMP.
gzip -dc "$srcdir/tests/golden/parallel/kept.tar.gz" | tar -xf - -C "$T"
for kept in hang mpi omp; do
	"$HPCPROF" -q --no-structs --to brief "$T/$kept" >"$T/$kept.json" 2>"$T/err"
	causes $kept | sed 's/ .*//' >"$T/$kept.causes"
done
# a thread of a library, which does not count: an account of no time
"$HPCPROF" -q --no-structs --to brief --thread 1 "$T/hang" >"$T/helper.json" 2>"$T/err"
is "a job that hung: that is first" "$(head -n 1 "$T/hang.causes")" open-call
for cause in small-messages late-rank; do
	ok "ranks: $cause" grep -qx $cause "$T/mpi.causes"
done
for cause in imbalance serial critical; do
	ok "OpenMP: $cause" grep -qx $cause "$T/omp.causes"
done

if "$PYTHON" -c 'import jsonschema' 2>"$T/err" || { PYTHON=/usr/bin/python3 &&
	"$PYTHON" -c 'import jsonschema' 2>"$T/err"; }; then
	ok "brief.schema.json describes them" "$PYTHON" -c '
import json, jsonschema, sys
schema = json.load(open(sys.argv[1]))
jsonschema.Draft202012Validator.check_schema(schema)
for f in sys.argv[2:]:
    text = open(f).read()
    assert len(text) <= 8192, f
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))' \
		"$srcdir/doc/formats/brief.schema.json" "$T"/*.json
fi
done_testing
