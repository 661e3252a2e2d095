#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Children that cannot be measured are counted and named, and their CPU time is known where a
# measured parent waits for them; and the parent sees its waits as without us.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/sacred.sh"

FAMILY=$builddir/tests/workload/run/run_family
cd "$T" || exit 99
cat >burn.c <<'END'
#include <time.h>
int main(void)
{
	clock_t end = clock() + CLOCKS_PER_SEC / 20;
	while (clock() < end)
		;
	return 3;
}
END
# Waits by an instruction of its own, which no hook sees.
cat >unseen.c <<'END'
#include <unistd.h>
int main(int argc, char **argv)
{
	const pid_t child = fork();
	register long no_use __asm__("r10") = 0;
	long result = -4;
	int status;
	if (child == 0)
		execv(argv[1], argv + 1);
	while (argc > 1 && result == -4) /* EINTR */
		__asm__ volatile("syscall" : "=a"(result)
				 : "a"(61L), "D"((long)child), "S"(&status), "d"(0L), "r"(no_use)
				 : "rcx", "r11", "memory");
	return 0;
}
END
${CC:-cc} -O1 -o unseen unseen.c || skip_all "no compiler"
${CC:-cc} -O1 -o dynamic burn.c || skip_all "no compiler"
${CC:-cc} -static -O1 -o static burn.c 2>/dev/null || skip_all "the compiler cannot link statically"

head_of() { "$HPCPROF" --to text "$OUT" 2>/dev/null | sed -n '/^  not measured/p'; }

# milliseconds LINE: the CPU time in a line of hpcprof-lite's.
milliseconds() {
	printf '%s\n' "$1" | sed -nE 's/.*\), ([0-9.]+) (m?)s of CPU time$/\1 \2/p' |
		awk '{ printf "%.0f\n", $2 == "m" ? $1 : $1 * 1000 }'
}

# not_measured DESCRIPTION PROCESSES PROGRAM WHY LEAST COMMAND...: so many processes, with so many
# milliseconds of CPU time, to half as much again.
not_measured() {
	nm_what=$1 nm_n=$2 nm_path=$3 nm_why=$4 nm_least=$5
	shift 5
	measure -- "$@"
	nm_line=$(head_of)
	like "$nm_what: hpcprof-lite" "$nm_line" \
		"^  not measured: $nm_n process(es)? of $nm_path \($nm_why\), "
	within "$nm_what: their CPU time" "$(milliseconds "$nm_line")" \
		"$((nm_least * 95 / 100))" "$((nm_least * 3 / 2 + 50))"
}

not_measured "a shell starts three" 3 ./static "static executable" 150 \
	sh -c './static; ./static & ./static; wait'
like "... hpcrun-lite" "$(cat "$T/stderr")" \
	'^hpcrun-lite: not measured: 3 processes of \./static \(static executable\), 0\.[0-9]+ s of CPU time$'
unlike "... nothing else is missing" "$(cat "$T/stderr")" 'not known'
if [ "$(id -u)" -eq 0 ] && public_tools; then
	cp dynamic suid
	chmod u+s suid
	OUT=$(public_dir suid.d)/out
	run_limited 120 "$tap_runuser" -u nobody -- "$HPCRUN" -q -o "$OUT" sh -c './suid; :'
	like "a set-user-ID program" "$(head_of)" \
		'^  not measured: 1 process of \./suid \(set-user-ID executable\), [0-9.]+ m?s of CPU time$'
	OUT=$T/out
else
	skip "a set-user-ID program" "not root"
fi
not_measured "every way to wait" 6 "$T/static" "static executable" 300 \
	"$FAMILY" wait "$T/static"
not_measured "system, which waits inside libc" 1 ./static "static executable" 50 \
	"$FAMILY" system ./static
not_measured "a wait that no hook sees" 1 ./static "static executable" 50 ./unseen ./static
not_measured "a process that becomes one" 1 ./static "static executable" 50 \
	sh -c "(while [ \$((i += 1)) -lt 20000 ]; do :; done; exec ./static); :"
measure -- sh -c 'exec ./static'
is "nobody waits: status" "$status" 3
is "nobody waits: CPU time is not known" "$(head_of)" \
	"  not measured: 1 process of ./static (static executable), CPU time not known"
measure -- sh -c './dynamic; ./static-is-not-here; :'
is "none" "$(head_of)" ""
rm -rf "$OUT"
"$HPCRUN" -q -o "$OUT" sh -c './static; ./static & ./static; wait' 2>/dev/null
ok "mutants of such files are read" "$builddir/tests/fuzz/fuzz_measurement" -n 1000 "$OUT"/*.hpcrun

sacred "waits are as without us" "$FAMILY" wait "$T/dynamic"
sacred "waits for what is not measured" "$FAMILY" wait "$T/static"
sacred "waits that are cancelled" "$FAMILY" cancel
done_testing
