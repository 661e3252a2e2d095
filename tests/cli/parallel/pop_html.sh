#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The view "Waiting" of report.html: the page has what the text says of the use of processors, of
# efficiencies, regions and calls of MPI, and shows it in a real browser.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/cli/openmp/openmp.sh"
# shellcheck source=/dev/null
. "$srcdir/tests/judge/browser.sh"

need "${PYTHON3:-python3}"

# page MEASUREMENT NAME: its report.html in $T/db, the text in $T/text. $pages: what the browser
# opens.
pages=
page() {
	rm -rf "$T/db"
	"$HPCPROF" -q --to html -o "$T/db" "$1" 2>"$T/err"
	is "$2: a page is written" "$?" 0
	COLUMNS=160 "$HPCPROF" -q --to text "$1" >"$T/text" 2>"$T/err"
	page_file=$T/page-$(echo "$2" | tr ' ' -)
	cp "$T/db/report.html" "$page_file.html"
	pages="$pages waiting=$page_file.checks $page_file.html"
}

# checks NAME: the lines "ok WHAT" or "not ok WHAT" of $T/checks.
checks() {
	while read -r result what; do
		if [ "$result" = ok ]; then pass "$1: $what"; else fail "$1: ${what#ok }"; fi
	done <"$T/checks"
}

# agrees NAME [ALL]
agrees() {
	agrees_name=$1
	shift
	"${PYTHON3:-python3}" "$srcdir/tests/judge/compare_waiting.py" "$T/db/report.html" \
		"$T/text" "$@" >"$T/checks" 2>"$T/err"
	is "$agrees_name: the page can be compared with the text" "$?" 0
	diag_file "$T/err" 5
	checks "$agrees_name"
}

# is_shown NAME
is_shown() {
	if [ -z "$browser" ]; then
		skip "$1: the page in a browser" "no chromium, its driver or python3-selenium here"
		return
	fi
	cp "$T/page-$(echo "$1" | tr ' ' -).checks" "$T/checks"
	is "$1: the browser has looked" "$?" 0
	checks "$1"
}

if workload omp_waits libgomp "-e CPUTIME@f1000" static 20 2 3; then
	page "$omp_dir/m" "regions"
	agrees "regions"
fi
if workload omp_waits libgomp "-e CPUTIME@f1000" static 15 1; then
	page "$omp_dir/m" "one thread"
fi

if [ -z "${SANITIZER:-}" ]; then
	run_limited 120 "$HPCRUN" -q -e CPUTIME -o "$T/phases" -- \
		"$builddir/tests/workload/parallel/phases" once >"$T/out" 2>&1
	is "phases: status" "$?" 0
	page "$T/phases" "phases"
	agrees "phases"
else
	skip "phases" "the program has a sanitizer"
fi

if command -v mpicc.openmpi >/dev/null || command -v mpicc.mpich >/dev/null; then
	# shellcheck source=/dev/null
	. "$srcdir/tests/cli/mpi/mpi_lib.sh"
	mpi=${MPIS# }
	mpi=${mpi%% *}
	mpi_build "$mpi" ../parallel/pop_mpi.c -fopenmp -I"$srcdir" \
		"$builddir/.libs/libhpctoolkit.a" -ldl
	mpi_run "$mpi" 2 "$HPCRUN" -q -e CPUTIME -e MPI -o "$T/mpi" -- "$T/$mpi/pop_mpi" late 6 \
		>"$T/out" 2>&1
	is "MPI: status" "$?" 0
	page "$T/mpi" "MPI"
	"$HPCPROF" -q --to text --all "$T/mpi" >"$T/all" 2>"$T/err"
	agrees "MPI" "$T/all"
else
	skip "MPI" "no mpicc.openmpi or mpicc.mpich"
fi

# shellcheck disable=SC2086 # pairs
[ -z "$browser" ] || ok "all pages in a browser" browse $pages
for name in regions "one thread" phases MPI; do
	[ ! -e "$T/page-$(echo "$name" | tr ' ' -).html" ] || is_shown "$name"
done

done_testing
