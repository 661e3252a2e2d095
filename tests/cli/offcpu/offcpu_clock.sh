#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# OFFCPU finds the time of waits of known length, at the function that waited and with the cause, as
# root and as an ordinary user; and CPU time and OFFCPU add up to the elapsed time.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/offcpu/offcpu_lib.sh"

# The program reads the same clocks. What is left are the ticks at both ends: a debt may go to the
# wait before or after. 20 ms is four ticks. On a busy machine a tick is late, and there is debt in
# between: by no more than the thread was ready without a processor.
check() { # EVENTS
	for function in wait_sleep wait_short wait_poll wait_pipe wait_socket wait_condition \
		wait_child wait_signal wait_full wait_disk wait_vfork wait_spawn wait_message \
		wait_posix_message wait_semaphore wait_ring; do
		truth=$(offcpu_truth_ms $function)
		slack=$(awk -v f=$function '$1 == f { print 25 + $3 / 1e6 }' "$T/truth")
		within "$1: $function took $truth ms" \
			"$(offcpu_ms OFFCPU "^main thread;.*;$function;")" \
			"$(echo "$truth $slack" | awk '{ print $1 * 0.93 - $2 }')" \
			"$(echo "$truth $slack" | awk '{ print $1 * 1.07 + $2 }')"
	done
	within "$1: CPU time and OFFCPU are the elapsed time, in %" "$(offcpu_gap)" 0 1
}

# Most of the time is at the cause. The rest was waiting for a processor.
causes() { # FUNCTION CAUSE...
	most=$(offcpu_ms OFFCPU "^main thread;.*;$1;.*<blocked")
	within "$1 waits for: $2" "$(offcpu_ms OFFCPU "^main thread;.*;$1;.*$2")" \
		"$(echo "$most" | awk '{ print $1 * 0.8 }')" \
		"$(echo "$most" | awk '{ printf "%.3f", $1 + 0.001 }')"
}

cd "$T" || exit 99
offcpu_measure "-e CPUTIME -e OFFCPU" "$OFFCPU_W/offcpu_waits"
check "CPUTIME and OFFCPU"
causes wait_sleep '<blocked: sleep>'
causes wait_short '<blocked: sleep>'
causes wait_poll '<blocked: poll>'
causes wait_pipe '<blocked: pipe or terminal>'
causes wait_full '<blocked: pipe or terminal>'
causes wait_socket '<blocked: socket>'
causes wait_condition \
	'pthread_cond_wait;<blocked: another thread>;<blocked: condition variable changed [(]offcpu_waits.c[)] in offcpu_waits>'
causes wait_child '<blocked: child process>'
causes wait_signal '<blocked: signal>'
causes wait_vfork 'vfork;<blocked: child process>'
causes wait_spawn 'posix_spawnp;<blocked: child process>'
causes wait_message '<blocked: message queue>'
causes wait_posix_message '<blocked: message queue>'
causes wait_semaphore '<blocked: semaphore>'
if [ "$(offcpu_truth_ms wait_ring | cut -d. -f1)" -ge 250 ]; then
	causes wait_ring '<blocked: io_uring>'
else
	skip "wait_ring waits for: io_uring" "the kernel refuses io_uring"
fi

offcpu_measure "-e OFFCPU" "$OFFCPU_W/offcpu_waits"
check "OFFCPU alone"
offcpu_measure "-e REALTIME@f100 -e OFFCPU@f500 -e perf::PAGE-FAULTS -e CPUTIME" \
	"$OFFCPU_W/offcpu_waits"
check "with other events"

if public_tools && public_copy "$OFFCPU_W/offcpu_waits"; then
	OFFCPU_DIR=$(public_dir nobody)
	cd "$OFFCPU_DIR" || exit 99
	[ "$(id -u)" -ne 0 ] || OFFCPU_AS="$tap_runuser -u nobody --"
	offcpu_measure "-e CPUTIME -e OFFCPU" "$T/offcpu_waits"
	check "an ordinary user"
fi

done_testing
