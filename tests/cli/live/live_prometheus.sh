#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcprof-lite --live --prometheus-file: the file is whole whenever somebody reads it, its values
# are those of the report, counters never go down, and the number of series is bounded. A disk
# without room leaves the old file. promtool is the judge of the format where it is installed.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/live/live_lib.sh"

PROM=$T/run.prom
# value FILE SERIES: of the first series that begins so
value() { awk -v s="$2" 'index($0, s) == 1 { print $NF; exit }' "$1"; }
has_cpu() { awk -v least="$2" 'index($0, "hpctoolkit_cpu_seconds_total") == 1 &&
	$NF >= least { found = 1 } END { exit !found }' "$1"; }
# well_formed FILE: comments before each metric, and series with labels
well_formed() {
	awk '/^# HELP / { help = $3; next }
		/^# TYPE / { if ($3 != help || $3 in type) bad = 1; type[$3] = $4; next }
		{ name = $1; sub(/\{.*/, "", name)
		  if (!(name in type) || (type[name] == "counter") != (name ~ /_total$/))
			bad = 1
		  value = "\"([^\"\\\\]|\\\\.)*\""
		  labels = "[{]measurement=" value "(,[a-z]*=" value ")*[}]"
		  if ($0 !~ ("^hpctoolkit_[a-z_]*" labels " [0-9.e+-]*$")) bad = 1
		  if (seen[substr($0, 1, match($0, / [^ ]*$/))]++) bad = 1 }
		END { exit bad || !(help in type) }' "$1"
}

start run 2 -e CPUTIME
look run --prometheus-file "$PROM"
ok "a file comes" await "the file" test -s "$PROM"
ok "it is well formed" well_formed "$PROM"
ok "it changes while the program runs" await "1 s of CPU time" has_cpu "$PROM" 1
cp "$PROM" "$T/before"
is "one process runs" "$(value "$T/before" hpctoolkit_processes_running)" 1
kill -USR1 "$MEASURED"
ok "... goes on" await "2 s of CPU time" has_cpu "$PROM" 2

# A reader that opens the file at any time finds a whole one.
for i in 1 2 3 4 5 6 7 8 9 10; do
	cp "$PROM" "$T/read"
	well_formed "$T/read" || echo "$i"
	sleep 0.2
done >"$T/torn"
is "every reader found a whole file" "$(cat "$T/torn")" ""

kill -USR1 "$MEASURED"
status=0
wait $LOOKER || status=$?
is "it ends with the run" "$status" 0
is "nothing is printed without a terminal" "$(cat "$T/run.live")" ""
is "no process runs in the last file" "$(value "$PROM" hpctoolkit_processes_running)" 0
is "nothing is left beside it" "$(find "$T" -name 'run.prom*' | wc -l)" 1
"$HPCPROF" -q --to brief "$T/run" >"$T/brief" 2>/dev/null
"$HPCPROF" -q --to text --all "$T/run" >"$T/all" 2>/dev/null
want=$(by_name '$1 == "total" && get("context") == 0 && get("metric") == 0 {
	print get("execution") }' "$T/all")
within "the CPU time is that of the report" \
	"$(awk -v a="$(value "$PROM" hpctoolkit_cpu_seconds_total)" -v b="$want" \
		'BEGIN { print a / b }')" 0.9999 1.0001
sed -n 's/.*"use":"work".*"share":\([0-9.e-]*\).*/\1/p' "$T/brief" >"$T/want"
within "... as is the share of work" \
	"$(awk -v a="$(grep 'account_ratio.*use="work"' "$PROM" | awk '{ print $NF }')" \
		-v b="$(cat "$T/want")" 'BEGIN { print a / b }')" 0.999 1.001
awk '!/^#/ && $1 ~ /_total\{/ { series = $0; sub(/ [^ ]*$/, "", series)
		if (FNR == NR) before[series] = $NF
		else if (series in before && $NF < before[series]) print }' \
	"$T/before" "$PROM" >"$T/fell"
is "no counter has gone down" "$(cat "$T/fell")" ""
within "the number of functions is bounded" "$(grep -c '^hpctoolkit_function' "$PROM")" 2 20

# ---- names that need escapes ----

mkdir "$T/odd"
odd=$T/odd/$(printf 'a"b\\c')
cp -R "$T/run" "$odd"
"$HPCPROF" --live --prometheus-file "$T/odd.prom" "$odd" >/dev/null 2>&1
ok "a name with quotes is well formed" well_formed "$T/odd.prom"
like "... and escaped" "$(cat "$T/odd.prom")" 'measurement="a\\"b\\\\c"'
if have promtool; then
	ok "promtool accepts the files" sh -c 'promtool check metrics <"$0" &&
		promtool check metrics <"$1"' "$PROM" "$T/odd.prom"
else
	skip "promtool accepts the files" "no promtool"
fi

# ---- no room ----

cp "$PROM" "$T/old"
status=0
(ulimit -f 1 && "$HPCPROF" --live --prometheus-file "$PROM" "$T/run") >/dev/null 2>"$T/said" ||
	status=$?
is "a limit on the size: status 1" "$status" 1
like "... says why" "$(cat "$T/said")" 'run.prom: warning: cannot be written \(File too large\)'
same "... and leaves the old file" "$PROM" "$T/old"
mkdir "$T/full"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=16k tmpfs "$T/full" 2>/dev/null; then
	at_exit "umount '$T/full'"
	echo old >"$T/full/x.prom"
	cat /dev/zero >"$T/full/zero" 2>/dev/null
	"$HPCPROF" --live --prometheus-file "$T/full/x.prom" "$T/run" >/dev/null 2>"$T/said" || :
	like "a full disk: says so" "$(cat "$T/said")" \
		'x.prom: warning: cannot be written \(No space left on device\)'
	is "... and leaves the old file" "$(cat "$T/full/x.prom") $(ls "$T/full")" \
		"$(printf 'old x.prom\nzero')"
else
	skip "a full disk: says so" "no right to mount"
	skip "... and leaves the old file" "no right to mount"
fi

done_testing
