#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite makes missing structure files by running hpcstruct-lite, notices binaries that changed, and goes on without where there is no way.
. "${srcdir:-.}/tests/lib.sh"
need "${CC:-cc}"
cd "$T" || exit 99
HPCTOOLKIT_LITE_CACHE=$T/cache
export HPCTOOLKIT_LITE_CACHE

cat >app.c <<'END'
#include <stdio.h>
#include <stdlib.h>
static inline double body(double x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	return x;
}
__attribute__((noinline)) double work(double x) { return body(x, 200000); }
int main(int argc, char **argv)
{
	double x = 1;
	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		x = work(x);
	return x < 0;
}
END
ok "compiles" "${CC:-cc}" -g -O2 -o app app.c
ok "measured" run_limited 60 "$HPCRUN" -q -o m ./app 2000

like "without structures functions are unknown" "$("$HPCPROF" --to text --no-structs --by function m 2>err)" '<unknown function> \[app\]'
like "which the report says" "$("$HPCPROF" --to text --no-structs --by function m 2>err)" '/app has no structure file: its functions are unknown'
like "made where missing" "$(run_limited 120 "$HPCPROF" --to text --by function m 2>err)" ' body +app.c:3$'
ok "and kept" sh -c 'ls m/structs/*.hpcstruct'
like "the inlined call hangs on its line" "$("$HPCPROF" --to text --by path m 2>err)" 'body \[inlined\] +app.c:9$'
is "not made again" "$("$HPCPROF" --to text --by path -q m 2>&1 >out)" ""

rm -rf m/structs cache
is "with -q nothing is said of making" "$(run_limited 120 "$HPCPROF" --to text --by path -q m 2>&1 >out)" ""

# A measurement that cannot be written to, here as root would see an archive: structs is a file.
mkdir scratch locked && cp m/*.hpcrun locked && : >locked/structs
like "where nothing can be written structures are made all the same" "$(TMPDIR=$T/scratch run_limited 120 "$HPCPROF" --to text --by function locked 2>err)" ' body +app.c:3$'
like "said" "$(cat err)" 'locked: cannot be written to: missing structures are made for this run'
is "and nothing is left behind" "$(ls scratch)$(cat locked/structs)" ""
TMPDIR=$T/absent run_limited 120 "$HPCPROF" --to text --by function locked >out 2>err
is "without a place for them the report still comes" $? 0

# Standard output stays a report, whatever hpcstruct-lite prints.
rm -rf m/structs
is "nothing of hpcstruct-lite on standard output" "$("$HPCPROF" --to text --all m 2>err | cut -f1 | grep -v '^#' | sort -u | grep -c hpcstruct)" 0

# Another binary in its place, and nothing kept of the first.
rm -rf m/structs cache
"${CC:-cc}" -g -O1 -DOTHER -o app app.c
like "a changed binary is said" "$(run_limited 120 "$HPCPROF" --to text --by function m 2>err)" '/app is not the file that ran \(changed since\)'
unlike "and not used" "$("$HPCPROF" --to text --by function m 2>err)" ' body +app.c'
rm -f app
like "nor is one that is gone" "$("$HPCPROF" --to text --by function m 2>err)" '/app has no structure file'

# Without hpcstruct-lite beside it.
mkdir alone && cp "$HPCPROF" alone/hpcprof-lite
rm -rf m/structs
is "without hpcstruct-lite the report still comes" "$(alone/hpcprof-lite --to text m >out 2>err; echo $?)" 0
like "and the reason" "$(cat err)" 'hpcstruct-lite is not beside this program'

# One that fails.
printf '#!/bin/sh\nexit 3\n' >alone/hpcstruct-lite && chmod +x alone/hpcstruct-lite
is "hpcstruct-lite fails" "$(alone/hpcprof-lite --to text m >out 2>err; echo $?)" 0
like "is said" "$(cat err)" 'm: warning: hpcstruct-lite failed with status 3'

done_testing
