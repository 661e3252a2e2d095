#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Source files in a database: a copy is for no one who could not read the original, and root copies
# nothing for a user who could not read it.
# shellcheck disable=SC2154 # T and others come from lib.sh
. "${srcdir:-.}/tests/lib.sh"

cc=${CC:-gcc} # perhaps with a ccache in front
need "${cc%% *}" stat
[ -x "$HPCPROF" ] || skip_all "hpcprof-lite is not built"
public_tools || skip_all "no staged installation"
cd "$T" || exit 99

# The program's lines are those of files of various rights. Each function takes a share of the time.
mkdir open closed searchable
line() { printf 'int %s(void);\n' "$1"; }
for f in open/plain.c open/mine.c open/group.c closed/inside.c searchable/readonly.c; do
	line "$f" | tr / _ >"$f"
done
chmod 600 open/mine.c
chmod 640 open/group.c
chmod 444 searchable/readonly.c
chmod 700 closed
chmod 711 searchable
printf 'not for everyone\n' >open/target
chmod 600 open/target
ln -s target open/link.c
mkfifo open/fifo.c

# program NAME FILE...: a program with a function in each file
program() {
	name=$1
	shift
	{
		echo 'static volatile double x = 1;'
		i=0
		for f; do
			i=$((i + 1))
			printf '#line 1 "%s"\n' "$f"
			echo \
				"void f$i(void) { for (int i = 0; i < 4000000; i++) x = x * 1.0000001; }"
		done
		printf '#line 1 "%s"\nint main(void) { for (int k = 0; k < 6; k++) {' "$T/main.c"
		for i in $(seq "$i"); do printf ' f%s();' "$i"; done
		echo ' } }'
		printf '#line 1 "%s"\n' "$T/main.c"
		for i in $(seq "$i"); do printf 'void f%s(void);\n' "$i"; done
	} | awk '/^void f[0-9]*\(void\);$/ { print; next } { rest = rest $0 "\n" }
		END { printf "%s", rest }' >"$name.c"
	# shellcheck disable=SC2086 # several words
	$cc -g -O1 -o "$name" "$name.c" && chmod a+rx "$name"
}
program app "$T/open/plain.c" "$T/open/mine.c" "$T/open/group.c" "$T/closed/inside.c" \
	"$T/searchable/readonly.c" "$T/open/link.c" "$T/open/fifo.c" /etc/shadow ||
	skip_all "no compiler"
program harmless "$T/open/plain.c" "$T/searchable/readonly.c"

mode() { stat -c %a "$1" 2>/dev/null || echo none; }
copied() { (cd "$1/src" && find . ! -type d | sed "s|^\./||; s|^${T#/}/||" | LC_ALL=C sort |
	tr '\n' ' '); }

ok "measured" "$HPCRUN" -q -o m ./app
ok "measured" "$HPCRUN" -q -o h ./harmless
run_limited 60 "$HPCPROF" -q --to cctdb -o db m 2>err
is "the database is written, and no FIFO is waited for" $? 0
for f in plain mine group; do case $f in plain) want=644 ;; *) want=600 ;; esac
	got=$(mode "db/src$T/open/$f.c")
	# a group that is the copy's own may read it, too
	case $f/$got in group/640) want=640 ;; esac
	is "open/$f.c" "$got" "$want"
done
is "a file that all may read, in a directory that is closed to them" \
	"$(mode "db/src$T/closed/inside.c")" 600
is "one in a directory that they may search, without the right to write" \
	"$(mode "db/src$T/searchable/readonly.c")" 444
is "a link gives the rights of the file" "$(mode "db/src$T/open/link.c")" 600
is "no FIFO is copied" "$(mode "db/src$T/open/fifo.c")" none
is "the database is not for everyone" "$(mode db)" 700
ok "without private files: written" "$HPCPROF" -q --to cctdb -o hdb h
is "without private files: the database is for everyone" "$(mode hdb)" 755
ok "another umask" sh -c 'umask 027; "$0" -q --to cctdb -o udb h' "$HPCPROF"
is "another umask: the database" "$(mode udb)" 750
is "another umask: a copy" "$(mode "udb/src$T/open/plain.c")" 640
ok "--no-sources" "$HPCPROF" -q --to cctdb --no-sources -o ndb m
is "--no-sources: no copies" "$(copied ndb)" ""
is "--no-sources: nothing to hide" "$(mode ndb)" 755

# Names of sources that are those of directories, or of nothing
cat >roots.py <<'END'
import sys
body = "def f(n):\n\ts = 0\n\tfor i in range(n):\n\t\ts += i * i\n\treturn s\n" + 30 * "f(20000)\n"
for name in ["//", "/./", "/x/..", "/", "", ".", "..", "/a/../.", sys.argv[1], sys.argv[1] + "/"]:
	exec(compile(body, name, "exec"))
END
python=/usr/bin/python3 # what PATH has may be a script
if [ -x $python ]; then
	ok "measured" "$HPCRUN" -q -e CPUTIME@f1000 -o roots-m $python roots.py "$T"
else
	ok "no Python; measured" "$HPCRUN" -q -o roots-m ./harmless
fi
for to in html json sqlite perfetto pprof folded "$OUTPUTS"; do
	ok "sources whose names are directories: --to $to" \
		"$HPCPROF" -q --to "$to" -o "roots-db-$to" roots-m
done
ok "... --archive" "$HPCPROF" -q --archive roots-archive roots-m
ok "... of which a report is made" "$HPCPROF" -q --to html -o roots-again roots-archive

if [ "$(id -u)" -ne 0 ]; then
	is "what cannot be read is not copied" "$(mode db/src/etc/shadow)" none
	skip "other users' measurements" "only root can make them"
	done_testing
	exit
fi
chown nobody open/mine.c
d=$(public_dir user)
ok "measured by a user" as_nobody "$HPCRUN" -q -o "$d/m" ./app
"$HPCPROF" -q --to cctdb -o rdb "$d/m"
is "root, of the user's measurement: the user's files" "$(copied rdb)" \
	"open/mine.c open/plain.c searchable/readonly.c "
is "... the user's own" "$(mode "rdb/src$T/open/mine.c")" 600
as_nobody env HPCTOOLKIT_LITE_CACHE="$d/cache" "$HPCPROF" -q --to cctdb -o "$d/db" "$d/m"
is "the user: the same" "$(copied "$d/db")" "open/mine.c open/plain.c searchable/readonly.c "
is "... and private" "$(mode "$d/db")" 700
cp -R "$d/m" both
chown -R nobody both
cp m/*.hpcrun both/
"$HPCPROF" -q --to cctdb -o bdb both
is "measurements of both: what both could read" "$(copied bdb)" \
	"open/mine.c open/plain.c searchable/readonly.c "
# a user who reads another's measurement
chmod -R a+rX m
as_nobody env HPCTOOLKIT_LITE_CACHE="$d/cache" "$HPCPROF" -q --to cctdb -o "$d/of-root" m
is "a user, of root's measurement: the user's files" "$(copied "$d/of-root")" \
	"open/mine.c open/plain.c searchable/readonly.c "
u=$(awk -F: '$3 > 0 && $3 < 60000 && $1 != "nobody" { print $1; exit }' /etc/passwd)
cp -R m third
chown -R "$u" third
as_nobody env HPCTOOLKIT_LITE_CACHE="$d/cache" "$HPCPROF" -q --to cctdb -o "$d/of-third" third
is "a user, of another user's measurement: what both could read" "$(copied "$d/of-third")" \
	"open/plain.c searchable/readonly.c "
is "... is for everyone" "$(mode "$d/of-third")" 755
done_testing
