#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Advice about measurements of CUDA programs on an NVIDIA H200 (tests/golden/nvidia): the section
# of the report, letter by letter, in two widths; the same rows as JSON; and none for kernels that
# issue as fast as they can. advice_golden.sh --accept writes the expected text anew. If there are
# measurements of advice_ways (tests/gpu/advice/advice.sh), the table that follows from them, too.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
have gzip || skip_all "no gzip here"
golden=${NVIDIA_GOLDEN:-$srcdir/tests/golden/nvidia}
expected=$srcdir/tests/golden/advice
python=${PYTHON3:-python3}
. "$srcdir/tests/judge/browser.sh"
accept=no
[ "${1:-}" = --accept ] && accept=yes
unset COLUMNS NO_COLOR
cd "$T" || exit 99

# unpack DIR NAME: the measurement m-NAME.
unpack() {
	mkdir -p "m-$2/structs" "m-$2/gpubins" || exit 99
	gzip -dc "$1/$2.hpcrun.gz" >"m-$2/norank-vm-1.hpcrun"
	for kind in structs gpubins; do
		for f in "$1/$kind"/*.gz; do
			if [ -f "$f" ]; then gzip -dc "$f" >"m-$2/$kind/$(basename "$f" .gz)"; fi
		done
	done
}

# section NAME WIDTH
section() {
	COLUMNS=$2 LC_ALL=C.UTF-8 run_limited 120 "$HPCPROF" -q --to text "m-$1" 2>err |
		sed -n '/^What would make it faster/,/^$/p'
}

for name in barrier chase copies graphs pipe; do
	unpack "$golden" $name
	for width in 80 160; do
		section $name $width >got
		if [ $accept = yes ]; then cp got "$expected/$name-$width.txt"; fi
		same "$name: the advice at $width columns" got "$expected/$name-$width.txt"
		is "$name: no line is longer than $width columns" \
			"$(awk -v w=$width 'length($0) > w' got)" ""
	done
done

# head_of [OPTION...]: the findings of pipe, whose advice is about an arithmetic unit.
head_of() {
	COLUMNS=80 LC_ALL=C.UTF-8 run_limited 120 "$HPCPROF" -q --to text "$@" m-pipe 2>err |
		sed -n '/^What matters most/,/^$/p'
}
head_of >findings
like "the head has the advice among its findings" "$(cat findings)" "a busy arithmetic unit"
like "... and points to the section" "$(cat findings)" 'do +see "What would make it faster" below'
is "... which says what to do" "$(grep -c "cheaper instructions" findings)" 0
for option in "--by path" "--threshold 60"; do
	# shellcheck disable=SC2086 # two arguments
	like "$option: without the section, the head says it" "$(head_of $option)" \
		"do +cheaper instructions"
done

for name in called inline line mixed-continuous; do
	unpack "$golden" $name
	is "$name: no advice about a kernel without a flaw" "$(section $name 80)" ""
done

if have "$python"; then
	# rows DIR: kind and factor of each row of the JSON about a measurement.
	rows() {
		run_limited 120 "$HPCPROF" -q --to json -o "db-$1" "$1" 2>err
		"$python" - "db-$1/profile.json" <<'END'
import json, sys
for row in json.load(open(sys.argv[1]))["advice"]["rows"]:
    print(row["kind"], "%.2fx" % row["factor"] if row["factor"] < 10 else "%.1fx" % row["factor"])
END
	}
	rows m-graphs >rows
	is "the JSON has the rows of the report" "$(awk '{ print $2 }' rows)" \
		"$(awk '$1 ~ /%$/ && $2 ~ /^[0-9.]+x$/ { print $2 }' "$expected/graphs-80.txt")"
	unpack "$expected" bodies
	is "... by falling gain" "$(rows m-bodies | awk '{ print $1 }' | tr '\n' ' ')" \
		"occupancy in-flight dependent "
else
	skip "the JSON has the rows of the report" "no python3 here"
fi

ok "measurements are unchanged" sh -c "cd '$expected' && sha256sum --quiet -c SHA256SUMS"
if have "$python"; then
	cp "$expected/times" .
	while read -r _ way _; do
		unpack "$expected" "$way"
		run_limited 120 "$HPCPROF" -q --to json -o "$way-flawed.db" "m-$way" 2>err
	done <"$expected/times"
	"$python" "$srcdir/tests/gpu/advice/advice_table.py" . >table
	if [ $accept = yes ]; then cp table "$expected/table.md"; fi
	same "advice_ways: predicted and measured" table "$expected/table.md"
else
	skip "advice_ways: predicted and measured" "no python3 here"
fi

if [ "$browser" ]; then
	run_limited 120 "$HPCPROF" -q --to html -o page m-pipe 2>err
	browse advice page/report.html >said || cat err
	while read -r line; do
		case $line in
		"ok "*) ok "page: ${line#ok }" true ;;
		*) fail "page: $line" ;;
		esac
	done <said
	is "the page was used" "$(wc -l <said)" 3
else
	skip "the page" "no Chromium or Selenium"
fi
done_testing
