#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Structures of a big library have only functions with samples. A report of other measurements, or
# of more processes, has the names of all.
. "${srcdir:-.}/tests/lib.sh"
# shellcheck disable=SC2086 # the compiler may come with arguments
set -- ${CC:-cc}
need "$1"
cd "$T" || exit 99
HPCTOOLKIT_LITE_CACHE=$T/cache
export HPCTOOLKIT_LITE_CACHE

cat >big.c <<'END'
__attribute__((noinline)) int summed(int n) { int s = 0; while (n) s += n-- % 7; return s; }
__attribute__((noinline)) int other(int n) { int s = 1; while (n) s ^= n-- % 9; return s; }
END
echo '.text; .fill 17000000, 1, 0x90; .section .note.GNU-stack' >fill.s
cat >app.c <<'END'
int summed(int), other(int);
int main(int argc, char **argv)
{
	int n = 0;
	for (int i = 0; i < 100; i++)
		n += argc > 1 ? other(500000) : summed(500000);
	return n == 42 && argv;
}
END
"$@" -O1 -fPIC -shared -o libbig.so big.c fill.s && "$@" -O1 -o app app.c -L. -lbig \
	-Wl,-rpath,"$T" || skip_all "no compiler"
ok "measured" run_limited 60 "$HPCRUN" -q -o one ./app
ok "and with another function" run_limited 60 "$HPCRUN" -q -o two ./app other
ok "structures beside the first" "$HPCSTRUCT" -q --no-cache one
report() { run_limited 120 "$HPCPROF" --to text --by function "$@" 2>err; }
has_both() { # NAME DIRECTORY...
	says=$1
	shift
	report "$@" >out
	like "$says" "$(cat out)" '[0-9] +summed +libbig'
	like "$says, and the other" "$(cat out)" '[0-9] +other +libbig'
	unlike "nothing is said to be missing" "$(cat err)" 'only functions of other runs'
}

has_both "both measurements" one two
report -q one two >/dev/null
is "they are made once" "$(cat err)" ""
rm -r cache
HPCTOOLKIT_LITE_CACHE=
has_both "without a cache" one two
HPCTOOLKIT_LITE_CACHE=$T/cache
like "without new structures" "$(report --no-structs one two)" '<unknown function> \[libbig.so\]'
like "which is said" "$(cat err)" "/libbig.so: warning: its structure has only functions of other \
runs; [0-9]+ of [0-9]+ addresses stay without names"
like "of the first alone nothing is missing" "$(report --no-structs one)" '[0-9] +summed +libbig'
unlike "and nothing is said" "$(cat err)" 'only functions of other runs'

cp two/*.hpcrun one/
has_both "a process that is there later" one
done_testing
