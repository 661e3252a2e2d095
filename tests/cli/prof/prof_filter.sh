#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Filters of hpcprof-lite from outside: parts add up to the whole in every output, outputs of a
# part agree, their heads say which part it is, and wrong values are refused with what there is.
. "${srcdir:-.}/tests/lib.sh"

GEN=$builddir/tests/gen/gen_measurement
JUDGE=$srcdir/tests/judge
golden=$(cd "$srcdir/tests/golden/prof" && pwd -P)
unset COLUMNS NO_COLOR
need "${PYTHON3:-python3}"
[ -x "$HPCPROF" ] || skip_all "hpcprof-lite is not built"
otf2=no
if grep -q '^#define HAVE_OTF2 ' "$builddir/config.h" && have otf2-print; then otf2=yes; fi
"$GEN" -p 4 -t 3 -n 200 -s 200 -m 3 -r -b -l "$T/m" || exit 99

prof() { "$HPCPROF" -q --no-structs "$@" 2>"$T/err"; }

# sums DIR FILTER...: a line for each metric: its name, total, samples, and records of time lines
sums() {
	prof --to text --all "$@" | by_name '
		$1 == "metric" { name[get("id")] = get("name") }
		$1 == "total" && get("context") == 0 { total[get("metric")] = get("execution") }
		$1 == "total" { samples[get("metric")] += get("samples") }
		$1 == "sample" { records[get("metric")]++ }
		END { for (i in name) printf "%s\t%.17g\t%d\t%d\n", name[i], total[i], samples[i],
			records[i] }' | sort
}
# add: adds up the sums of several parts
add() {
	awk -F'\t' '{ a[$1] += $2; b[$1] += $3; c[$1] += $4 }
		END { for (i in a) printf "%s\t%.9g\t%d\t%d\n", i, a[i], b[i], c[i] }' | sort
}
# adds_up NAME DIR "FILTER" "FILTER"...: the parts add up to the whole
adds_up() {
	name=$1 dir=$2
	shift 2
	sums "$dir" | add >"$T/whole"
	for part; do
		# shellcheck disable=SC2086
		sums $part "$dir"
	done | add >"$T/sum"
	same "$name" "$T/sum" "$T/whole"
}

within "the whole has samples" "$(sums "$T/m" | awk -F'\t' '{ n += $4 } END { print n }')" 2000 2400
adds_up "ranks add up" "$T/m" "--rank 0" "--rank 1" "--rank 2,3"
adds_up "ranges of ranks" "$T/m" "--rank 0,2-3" "--rank 1-1"
adds_up "threads add up" "$T/m" "--thread 0" "--thread 1-2"
adds_up "processes add up" "$T/m" "--process 1000" "--process 1010,1020,1030"
adds_up "a name has them all" "$T/m" "--process synth*"
adds_up "filters are combined" "$T/m" "--rank 0-1" "--rank 2-3 --thread 0" \
	"--rank 2-3 --thread 1,2"
"$GEN" -p 2 -t 3 -n 150 -s 500 -m 3 -r -b "$T/clean" || exit 99
adds_up "halves of the time add up" "$T/clean" "--time :50%" "--time 50%:"
adds_up "seconds and percent" "$T/clean" "--time 0:0.7" "--time 0.7:1.234567891" \
	"--time 1.234567891:80%" "--time 80%:100%"
adds_up "no bound is the whole" "$T/clean" "--time :"

# What is below main, and what the other entries have.
prof --to text --all "$T/m" >"$T/all"
in_main=$(by_name '$1 == "function" && get("name") == "main" { main[get("id")] = 1 }
	$1 == "context" { up[get("id")] = get("parent");
		is[get("id")] = get("kind") == "function" && (get("function") in main)
		inside[get("id")] = is[get("id")] || inside[get("parent")] }
	$1 == "total" && get("metric") == 0 && inside[get("context")] { sum += get("point") }
	END { printf "%.9g\n", sum }' "$T/all")
is "--below main has what is in main's contexts" "$(sums --below main "$T/m" | add |
	awk -F'\t' '$1 == "CPUTIME (sec)" { print $2 }')" "$in_main"
prof --to text --all --below main "$T/m" >"$T/below"
unlike "... and no entry but that of main" "$(by_name '$1 == "context" && get("kind") == "entry"' \
	"$T/below")" 'partial'
is "... a pattern finds the same" "$(sums --below 'mai[n]' "$T/m")" "$(sums --below main "$T/m")"

# Time lines: a sample lasts until the next one of its thread, whether that is in main or not.
# seconds FILE: the seconds that samples in main last, of a complete text
seconds() {
	by_name '$1 == "function" && get("name") == "main" { main[get("id")] = 1 }
		$1 == "context" { inside[get("id")] = (get("kind") == "function" &&
			(get("function") in main)) || inside[get("parent")] }
		$1 == "profile" { end[get("id")] = substr(get("end_ns"), 5) }
		$1 == "sample" || $1 == "idle" {
			now = substr(get("time_ns"), 5)
			if (last[get("profile")]) sum += now - at[get("profile")]
			last[get("profile")] = $1 == "sample" && inside[get("context")];
				at[get("profile")] = now
		}
		END {
			for (i in last) if (last[i] && end[i] > at[i]) sum += end[i] - at[i]
			printf "%.6f\n", sum / 1e9
		}' "$1"
}
in_main=$(seconds "$T/all")
unlike "time lines are in main for a while" "$in_main" '^0\.0+$'
is "--below main: the text has as much time in main as the whole" \
	"$(seconds "$T/below")" "$in_main"
prof --to cctdb -o "$T/below.db" --below main "$T/m"
is "... and trace.db" "$("$PYTHON3" -c 'import struct, sys
data, sum = open(sys.argv[1], "rb").read(), 0
items, n, size = struct.unpack_from("<QLB", data, struct.unpack_from("<QQ", data, 16)[1])
for i in range(n):
    _, start, stop = struct.unpack_from("<QQQ", data, items + i * size)
    at, context = 0, 0
    for time, now in struct.iter_unpack("<QL", data[start:stop]):
        sum += (time - at) * (context != 0)
        at, context = time, now
print(f"{sum / 1e9:.6f}")' "$T/below.db/trace.db")" "$in_main"
if [ "$otf2" = yes ]; then
	prof --to otf2 --otf2 enterleave -o "$T/below.otf2" --below main "$T/m"
	is "... and what OTF2 enters and leaves" "$(otf2-print "$T/below.otf2/otf2/traces.otf2" |
		awk '$1 == "ENTER" && !n[$2]++ { start[$2] = substr($3, 5) }
			$1 == "ENTER" { depth[$2]++ }
			$1 == "LEAVE" && --depth[$2] == 0 {
				sum += substr($3, 5) - start[$2]; n[$2] = 0
			}
			END { printf "%.6f\n", sum / 1e9 }')" "$in_main"
else
	skip "... and what OTF2 enters and leaves" "no OTF2, or no otf2-print"
fi

# ---- outputs agree ----

# agree NAME DIR FILTER...: what each output holds, read by its own program
agree() {
	name=$1 dir=$2
	shift 2
	rm -rf "$T/db"
	if ! prof --all -o "$T/db" "$@" "$dir" >"$T/all"; then
		fail "$name: hpcprof-lite writes all outputs" "$(cat "$T/err")"
		return
	fi
	"$PYTHON3" "$JUDGE/read_text.py" "$T/all" >"$T/text"
	if "$PYTHON3" "$JUDGE/read_cctdb.py" "$T/db" | grep -v '^ledger' >"$T/cctdb"; then
		grep -Ev '^(bytes|contexts|ledger)' "$T/text" >"$T/text-cctdb"
		ok "$name: text and CCT database agree" "$PYTHON3" "$JUDGE/compare_facts.py" \
			"$T/text-cctdb" "$T/cctdb"
	else
		fail "$name: the CCT database is sound"
	fi
	like "$name: the database says which part it is" "$(strings -a "$T/db/meta.db")" \
		'^## Part of the run'
	if [ "$otf2" = no ]; then
		skip "$name: text and OTF2 archive agree" "no OTF2, or no otf2-print"
		return
	fi
	# The ledgers of threads are in the archive; the text has that of the whole run.
	accounts='^(contexts|ledger|joined|launched|lost|summed-up)'
	if "$PYTHON3" "$JUDGE/read_otf2.py" "$T/db/otf2/traces.otf2" >"$T/otf2"; then
		grep -Ev "$accounts" "$T/text" >"$T/text-otf2"
		grep -Ev "$accounts" "$T/otf2" >"$T/otf2-facts"
		ok "$name: text and OTF2 archive agree" "$PYTHON3" "$JUDGE/compare_facts.py" \
			-t 1e-5 "$T/text-otf2" "$T/otf2-facts"
	else
		fail "$name: the OTF2 archive is sound"
	fi
	like "$name: the archive says which part it is" \
		"$(otf2-print --show-archive-properties "$T/db/otf2/traces.otf2" 2>&1 ||
			strings -a "$T/db/otf2/traces.otf2")" 'HPCTOOLKIT_LITE::PART'
}

agree "ranks" "$T/m" --rank 1,3
agree "a time" "$T/m" --time 10%:60%
agree "all of them" "$T/m" --rank 0-2 --thread 0-1 --time 0.5: --below main
agree "GPU: a time" "$golden/gpu" --time 30%:80%
agree "GPU: below" "$golden/gpu" --below main
agree "GPU: no thread that launched" "$golden/gpu" --thread 1 --time :50%

# ---- GPU operations ----

# gpu_sums DIR FILTER...: metrics that have time lines
gpu_sums() {
	sums "$@" | grep -E '^(GPUOP|GKER|GXCOPY|GMSET)' | cut -f 1,2
}
for time in "0%:100%" ":45%" "45%:"; do
	gpu_sums --time "$time" "$golden/gpu" >"$T/gpu-$time"
done
add <"$T/gpu-0%:100%" >"$T/gpu-whole"
cat "$T/gpu-:45%" "$T/gpu-45%:" | add >"$T/gpu-halves"
same "operations of two halves add up" "$T/gpu-halves" "$T/gpu-whole"
report=$(prof --to text --time :45% "$golden/gpu")
like "what has no time line is named" "$report" \
	'^  left out, because they have no time line: .*GSYNC \(sec\).*PC samples and stall reasons'
like "... and the share of what was summed up in the run" "$report" \
	'^  left out, because it has no time line: [0-9.]+% of GPUOP \(sec\), '

# ---- heads ----

report=$(prof --to text --rank 0 --thread 0 --time 10%:50% --below main "$T/m")
like "the text says which part it is" "$report" \
	'^  part of the run: rank 0; thread 0; time 10%:50% \([0-9.]+ s to [0-9.]+ s of [0-9.]+ s\); below main$'
like "the ledger is that of the whole run" "$report" '^Ledger of the whole run: '
part='rank 1; thread 0'
prof --to json -o "$T/json" --rank 1 --thread 0 "$T/m"
is "JSON says which part it is" "$("${PYTHON3:-python3}" -c \
	'import json, sys; print(json.load(open(sys.argv[1]))["part"])' "$T/json/profile.json")" \
	"$part"
if prof --to sqlite -o "$T/sqlite" --rank 1 --thread 0 "$T/m"; then
	is "SQLite says it" "$("${PYTHON3:-python3}" -c 'import sqlite3, sys
print(*sqlite3.connect(sys.argv[1]).execute("SELECT value FROM run WHERE name = \"part\"")
	.fetchone())' "$T/sqlite/profile.sqlite" 2>&1)" "$part"
else
	skip "SQLite says it" "no SQLite in this build"
fi
report=$(prof --to text "$T/m")
unlike "without filters nothing is said" "$report" 'part of the run|whole run'

# ---- errors ----

# refused NAME MESSAGE FILTER...: status 2, the message, no output
refused() {
	name=$1 message=$2
	shift 2
	is "$name: status" "$("$HPCPROF" --no-structs --to text "$@" "$T/m" >"$T/out" 2>"$T/err"
		echo $?)" 2
	like "$name: message" "$(cat "$T/err")" "$message"
	is "$name: no report" "$(grep -c . "$T/out")" 0
}
refused "no number" "^hpcprof-lite: --rank wants numbers and ranges, as in 0,4-7, not 'one'" \
	--rank one
refused "a range backwards" "--thread wants numbers and ranges" --thread 3-1
refused "no such rank" "--rank: no process has rank 9; there is: 0 to 3" --rank 0,9
refused "no such thread" "--thread: no process has a thread 7; the highest number is 2" --thread 7
refused "no such process" \
	"--process: no process 'bash' was measured; there is: synthetic pid 1000" --process bash
refused "no name" "--process needs process ids or names" --process ,
refused "a function mistyped" "--below: no function 'mian' was measured; there is: main" \
	--below mian
refused "no function" "--below needs the name of a function" --below ""
refused "time without colon" "--time wants FROM:TO in seconds or percent" --time 5
refused "time backwards" "--time wants FROM:TO" --time 20:10
refused "more than all" "--time wants FROM:TO" --time 50%:101%
refused "after the end" "--time: the run lasted [0-9.]+ s: nothing is in '1000:'" --time 1000:
refused "an empty range in two units" "nothing is in '90%:0.1'" --time 90%:0.1
is "--archive takes no filter: status" "$("$HPCPROF" --archive "$T/a" --rank 0 "$T/m" 2>"$T/err"
	echo $?)" 2
like "... message" "$(cat "$T/err")" "--archive copies the whole measurement: leave out --rank"
"$GEN" -p 1 -t 1 -n 100 -s 100 "$T/alone" || exit 99
is "no ranks: status" "$("$HPCPROF" --to text --rank 0 "$T/alone" 2>"$T/err"; echo $?)" 2
like "... message" "$(cat "$T/err")" "--rank: the processes of this run have no ranks"
"$GEN" -p 1 -t 2 -n 100 -s 100 --no-trace "$T/no-trace" || exit 99
like "no time lines: nothing is left, and a note says so" \
	"$(prof --to text --all --time :50% "$T/no-trace")" \
	'^part-note	left out, because they have no time line: CPUTIME \(sec\)$'

# --- activities: adjoining parts add up to the whole, and in each part to its time
"$GEN" -t 2 -n 200 -s 2000 -w "$T/waits"
# activities RANGE: "EVENT SECONDS" of CPUTIME and of each activity
activities() {
	prof --to text --all --time "$1" "$T/waits" | by_name '
		$1 == "metric" { event[get("id")] = get("event") }
		$1 == "total" && get("context") == 0 {
			printf "%s %.9f\n", event[get("metric")], get("execution") }' | sort
}
activities 0%:40% >"$T/first"
activities 40%:100% >"$T/second"
activities 0%:100% >"$T/whole"
within "there are activities" "$(wc -l <"$T/whole")" 5 30
for part in first second whole; do
	ok "activities of $part add up" awk '
		$1 == "CPUTIME" { time = $2 }
		$1 != "CPUTIME" { sum += $2 }
		END { exit !(time > 0 && sum - time < 1e-6 && time - sum < 1e-6) }' "$T/$part"
done
is "parts add up to the whole" "$(cat "$T/first" "$T/second" |
	awk '{ sum[$1] += $2 } END { for (e in sum) printf "%s %.6f\n", e, sum[e] }' | sort)" \
	"$(awk '{ printf "%s %.6f\n", $1, $2 }' "$T/whole")"
done_testing
