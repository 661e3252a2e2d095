#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Events: what -L lists can be measured, what it says cannot is refused with the same reason before
# the program starts, and both name the cure. tests/unit/run/test_launch.c has more machines.

. "${srcdir:-.}/tests/lib.sh"
cd "$T" || exit 99

"$HPCRUN" -L >list 2>err
is "-L ends well and silently" "$? $(cat err)" "0 "
is "... in 80 columns" "$(sed '/^GPUs:/,$d' list | awk 'length > 80')" ""
like "first, what is measured" "$(head -n 2 list | tr '\n' ' ')" \
	'^Measured here:   CPU time   (1000|at most [0-9]+) samples a second, '
like "CPUTIME is listed with its default" "$(cat list)" \
	'^  CPUTIME@f1000 +CPU time of each thread$'
like "REALTIME" "$(cat list)" '^  REALTIME@f1000 +elapsed time of each thread, waits too$'

# each event that is listed can be measured as it is written there
sed -n '/^Events:/,/^$/p' list | awk '/^  [A-Z]|^  perf::/ { print $1 }' >have
n=0
while read -r event; do
	rm -rf m
	"$HPCRUN" -q -e "$event" -o m true 2>err || diag "$event: $(cat err)"
	[ -s err ] || n=$((n + 1))
done <have
is "each event that is listed can be measured" "$n" "$(wc -l <have)"

# entry WHAT: what -L says of it below "Missing here", in one line
entry() {
	sed -n '/^Missing here:$/,/^$/p' | awk -v what="$1" '
		/^  [^ ]/ { on = index($0, "  " what ": ") == 1 }
		on { sub(/^ +/, ""); printf "%s%s", n++ ? " | " : "", $0 }'
}
if grep -q '^  perf::CYCLES@' list; then
	is "hardware counters are not missing" "$(entry 'perf::CYCLES, PAPI_TOT_CYC ...' <list)" ""
else
	message=$("$HPCRUN" -e perf::CYCLES -o none touch started 2>&1)
	reason=$(echo "$message" | sed 's/^hpcrun-lite: perf::CYCLES: \([^;]*\).*/\1/')
	like "hardware counters are missing, and why" \
		"$(entry 'perf::CYCLES, PAPI_TOT_CYC ...' <list)" \
		"^perf::CYCLES, PAPI_TOT_CYC ...: $reason( \| .*)?\$"
	not_ok "and a program was not started for it" test -e started -o -e none
fi
# denied ERRNO ARGUMENTS...: where a filter denies perf events
denied() {
	error=$1
	shift
	"$builddir/tests/workload/run/run_deny" "perf_event_open=$error" -- "$HPCRUN" "$@"
}
for error in 1 38; do # EPERM of Docker, ENOSYS of others
	denied $error -L >list-denied 2>err
	like "denied by a filter, $error: what is measured" "$(cat list-denied)" \
		'^  CPU time   at most [0-9]+ samples a second, by timers$'
	like "... what is missing, and the cure" "$(
		rate=$(sed -n 's/.*at most \([0-9]*\) samples.*/\1/p' list-denied)
		entry "perf events, CPUTIME above $rate/s" <list-denied)" \
		': a seccomp filter refuses perf_event_open \| .*(PERFMON|SYS_ADMIN|in the filter)'
	unlike "... and no event of the kernel is listed" "$(cat list-denied)" '^  perf::[^ ]*@'
	like "... as the message says that refuses an event" \
		"$(denied $error -e perf::PAGE-FAULTS -o none true 2>&1)" \
		'^hpcrun-lite: perf::PAGE-FAULTS: a seccomp filter refuses perf_event_open; '
done
is "it fits in 80 columns" "$(sed '/^GPUs:/,$d' list-denied | awk 'length > 80')" ""

# As on a kernel of Debian or Ubuntu, which forbids events to ordinary users: a setting of 4, and a
# filter that stands in for the kernel.
if [ "$(id -u)" -eq 0 ] && unshare -m true 2>err; then
	echo 4 >paranoid
	# shellcheck disable=SC2016 # expanded by that shell
	strict='mount --bind paranoid /proc/sys/kernel/perf_event_paranoid && exec "$@"'
	deny=$builddir/tests/workload/run/run_deny
	unshare -m sh -c "$strict" sh "$deny" perf_event_open=13 -- "$HPCRUN" -L >list-strict 2>err
	like "a strict kernel" "$(cat list-strict)" \
		'^  perf events, CPUTIME above [0-9]+/s: kernel.perf_event_paranoid is 4 \(needed: 1\)$'
else
	skip "a strict kernel" "needs root and mount namespaces"
fi

# In memory: said, as the measurement takes memory then.
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ]; then
	like "a directory in memory" "$(cd /dev/shm && "$HPCRUN" -L)" \
		'^  files      tmpfs: measurements are in memory$'
else
	skip "a directory in memory" "no tmpfs at /dev/shm"
fi

like "an unknown event is PAPI's to refuse" "$("$HPCRUN" -e NO_SUCH_EVENT true 2>&1)" \
	"^hpcrun-lite: NO_SUCH_EVENT: (PAPI: |this would be a PAPI event, but ).* \(-L lists what is available\)$"
like "a name that is like one of ours" "$("$HPCRUN" -e cputime true 2>&1)" \
	'^hpcrun-lite: cputime: .*; did you mean CPUTIME[;) ]'
like "a name that is mistyped" "$("$HPCRUN" -e CPUTIM true 2>&1)" \
	'^hpcrun-lite: CPUTIM: .*; did you mean CPUTIME[;) ]'
like "... in another way" "$("$HPCRUN" -e RAELTIME@f10 true 2>&1)" \
	"^hpcrun-lite: event 'RAELTIME@f10': a rate \(@f\) is for CPUTIME, REALTIME and OFFCPU; did you mean REALTIME\?"
like "... of the kernel's" "$("$HPCRUN" -e perf::PAGE-FAULT true 2>&1)" \
	'^hpcrun-lite: perf::PAGE-FAULT: .*; did you mean perf::PAGE-FAULTS[;) ]'
like "a short name of the kernel's" "$("$HPCRUN" -e perf::FAULS true 2>&1)" \
	'^hpcrun-lite: perf::FAULS: .*; did you mean perf::PAGE-FAULTS[;) ]'
unlike "a name that is like none" "$("$HPCRUN" -e NO_SUCH_EVENT true 2>&1)" 'did you mean'
is "its status" "$("$HPCRUN" -e NO_SUCH_EVENT true 2>/dev/null; echo $?)" 1

if [ "$(id -u)" -eq 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null)" = 2 ] &&
	public_tools; then
	dir=$(public_dir work)
	cd "$dir" || exit 99
	want='^hpcrun-lite: perf::CONTEXT-SWITCHES: kernel.perf_event_paranoid is 2 \(needed: 1\); '
	want=$want'(as root( of the host)?: sysctl kernel.perf_event_paranoid=1|start)'
	like "what only the privileged may count, and the cure" \
		"$(as_nobody "$HPCRUN" -e perf::CONTEXT-SWITCHES true 2>&1)" "$want"
	like "... as -L says" "$(as_nobody "$HPCRUN" -L)" \
		'^  kernel samples, CONTEXT-SWITCHES: kernel.perf_event_paranoid is 2 \(needed: 1\)$'
	is "page faults are for all" \
		"$(as_nobody "$HPCRUN" -q -e perf::PAGE-FAULTS@10 -o "$dir/m" echo well 2>&1)" well
else
	skip "what only the privileged may count, and the cure" \
		"needs root and perf_event_paranoid 2"
fi

done_testing
