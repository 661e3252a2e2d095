#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CPU time is sampled by what suits a thread: the kernel's event while the thread computes, and a
# timer, which costs nothing at a context switch, while the thread switches often. Weights add up to
# the CPU clock whatever the source is.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# share NAME: of the weights, in per cent.
share() {
	echo $(($(value "$1") * 100 / ($(value event_ns) + $(value timer_ns) + 1)))
}

# events_here: the event can be had here.
events_here() {
	"$HPCRUN" -q -o "$T/probe" -e CPUTIME,perf -- true >"$T/why" 2>&1
}

# adds_up DESCRIPTION THREADS: weights and the rest are the CPU time. The first sample of a thread
# may weigh a tick too much or too little, 10 ms where the kernel has 100 ticks a second. Beside
# busy neighbours the tick may miss a thread for a while, or the machine be taken away from it, so
# the rest may be longer than a tick, and not only behind the last sample.
adds_up() {
	slack=$(($2 * 10000000 + $(value cpu_ns) / 100))
	rest=$(($(value unsampled_ns) + $(value unseen_ns)))
	within "$1" $(($(value sum0) + rest)) $(($(value cpu_ns) - slack)) \
		$(($(value cpu_ns) + slack))
	within "$1: the rest is short" $rest 0 \
		$(($(value cpu_ns) / 10 + $2 * 70000000))
}

# disturbed: in the last run other programs switched a thread that only computed often, if only for
# a while: 100 to 250 times a second where they compute, too. Then it has the timer.
disturbed() {
	[ "$(cat "$T/stdout")" -gt 400 ]
}

# undisturbed DESCRIPTION COMMAND...: passes when 2 of 3 undisturbed runs of the command succeed.
undisturbed() {
	good=0 bad=0 n_disturbed=0 what=$1
	shift
	while [ $good -lt 2 ] && [ $bad -lt 2 ] && [ $n_disturbed -lt 4 ]; do
		if "$@"; then
			good=$((good + 1))
		elif disturbed; then
			n_disturbed=$((n_disturbed + 1))
		else
			bad=$((bad + 1))
		fi
	done
	if [ $n_disturbed -eq 4 ]; then
		skip "$what" "other programs switch it too often"
	elif [ $good -eq 2 ]; then
		pass "$what"
	else
		fail "$what" "$bad undisturbed runs failed; the last one: $tap_said"
	fi
}

# switches MODE HOW SECONDS THREADS
switches() {
	measure -q -e "CPUTIME@f1000$2" -- "$LIFE" "$1" "$3"
	is "$1$2: the program runs" "$status" 0
	sound "$1$2: files are sound"
	adds_up "$1$2: weights are the CPU time" "$4"
	is "$1$2: the sources account for all weights" \
		"$(($(value event_ns) + $(value timer_ns)))" "$(value sum0)"
}

if events_here; then
	has_the_event() {
		measure -q -- "$LIFE" switch-rate 0.5
		sound "spin: files are sound"
		diag "$(share event_ns) % by the event, $(cat "$T/stdout") switches a second"
		# until the event begins, the tick samples the thread
		[ "$(share event_ns)" -ge 80 ]
	}
	undisturbed "a thread that computes has the event" has_the_event

	switches ping-pong "" 0.3 2
	within "threads that switch have the timer" "$(share timer_ns)" 95 100
	within "switches that the event paid for" "$(value event_switches)" 0 2000

	switches ping-pong ,perf 0.2 2
	within "CPUTIME,perf: threads that switch keep the event" "$(share event_ns)" 80 100
	within "CPUTIME,perf: it pays for the switches" "$(value event_switches)" 2000 100000000
	is "CPUTIME,perf: nothing changes" "$(value source_changes)" 0

	has_both() {
		switches compute-and-switch "" 0.4 2
		diag "$(share event_ns) % by the event, $(share timer_ns) % by the timer," \
			"$(value source_changes) changes, $(cat "$T/stdout") switches a second"
		is_near "$(share event_ns)" 20 70 && is_near "$(share timer_ns)" 30 80 &&
			is_near "$(value source_changes)" 2 100
	}
	undisturbed "a thread that does both has the event and the timer in turn" has_both
else
	skip "the kernel's event" "$(cat "$T/why")"
fi

# An ordinary user, whose events do not see the kernel.
if [ "$(id -u)" -eq 0 ] && public_tools && public_copy "$LIFE"; then
	keep=$OUT
	OUT=$(public_dir free)/out
	for mode in ping-pong $(thorough "" compute-and-switch); do
		rm -rf "$OUT"
		ok "nobody: $mode runs" run_limited 120 runuser -u nobody -- "$HPCRUN" \
			-q -o "$OUT" "$T/run_life" $mode 0.4
		sound "nobody: $mode: files are sound"
		adds_up "nobody: $mode: weights are the CPU time" 2
		[ $mode = ping-pong ] || continue
		within "nobody: threads that switch have the timer" "$(share timer_ns)" 95 100
	done
	OUT=$keep
else
	skip "as nobody" "not root, or no staged installation"
fi

switches spin ,timer 0.3 1
is "CPUTIME,timer: there is no event" "$(value event_ns)" 0
within "CPUTIME,timer: there are samples" "$(value timer_samples)" 12 1000

# Two threads that pass a byte to and fro beside two loops: the tick falls on the loops, and nothing
# is lost for it. shares.sh has four such threads of nobody's.
if [ "$(thorough few all)" = all ]; then
	"$LIFE" spin 20 &
	loop1=$!
	"$LIFE" spin 20 &
	loop2=$!
	switches ping-pong "" 0.3 2
	kill $loop1 $loop2
	wait $loop1 $loop2 2>/dev/null
fi

status=0
"$HPCRUN" -e CPUTIME,clock -- true 2>"$T/stderr" || status=$?
is "CPUTIME,clock: the status" "$status" 2
like "CPUTIME,clock: the message" "$(cat "$T/stderr")" "after the comma comes perf or timer"
done_testing
