#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What measuring costs programs that switch context often: elapsed time as a ratio to the plain
# program, medians of RUNS (default 5) interleaved runs of each kind. Also threads that do nothing.
# What is not installed is left out with a word. Asserts nothing.
b=$(cd "${top_builddir:-.}" && pwd)
hpcrun=$b/hpcrun-lite/hpcrun-lite
switchers=$b/tests/bench/switchers
n=${RUNS:-5}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-switches.XXXXXX") || exit 1
server=
cleanup() {
	[ -z "$server" ] || as_server "$server/pg_ctl" -D "$t/pg/data" -m immediate stop \
		>/dev/null 2>&1
	rm -rf "$t"
}
trap cleanup EXIT
cd "$t" || exit 1

# under KIND COMMAND...: runs the command as it is, or measured. KIND: plain, perf-record, or events
# with "+" between them.
under() {
	kind=$1
	shift
	rm -rf "$t/out"
	case $kind in
	plain) "$@" ;;
	perf-record) perf record -q -e task-clock -g -o "$t/perf.data" -- "$@" ;;
	*)
		# shellcheck disable=SC2046 # words
		"$hpcrun" -q $(echo "+$kind" | sed 's/+/ -e /g') -o "$t/out" -- "$@"
		;;
	esac
}

# now: seconds.
now() {
	date +%s.%N
}

# elapsed KIND COMMAND...: prints the seconds that the command took.
elapsed() {
	start=$(now)
	under "$@" >/dev/null 2>&1
	echo "$start $(now)" | awk '{ printf "%.4f\n", $2 - $1 }'
}

median() {
	sort -n | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}

# compare NAME KINDS COMMAND...: a line of ratios. HOW, a function like `elapsed`, prints what is
# compared.
compare() {
	name=$1
	kinds=$2
	shift 2
	rm -f "$t"/kind.*
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		plain=$(${HOW:-elapsed} plain "$@")
		echo "$plain" >>"$t/kind.plain"
		for k in $kinds; do
			echo "$(${HOW:-elapsed} "$k" "$@") $plain" |
				awk '{ print $1 / $2 }' >>"$t/kind.$k"
		done
	done
	printf '%-34s plain %s' "$name" "$(median <"$t/kind.plain")${UNIT:- s}"
	for k in $kinds; do
		[ ! -s "$t/kind.$k" ] || printf ', %s x%s' "$k" "$(median <"$t/kind.$k")"
	done
	echo
}

kinds="CPUTIME CPUTIME,perf CPUTIME,timer REALTIME"
if command -v perf >/dev/null; then
	kinds="$kinds perf-record"
	compare "perf bench sched pipe, one processor" "$kinds" taskset -c 0 perf bench sched pipe \
		-l 100000
	compare "perf bench sched messaging" "$kinds" perf bench sched messaging -g 4 -l 500
else
	echo "perf is not installed: no perf bench"
fi

compare "parallel regions, one processor" "$kinds" env OMP_NUM_THREADS=2 taskset -c 0 "$switchers" \
	regions 20000
compare "a loop that computes" "$kinds" "$switchers" compute 1000

# The time that the threads took, without the start of the program.
threads() {
	under "$@" 2>/dev/null
}
HOW=threads UNIT=" us a thread" compare "threads that do nothing" "CPUTIME CPUTIME,timer REALTIME" \
	"$switchers" threads 1000

# CPU time of programs that block, in ms: what waits for a processor or a lock does not count.
blockers=$b/tests/bench/blockers
own_cpu() {
	under "$@" 2>/dev/null | awk '{ print $1 }'
}
cpu() {
	(
		under "$@" >/dev/null 2>&1
		times
	) | awk 'NR == 2 { split($1, u, /[ms]/); split($2, s, /[ms]/)
		print 1000 * (60 * (u[1] + s[1]) + u[2] + s[2]) }'
}
kinds="CPUTIME OFFCPU CPUTIME+OFFCPU"
HOW=own_cpu UNIT=" ms"
compare "two threads pass bytes" "$kinds" "$blockers" pipes 100000
compare "64 threads, one lock, held shortly" "$kinds" "$blockers" lock 64 1000 20
compare "64 threads, one lock, held long" "$kinds" "$blockers" lock 64 20 2000
compare "64 threads that wait for 1 ms" "$kinds" "$blockers" server 64 5000
if command -v pbzip2 >/dev/null; then
	i=0
	while [ $i -lt 400 ]; do
		i=$((i + 1))
		cat "$blockers"
	done >"$t/input"
	HOW=cpu compare "pbzip2, four threads" "$kinds" pbzip2 -p4 -k -f -b1 "$t/input"
else
	echo "pbzip2 is not installed: it is not compared"
fi
unset HOW UNIT

# Each rank is measured, as `mpirun hpcrun-lite` does.
ranks() {
	kind=$1
	shift
	start=$(now)
	rm -rf "$t/out"
	launch="mpirun --oversubscribe --allow-run-as-root -n 4"
	if [ "$kind" = plain ]; then
		$launch "$@"
	else
		$launch "$hpcrun" -q -e "$kind" -o "$t/out" -- "$@"
	fi >"$t/ranks.out" 2>&1
	echo "$start $(now)" | awk '{ printf "%.4f\n", $2 - $1 }'
}
if command -v mpirun >/dev/null && command -v hpcc >/dev/null; then
	hpccinf=/usr/share/doc/hpcc/examples/_hpccinf.txt
	cp "$hpccinf" "$t/hpccinf.txt"
	HOW=ranks compare "HPCC, four ranks" "CPUTIME CPUTIME,timer" hpcc
else
	echo "mpirun or hpcc is not installed: no HPCC"
fi

# A server and its clients: transactions a second, both measured.
as_server() {
	if [ "$(id -u)" -eq 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi
}
transactions() {
	under "$@" 2>/dev/null | awk '$1 == "tps" { print $3 }'
}
for bin in /usr/lib/postgresql/*/bin; do
	[ -x "$bin/pg_ctl" ] && server=$bin
done
if [ -n "$server" ]; then
	chmod 755 "$t"
	mkdir "$t/pg"
	[ "$(id -u)" -ne 0 ] || chown postgres "$t/pg"
	as_server "$server/initdb" -U postgres -D "$t/pg/data" >/dev/null 2>&1
	as_server "$server/pg_ctl" -w -D "$t/pg/data" \
		-l "$t/pg/log" -o "-c listen_addresses='' -k $t/pg" start >/dev/null 2>&1
	as_server "$server/pgbench" -i -q -h "$t/pg" -U postgres postgres >/dev/null 2>&1
	echo "pgbench -S, transactions a second (above 1 is faster):"
	HOW=transactions UNIT="/s" compare "  its clients measured" \
		"CPUTIME CPUTIME,perf CPUTIME,timer" \
		"$server/pgbench" -S -c 4 -j 2 -T 3 -h "$t/pg" -U postgres postgres
else
	echo "PostgreSQL is not installed: no pgbench"
fi
