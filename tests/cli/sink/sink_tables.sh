#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The tables about parallel programs have the same numbers in the text, in --all, the JSON, SQLite
# and report.html, of kept measurements and of parts of them: the account of time, efficiencies,
# regions of OpenMP, balance, calls of MPI, late ranks and calls that did not end. A browser shows
# them all.

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

for name in mpi hang omp team one; do
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

# shellcheck disable=SC2086 # words
if [ -n "$browser" ]; then
	pages=
	for name in mpi hang omp team; do
		pages="$pages waiting=$T/$name.checks $T/out/$name/report.html"
	done
	ok "all pages in a browser" browse $pages
	for name in mpi hang omp team; do
		sed "s/^\(not \)\{0,1\}ok /&$name: /" "$T/$name.checks" >"$T/checks"
		checks
	done
else
	skip "the pages in a browser" "no chromium, its driver or python3-selenium here"
fi
done_testing
