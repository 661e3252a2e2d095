#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The command line of hpcrun-lite: what it refuses, in which words, with which status; and that it
# becomes the program.

. "${srcdir:-.}/tests/lib.sh"
cd "$T" || exit 99

# refused DESCRIPTION STATUS MESSAGE ARGUMENTS...: exactly this on standard error, nothing on
# standard output, nothing left behind.
refused() {
	refused_what=$1
	refused_want="$2 $3"
	shift 3
	refused_status=0
	"$HPCRUN" "$@" >"$T/out" 2>"$T/err" || refused_status=$?
	is "$refused_what" "$refused_status $(cat "$T/err")" "$refused_want"
}

hint='(--help lists the options)'
refused "no command" 2 "hpcrun-lite: no command was given $hint"
refused "an unknown option" 2 "hpcrun-lite: unknown option '-x' $hint" -x true
refused "an option without its value" 2 "hpcrun-lite: option '-e' needs a value $hint" -e
refused "an event without a name" 2 "hpcrun-lite: event '@100' has no name $hint" -e @100 true
refused "a period that is no number" 2 \
	"hpcrun-lite: event 'CPUTIME@often': after @ comes a period of 10 to 100000000 microseconds, or f and a rate in Hz $hint" \
	-e CPUTIME@often true
refused "a rate that is no number" 2 \
	"hpcrun-lite: event 'REALTIME@f': after @f comes a rate of 1 to 100000 samples a second $hint" \
	-e REALTIME@f true
refused "a rate that is too high" 2 \
	"hpcrun-lite: event 'CPUTIME@f1000000': after @f comes a rate of 1 to 100000 samples a second $hint" \
	-e CPUTIME@f1000000 true
refused "a period of zero" 2 \
	"hpcrun-lite: event 'CPUTIME@0': after @ comes a period of 10 to 100000000 microseconds, or f and a rate in Hz $hint" \
	-e CPUTIME@0 true
refused "a rate for a counter" 2 \
	"hpcrun-lite: event 'perf::PAGE-FAULTS@f100': a rate (@f) is for CPUTIME, REALTIME and OFFCPU; give a number of events, as in @1000000 $hint" \
	-e perf::PAGE-FAULTS@f100 true
refused "an event twice" 2 "hpcrun-lite: event 'CPUTIME' is given twice $hint" -e CPUTIME@100 \
	-e CPUTIME@f10 true
refused "an event twice by two names" 2 \
	"hpcrun-lite: event 'perf::PAGE-FAULTS' is given twice $hint" -e perf::faults \
	-e perf::PAGE-FAULTS true
refused "an empty directory" 2 "hpcrun-lite: -o needs the name of a directory $hint" -o '' true
many=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do many="$many -e X$i"; done
# shellcheck disable=SC2086 # words
refused "sixteen events" 2 "hpcrun-lite: more than 15 events $hint" $many true

refused "a command that is not there" 127 \
	"hpcrun-lite: no-such-command: command not found in PATH" no-such-command
is "a rank other than the first says who it is" \
	"$(OMPI_COMM_WORLD_RANK=3 OMPI_COMM_WORLD_SIZE=4 "$HPCRUN" no-such-command 2>&1)" \
	"hpcrun-lite: rank 3: no-such-command: command not found in PATH"
refused "a path that is not there" 127 "hpcrun-lite: ./none: No such file or directory" ./none
mkdir d
refused "a directory" 126 "hpcrun-lite: ./d is a directory" ./d
echo 'echo x' >file
refused "a file that is not executable" 126 "hpcrun-lite: ./file: Permission denied" ./file
printf '#!/no/such/interpreter\n' >script
chmod +x script
refused "a script whose interpreter is not there" 126 \
	"hpcrun-lite: the interpreter /no/such/interpreter: No such file or directory" ./script
printf '#!./loop\n' >loop
chmod +x loop
refused "a script that is its own interpreter" 126 \
	"hpcrun-lite: the interpreter ./loop is not a program that the system can run" ./loop
if ${CC:-cc} -static -o static "$srcdir/tests/workload/sacred/sacred_static.c" 2>/dev/null; then
	refused "a static program" 1 \
		"hpcrun-lite: ./static is linked statically: no measurement library can be loaded into it. Link it without -static" \
		./static
	is "... that takes the place of the first is named" \
		"$("$HPCRUN" -o sm env ./static environment 2>&1 | grep -c \
			'^hpcrun-lite: not measured: 1 process of ./static (static executable)')" 1
	rm -rf sm
	printf '#!./static\n' >by_static
	chmod +x by_static
	refused "a script whose interpreter is static" 1 \
		"hpcrun-lite: the interpreter ./static is linked statically: no measurement library can be loaded into it. Link it without -static" \
		./by_static
else
	skip "a static program" "the compiler cannot link statically"
fi
echo 'int main(void) { return 3; }' >sanitized.c
if ${CC:-cc} -fsanitize=address -o sanitized sanitized.c 2>/dev/null &&
	ldd sanitized | grep -q -e libasan -e clang_rt; then
	refused "a program with AddressSanitizer's shared run time" 1 \
		"hpcrun-lite: ./sanitized is linked to AddressSanitizer's shared run time, which does not allow a library to be loaded before it. Link it with -static-libasan" \
		./sanitized
	# shellcheck disable=SC2016 # for the inner shell
	"$HPCRUN" -q -o sm sh -c './sanitized; exit $?' 2>/dev/null
	is "... which a measured program starts" "$?" 3
	rm -rf sm
else
	skip "a program with AddressSanitizer's shared run time" "the compiler does not make one"
fi
rm -f sanitized sanitized.c
# An ELF header alone tells the architecture: 32-bit x86 (machine 3) and 64-bit ARM (183).
printf '\177ELF\001\001\001\0\0\0\0\0\0\0\0\0\002\0\003\0\001\0\0\0%040d' 0 >x86_32
printf '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\002\0\267\0\001\0\0\0%060d' 0 >arm64
printf '\177ELF\002\001\001\0\0\0\0\0\0\0\0\0\002\0\076\0' >damaged
chmod +x x86_32 arm64 damaged
refused "a 32-bit program" 1 \
	"hpcrun-lite: ./x86_32 is a program for 32-bit x86; only 64-bit x86 programs can be measured" \
	./x86_32
refused "a program for another processor" 1 \
	"hpcrun-lite: ./arm64 is a program for 64-bit ARM; only 64-bit x86 programs can be measured" \
	./arm64
refused "a damaged program" 126 "hpcrun-lite: ./damaged is not a program that the system can run" \
	./damaged

is "nothing is left behind" "$(ls)" \
	"$(printf '%s\n' arm64 by_static d damaged err file loop out script static x86_32 |
	while read -r f; do [ -e "$f" ] && echo "$f"; done)"

# What it becomes.
# shellcheck disable=SC2016 # for the inner shell
"$HPCRUN" -q -o m -- sh -c 'echo "$0 $1"; exit 5' zero -v >out 2>err
is "options behind the command are the command's" "$? $(cat out err)" "5 zero -v"
"$HPCRUN" -q -t -e REALTIME@500 -e CPUTIME@f100 -o m2 sh -c 'exit 0' >out 2>err
is "-t and two events" "$? $(cat out err)" "0 "
"$HPCRUN" --no-trace -q -o m3 true 2>err
is "--no-trace" "$? $(cat err)" "0 "
like "-v says more" "$("$HPCRUN" -v -o m4 true 2>&1)" \
	"^hpcrun-lite: measuring /.*/true into $T/m4\$"
like "--help" "$("$HPCRUN" --help)" '^usage: hpcrun-lite \[options\] \[--\] command \[arguments\]$'
like "--version" "$("$HPCRUN" --version)" '^hpcrun-lite \(hpctoolkit-lite\) [0-9]+\.[0-9]+\.[0-9]+$'

# An option of ours behind the command is the command's, which may be a mistake.
hinted() { "$HPCRUN" -o hinted "$@" 2>&1 >/dev/null | grep 'is passed to'; }
is "-e behind the command" "$(hinted true -e CPUTIME@500)" \
	"hpcrun-lite: '-e CPUTIME@500' is passed to true: options of hpcrun-lite come before the command"
is "... and one of the GPU" "$(hinted true -e gpu=opencl | wc -l | tr -d ' ')" 1
is "... an -e of the command's own" "$(hinted true -e 'print 1'; hinted true -x -e CPUTIME)" ""
is "... behind --, with -q, and from the second rank" \
	"$(hinted -- true -e CPUTIME; hinted -q true -e CPUTIME
	export OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2; hinted true -e CPUTIME)" ""

# PATH as execvp has it: the first entry that can be executed; an empty entry is the current
# directory.
mkdir p1 p2
echo 'no' >p1/tool
printf '#!/bin/sh\necho second\n' >p2/tool
printf '#!/bin/sh\necho here\n' >tool
chmod +x p2/tool tool
is "PATH: past a file that is not executable" "$(PATH=p1:p2:$PATH "$HPCRUN" -q -o m5 tool)" second
is "PATH: an empty entry" "$(PATH=:p2:$PATH "$HPCRUN" -q -o m6 tool)" here

done_testing
