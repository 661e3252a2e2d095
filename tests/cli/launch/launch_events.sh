#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Events: what -L lists can be measured, what it says cannot is refused with the same reason before
# the program starts.

. "${srcdir:-.}/tests/lib.sh"
cd "$T" || exit 99

"$HPCRUN" -L >list 2>err
is "-L ends well and silently" "$? $(cat err)" "0 "
like "CPUTIME is listed with unit and default" "$(cat list)" \
	'^  CPUTIME +ns +@f1000 +CPU time of each thread'
like "REALTIME" "$(cat list)" \
	'^  REALTIME +ns +@f1000 +elapsed time of each thread, waiting included$'

# everything in the first part can be had
sed -n '4,/^$/p' list | awk 'NF { print $1 }' >have
n=0
while read -r event; do
	rm -rf m
	"$HPCRUN" -q -e "$event" -o m true 2>err || diag "$event: $(cat err)"
	[ -s err ] || n=$((n + 1))
done <have
is "each event that is listed can be measured" "$n" "$(wc -l <have)"

# everything under "Not here" is refused, with its reason
reason=
sed -n '/^Not here:/,/^$/p' list | sed 1d >missing
wrong=0
while IFS= read -r line; do
	case $line in
	'      '*)
		name=${line#      }
		message=$("$HPCRUN" -e "$name" -o none touch started 2>&1) && wrong=$((wrong + 1))
		[ "$message" = "hpcrun-lite: $name: $reason (-L lists what is available)" ] || {
			wrong=$((wrong + 1))
			diag "$message"
		}
		;;
	*:) reason=${line#  }; reason=${reason%:} ;;
	esac
done <missing
is "each event that is not here is refused, with the reason" "$wrong" 0
not_ok "and the program did not start" test -e started -o -e none

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
	want='hpcrun-lite: perf::CONTEXT-SWITCHES: /proc/sys/kernel/perf_event_paranoid is 2, and 1 or less is needed; as root: sysctl -w kernel.perf_event_paranoid=1, or give the program CAP_PERFMON (-L lists what is available)'
	is "what only the privileged may count, and the cure" \
		"$(as_nobody "$HPCRUN" -e perf::CONTEXT-SWITCHES true 2>&1)" "$want"
	is "page faults are for all" \
		"$(as_nobody "$HPCRUN" -q -e perf::PAGE-FAULTS@10 -o "$dir/m" echo well 2>&1)" well
else
	skip "what only the privileged may count, and the cure" \
		"needs root and perf_event_paranoid 2"
fi

done_testing
