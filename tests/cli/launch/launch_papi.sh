#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# PAPI's events: refused with PAPI's reason where they cannot be had; sampled in every thread and
# forked child where they can, with the program as untouched as by our own sources.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"
cd "$T" || exit 99

# none WHY: PAPI's events are refused, each by its name, mistyped ones too
none() {
	without=$("$HPCRUN" -e PAPI_TOT_CYC -e CPUTIME -e NOT_AN_EVENT true 2>&1)
	for event in PAPI_TOT_CYC NOT_AN_EVENT; do
		like "without PAPI its events are refused: $event" "$without" \
			"^hpcrun-lite: $event: this would be a PAPI event, but $1.* \(-L lists what is available\)$"
	done
	is "... and no other" "$(echo "$without" | wc -l)" 2
}

if [ -z "$(find "$builddir/.libs" -name 'libhpcrun-lite-papi.so')" ]; then
	none "hpctoolkit-lite was built without PAPI; install PAPI \(libpapi-dev\) and build again"
	done_testing
	exit
fi

mkdir broken
: >"broken/$(readelf -d "$builddir/.libs/libhpcrun-lite-papi.so" |
	sed -n 's/.*NEEDED.*\[\(libpapi[^]]*\)\].*/\1/p')"
before=${LD_LIBRARY_PATH:-}
LD_LIBRARY_PATH=$T/broken${before:+:$before}
export LD_LIBRARY_PATH
none "the PAPI module cannot be loaded: "
LD_LIBRARY_PATH=$before

like "-L has a paragraph for PAPI" "$("$HPCRUN" -L)" \
	'^PAPI [0-9]+\.[0-9]+:'
is "-L names each event once" "$("$HPCRUN" -L | awk '/^GPUs/ { exit }
	/^  [A-Za-z]/ { print $1 }' | sort | uniq -d)" ""
like "a name that PAPI does not know" "$("$HPCRUN" -e NOT_AN_EVENT true 2>&1)" \
	'^hpcrun-lite: NOT_AN_EVENT: .* \(-L lists what is available\)$'

if ! papi_clock; then
	skip "samples by PAPI" "PAPI finds no unit here, not even with the kernel's own events"
	done_testing
	exit
fi
event=$PAPI_CLOCK
LD_PRELOAD=$PAPI_SHIM
export LD_PRELOAD
like "with a unit, a name that PAPI does not know" "$("$HPCRUN" -e NOT_AN_EVENT true 2>&1)" \
	'^hpcrun-lite: NOT_AN_EVENT: PAPI: this machine has no event with this name: '

# Alone: PAPI's software clock loses overflows beside another clock of the same period (see the
# manual page). The weight of a PAPI sample is its period; the CPU clock is the thread's own. A host
# that takes the processor away lets overflows be missed, or the event count on.
papi_adds_up() {
	rm -rf m
	ok "sampled by PAPI: the program ends well" "$HPCRUN" -q -e "$event@1000000" -o m \
		"$builddir/tests/workload/run/run_life" spin 0.3
	env -u LD_PRELOAD "$HPCPROF" --to text --all "$T/m" >all 2>err
	share=$(by_name '$1 == "profile" && get("id") ~ /^[0-9]+$/ {
		cpu += get("cpu_ns") } $1 == "sample" { n++ }
		END { print cpu ? n * 1000000 / cpu : 0 }' all)
	diag "$share of the CPU clock"
	is_near "$share" 0.7 1.5
}
most_of 2 "PAPI's overflows add up to the CPU clock" papi_adds_up

rm -rf m
"$HPCRUN" -q -e "$event@1000000" -e CPUTIME -o m "$W/sacred_exit" return >out 2>&1
is "PAPI beside CPUTIME: the program's status" "$?" 44
env -u LD_PRELOAD "$HPCPROF" --to text --all "$T/m" >all 2>err
like "... one tree with both metrics" \
	"$(by_name '$1 == "tree" { print get("metric") }' all | sort -u | tr '\n' ' ')" \
	"CPUTIME.*$event|$event.*CPUTIME"

# An overflow waits while a thread begins or a process ends. PAPI's signal is open in a program that
# starts with all signals blocked.
# none_is_lost DESCRIPTION PERIOD COMMAND...
none_is_lost() {
	what=$1 period=$2
	shift 2
	rm -rf m
	ok "$what: the program ends well" env "$block" "$HPCRUN" -q -e "$event@$period" -o m \
		"$builddir/tests/workload/run/run_life" "$@"
	"$builddir/tests/workload/run/run_check" m/*.hpcrun >values
	is "$what: none is lost" "$(awk '$1 == "lost-busy" { n += $2 } END { print n }' values)" 0
	within "$what: they are there" "$(awk '
		$1 == "recorded" { n += $2 }
		END { print n }' values)" 400 1000000
}
block=--block-signal
env $block true 2>err || block=PATH=$PATH # older than coreutils 8.31
none_is_lost "samples of many threads" 50000 threads 200 0.003
none_is_lost "samples of many children" 20000 forks 4

# shellcheck disable=SC2034 # for sacred
SACRED_EVENTS="-e $event@200000 -e REALTIME@f2000"
for storm in "threads 100" "fork 60" "throw 3000" "signals 3000"; do
	# shellcheck disable=SC2086 # words
	sacred "sampled by PAPI: $storm" "$W/sacred_storm" $storm
	unset LD_PRELOAD
	sacred_sampled "sampled by PAPI: $storm: the ledger closes"
	LD_PRELOAD=$PAPI_SHIM
	export LD_PRELOAD
done
sacred "sampled by PAPI: signals as the program sees them" "$W/sacred_signal" masks
sacred "sampled by PAPI: exec" sh -c 'sh -c "exit 3"; echo $?; exec sh -c "kill -TERM \$\$"'

done_testing
