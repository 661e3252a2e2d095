#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program whose call paths are known, with the kernel's part of them: the vDSO, and the frames of
# signals. 999 of 1000 paths are complete, and each is one that the program has.
. "${top_srcdir:-.}/tests/lib.sh"
have g++ || skip_all "no g++"

# share ERE: of the samples whose path matches it, how many of 1000 are below one of $known.
share() {
	awk -v which="$1" -v known="$known" '$0 ~ which {
		all += $NF
		if ($0 ~ known)
			right += $NF
	} END { print all < 20 ? "only " all + 0 " samples" : int(1000 * right / all) }' \
		"$T/db/folded/CPUTIME.folded"
}

leaf='main;(recurse;)+spin_deep;spin_leaf|main;(spin_catch|spin_alloca);spin_leaf'
leaf="$leaf|spin_thread;spin_leaf|main;spin_interrupted;spin_leaf|on_(user|alarm);spin_leaf"
leaf="$leaf|main;spin_(region|child);spin_leaf|main;.*;spin_handler;spin_leaf"

# paths NAME OPTIONS...
paths() {
	name=$1
	shift
	g++ "$@" -g "$srcdir/tests/workload/machine/machine_paths.cc" -pthread -o "$T/paths" ||
		exit 99
	rm -rf "$T/m" "$T/db"
	run_limited 60 "$HPCRUN" -q -e CPUTIME@f2000 -o "$T/m" "$T/paths" 100000 kernel
	is "$name: the program ends well" "$?" 0
	"$HPCPROF" -q --to folded -o "$T/db" "$T/m" 2>"$T/err"
	known="$leaf"
	within "$name: below the functions that called it" "$(share spin_leaf)" 999 1000
	known="main;spin_raise;.*;on_user"
	within "$name: a handler of a signal that is raised" "$(share on_user)" 999 1000
	known="main;spin_interrupted;.*;on_alarm"
	within "$name: a handler that interrupts" "$(share on_alarm)" 999 1000
	# __kernel_clock_gettime on aarch64; the names of x86-64 are for one address
	vdso='(__vdso|__kernel|[^_])_*clock_gettime[^;]* [0-9]+$'
	known="main;spin_clock;.*clock_gettime"
	within "$name: the clock of the vDSO" "$(share "$vdso")" 999 1000
	# A throw rewrites the stack: doc/unwinding.md says how many paths end there.
	within "$name: complete paths" "$(awk '!/throw/ {
		all += $NF
		if (!/^partial|\[guessed\]/)
			complete += $NF
	} END { print int(1000 * complete / (all ? all : 1)) }' \
		"$T/db/folded/CPUTIME.folded")" 999 1000
}

paths "-O2" -O2
paths "-O3 -fomit-frame-pointer" -O3 -fomit-frame-pointer
[ "$(uname -m)" != aarch64 ] ||
	paths "signed return addresses" -O2 -mbranch-protection=standard
done_testing
