#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Environment and surroundings: what the program sees of them is what its user gave it, order
# included.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/sacred.sh"

unset LD_PRELOAD
sacred "the environment" env
sacred "an empty environment" env -i /usr/bin/env
sacred "an environment of one's own" env -i A=1 LD_LIBRARY_PATH=/nowhere B=2 /usr/bin/env

like "a shell's _ names the program" "$(env _="$HPCRUN" "$HPCRUN" -q -o "$T/u" env)" \
	"^_=$(command -v env)\$"
LD_PRELOAD="" "$HPCRUN" -q -o "$T/a" env >"$T/out"
like "an empty LD_PRELOAD stays" "$(cat "$T/out")" '^LD_PRELOAD=$'
other=$(find "$W/.libs" -name libsacred_preload.so | head -n 1)
if [ -e "$other" ] && [ -z "${SANITIZER:-}" ]; then
	LD_PRELOAD="$other" "$HPCRUN" -q -o "$T/b" env >"$T/out"
	like "another preloaded library stays" "$(cat "$T/out")" "^LD_PRELOAD=$other\$"
fi

# AddressSanitizer ends a program before whose run time another library was loaded.
asan=$(readlink -f "$(${CC:-cc} -print-file-name=libasan.so)")
if [ -e "$asan" ] && [ -z "${SANITIZER:-}" ] &&
	env LD_PRELOAD="$asan" ASAN_OPTIONS=detect_leaks=0 sh -c 'exit 0'; then
	# shellcheck disable=SC2016 # for the inner shell
	ASAN_OPTIONS=detect_leaks=0 LD_PRELOAD="$asan" "$HPCRUN" -q -o "$T/asan" \
		sh -c 'sh -c "exit 4"; echo "$? $LD_PRELOAD"' >"$T/out" 2>&1
	is "AddressSanitizer's run time stays first" "$(cat "$T/out")" "4 $asan"
	is "... and programs are measured" "$(find "$T/asan" -name '*.hpcrun' | wc -l)" 2
else
	skip "AddressSanitizer's run time stays first" "it cannot be preloaded here"
fi
# ThreadSanitizer's reports name the function that starts a thread.
cat >"$T/race.c" <<'CODE'
#include <pthread.h>
static int shared;
static void *work(void *argument)
{
	shared++;
	return argument;
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, NULL, work, NULL);
	shared++;
	pthread_join(thread, NULL);
	return 0;
}
CODE
if ${CC:-cc} -g -O1 -fsanitize=thread -pthread -o "$T/race" "$T/race.c" 2>/dev/null &&
	setarch -R "$T/race" 2>&1 | grep -q ' main '; then
	# created REPORT: the stack that created the thread
	created() {
		sed -n '/created by main/,/^$/s/^ *\(#[0-9]* [^ ]*\).*/\1/p' "$1"
	}
	setarch -R "$T/race" >/dev/null 2>"$T/plain"
	setarch -R "$HPCRUN" -q -o "$T/tsan" "$T/race" 2>"$T/out"
	is "ThreadSanitizer names who starts a thread" "$(created "$T/out")" "$(created "$T/plain")"
else
	skip "ThreadSanitizer names who starts a thread" "it does not work here"
fi

# shellcheck disable=SC2016 # for the inner shell
sacred "limits, directory, mask of new files, terminal, nice value" sh -c \
	'ulimit -a; pwd; umask; tty; nice; cut -d" " -f1-3 /proc/self/statm >/dev/null; cat /proc/self/comm; readlink /proc/self/exe'
(
	umask 077
	# shellcheck disable=SC3045 # dash, bash and busybox have it
	ulimit -S -n 50
	# shellcheck disable=SC3045
	ulimit -S -c 0
	cd /
	# shellcheck disable=SC2016
	sacred "... when they are unusual" sh -c \
		'ulimit -a; umask; pwd; echo x >"$T/file"; stat -c %a "$T/file"; rm -f "$T/file"'
	echo "$tap_count $tap_failed" >"$T/counts"
)
read -r tap_count tap_failed <"$T/counts"
# shellcheck disable=SC2016
sacred "a small address space" sh -c 'ulimit -v 300000; ls / >/dev/null; echo $?; ulimit -v'
# shellcheck disable=SC2016
sacred "a small limit on file size" sh -c \
	'ulimit -f 1; exec 2>/dev/null; (head -c 100000 /dev/zero >"$T/big") 2>/dev/null; echo $?; rm -f "$T/big"'
sacred "standard streams that are closed" \
	sh -c "sh -c 'echo to nowhere' >&- 2>&-; echo \$?; cat <&- 2>/dev/null; echo \$?"

# The process is the one that was started: no parent of ours between.
# shellcheck disable=SC2016
sh -c 'echo $$ >"$T/pid"; exec "$HPCRUN" -q -o "$T/p" sh -c "echo \$\$ >\"$T/pid2\""'
same "the process id is that of the launcher" "$T/pid" "$T/pid2"

done_testing
