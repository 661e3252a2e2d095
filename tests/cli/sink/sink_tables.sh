#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The tables about parallel programs have the same numbers in the text, in --all, the JSON, SQLite
# and report.html, of kept measurements and of parts of them: the account of time, efficiencies,
# regions of OpenMP, balance, calls of MPI, late ranks and calls that did not end. A browser shows
# them all. No number is impossible, and two halves of a run add up to it.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/judge/browser.sh"

JUDGE=$srcdir/tests/judge
PYTHON=${PYTHON3:-python3}
need "$PYTHON"
"$PYTHON" -c 'import sqlite3' 2>"$T/err" || PYTHON=/usr/bin/python3
"$PYTHON" -c 'import sqlite3' 2>"$T/err" || skip_all "no Python with SQLite here"
golden=$srcdir/tests/golden
mkdir "$T/kept" "$T/out"
gzip -dc "$golden/parallel/kept.tar.gz" | tar -xf - -C "$T/kept"

# unpack NAME FILE...: a measurement of compressed files
unpack() {
	mkdir "$T/kept/$1"
	unpack_to=$T/kept/$1
	shift
	for file; do
		gzip -dc "$file" >"$unpack_to/$(basename "$file" .gz)"
	done
}
unpack torch "$golden"/torch/*.gz

outputs=text,html,json
case ,$OUTPUTS, in *,sqlite,*) outputs=$outputs,sqlite ;; esac
# write NAME OPTION... MEASUREMENT: all outputs of it, in $T/out/NAME
write() {
	name=$1
	shift
	"$HPCPROF" -q --no-structs --to $outputs --all -o "$T/out/$name" "$@" >"$T/all" \
		2>"$T/err" || fail "$name: all outputs are written" "$(cat "$T/err")"
	mv "$T/all" "$T/out/$name/all"
	COLUMNS=200 LC_ALL=C.UTF-8 "$HPCPROF" -q --no-structs --to text --threshold 0 "$@" \
		>"$T/out/$name/report" 2>"$T/err" ||
		fail "$name: the report is written" "$(cat "$T/err")"
}
# checks: the lines "ok WHAT" or "not ok WHAT" of $T/checks.
checks() {
	while read -r result what; do
		if [ "$result" = ok ]; then pass "$what"; else fail "${what#ok }"; fi
	done <"$T/checks"
}

for name in mpi hang omp team one torch; do
	write "$name" "$T/kept/$name"
done
write gpu "$golden/prof/gpu"
write mpi-rank --rank 1 "$T/kept/mpi"
write mpi-time --time 20%:70% "$T/kept/mpi"
"$PYTHON" "$JUDGE/compare_tables.py" "$T/out"/* >"$T/checks" 2>"$T/err"
diag_file "$T/err" 5
checks
within "all have been compared" "$(wc -l <"$T/checks")" 75 100
for name in mpi hang mpi-time; do
	ok "$name: --all, JSON and SQLite have the same fields" "$PYTHON" \
		"$JUDGE/compare_exports.py" "$T/out/$name/all" "$T/out/$name"
done

# Without OFFCPU no sample says so: ranks hung in MPI for most of the time of a phase.
within "hang: of MPI, 30 % of the phase is useful (thousandths)" "$(by_name '
	$1 == "efficiency" && get("phase") != "" { printf "%d", 1000 * get("mpi") }' \
	"$T/out/hang/all")" 250 350

# The comparison can say no.
mkdir "$T/changed"
# changed NAME OUTPUT WHAT SED: after the change, the comparison fails
changed() {
	rm -rf "$T/changed/$1"
	cp -r "$T/out/$1" "$T/changed/$1"
	sed "$4" "$T/out/$1/$2" >"$T/changed/$1/$2"
	not_ok "$3 is seen" "$PYTHON" "$JUDGE/compare_tables.py" "$T/changed/$1"
}
changed mpi report "another time in the account" \
	's/^\( *[0-9.]*%  *\)[0-9]\(.*  worked\)$/\19\2/'
changed hang report "another call that did not end" 's/MPI_Recv from rank 0/MPI_Recv from rank 2/'
changed mpi all "another account" 's/^\(account-use	-	work	\)0/\19/'

# ---- numbers that cannot be true ----

# halves NAME MEASUREMENT: what --all says of all and of both halves, in $T/sums/NAME
halves() {
	mkdir -p "$T/sums/$1"
	for half in whole=0%:100% first=0%:50% second=50%:100%; do
		"$HPCPROF" -q --no-structs --to text --all --time "${half#*=}" "$2" \
			>"$T/sums/$1/${half%%=*}" 2>"$T/err"
	done
	if [ -e "$T/out/$1/all" ]; then
		ln -s "$T/out/$1/all" "$T/sums/$1/run"
	else
		"$HPCPROF" -q --no-structs --to text --all "$2" >"$T/sums/$1/run" 2>"$T/err"
	fi
}
unpack barrier "$golden/nvidia/barrier.hpcrun.gz"
unpack torch_backward "$golden"/torch_backward/*.gz
if [ -n "$(thorough "" all)" ]; then
	for file in "$golden"/nvidia/*.gz "$golden"/advice/*.gz "$golden"/counters/*.gz; do
		unpack "$(basename "$file" .hpcrun.gz)-all" "$file"
	done
fi
for dir in "$T/kept"/* "$golden/forks" "$golden/prof/job" "$golden/prof/gpu"; do
	halves "$(basename "$dir")" "$dir"
done
# In the made-up measurements of GPUs, more samples are idle than there are.
find "$golden" -name '*-text.txt' ! -name 'gpu-*' -o -name '*.report.gz' -o -name 'tree.txt' \
	-o -path '*/sink/*.txt' -o -path '*/advice/*.txt' -o -path '*/counters/*.txt' >"$T/texts"
# shellcheck disable=SC2046 # words
"$PYTHON" "$JUDGE/check_sums.py" "$T/sums"/* --texts $(cat "$T/texts") >"$T/checks" 2>"$T/err"
diag_file "$T/err" 5
checks
within "all have been added up" "$(wc -l <"$T/checks")" 45 1000
rm -rf "$T/changed"
mkdir "$T/changed"
cp -r "$T/sums/omp" "$T/changed/omp"
sed 's/^\(account-use	-	work	0\.\)/\11/' "$T/sums/omp/first" >"$T/changed/omp/first"
like "a half that does not add up is seen" \
	"$("$PYTHON" "$JUDGE/check_sums.py" "$T/changed/omp" --texts "$golden/prof/job-text.txt")" \
	'^not ok omp: halves: 1 differ: .*work'

# ---- the page ----

# shellcheck disable=SC2086 # words
if [ -n "$browser" ]; then
	pages=
	for name in mpi hang team torch; do
		pages="$pages waiting=$T/$name.checks $T/out/$name/report.html"
	done
	ok "all pages in a browser" browse $pages
	for name in mpi hang team torch; do
		sed "s/^\(not \)\{0,1\}ok /&$name: /" "$T/$name.checks" >"$T/checks"
		checks
	done
else
	skip "the pages in a browser" "no chromium, its driver or python3-selenium here"
fi
done_testing
