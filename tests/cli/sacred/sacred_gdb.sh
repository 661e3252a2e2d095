#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A measured program can be debugged: started in gdb, and with gdb attached to it, by the commands
# that doc/troubleshooting.md gives.

. "${srcdir:-.}/tests/lib.sh"
need gdb

cat >"$T/prog.c" <<'CODE'
#include <stdio.h>
#include <time.h>
static double cpu(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}
__attribute__((noinline)) void late(void)
{
	puts("late");
}
__attribute__((noinline)) void work(double s)
{
	for (double end = cpu() + s; cpu() < end;)
		;
}
volatile int is_attached = 1;
int main(int argc, char **argv)
{
	(void)argv;
	is_attached = argc == 1;
	while (!is_attached)
		work(0.01);
	work(0.1);
	late();
	work(0.1);
	return 5;
}
CODE
${CC:-cc} -g -O1 "$T/prog.c" -o "$T/prog" || skip_all "no compiler here"

# documented HEADING: the commands of gdb there, one a line
documented() {
	sed -n "/^\\*\\*$1/,/^\\*\\*/s/^ *(gdb) //p" "$srcdir/doc/troubleshooting.md"
}
HOME=$T
export HOME
documented "Debugging a measured program" >"$T/start.gdb"
like "the commands are in the documentation" "$(cat "$T/start.gdb")" '^run'
sed '/^run/i break late' "$T/start.gdb" >"$T/in.gdb"
printf '%s\n' 'backtrace 1' 'next' 'continue' >>"$T/in.gdb"
out=$(run_limited 60 gdb -nx -q -batch -x "$T/in.gdb" --args "$HPCRUN" -q -e CPUTIME@f10000 \
	-o "$T/m" "$T/prog" 2>&1)
like "started in gdb: stops at the breakpoint" "$out" '^#0 .*late'
like "... ends with its status" "$out" 'exited with code 05'
unlike "... stops at no sample" "$out" 'received signal|Unknown signal'
unlike "... every command is accepted" "$out" '[Uu]ndefined|No symbol|does not exist'
out=$("$HPCPROF" -q --to text "$T/m" 2>&1)
like "... and is measured" "$out" '[1-9][0-9]* samples'

"$HPCRUN" -q -e CPUTIME@f10000 -o "$T/a" "$T/prog" wait >"$T/out" 2>&1 &
pid=$!
until grep -q prog "/proc/$pid/comm" 2>/dev/null; do sleep 0.1; done
sleep 0.3
out=$(run_limited 60 gdb -nx -q -batch -p $pid -ex 'break late' -ex 'set var is_attached = 1' \
	-ex continue -ex 'backtrace 1' -ex continue 2>&1)
like "attached: stops at the breakpoint" "$out" '^#0 .*late'
like "... ends with its status" "$out" 'exited with code 05'
unlike "... stops at no sample" "$out" 'received signal|Unknown signal'
wait $pid
is "... and so its parent sees it" "$? $(cat "$T/out")" "5 late"
out=$("$HPCPROF" -q --to text "$T/a" 2>&1)
like "... and is measured" "$out" '[1-9][0-9]* samples'
done_testing
