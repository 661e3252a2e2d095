#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The text of hpcprof-lite on the golden measurements, letter by letter; sums of the complete text;
# and what the options of the text change. prof_text.sh --accept writes the expected text anew.
. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/prof
accept=no
[ "${1:-}" = --accept ] && accept=yes
unset COLUMNS NO_COLOR

ok "the measurements are those that were committed" \
	sh -c "cd '$golden' && sha256sum --quiet -c SHA256SUMS"

# expect NAME COMMAND...: standard output equals golden/NAME.txt
expect() {
	name=$1
	shift
	"$@" >"$T/out" 2>"$T/err" || fail "$name: status $?"
	if [ $accept = yes ]; then cp "$T/out" "$golden/$name.txt"; fi
	same "$name as expected" "$T/out" "$golden/$name.txt"
}

cd "$golden" || exit 99
for m in job killed; do
	expect $m-text env LC_ALL=C.UTF-8 "$HPCPROF" --no-structs --to text $m
	expect $m-ascii env LC_ALL=C "$HPCPROF" --no-structs --to text $m
	"$HPCPROF" --no-structs --to text --all $m >"$T/all-$m" 2>"$T/err"
	expect $m-sums by_name "$(cat "$srcdir/tests/cli/prof/sums.awk")" "$T/all-$m"
	"$HPCPROF" --no-structs --to text --all -j 3 $m >"$T/j3" 2>&1
	same "$m: the number of workers changes nothing" "$T/j3" "$T/all-$m"
done
# What tests/gen/gen_job.c puts into "job": 2 x 2 threads with 300 samples each.
is "job: samples by thread" "$(by_name '$1 == "ledger" && get("of") == "profile" {
	print get("in_tree") }' "$T/all-job" | sort | uniq -c | awk '{ print $1, $2 }')" "4 300"
is "job: all samples are in time lines and totals" "$(by_name '$1 == "sample" { n++ }
	$1 == "total" { sum += get("samples") } END { print n, sum }' "$T/all-job")" "1200 1200"
is "job: every line has as many fields as names" "$(awk -F '\t' '
	/^# / { if (NF > 1) n[substr($1, 3)] = NF; next }
	NF != n[$1] && !($1 == "thread" && NF > n[$1]) { print $1; exit }' "$T/all-job")" ""

report() { "$HPCPROF" --no-structs --to text "$@" job 2>"$T/err"; }

like "--metric chooses by event" "$(report --metric REALTIME --by function)" \
	'^Functions by their own REALTIME \(sec\), then by total$'
like "--metric chooses by name" "$(report --metric 'REALTIME (sec)' --by line)" \
	'^Lines by their own REALTIME \(sec\)$'
not_ok "--metric refuses what was not measured" "$HPCPROF" --no-structs --to text --metric CYCLES \
	gpu
like "and says what there is, as it is typed" \
	"$("$HPCPROF" --no-structs --to text --metric CYCLES gpu 2>&1)" \
	"no metric 'CYCLES' was measured; there is: CPUTIME, GPUOP, GKER, GXCOPY, "
unlike "--by shows nothing else" "$(report --by module,thread)" '^(Call paths|Functions|Lines) '
like "--by module" "$(report --by module)" '/opt/synthetic/lib/libsolve.so.1$'
is "--depth 1 shows the entries' callees and no deeper" \
	"$(report --by path --depth 1 --threshold 30 | sed -n '/^Call paths/,$p' |
		grep -c 'synthetic::')" 2
like "--sort total says so" "$(report --sort total --by function)" \
	'^Functions by total CPUTIME \(sec\)$'
is "--sort knows self and total" \
	"$("$HPCPROF" --sort name --to text job >/dev/null 2>&1; echo $?)" 2
is "--threshold 101 is refused" \
	"$("$HPCPROF" --threshold 101 --to text job >/dev/null 2>&1; echo $?)" 2
shown() { report --by line --threshold "$1" | grep -cE '^ *(<0|[0-9]).*%'; }
within "--threshold 0 shows every line" "$(shown 0)" "$(($(shown 4) + 10))" 1000
is "and hides none" "$(report --by line --threshold 0 | grep -c ' more below ')" 0
# functions: the rows of the table of functions, and how many there are if it comes before the tree
functions() {
	report "$@" | awk '/^Functions by/ { on = 1 } /^Call paths/ { exit }
		on && /%/ { n++ } on && / more / { more = $1 } /^$/ { on = 0 }
		END { print n + 0, more + 0 }'
}
is "the report begins with ten functions of sixteen or more" "$(functions)" "10 7"
is "... --by function shows them all" "$(functions --by function)" "17 0"
is "... and so does --threshold 0" "$(functions --threshold 0 | cut -d ' ' -f 2)" 0
# room TITLE NAME PLACE: columns of the names in a table on a narrow terminal
room() {
	LC_ALL=C COLUMNS=80 report | awk -v title="^$1" -v name="$2" -v place="$3" '
		$0 ~ title { found = 1 }
		found && index($0, place) { print index($0, place) - index($0, name) - 2; exit }'
}
is "names have 37 of 80 columns" "$(room 'Functions by' function 'defined at')" 37
is "... call paths 38" "$(room 'Call paths' 'call path' 'called at')" 38

# --- a wider terminal shows the same tree, and no less of any name
# rows MEASUREMENT WIDTH: the guides of each row of the tree, and how long its name is
rows() {
	LC_ALL=C COLUMNS=$2 "$HPCPROF" -q --no-structs --to text --by path --threshold 0 "$1" |
		awk '!column { column = index($0, "call path  "); next }
		/^$/ { exit }
		{
			row = substr($0, column)
			match(row, /^[|` -]*/)
			name = substr(row, RLENGTH + 1)
			sub(/  .*/, "", name)
			print substr(row, 1, RLENGTH) "\t" length(name)
		}'
}
for m in job gpu; do
	rows $m 80 >"$T/narrow"
	within "$m: a tree of many rows" "$(wc -l <"$T/narrow")" 100 10000
	for columns in 100 110 120 160 200; do
		rows $m $columns >"$T/wide"
		is "$m: rows with other guides, and with shorter names, at $columns columns" \
			"$(paste "$T/narrow" "$T/wide" | awk -F '\t' '
				{ n += $1 != $3; m += $4 < $2 } END { print n + 0, m + 0 }')" "0 0"
		mv "$T/wide" "$T/narrow"
	done
done

# --- nothing is wider than 80 columns but paths of files
fits() {
	is "no line is wider than the terminal: $1" \
		"$(LC_ALL=C COLUMNS=80 "$HPCPROF" -q --no-structs --to text "$T/$1" 2>"$T/err" |
		awk '!/^ *\/[^ ]*$/ && length > 80')" ""
}
gen=$builddir/tests/gen
cp -r job gpu killed "$T"
"$gen/gen_scale" -r 40 -t 3 -m 20 -g 40 "$T/ranks"
"$gen/gen_measurement" -p 3 -t 2 -g 30 -b -l -w "$T/processes"
"$gen/gen_nccl_main" "$T/nccl" n_ranks=30 late=22
for m in job gpu killed ranks processes nccl; do fits $m; done
for m in advice/vector advice/clean-even counters/roofline energy/steps jax/norank-vm-687 \
	nvidia/paths-bursts torch_backward/norank-vm-8476; do
	mkdir -p "$T/$m"
	gzip -dc "$srcdir/tests/golden/$m.hpcrun.gz" >"$T/$m/norank-vm-1.hpcrun"
	fits $m
done
"$builddir/tests/gen/gen_measurement" -s 0 "$T/none"
is "no samples: a report that says so" \
	"$("$HPCPROF" --no-structs --to text "$T/none" 2>"$T/err" |
	grep -c '^No samples of CPUTIME (sec)\.$')" 1
unlike "no escape sequences in a file" "$(report)" "$(printf '\033')"
# escapes VARIABLE...: the lines with escape sequences on a terminal
escapes() {
	env TERM=xterm "$@" script -qec "'$HPCPROF' -q --no-structs --to text '$T/none'" /dev/null \
		</dev/null 2>&1 | grep -c "$(printf '\033')"
}
if have script && [ "$(escapes)" != 0 ]; then
	is "none on a terminal that has none" "$(escapes TERM=dumb)" 0
	is "... and where NO_COLOR is set" "$(escapes NO_COLOR=1)" 0
	is "... and on the terminal that Open MPI makes" "$(escapes OMPI_COMM_WORLD_SIZE=2)" 0
else
	skip "escape sequences on a terminal" "no script here"
fi

done_testing
