#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The rate asked for is the rate delivered, per second of CPU time that the event sampled, and
# weights add up to the thread's own CPU clock: for root and for a user without rights, in user code
# and in the kernel. No wall-clock time enters. How long the tick samples a thread before the event
# does depends on how often the tick falls on it.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

# rate: samples of the event, a CPU second. weights: the share of the CPU clock that the weights
# make.
rate() {
	echo $(($(value event_samples) * 1000000000 / ($(value event_ns) + 1)))
}
# mostly_event: at least half of the CPU time was sampled by the event.
mostly_event() {
	[ $(($(value event_ns) * 2)) -ge "$(value cpu_ns)" ]
}
weights() {
	ratio "$(value sum0)" "$(value cpu_ns)"
}

# Time stolen by the host, in hundredths of a second.
stolen() {
	awk '$1 == "cpu" { print $9 }' /proc/stat
}

# Without the right to look into the kernel expiries there are dropped: beside busy neighbours these
# are some.
least=98
[ "$(id -u)" -eq 0 ] || least=93

# rate_is HZ SECONDS: of one more run. While the kernel switches from and to the thread, only one of
# the CPU clock and the event counts on: up to 20 us each. While the host of a virtual machine
# takes time away, the event counts on and the CPU clock does not: more samples then, each of less
# weight.
rate_is() {
	before=$(stolen)
	measure -e "CPUTIME@f$1,perf" -- "$LIFE" spin "$2"
	most=$(($1 * ($(stolen) == before ? 102 : 200) / 100))
	sound "files are sound at $1 Hz"
	slack=$(ratio $((20000 * $(value event_switches))) "$(value event_ns)")
	said="$(rate) samples a second, wanted $1"
	diag "$said, $(value event_ns) of $(value cpu_ns) ns, $(value event_switches) switches"
	is_near "$(rate)" "$(awk "BEGIN { print $1 * (1 - $slack) * $least / 100 }")" \
		"$(awk "BEGIN { print $most * (1 + $slack) }")" && mostly_event
}
for f in 200 4000; do
	most_of 2 "$f Hz are delivered" rate_is $f "$([ $f -eq 200 ] && echo 0.6 || echo 0.3)"
	weights_fit "weights are the CPU time at $f Hz" 1 10
done

measure -- "$LIFE" spin 0.3 0.3
sound "files are sound with kernel time"
weights_fit "weights are the CPU time with kernel time" 1 10

measure -e REALTIME@f500 -- "$LIFE" threads 2 0.3
sound "REALTIME: files are sound"
# All of it but what is left behind each thread's last sample.
within "REALTIME: weights are the time of three threads" \
	"$(ratio "$(value sum0)" "$(value alive_ns)")" 0.9 1
# A thread that has no processor takes none. So the CPU time is what must have samples.
within "REALTIME: samples are delivered while threads run" "$(value count0)" \
	$(($(value cpu_ns) / 4000000)) $(($(value alive_ns) / 2000000 * 101 / 100 + 3))

measure -e CPUTIME -e REALTIME@f200 -- "$LIFE" spin 0.3
sound "two events: files are sound"
is "two events: two metrics" "$(value metrics)" 2
weights_fit "two events: CPUTIME keeps its weights" 1 10

# Before the first sample; on the tick alone there would be 300 at most. Where nobody may have no
# event, that is all there is, and also where the kernel switches so often that the event would be
# too expensive.
rights_are_dropped() {
	measure -e CPUTIME@f4000 -- "$LIFE" spin 0.3
	kept=$(value count0)
	measure -e CPUTIME@f4000 -- "$LIFE" drop-rights 0.3
	is "a program that gives up its rights runs" "$status" 0
	sound "a program that gives up its rights: files are sound"
	is_near "$(value count0)" $((kept * 45 / 100)) 1560
}
if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -le 2 ]; then
	most_of 2 "a program that gives up its rights: the rate stays" rights_are_dropped
else
	skip "a program that gives up its rights" "not root, or events are for root"
fi

# Without rights: as nobody, from copies that anyone can read.
if [ "$(id -u)" -eq 0 ] && public_tools && public_copy "$LIFE"; then
	OUT=$(public_dir free)/out
	ordinary=yes # for weights_fit
	# Expiries that fall into the kernel are dropped, and the kernel's time is given away when
	# the tick comes: beside busy neighbours the tick falls on them. In user code the event's
	# samples do it, so each part ends there. At the end of a part that ends in the kernel up to
	# 62 ms were left.
	nobody_is_measured() {
		rm -rf "$OUT"
		# shellcheck disable=SC2086 # two numbers
		ok "nobody is measured: $1" run_limited 120 runuser -u nobody -- "$HPCRUN" \
			-q -e CPUTIME,perf -o "$OUT" "$T/run_life" spin $1
		sound "nobody: files are sound: $1"
		diag "$(rate) samples a second, $(weights) of the CPU time"
		weights_are 1 15 && { [ "$1" != "0.5 0" ] || is_near "$(rate)" 900 1200; }
	}
	for part in "0.5 0" "0.3 0.3 0.05" "0 0.3 0.05"; do
		most_of 2 "nobody: weights are the CPU time, and user code has 1000 Hz: $part" \
			nobody_is_measured "$part"
	done
else
	skip "as nobody" "not root, or no staged installation"
fi
done_testing
