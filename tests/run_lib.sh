# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # variables of lib.sh, and for the tests
#
# For the tests of the run time: measure a program and question the measurement files with
# run_check. Source it after tests/lib.sh.
#
#	LIFE CHECK PLUGIN CONSTRUCTOR   what was built for these tests
#	OUT                             the run directory of measure

LIFE=$builddir/tests/workload/run/run_life
CHECK=$builddir/tests/workload/run/run_check
PLUGIN=$builddir/tests/workload/run/.libs/run_plugin.so
CONSTRUCTOR=$builddir/tests/workload/run/.libs/run_constructor.so
OUT=$T/out

# measure [LAUNCHER OPTIONS] -- COMMAND...: status in $status, what was printed in $T/stdout and
# $T/stderr. UNDER: a command that starts the launcher.
measure() {
	rm -rf "$OUT"
	status=0
	# shellcheck disable=SC2086 # a list
	run_limited 120 ${UNDER:-} "$HPCRUN" -o "$OUT" "$@" >"$T/stdout" 2>"$T/stderr" || status=$?
}

# sound DESCRIPTION [-k]: every identity holds in every file of the run; leaves the values in
# $T/values.
sound() {
	"$CHECK" ${2:+"$2"} "$OUT"/*.hpcrun >"$T/values" 2>&1
	tap_check=$?
	if [ $tap_check -eq 0 ]; then pass "$1"; else
		fail "$1"
		grep '^#' "$T/values" | head -n 20
	fi
}

# value NAME: summed over all processes. n_processes: how many that sound() has seen. n_files: how
# many files.
value() {
	awk -v name="$1" '$1 == name { sum += $2 } END { printf "%.0f\n", sum }' "$T/values"
}
n_processes() {
	grep -c '^file ' "$T/values"
}
n_files() {
	find "$OUT" -name '*.hpcrun' | wc -l | tr -d ' '
}

# weights_fit DESCRIPTION STRETCHES PER-MILLE (with $ordinary set the program ran without the rights
# of root): weights are the CPU time within this share of it, but for each stretch that a thread was
# measured for: its first sample may be given up to a tick too much or too little, 10 ms where the
# kernel has 100 ticks a second; and at its end an ordinary user has not been given yet what the
# kernel used since the last tick, up to 59 ms beside busy neighbours. Of root it is what the file
# says has no sample, but not more than that. While a busy host runs another machine, the thread's
# clock goes on and no sample comes: up to a fifth may be unseen.
weights_fit() {
	weights_bounds "$2" "$3"
	within "$1" "$(value sum0)" "$tap_least" "$tap_most"
}
# weights_are STRETCHES PER-MILLE: the same as a question.
weights_are() {
	weights_bounds "$1" "$2"
	is_near "$(value sum0)" "$tap_least" "$tap_most"
}
weights_bounds() {
	tap_behind=$(($(value unsampled_ns) + $1 * 10000000))
	tap_unseen=$(value unseen_ns)
	[ "$tap_unseen" -lt $(($(value cpu_ns) / 5)) ] || tap_unseen=$(($(value cpu_ns) / 5))
	[ "$(id -u)" -eq 0 ] && [ -z "${ordinary:-}" ] && [ $tap_behind -lt $(($1 * 70000000)) ] ||
		tap_behind=$(($1 * 70000000))
	tap_least=$(($(value cpu_ns) / 1000 * (1000 - $2) - tap_behind - tap_unseen))
	tap_most=$(($(value cpu_ns) / 1000 * (1000 + $2) + $1 * 10000000))
}

# older_libc FILE COPY: the loader or the libc as before glibc 2.35: this system's, with the
# versions since then and the function that finds objects renamed.
older_libc() {
	LC_ALL=C sed 's/GLIBC_2\.\(3[5-9]\|[4-9][0-9]\)/GLIBC_9.\1/g
		s/_dl_find_object/_dl_gone_object/g' "$1" >"$2" && chmod +x "$2"
}

# ratio A B: to four places.
ratio() {
	awk -v a="$1" -v b="$2" 'BEGIN { printf "%.4f\n", b ? a / b : 0 }'
}
