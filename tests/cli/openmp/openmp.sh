# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2154 # T, HPCRUN and the rest come from lib.sh
#
# For the tests of OpenMP: measure a workload built for one of the run times, as an ordinary user,
# and question its call paths. Source it after tests/lib.sh. The workloads are
# tests/workload/openmp/*; needs: openmp_programs
#
# After omp_measure:
#	M              name of the measurement, for descriptions
#	$T/$M.out      what the program printed; $T/$M.err its standard error
#	$T/$M.text     hpcprof-lite --to text --all
#	$T/$M.paths    lines of openmp_paths.awk: metric, samples, value, path

OMP_PROGRAMS=$builddir/tests/workload/openmp
public_tools || skip_all "the tools are not staged; run make check"

# has_workload PROGRAM RUN-TIME: it could be built.
has_workload() {
	[ -x "$OMP_PROGRAMS/$1.$2" ]
}

# has_loops: hpcstruct-lite finds loops in x86-64 code.
has_loops() {
	grep -q '^#define HAVE_ZYDIS 1' "$builddir/config.h"
}

# omp_run NAME COMMAND...: as an ordinary user. Leaves $T/NAME.out, .err and .status.
omp_run() {
	omp_name=$1
	shift
	omp_status=0
	as_nobody timeout --kill-after=5 $((120 * tap_patience)) "$@" >"$T/$omp_name.out" \
		2>"$T/$omp_name.err" || omp_status=$?
	echo "$omp_status" >"$T/$omp_name.status"
}

# omp_measure NAME "OPTIONS" COMMAND...: measures and analyses it. Tests that both work and that the
# ledger closes.
omp_measure() {
	M=$1
	omp_options=$2
	shift 2
	rm -rf "$T/$M.d" "$T/$M.db"
	omp_dir=$(public_dir "$M.d")
	# shellcheck disable=SC2086 # words
	omp_run "$M" "$HPCRUN" -q $omp_options -o "$omp_dir/m" -- "$@"
	is "$M: runs" "$(cat "$T/$M.status")" 0
	diag_file "$T/$M.err"
	ok "$M: analysis" run_limited 240 "$HPCPROF" --to text --all -o "$T/$M.db" "$omp_dir/m"
	mv "$T/.ok.out" "$T/$M.text"
	is "$M: the ledger closes" "$(awk -F '\t' '$1 == "closes" { print $2 }' "$T/$M.text")" 1
	by_name "$(cat "$srcdir/tests/cli/openmp/openmp_paths.awk")" "$T/$M.text" >"$T/$M.paths"
}

# workload PROGRAM RUN-TIME "OPTIONS" ARGUMENT...: the same with a workload. False: not built.
workload() {
	w_program=$1
	w_runtime=$2
	w_options=$3
	shift 3
	if ! has_workload "$w_program" "$w_runtime"; then
		skip "$w_program $* with $w_runtime" "not built here"
		return 1
	fi
	public_copy "$OMP_PROGRAMS/$w_program.$w_runtime"
	omp_measure "$w_runtime-${w_program#omp_}-$1" "$w_options" "$T/$w_program.$w_runtime" "$@"
}

# truth NAME FIELD: what the program printed: wall (1), cpu (2), count (3).
truth() {
	awk -v n="$1" -v f="$2" '$1 == "truth" && $2 == n { v = $(f + 2) } END { print v + 0 }' \
		"$T/$M.out"
}

# value_of PATTERN [METRIC], samples_of PATTERN: of the paths that match an extended regular
# expression.
value_of() {
	awk -F '\t' -v p="$1" -v m="${2:-all}" '$1 == m && $4 ~ p { s += $3 }
		END { printf "%.9g\n", s }' "$T/$M.paths"
}

samples_of() {
	awk -F '\t' -v p="$1" '$1 == "all" && $4 ~ p { s += $2 } END { printf "%d\n", s }' \
		"$T/$M.paths"
}

# paths_to FUNCTION: the different paths to a function, without what it calls, from main on; one a
# line, with ' > ' between frames. Paths with less than N samples (default 3) are left out: a sample
# may fall into an entry or exit of a function, where frames are not complete.
paths_to() {
	awk -F '\t' -v f="$1" -v least="${2:-3}" '
		$1 == "all" {
			n = split($4, frame, ";")
			for (i = n; i > 0 && frame[i] != f; i--)
				;
			if (!i)
				next
			path = ""
			started = 0
			for (j = 1; j <= i; j++) {
				if (!started && frame[j] ~ /^(_start|__libc_start_)/)
					continue
				path = path (path == "" ? "" : " > ") frame[j]
			}
			sum[path] += $2
		}
		END {
			for (p in sum)
				if (sum[p] >= least)
					print p
		}' "$T/$M.paths" | sort
}

# all_in DESCRIPTION FUNCTION PATH...: all samples of a function are on these paths.
all_in() {
	all_what=$1
	all_function=$2
	shift 2
	all_n=$(awk -F '\t' -v f="$all_function" '$1 == "all" && index(";" $4 ";", ";" f ";") {
		n += $2 } END { print n + 0 }' "$T/$M.paths")
	if [ "$all_n" -lt $((8 * $#)) ]; then # a path is seen from three on
		skip "$M: $all_what" "too few samples of $all_function: the machine is busy"
		return
	fi
	is "$M: $all_what" "$(paths_to "$all_function")" "$(printf '%s\n' "$@" | sort)"
}

# share_is DESCRIPTION PATTERN WHOLE TRUTH: the samples that match PATTERN are the share TRUTH of
# those that match WHOLE, within six standard deviations and two percent.
share_is() {
	share_n=$(samples_of "$3")
	share_bounds=$(echo "$4 $share_n" | awk '{
		bound = 6 * sqrt(2 * $1 * (1 - $1) / ($2 > 0 ? $2 : 1)) + 0.02
		printf "%.4f %.4f\n", $1 - bound, $1 + bound }')
	share_got=$(echo "$(value_of "$2") $(value_of "$3")" |
		awk '{ printf "%.4f\n", ($2 > 0 ? $1 / $2 : -1) }')
	# shellcheck disable=SC2086 # two numbers
	within "$M: $1 ($share_n samples)" "$share_got" $share_bounds
}

# seconds_are DESCRIPTION PATTERN TRUTH [METRIC]: the seconds on paths that match, within six
# standard deviations and two percent of all. On a busy machine a sample stands for the time that
# its thread had to wait for a processor: the weights are then like those of an exponential
# distribution, and others decide in what state of the region it runs again.
seconds_are() {
	seconds_bounds=$(echo "$3 $(value_of .) $(samples_of .)" | awk '{
		bound = 6 * sqrt(2 * $1 * $2 / ($3 > 0 ? $3 : 1)) + 0.02 * $2
		printf "%.4f %.4f\n", $1 - bound, $1 + bound }')
	# shellcheck disable=SC2086 # two numbers
	within "$M: $1" "$(value_of "$2" "${4:-all}")" $seconds_bounds
}
