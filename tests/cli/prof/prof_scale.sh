#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A job of many ranks whose sums are known: hpcprof-lite finds them, with any number of workers.
. "${srcdir:-.}/tests/lib.sh"

gen=$builddir/tests/gen/gen_scale
cd "$T" || exit 99

# found: how many leaf functions have in the output of --all what job/expected says. A function has
# a context below main's thread and one below the others.
found() {
	by_name '
		$1 == "function" { name[get("id")] = get("name") }
		$1 == "context" && get("kind") == "function" {
			function_of[get("id")] = name[get("function")] }
		$1 == "total" && get("context") in function_of {
			f = function_of[get("context")]
			low = get("least_execution")
			high = get("most_execution")
			least[f] = f in n && least[f] < low ? least[f] : low
			most[f] = f in n && most[f] > high ? most[f] : high
			n[f] += get("profiles")
			sum[f] += get("execution")
		}
		END {
			for (f in n)
				printf "%s\t%d\t%.0f\t%.0f\t%.0f\n", f, n[f], sum[f] * 1e9,
					least[f] * 1e9, most[f] * 1e9
		}' "$1" | sort >all
	sort job/expected | comm -12 - all | wc -l
}

tab=$(printf '\t')
"$gen" -r 40 -t 5 -d 5 -l 48 -p 30 -s 2 job
for j in 1 2 7; do
	is "$j workers merge it" \
		"$("$HPCPROF" -q -j $j --to text --all job >text.$j 2>err; cat err; echo $?)" 0
done
is "each leaf function has its threads, sum, least and most" "$(found text.1)" \
	"$(wc -l <job/expected)"
is "there are all of them" "$(wc -l <job/expected)" 48
same "2 workers write the same" text.1 text.2
same "7 workers write the same" text.1 text.7

# Of 500 ranks, rank 123 takes three times as long for all it does.
"$gen" -r 500 -l 32 -p 100 -s 50 --no-trace many
"$HPCPROF" -q --to text many >text.many
like "ranks that behave alike are a group, the odd one is named" \
	"$(sed -n '/^Ranks that behave alike/,/^$/p' text.many)" '^ +1 .* 123$'
like "with all others in one" "$(cat text.many)" '^ +499 .* 0-122,124-499$'
LC_ALL=C COLUMNS=80 "$HPCPROF" -q --to text many >narrow
like "80 columns have a line more for a long list" \
	"$(sed -n '/^Ranks that behave alike/,/^$/p' narrow)" '^ {20}0-122,124-499$'
is "... and no line is wider" "$(awk '!/^ *\/[^ ]*$/ && length > 80' narrow)" ""
like "so there are two" "$(cat text.many)" '^Ranks that behave alike, .*: 2 groups of 500 ranks'
unlike "few ranks are no groups" "$("$HPCPROF" -q --to text job)" '^Ranks that behave alike'
"$gen" -r 40 -t 5 -d 5 -l 48 -p 30 -s 2 again
unlike "nor are few ranks of many processes" "$("$HPCPROF" -q --to text job again)" \
	'^Ranks that behave alike'

"$gen" -r 3 -t 2 -g 50 gpu
# --- outputs in files do not depend on the number of workers, nor on who else writes
for j in 1 2 7; do
	"$HPCPROF" -q -j $j --to html,cctdb,json,sqlite --no-structs -o db.$j job
	"$HPCPROF" -q -j $j --to json,html --no-structs -o gpu.$j gpu
done
for j in 2 7; do
	is "$j workers write the same files" "$(diff -r db.1 db.$j 2>&1)" ""
	is "... of a job with GPUs" "$(diff -r gpu.1 gpu.$j 2>&1)" ""
done
# Enough profiles and time lines that workers share the sections of the report.
"$gen" -r 700 -l 48 -p 100 -s 8 page
for j in 1 2 7; do
	"$HPCPROF" -q -j $j --to html --no-structs -o page.$j page
done
pieces() { # the pieces of the section "samples", each of 1 MiB
	sed -n 's|.*data-section="samples">\([^<]*\)<.*|\1|p' "$1" | base64 -d | gzip -dc |
		wc -c | awk '{ print int($1 / 1048576) + 1 }'
}
is "a section of several pieces is whole" "$(pieces page.1/report.html)" 2
for j in 2 7; do
	same "$j workers write the same report" page.1/report.html page.$j/report.html
done
ok "there is a report" test -s db.1/report.html

"$HPCPROF" -q --to text --all gpu >text.gpu
is "the account of GPU operations closes" "$(grep '^gpu-closes' text.gpu)" "gpu-closes${tab}1"
done_testing
