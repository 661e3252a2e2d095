#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Test of tests/lib.sh: each helper passes when it must and fails when it must, and a script that
# ends early fails.

. "${srcdir:-.}/tests/lib.sh"

# outcome SCRIPT: runs a test script made of the given lines; prints its exit status and its TAP
# lines on one line, without the reasons of failures.
outcome() {
	printf '%s\n' ". '$srcdir/tests/lib.sh'" "$1" >"$T/script.sh"
	status=0
	sh "$T/script.sh" >"$T/script.out" 2>&1 || status=$?
	printf '%s' "$status"
	grep -E '^(ok|not ok|1\.\.|Bail)' "$T/script.out" |
		sed 's/^Bail out!.*/Bail/; /^not ok/s/ \[.*//; s/^/ | /' | tr -d '\n'
}

is "pass" "$(outcome 'pass a; done_testing')" "0 | ok 1 - a | 1..1"
is "fail" "$(outcome 'fail a because; done_testing')" "1 | not ok 1 - a | 1..1"
# shellcheck disable=SC2016 # for the script
printf '%s\n' ". '$srcdir/tests/lib.sh'" 'is a "x	1#2\c" "$(printf "y\\nz")"; done_testing' \
	>"$T/why.sh"
is "fail says why in the description" "$(sh "$T/why.sh" 2>&1 | head -n 1)" \
	'not ok 1 - a [got: x 1 2\c wanted: y z]'
is "ok takes the status" "$(outcome 'ok a true; ok b false; done_testing')" \
	"1 | ok 1 - a | not ok 2 - b | 1..2"
is "not_ok" "$(outcome 'not_ok a false; not_ok b true; done_testing')" \
	"1 | ok 1 - a | not ok 2 - b | 1..2"
is "not_ok: a signal or a missing program is no refusal" \
	"$(outcome 'not_ok a sh -c "kill -9 \$\$"; not_ok b no-such-program; done_testing')" \
	"1 | not ok 1 - a | not ok 2 - b | 1..2"
is "is" "$(outcome 'is a x x; is b x y; done_testing')" "1 | ok 1 - a | not ok 2 - b | 1..2"
is "like" "$(outcome 'like a xyz ^x.z; like b xyz ^y; done_testing')" \
	"1 | ok 1 - a | not ok 2 - b | 1..2"
is "unlike" "$(outcome 'unlike a xyz ^y; unlike b xyz y; done_testing')" \
	"1 | ok 1 - a | not ok 2 - b | 1..2"
# shellcheck disable=SC2016 # for the script
is "same" "$(outcome \
	'echo 1 >"$T/1"; echo 2 >"$T/2"; same a "$T/1" "$T/1"; same b "$T/1" "$T/2"; same c "$T/1" "$T/3"; done_testing')" \
	"1 | ok 1 - a | not ok 2 - b | not ok 3 - c | 1..3"
is "within" "$(outcome \
	'within a 2.5 2 3; within b 3.1 2 3; within c x 0 9; within d 1e3 999 1001; within e "" 0 1; done_testing')" \
	"1 | ok 1 - a | not ok 2 - b | not ok 3 - c | ok 4 - d | not ok 5 - e | 1..5"
# shellcheck disable=SC2016 # for the script
is "most_of" "$(outcome \
	'n=0; odd() { n=$((n + 1)); [ $((n % 2)) -eq 1 ]; }; most_of 2 a odd; most_of 2 b false; done_testing')" \
	"1 | ok 1 - a | not ok 2 - b | 1..2"
# shellcheck disable=SC2016 # for the script
printf '%s\n' ". '$srcdir/tests/lib.sh'" 'near() { diag seen; is_near 7 1 5; }' \
	'most_of 2 a near; done_testing' >"$T/seen.sh"
is "most_of says what failing runs saw" "$(sh "$T/seen.sh" 2>&1 | grep '^not ok')" \
	'not ok 1 - a [2 of 2 runs failed; seen: 7 is not 1 to 5; seen: 7 is not 1 to 5]'
is "skip" "$(outcome 'skip a "no b"; done_testing')" "0 | ok 1 - a # SKIP no b | 1..1"
is "skip_all" "$(outcome 'skip_all no b; fail never')" "0 | 1..0 # SKIP no b"
is "need" "$(outcome 'need sh no-such-program; fail never')" \
	"0 | 1..0 # SKIP no no-such-program here"
is "a plan that is met" "$(outcome 'plan 1; pass a')" "0 | 1..1 | ok 1 - a"
is "a plan that is not met" "$(outcome 'plan 2; pass a')" "99 | 1..2 | ok 1 - a | Bail"
is "an early end" "$(outcome 'pass a; exit 0; done_testing')" "99 | ok 1 - a | Bail"
is "an early end under set -e" "$(outcome 'set -e; pass a; false; done_testing')" \
	"99 | ok 1 - a | Bail"
is "the watchdog" "$(outcome 'tap_patience=1; run_limited 1 sleep 60; is a $? 124; done_testing')" \
	"0 | ok 1 - a | 1..1"
# shellcheck disable=SC2016 # for the script
is "at_exit runs, last one first" \
	"$(outcome 'at_exit "echo ok one"; at_exit "echo ok two"; pass a; done_testing')" \
	"0 | ok 1 - a | 1..1 | ok two | ok one"
# shellcheck disable=SC2016 # for the script
left=$(outcome 'echo "ok $T"; touch "$T/x"; done_testing' | sed 's/.*ok \([^ ]*\) .*/\1/')
like "a script has a directory of its own" "$left" '^/.*hpctoolkit-lite-test'
not_ok "which is gone at the end" test -e "$left"
ok "as_nobody runs a command" as_nobody true
if [ "$(id -u)" -eq 0 ]; then
	is "as_nobody, when we are root, is nobody" "$(as_nobody id -un)" nobody
	dir=$(public_dir d)
	ok "who can write to a public directory" as_nobody touch "$dir/x"
else
	skip "as_nobody, when we are root, is nobody" "not root"
	skip "who can write to a public directory" "not root"
fi

done_testing
