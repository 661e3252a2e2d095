#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the commands of doc/guide/*.md as they stand there, each page in an empty directory, with
# the tools in PATH and the repository in ~/hpctoolkit-lite, and looks for the output that the page
# shows. tests/judge/run_guide.py says how pages mark what cannot run here. GUIDE="time jobs" runs
# these pages alone.
#
# needs: melt melt-mpi

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/mpi_env.sh"
need "${PYTHON3:-python3}" gcc
[ -x "$builddir/tests/workload/miniapp/melt" ] || skip_all "the mini-application is not built"
public_tools || skip_all "the tools are not staged; run make check"

prefix=${HPCRUN%/bin/*}
PATH=$prefix/bin:$PATH C_INCLUDE_PATH=$prefix/include
LIBRARY_PATH=$prefix/lib LD_LIBRARY_PATH=$prefix/lib HOME=$T/home
[ ! -x "$builddir/tests/workload/miniapp/melt-mpi" ] || ! have mpirun || HAVE_MPI=1
eval "$(sed -n 's/^#define \(HAVE_[A-Z0-9]*\) 1$/export \1=1/p' "$builddir/config.h")"
export HAVE_MPI PATH HOME C_INCLUDE_PATH LIBRARY_PATH LD_LIBRARY_PATH
for python in python3 /usr/bin/python3; do # PyTorch takes half a minute
	if [ -n "${THOROUGH:-}" ] && "$python" -c 'import torch' 2>/dev/null; then
		mkdir "$T/bin"
		ln -s "$(command -v "$python")" "$T/bin/python3"
		PATH=$T/bin:$PATH HAVE_TORCH=1
		export HAVE_TORCH
		break
	fi
done
unset MAKEFLAGS MFLAGS MAKELEVEL # of make check; pages run make
mkdir -p "$HOME/hpctoolkit-lite"
ln -s "$srcdir/tests" "$srcdir/hpcrun-lite" "$HOME/hpctoolkit-lite/"
ln -s "$builddir" "$HOME/hpctoolkit-lite/build"

tab=$(printf '\t')
COLUMNS=96 # with the four blanks before it, output has the width of a page
export COLUMNS

# run_page FILE: its results in FILE.results, in a new directory.
run_page() {
	mkdir "$T/work" && cd "$T/work" || exit 99
	run_limited 600 "${PYTHON3:-python3}" "$srcdir/tests/judge/run_guide.py" "$1" \
		>"$T/$2.results" 2>"$T/err" || fail "$2: the judge ends with 0" "$(cat "$T/err")"
	cd "$T" && rm -rf work
}

# What the judge has to see.
cat >"$T/page" <<'MD'
    $ printf '%s\n' 'a 12 ms' 'b 3.5 s' 'c x.c:7 d'
    a 7 s
    ...
    c x.c:9 ...

Output of before, wrong order, what nobody prints, wrong status:

    a 1 us

Text.

    $ printf 'a\nb\n'
    b
    a

Text.

    x

Text.

    $ false

<!-- needs GPU -->
    $ false

<!-- needs no-such-command -->
    $ false

<!-- status 1 -->
    $ false
MD
run_page "$T/page" judge
is "the judge: right, wrong and left out" "$(cut -f 1 "$T/judge.results" | xargs)" \
	"ok ok not-ok not-ok not-ok never missing ok"
rm "$T/judge.results"

for name in ${GUIDE:-$(cd "$srcdir/doc/guide" && ls -- *.md)}; do
	page=${name%.md}
	run_page "$srcdir/doc/guide/$page.md" "$page"
	while IFS=$tab read -r result what why; do
		case $result in
		ok) pass "$page: $what" ;;
		missing) # what waits for THOROUGH is not missing
			[ "$why${THOROUGH:-}" = HAVE_TORCH ] || skip "$page: $what" "no $why"
			;;
		not-ok) fail "$page: $what" "$why" ;;
		esac
	done <"$T/$page.results"
done
# Commands and output that nobody has seen here: as few as possible.
[ -n "${GUIDE:-}" ] || is "what a test cannot run" \
	"$(sed -n "s/^never$tab.*$tab//p" "$T"/*.results | sort | uniq -c | xargs)" \
	"19 GPU 3 MPI_Comm_spawn 4 PyTorch 2 Slurm 3 another-run 8 cluster 3 container 8 viewer"

done_testing
