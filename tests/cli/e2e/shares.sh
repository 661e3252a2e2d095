#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Workloads whose shares are known: functions, call paths, lines, inlined bodies, threads. What the
# profile says must agree with what the workload counted, within six standard deviations of a sample
# of that size and half a percent for the cost of loops and calls. CPUTIME is the thread's own CPU
# clock. gcc and clang, as an ordinary user.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

public_tools || skip_all "the tools are not staged; run make check"
seconds=0.5
rate=4000
user=as_nobody
tab=$(printf '\t')

# measure NAME COMPILER SECONDS: builds the workload, unless it is there, measures it as nobody,
# leaves $T/NAME.truth and $T/NAME.sums.
measure() {
	m=$1-${2##*[ /]}
	rm -rf "$T/$m.d" "$T/$m.db"
	# shellcheck disable=SC2086 # CC may be two words
	if [ ! -x "$T/$m" ] && ! $2 -std=gnu11 -D_GNU_SOURCE -O2 -g -pthread \
		-I"$srcdir/tests/workload/e2e" -o "$T/$m" \
		"$srcdir/tests/workload/e2e/shares_$1.c" >"$T/cc.out" 2>&1; then
		fail "$m: compiles"
		diag_file "$T/cc.out"
		return 1
	fi
	dir=$(public_dir "$m.d")
	$user timeout --kill-after=5 $((240 * tap_patience)) "$HPCRUN" \
		-q -e "CPUTIME@f$rate,perf" -o "$dir/m" -- "$T/$m" "$3" >"$T/$m.out" 2>"$T/$m.err"
	is "$m: runs" $? 0
	diag_file "$T/$m.err"
	grep '^truth ' "$T/$m.out" >"$T/$m.truth"
	ok "$m: analysis" run_limited 240 "$HPCPROF" --to text --all -o "$T/$m.db" "$dir/m"
	by_name "$(cat "$srcdir/tests/shares.awk")" "$T/.ok.out" >"$T/$m.sums"
	is "$m: the ledger closes" "$(sum all ledger 3)" 1
	# A handler that was preempted for long rests, and what comes meanwhile is counted as lost:
	# on a busy machine there are some.
	within "$m: hardly a sample is lost" \
		"$(echo "$(sum all ledger 2) $(sum all ledger 1)" |
		awk '{ print $2 ? $1 / $2 : 0 }')" 0.95 1
}

# measure_evenly: the same, three times at most until nine tenths of the samples asked for came. An
# ordinary user's expiries that fall into the kernel are dropped, and their time goes to others in
# lumps: then a share is not within the bound that the number of samples promises. A source that is
# too slow fails the test of the rate below.
measure_evenly() {
	for attempt in 1 2 3; do
		measure "$@" || return
		per_second=$(echo "$(sum all ledger 1) $(truth cpu)" |
			awk '{ printf "%d", $2 ? $1 / $2 : 0 }')
		if [ "$per_second" -ge $((rate * 9 / 10)) ]; then break; fi
		diag "attempt $attempt: $per_second samples a CPU second"
		diag "$(grep -E '^(metric|note|loss	all)' "$T/.ok.out")"
	done
}

# sum KIND KEY COLUMN: a number from the sums of the last measurement, 0 when there is none.
sum() {
	awk -F "$tab" -v k="$1" -v n="$2" -v c="$3" '$1 == k && $2 == n { s += $(c + 2) }
		END { printf "%.17g\n", s }' "$T/$m.sums"
}

truth() {
	awk -v n="$1" '$2 == n { print $3 }' "$T/$m.truth"
}

# group DESCRIPTION: reads lines "NAME SAMPLES VALUE" of things that make up a whole, and tests each
# one's share against its truth.
group() {
	while read -r g_name g_samples g_value; do
		echo "$g_name $(truth "$g_name") $g_samples $g_value"
	done | awk '
		{ name[NR] = $1; truth[NR] = $2; value[NR] = $4; truths += $2; samples += $3;
		values += $4 }
		END {
			for (i = 1; i <= NR; i++) {
				p = truths > 0 ? truth[i] / truths : -1
				got = values > 0 ? value[i] / values : -2
				bound = 6 * sqrt(p * (1 - p) / (samples > 0 ? samples : 1)) + 0.005
				off = got > p ? got - p : p - got
				good = p > 0 && samples > 500 && off <= bound
				printf "%s %.4f %.4f %.4f %d %d\n", name[i], p, got, bound, samples,
					good
			}
		}' >"$T/group"
	[ -s "$T/group" ] || fail "$m: $1" "nothing to compare"
	while read -r g_name g_p g_got g_bound g_samples g_good; do
		if [ "$g_good" = 1 ]; then
			pass "$m: $1: $g_name has $g_got of $g_p"
		else
			fail "$m: $1: $g_name" \
				"got a share of $g_got, truth $g_p, bound $g_bound, $g_samples samples in the group"
		fi
	done <"$T/group"
}

# by_function NAME...: exclusive; by_callers NAME...: inclusive. by_lines NAME...: the line that
# ends in the comment NAME, with its loop on the line before it; exclusive. by_sites NAME...: the
# same, inclusive.
by_function() {
	for f; do echo "$f $(sum function "$f" 1) $(sum function "$f" 2)"; done
}

by_callers() {
	for f; do echo "$f $(sum function "$f" 3) $(sum function "$f" 4)"; done
}

line_of() {
	grep -n "/\* $1 \*/" "$srcdir/tests/workload/e2e/shares_lines.c" | cut -d: -f1
}

two_lines() {
	w=$(line_of "$1")
	above=shares_lines.c:$((w - 1))
	w=shares_lines.c:$w
	echo "$1 $(($(sum line "$w" "$2") + $(sum line "$above" "$2")))" \
		"$(echo "$(sum line "$w" "$3") $(sum line "$above" "$3")" |
			awk '{ print $1 + $2 }')"
}

by_lines() {
	for l; do two_lines "$l" 1 2; done
}

by_sites() {
	for l; do two_lines "$l" 3 4; done
}

# median: of the numbers in the input, one a line.
median() {
	sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# note_rate: notes the samples a CPU second of the last measurement of shares_functions.
note_rate() {
	echo "$(sum all ledger 1) $(truth cpu)" | awk '{ print $2 ? $1 / $2 : 0 }' >>"$T/rates"
}

inlined_body() {
	echo "$1 $(sum function "$2" 1) $(sum function "$2" 2)"
}

for compiler in "${CC:-cc}" ${CLANG:+"$CLANG"}; do
	have "${compiler%% *}" || { skip "shares with $compiler" "not here"; continue; }
	# Lines and inlined bodies depend on the compiler more than functions do.
	if [ "$compiler" = "$(thorough "${CC:-cc}" "$compiler")" ] &&
		measure_evenly functions "$compiler" $seconds; then
		by_function one two five shared >"$T/g"
		group functions <"$T/g"
		by_callers straight_caller deep_caller >"$T/g"
		group "call paths" <"$T/g"
		# A sample or two can fall into what the C library does at exit.
		within "$m: main holds everything" "$(sum function main 3)" \
			"$(($(sum all ledger 2) - 2))" "$(sum all ledger 2)"
	fi
	if measure_evenly lines "$compiler" $seconds; then
		by_lines line_a line_b line_c >"$T/g"
		group lines <"$T/g"
		by_sites site_a site_b >"$T/g"
		group "call sites" <"$T/g"
		{ inlined_body outer outer_body; inlined_body inner inner_body; } >"$T/g"
		group "inlined bodies" <"$T/g"
	fi
done

# clock_agrees THREAD...: the weights of the samples add up to the thread's own clock. Close to its
# end some milliseconds of its time are not given away yet, beside busy neighbours up to 59; and the
# first sample may be given a tick too much.
clock_agrees() {
	for t; do
		within "$m: $t: CPUTIME is the thread's CPU clock, within 1 % and 100 ms" \
			"$(sum thread "$t" 2)" \
			"$(awk -v t="$(truth "$t")" 'BEGIN { print 0.99 * t - 0.1 }')" \
			"$(awk -v t="$(truth "$t")" 'BEGIN { print 1.01 * t + 0.01 }')"
	done
}

if measure threads "${CC:-cc}" 1; then
	for part in part1 part2 part3 part4; do
		echo "$part $(sum thread $part 1) $(sum thread $part 2)"
	done >"$T/g"
	group threads <"$T/g"
	clock_agrees part1 part2 part3 part4
fi
# Threads that wait often, alone, beside neighbours that use up every processor, and with the right
# to look into the kernel if we have it: then the source is another. Beside such neighbours the
# kernel's tick, which tells an ordinary user of time in the kernel, hardly ever meets threads that
# run so shortly. The rate of shares_functions is measured in between; run_rate.sh asks for it, too.
# shellcheck disable=SC2016 # expanded at the end
at_exit '[ -z "$neighbours" ] || kill $neighbours 2>/dev/null'
neighbours=

# switches CASE: one run; notes for each thread the share of its CPU clock that the profile has.
switches() {
	measure switches "${CC:-cc}" 2 || return
	for t in ping1 pong1 ping2 pong2; do
		echo "$(sum thread "$t" 2) $(truth "$t")" |
			awk '{ print $2 ? $1 / $2 : 0 }' >>"$T/switches.$1.$t"
	done
}

# most_within FILE LEAST MOST N: at least N of its numbers are. Then so is the median of 2 N - 1.
most_within() {
	awk -v least="$2" -v most="$3" -v n="$4" '$1 >= least && $1 <= most { good++ }
		END { exit good + 0 < n }' "$1"
}

# 0.9: close to a thread's end some milliseconds of its time in the kernel are not given away yet;
# before the source looked for what misses the tick, it was 0.59 to 0.82. 1.02: the first sample may
# be given a tick too much.
share_bounds="0.9 1.02"
# 800: an ordinary user's expiries that fall into the kernel are dropped, a tenth of them on a busy
# machine; a source that follows the kernel's tick gives 250 at most, and one that misses every
# second expiry 500. 1050: the start and the end of the process are sampled, and are not in the time
# that the program counts. run_rate.sh asks for more as root.
rate_bounds="800 1050"

# Of threads that switch, run_switches.sh sees the others of these cases, too.
cases=$(thorough beside "alone beside root")
rate=1000

# enough: the runs are good, all of one, or as many as make the median of three good.
enough() {
	# shellcheck disable=SC2086 # two numbers
	for file in "$T"/switches.*; do most_within "$file" $share_bounds "$1" || return; done
	# shellcheck disable=SC2086
	[ ! -e "$T/rates" ] || most_within "$T/rates" $rate_bounds "$1"
}

for round in 1 2 3; do
	if [ "$round" -gt 1 ] && enough $((round - 1)); then break; fi
	case $cases in *alone*) switches alone ;; esac
	for n in $(seq "$(getconf _NPROCESSORS_ONLN)"); do
		timeout 300 sh -c 'while :; do :; done' &
		neighbours="$neighbours $!"
	done
	switches beside
	# shellcheck disable=SC2086 # a list
	kill $neighbours
	neighbours=
	if [ "$(id -u)" -eq 0 ] && [ "${cases%root}" != "$cases" ]; then
		user=
		switches root
		user=as_nobody
	fi
	[ "$(thorough few all)" = few ] || { measure functions "${CC:-cc}" 1 && note_rate; }
done

# The median of three runs, so that one run in which the host took the processor away does not
# decide.
for file in "$T"/switches.*; do
	case=${file#"$T/switches."}
	# shellcheck disable=SC2086 # two numbers
	within "switches, $case: CPUTIME is the thread's CPU clock" "$(median <"$file")" \
		$share_bounds
	diag "$case: $(tr '\n' ' ' <"$file")"
done

# The median of all runs of shares_functions.
if [ -e "$T/rates" ]; then
	# shellcheck disable=SC2086 # two numbers
	within "CPUTIME@f1000: samples a CPU second" "$(median <"$T/rates")" $rate_bounds
	diag "rates: $(tr '\n' ' ' <"$T/rates")"
fi

done_testing
