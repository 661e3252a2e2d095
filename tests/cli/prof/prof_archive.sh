#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcprof-lite --archive: a measurement for another machine gives the same report where there are
# neither binaries nor sources nor a cache.

. "${srcdir:-.}/tests/lib.sh"
# shellcheck disable=SC2086 # the compiler may come with arguments
set -- ${CC:-cc}
need "$1"
cd "$T" || exit 99

mkdir here there
cat >here/app.c <<'END'
#include <stdlib.h>
#include "body.h"
__attribute__((noinline)) double work(double x) { return body(x, 200000); }
int main(int argc, char **argv)
{
	double x = 1;
	for (int i = 0; i < atoi(argv[argc - 1]); i++)
		x = work(x);
	return x < 0;
}
END
cat >here/body.h <<'END'
static inline double body(double x, int n)
{
	for (int i = 0; i < n; i++)
		x = x * 1.0000001 + 1e-9;
	return x;
}
END
ok "compiles" "$@" -g -O2 -o here/app here/app.c
ok "measured" run_limited 60 "$HPCRUN" -q -o m here/app 2000
"$HPCPROF" --to text --all m >before 2>err
"$HPCPROF" -q --to cctdb -o before-db m 2>>err
chmod 500 m
list() { (cd "$1" && find . -type f | sort); }
list m | grep -v '^./binaries/' >m.files # whose structures are in the archive

ok "--archive" sh -c "'$HPCPROF' --archive there/m m 2>err >out"
like "says what it has" "$(cat err)" \
	'^hpcprof-lite: there/m: archive of 1 measurement files, [2-9] structures \([0-9] missing\) and [2-9]'
is "no report" "$(cat out)" ""
is "the measurement stays as it was" "$(list m | grep -v "^./binaries/")" "$(cat m.files)"
is "all of it is in the archive" "$(list there/m | grep -vE '^./(structs|src)/')" "$(cat m.files)"
is "sources at their paths" "$(cd there/m && find "src$T" -type f | sort)" "src$T/here/app.c
src$T/here/body.h"
is "nobody sees more of it" "$(stat -c %a there/m)" 500
"$HPCPROF" --archive there/m m 2>err
is "an archive that exists is not touched" "$?/$(cat err)" \
	"1/hpcprof-lite: there/m: exists already; name another place"
"$HPCPROF" --archive there/m nothing 2>err
is "which is checked before anything is read" "$?/$(cat err)" \
	"1/hpcprof-lite: there/m: exists already; name another place"
"$HPCPROF" --archive x --to text m 2>err
is "--archive with --to: usage" $? 2
"$HPCPROF" --archive x m m 2>err
is "--archive of two measurements: usage" $? 2

# A measurement that only root could write to
own=$(public_dir own)
if [ "$(id -u)" -eq 0 ] && public_tools; then
	cp -R m "$own/m"
	chown -R nobody "$own/m"
fi
if [ -d "$own/m" ] || cp -R m "$own/m"; then
	as_nobody env HPCTOOLKIT_LITE_CACHE= "$HPCPROF" -q --archive "$own/archive" "$own/m" 2>err
	is "a user's own, where the measurement is read-only" "$?/$(stat -c %a "$own/archive")" \
		0/500
	chmod 700 "$own/m" "$own/archive" # or nobody can remove them
fi

# A process that was killed has left its data on the node.
cp -R m killed
chmod 700 killed
mkdir node
for file in killed/*.hpcrun; do
	mv "$file" node/
	printf '%s\nhost %s\nfile %s\n' \
		'hpctoolkit-lite: this file is empty until the data are copied to it' \
		"$(uname -n)" "$T/node/${file##*/}" >"$file"
done
ok "--archive of data on the node" "$HPCPROF" -q --no-sources --archive collected killed
for file in node/*.hpcrun; do
	same "the archive has them" "$file" "collected/${file##*/}"
done
rm node/*.hpcrun
"$HPCPROF" killed >out 2>err
like "where they were removed: hpcprof-lite says so" "$(cat err)" \
	"killed/.*\.hpcrun: warning: its data are not on this node any more \($T/node/.*\.hpcrun\)\$"

# Another machine
mv here elsewhere
mv m elsewhere/m
HPCTOOLKIT_LITE_CACHE=$T/empty
"$HPCPROF" --to text --all there/m >after 2>err
same "the same report" before after
is "without a word" "$(cat err)" ""
not_ok "and without a cache" test -e "$T/empty"
"$HPCPROF" -q --to cctdb -o after-db there/m
same "the same sources in the database" "before-db/src$T/here/app.c" "after-db/src$T/here/app.c"
same "... headers too" "before-db/src$T/here/body.h" "after-db/src$T/here/body.h"

# An archive of an archive, and less of it
ok "archived again" "$HPCPROF" -q --archive there/again there/m
is "it is the same" "$(list there/again)" "$(list there/m)"
ok "--no-sources" "$HPCPROF" -q --archive there/bare --no-sources there/m
is "has none" "$(list there/bare)" "$(list there/m | grep -v '^./src/')"
mkdir there/links && cp -r there/m/*.hpcrun there/links && mkdir -p "there/links/src$T/here"
printf 'secret\n' >secret
ln -s "$T/secret" "there/links/src$T/here/app.c"
"$HPCPROF" -q --no-structs --to cctdb -o links-db there/links 2>err
is "a source that is a symbolic link is not followed" "$(grep -rl secret links-db)" ""

# Without a structure, and without the copy of a binary below /tmp
rm -rf elsewhere/m/binaries
"$HPCPROF" -q --archive there/poor elsewhere/m 2>err
like "a structure that is missing is said" "$(cat err)" \
	'/here/app: warning: structure missing: there is none and none can be made'
"$HPCPROF" -q --no-structs --to text --by function there/poor >out 2>err
like "and its names are unknown, not wrong" "$(cat out)" '<unknown function> \[app\]'
done_testing
