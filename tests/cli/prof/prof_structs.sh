#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite makes missing structure files by running hpcstruct-lite, notices binaries that
# changed, and goes on without where there is no way.
. "${srcdir:-.}/tests/lib.sh"
# shellcheck disable=SC2086 # the compiler may come with arguments
set -- ${CC:-cc}
need "$1" strip objcopy
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
ok "compiles" "$@" -g -O2 -o app app.c
ok "measured" run_limited 60 "$HPCRUN" -q -o m ./app 2000

like "without structures functions are unknown" \
	"$("$HPCPROF" --to text --no-structs --by function m 2>err)" '<unknown function> \[app\]'
like "which the report says" "$("$HPCPROF" --to text --no-structs --by function m 2>err)" \
	'/app has no structure file: its functions are unknown'
like "made where missing" "$(run_limited 120 "$HPCPROF" --to text --by function m 2>err)" \
	' body +app.c:3$'
ok "and kept in the cache" sh -c 'ls cache/*.hpcstruct'
not_ok "not in the measurement" test -e m/structs
like "the inlined call hangs on its line" "$("$HPCPROF" --to text --by path m 2>err)" \
	'body \[inlined\] +app.c:9$'
is "not made again" "$("$HPCPROF" --to text --by path -q m 2>&1 >out)" ""

rm -rf cache
is "with -q nothing is said of making" \
	"$(run_limited 120 "$HPCPROF" --to text --by path -q m 2>&1 >out)" ""

# Nothing is written into a measurement: it may be a colleague's, or lie in an archive.
mkdir target && ln -s "$T/target" m/structs && rm -rf cache
like "structs as a symbolic link: the report is as ever" \
	"$(run_limited 120 "$HPCPROF" --to text --by function m 2>err)" ' body +app.c:3$'
is "and nothing is written where it points" "$(ls target)" ""
rm m/structs

# Without a cache.
mkdir scratch locked && cp m/*.hpcrun locked && chmod a+r locked/* && chmod 755 locked scratch
HPCTOOLKIT_LITE_CACHE=
like "without a cache structures are made all the same" \
	"$(TMPDIR=$T/scratch run_limited 120 "$HPCPROF" --to text --by function locked 2>err)" \
	' body +app.c:3$'
like "said" "$(cat err)" 'there is no cache: missing structures are made for this run'
is "and nothing is left behind" "$(find scratch locked -mindepth 1 ! -name '*.hpcrun')" ""
HPCTOOLKIT_LITE_CACHE=$T/closed/cache
mkdir -m 500 closed
if public_tools; then
	chown -R nobody scratch 2>/dev/null
	like "a cache that cannot be written to, an ordinary user" \
		"$(TMPDIR=$T/scratch as_nobody timeout 1200 "$HPCPROF" --to text --by function \
		locked 2>err)" \
		' body +app.c:3$'
	like "said" "$(cat err)" \
		'closed/cache: cannot be written to: missing structures are made for this run'
	is "and nothing is left behind" \
		"$(find scratch closed locked -mindepth 1 ! -name '*.hpcrun')" ""
	HPCPROF=$builddir/hpcprof-lite/hpcprof-lite
else
	skip "a cache that cannot be written to, an ordinary user" "no staged installation"
fi
mkdir full
if mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
	at_exit "umount '$T/full'"
	HPCTOOLKIT_LITE_CACHE=$T/full/cache
	TMPDIR=$T/scratch run_limited 120 "$HPCPROF" --to text --by function locked >out 2>err
	like "no room for the cache" "$(cat out)" ' body +app.c:3$'
	like "said" "$(cat err)" \
		'full/cache: cannot be written to: missing structures are made for this run'
else
	skip "no room for the cache" "a small file system cannot be mounted"
fi
HPCTOOLKIT_LITE_CACHE=
TMPDIR=$T/absent run_limited 120 "$HPCPROF" --to text --by function locked >out 2>err
is "without a place for them the report still comes" $? 0
like "without a place for them: what is lost, and what to do" "$(cat err)" \
	'absent: warning: no directory can be made \(.*\), so functions .*; TMPDIR can name'
HPCTOOLKIT_LITE_CACHE=$T/cache

# Standard output stays a report, whatever hpcstruct-lite prints.
rm -rf cache
is "nothing of hpcstruct-lite on standard output" \
	"$("$HPCPROF" --to text --all m 2>err | cut -f1 | grep -v '^#' | sort -u |
	grep -c hpcstruct)" 0

# Damage in the cache: it is said, and made good in the same run.
rm -rf cache
run_limited 120 "$HPCPROF" -q --to text m >out 2>err
of_app=$(for f in cache/*; do "$HPCSTRUCT" --print "$f" | grep -q "^binary $T/app\$" &&
	echo "$f"; done)
printf 'xxxxxxxx' | dd of="$of_app" bs=1 seek=$(($(stat -c %s "$of_app") - 64)) conv=notrunc \
	2>/dev/null
like "a damaged structure in the cache is made again" \
	"$(run_limited 120 "$HPCPROF" -q --to text --by function m 2>err)" ' body +app.c:3$'
like "and said" "$(cat err)" "$of_app: .*wrong check value"
run_limited 120 "$HPCPROF" -q --to text --by function m >out 2>err
is "once" "$(cat err)" ""
like "and is sound" "$(cat out)" ' body +app.c:3$'

# Debug information that comes later, and changes: seen at the next run.
cp app app2 && objcopy --only-keep-debug app2 app2.dbg &&
	objcopy --strip-all --add-gnu-debuglink=app2.dbg app2
mv app2.dbg elsewhere
ok "measured" run_limited 60 "$HPCRUN" -q -o later ./app2 500
rm -rf cache
unlike "without debug information there is no line" \
	"$(run_limited 120 "$HPCPROF" -q --to text --by function later 2>err)" 'app.c:3$'
mv elsewhere app2.dbg
like "with it there is" "$(run_limited 120 "$HPCPROF" -q --to text --by function later 2>err)" \
	' body +app.c:3$'

# A stripped copy in its place: the same code, of which the cache knows the lines.
run_limited 120 "$HPCPROF" -q --to text m >out 2>err
strip -o stripped app && mv app with-lines && mv stripped app
like "a stripped copy has the lines of the program it was made from" \
	"$(run_limited 120 "$HPCPROF" -q --to text --by function m 2>err)" ' body +app.c:3$'
is "though it was looked at, too" \
	"$(for f in cache/*; do "$HPCSTRUCT" --print "$f"; done | grep -c "^binary $T/app\$")" 2
mv with-lines app

# Another binary in its place: the structure of the one that ran is in the cache, or no longer.
"$@" -g -O1 -DOTHER -o app app.c
like "a changed binary with its structure in the cache" \
	"$(run_limited 120 "$HPCPROF" --to text --by function m 2>err)" ' body +app.c:3$'
rm -rf cache
rm -rf m/binaries # which has the one that ran, as it was below /tmp
like "a changed binary is said" "$(run_limited 120 "$HPCPROF" --to text --by function m 2>err)" \
	'/app is not the file that ran \(changed since\)'
like "on standard error too" "$(cat err)" \
	'/app: warning: structure missing: the file changed since the run'
unlike "and not used" "$("$HPCPROF" --to text --by function m 2>err)" ' body +app.c'
like "and said again" "$(cat err)" \
	'/app: warning: structure missing: the file changed since the run'
rm -f app
like "nor is one that is gone" "$("$HPCPROF" --to text --by function m 2>err)" \
	'/app has no structure file'

# Without hpcstruct-lite beside it.
mkdir alone && cp "$HPCPROF" alone/hpcprof-lite
rm -rf cache
is "without hpcstruct-lite the report still comes" \
	"$(alone/hpcprof-lite --to text m >out 2>err; echo $?)" 0
like "and the reason" "$(cat err)" 'hpcstruct-lite is not beside this program'

# One that fails.
printf '#!/bin/sh\nexit 3\n' >alone/hpcstruct-lite && chmod +x alone/hpcstruct-lite
is "hpcstruct-lite fails" "$(alone/hpcprof-lite --to text m >out 2>err; echo $?)" 0
like "is said" "$(cat err)" 'm: warning: hpcstruct-lite failed with status 3'

done_testing
