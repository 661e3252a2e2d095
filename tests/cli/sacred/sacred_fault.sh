#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Faults: one system call of our library after the other fails, once and for good, and the program
# prints and ends as without us. (The library calls no allocator:
# tests/cli/sacred/sacred_purity.sh.)

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

# attempt NUMBER ERRNO COMMAND...: the command with that call failing; its output and status in
# $T/out.
attempt() {
	attempt_number=$1 attempt_errno=$2
	shift 2
	rm -rf "$T/m"
	attempt_status=0
	run_limited 120 "$W/sacred_fault" "$T/count" "$attempt_number" "$attempt_errno" \
		"$HPCRUN" -q -e CPUTIME@f5000 -e REALTIME@f1000 -o "$T/m" "$@" >"$T/out" \
		2>"$T/err" </dev/null || attempt_status=$?
	echo "status $attempt_status" >>"$T/out"
}

# faults STEP COMMAND...: every STEP-th call of those that the command makes us do.
faults() {
	faults_step=$1
	shift
	faults_status=0
	"$@" >"$T/plain" 2>/dev/null || faults_status=$?
	echo "status $faults_status" >>"$T/plain"
	attempt 0 12 "$@"
	if ! cmp -s "$T/out" "$T/plain" || [ "$(cat "$T/count")" -lt 20 ]; then
		skip "faults in ${1##*/} $2" "the program cannot be traced here"
		return
	fi
	faults_total=$(cat "$T/count")
	faults_n=1 faults_wrong=0 faults_tried=0
	while [ "$faults_n" -le "$faults_total" ] && [ "$faults_n" -lt 200 ]; do
		for faults_how in "$faults_n 12" "$faults_n+ 28"; do
			# shellcheck disable=SC2086 # two words
			attempt $faults_how "$@"
			faults_tried=$((faults_tried + 1))
			if ! cmp -s "$T/out" "$T/plain"; then
				faults_wrong=$((faults_wrong + 1))
				diag "call $faults_how: $(tail -n 2 "$T/out" | tr '\n' ' ')"
				diag_file "$T/err" 3
			fi
		done
		faults_n=$((faults_n + faults_step))
	done
	is "faults in ${1##*/} $2, $faults_tried of them" "$faults_wrong" 0
}

faults "$(thorough 9 2)" "$W/sacred_exit" _exit
faults "$(thorough 19 5)" "$W/sacred_storm" threads 4
faults "$(thorough 13 3)" "$W/sacred_storm" fork 8
faults "$(thorough 17 4)" "$W/sacred_storm" dlopen 5 \
	"$(find "$W/.libs" -name 'libsacred_library.so' | head -n 1)"

done_testing
