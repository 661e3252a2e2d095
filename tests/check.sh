#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the tests, for ./bootstrap check and by hand, in parts that can each run alone; says what
# each found and how long it took, and counts all tests in the last line. Installs nothing. Must
# not: let one part change the variables of another. Test: tests/cli/common/bootstrap.sh.
#
# Usage: tests/check.sh [-j N] [--seconds N] [--seed N] BUILD [PART...]
#	tests       every test, in BUILD (without PARTs this one)
#	thorough    every test, and those that make check leaves out, each with all its cases
#	attacks     the attacks, each kind for N seconds (300)
#	sanitizers  the same as tests, in BUILD-sanitizer, with the sanitizers for addresses and
#	            undefined behaviour
#	clang       builds everything by clang, in BUILD-clang, where a warning is an error
#	fresh       tests/fresh.sh, with logs in BUILD-fresh
#	aarch64     tests/aarch64.sh, in BUILD-aarch64

set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
jobs=1
seconds=300
seed=
while [ $# -ge 2 ]; do
	case $1 in
	-j) jobs=$2 ;;
	--seconds) seconds=$2 ;;
	--seed) seed=$2 ;;
	*) break ;;
	esac
	shift 2
done
[ $# -gt 0 ] || { sed -n '/^# Usage/,/^$/s/^# *//p' "$0" >&2; exit 2; }
build=$1
shift
[ $# -gt 0 ] || set -- tests

say() {
	printf '%s\n' "bootstrap: $*"
}

# make_all DIR: configures and builds there.
make_all() {
	"$top/bootstrap" --no-install -j "$jobs" --build-dir "$1" build
}

# run_tests DIR [TARGET]: builds there, runs every test, or those of a target of make, and prints
# the failed ones. Returns the status of make.
run_tests() {
	[ ! -d "$1" ] || find "$1" -name '*.trs' -delete
	make_all "$1" || return
	tests_status=0
	make -C "$1" -j "$jobs" -k "${2:-check}" || tests_status=$?
	find "$1" -name '*.trs' -exec grep -l '^:test-result: \(FAIL\|XPASS\|ERROR\)' {} + \
		2>/dev/null | while read -r trs; do
		log=${trs%.trs}.log
		say "failed in ${log#"$1"/}:"
		[ -e "$log" ] && awk '
			/^(not ok|Bail out)/ { left = 12 }
			/^ok/ { left = 0 }
			!/^FAIL/ && left-- > 0 { print "    " substr($0, 1, 400) }' "$log"
	done
	return "$tests_status"
}

# count_results DIR STATUS: sets $passed, $failed and $skipped from the TAP results that automake's
# test driver left in .trs files.
count_results() {
	# shellcheck disable=SC2046 # three numbers
	set -- "$1" "$2" $(find "$1" -name '*.trs' -exec grep -h '^:test-result:' /dev/null {} + |
		awk '
		/:test-result: (PASS|XFAIL)/ { passed++ }
		/:test-result: (FAIL|XPASS|ERROR)/ { failed++ }
		/:test-result: SKIP/ { skipped++ }
		END { print passed + 0, failed + 0, skipped + 0 }')
	passed=$3 failed=$4 skipped=$5
	if [ "$2" -ne 0 ] && [ "$4" -eq 0 ]; then
		say "make check in $1 ended with status $2 before all tests could run"
		failed=1
	elif [ $(($3 + $4)) -eq 0 ]; then
		say "no test ran in $1"
		failed=1
	fi
}

# say_costs DIR: the CPU time of the test scripts, and of those that take most.
say_costs() {
	find "$1/tests" -name '*.log' -exec grep -H '^# CPU time, user and system: ' {} + |
		sed "s|^$1/||; s|\.log:# .*: | |" | awk '
		{ split($2 $3, t, /[ms]/); print t[1] * 60 + t[2] + t[3] * 60 + t[4], $1 }' |
		sort -rn | awk '
		{ sum += $1; if (NR <= 5) most = most sprintf(", %s %.0f s", $2, $1) }
		END { if (NR) printf "the scripts took %.0f s of CPU time; most: %s\n", sum,
			substr(most, 3) }' | while read -r line; do say "$line"; done
}

# count_status STATUS: one test that passed, was skipped (77) or failed
count_status() {
	passed=0 failed=0 skipped=0
	case $1 in
	0) passed=1 ;;
	77) skipped=1 ;;
	*) failed=1 ;;
	esac
}

part_tests() {
	status=0
	run_tests "$build" || status=$?
	say_costs "$build"
	count_results "$build" "$status"
}

part_thorough() {
	status=0
	run_tests "$build" check-full || status=$?
	say_costs "$build"
	count_results "$build" "$status"
}

part_attacks() {
	[ -n "$seed" ] || seed=$(od -An -N2 -tu2 /dev/urandom | tr -d ' ')
	say "attacks: $seconds s of each kind, --seed $seed"
	status=0
	(
		export ATTACK_SEED="$seed" ATTACK_SECONDS="$seconds"
		run_tests "$build" attack
	) || status=$?
	say "the attacks were those of --seed $seed; what they found is in $build/attack-found"
	count_results "$build" "$status"
}

part_sanitizers() {
	say "with sanitizers, in $build-sanitizer"
	status=0
	(
		export CONFIGURE_ARGS="${CONFIGURE_ARGS:-} --enable-sanitizer=address,undefined"
		unset ATTACK_SEED ATTACK_SECONDS
		run_tests "$build-sanitizer"
	) || status=$?
	count_results "$build-sanitizer" "$status"
}

part_clang() {
	say "with clang, where no warning is allowed, in $build-clang"
	status=0
	if ! command -v clang >/dev/null; then
		say "no clang here"
		status=77
	else
		(
			export CC=clang CXX=clang++
			export CONFIGURE_ARGS="${CONFIGURE_ARGS:-} --enable-werror"
			make_all "$build-clang" &&
				make -C "$build-clang" -j "$jobs" -k check-programs
		) || status=1
	fi
	count_status "$status"
}

part_fresh() {
	say "on a fresh Debian, with logs in $build-fresh"
	status=0
	sh "$top/tests/fresh.sh" --logs "$build-fresh" || status=$?
	count_status "$status"
}

part_aarch64() {
	say "for aarch64, under qemu, in $build-aarch64"
	status=0
	make_all "$build" && sh "$top/tests/aarch64.sh" "$build" "$build-aarch64" || status=$?
	count_status "$status"
}

all_passed=0 all_failed=0 all_skipped=0
for part; do
	began=$(date +%s)
	case $part in
	tests | thorough | attacks | sanitizers | clang | fresh | aarch64) "part_$part" ;;
	*) say "no such part: $part" >&2; exit 2 ;;
	esac
	say "$part: $passed passed, $failed failed, $skipped skipped;" \
		"it took $(($(date +%s) - began)) s"
	all_passed=$((all_passed + passed))
	all_failed=$((all_failed + failed))
	all_skipped=$((all_skipped + skipped))
done
printf '%d passed, %d failed, %d skipped\n' "$all_passed" "$all_failed" "$all_skipped"
[ "$all_failed" -eq 0 ]
