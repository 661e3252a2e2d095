#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Every process says how it ended, and ends as without us: same status, same signal, same core file.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/sacred.sh"

FAMILY=$builddir/tests/workload/run/run_family
cd "$T" || exit 99

head_of() { "$HPCPROF" --to text "$OUT" 2>/dev/null | sed -n '/^  [0-9]* process.* ended with/p'; }

# ends STATUS WORDS ARGUMENTS...: the process that the launcher became, of which no measured parent
# knows.
ends() {
	ends_status=$1 ends_words=$2
	shift 2
	measure -- "$FAMILY" end "$@"
	is "$*: status" "$status" "$ends_status"
	is "$*: said" "$(head_of)" "$ends_words"
}
by() { echo "  1 process ended with signal SIG$1"; }
no_word='  1 process ended with unknown status (killed, ended by its own system call, or still running)'

ends 139 "$(by SEGV)" segv
ends 134 "$(by ABRT)" abort
ends 136 "$(by FPE)" divide
ends 143 "$(by TERM)" kill 15
ends 129 "$(by HUP)" kill 1
ends 138 "$(by USR1)" kill 10
ends 141 "$(by PIPE)" kill 13
ends 139 "$(by SEGV)" again 11
ends 134 "$(by ABRT)" again 6
ends 143 "$(by TERM)" once 15
ends 139 "$(by SEGV)" refault
ends 77 "  1 process ended with exit status 77" none
ends 137 "$no_word" kill 9
ends 0 "$no_word" raw 0
measured=$FAMILY FAMILY=${FAMILY}_go
ends 4 \
	'  1 process ended with unknown status (a Go program, which does not call exit(), or killed)' \
	raw 4
ends 143 "$(by TERM)" kill 15
ends 77 "  1 process ended with exit status 77" none
FAMILY=$measured
sound "the file of a process that ended by a signal is sound" -k

# By somebody else, while it waits.
rm -rf "$OUT"
"$HPCRUN" -q -o "$OUT" "$FAMILY" end wait &
waiting=$!
until [ -n "$(find "$OUT" -name '*.hpcrun' 2>/dev/null)" ] &&
	grep -q 'State:.S' /proc/$waiting/status; do
	sleep 0.02
done
sleep 0.1
kill -TERM $waiting
wait $waiting 2>/dev/null
is "SIGTERM from outside: status" $? 143
is "SIGTERM from outside: said" "$(head_of)" "$(by TERM)"

# A measured parent knows more.
measure \
	-- sh -c \
	"'$FAMILY' end raw 0; '${FAMILY}_go' end raw 4; '$FAMILY' end kill 9; '$FAMILY' end overflow; :"
is "with a measured parent: status" "$status" 0
is "with a measured parent: said" "$(head_of | sed 's/: run_family[_go]* pid [0-9]*$//' | sort)" \
	"  1 process ended with exit status 4
  1 process ended with signal SIGKILL
  1 process ended with signal SIGSEGV"

sacred "the program's signals are as it has set them" "$FAMILY" ask
for how in segv abort divide overflow 'kill 15' 'kill 6' 'kill 9' 'again 11' 'again 15' 'once 15' \
	refault 'raw 5'; do
	# shellcheck disable=SC2086 # words
	sacred "its parent sees: $how" "$FAMILY" watch "$FAMILY" end $how
done

# What a debugger finds in the core file.
if have gdb && [ "$(cat /proc/sys/kernel/core_pattern)" = core ]; then
	core_of() { # NAME COMMAND...
		core_name=$1
		shift
		mkdir -p "$core_name.d"
		(cd "$core_name.d" && ulimit -c unlimited && "$@" >/dev/null 2>&1)
		# shellcheck disable=SC2016 # gdb's variables
		gdb -batch -nx -ex 'p $_siginfo.si_signo' -ex 'p $_siginfo.si_code' \
			-ex 'p $_siginfo._sifields._sigfault.si_addr' -ex 'p $rax' \
			-ex 'x/i $pc' "$FAMILY" "$core_name.d"/core* 2>/dev/null |
			sed -n '/^\$/p; /^=>/p' | sed 's/0x[0-9a-f]* <//'
	}
	core_of plain "$FAMILY" end segv >plain.core
	# A launcher with AddressSanitizer would switch core files off.
	ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}disable_coredump=0
	export ASAN_OPTIONS
	core_of measured "$HPCRUN" -q -o "$T/core-m" "$FAMILY" end segv >measured.core
	like "a core file was written" "$(cat plain.core)" '^\$1 = 11$'
	same "the core file says the same" plain.core measured.core
else
	skip "the core file says the same" "no gdb, or core files go elsewhere"
fi
done_testing
