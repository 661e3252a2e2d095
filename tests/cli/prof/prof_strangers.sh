#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What other users put into a measurement directory or a shared cache: neither links nor texts make
# a tool read, copy or believe what their maker could not read himself.
# shellcheck disable=SC2154 # T and others come from lib.sh
. "${srcdir:-.}/tests/lib.sh"

cc=${CC:-gcc} # perhaps with a ccache in front
need "${cc%% *}" setpriv stat
[ "$(id -u)" -eq 0 ] || skip_all "only root can be two users"
public_tools || skip_all "no staged installation"
cd "$T" || exit 99

alice() { setpriv --reuid 61234 --regid 61234 --clear-groups env HPCTOOLKIT_LITE_CACHE= "$@"; }
mallory() { setpriv --reuid 61235 --regid 61235 --clear-groups env HPCTOOLKIT_LITE_CACHE= "$@"; }
alice true 2>/dev/null || skip_all "no such users can be had here"
mkdir alice mallory shared && chown 61234 alice && chown 61235 mallory && chmod 1777 shared

# program NAME FUNCTION FLAG...: all of its time is in one function
program() {
	program=$1
	printf '%s\n' 'static volatile unsigned x;' \
		"__attribute__((noinline)) void $2(void)" \
		'{ for (long i = 0; i < 100000000; i++) x = x * 7 + 1; }' \
		"int main(void) { $2(); return 0; }" >"$program.c"
	shift 2
	# shellcheck disable=SC2086 # several words
	$cc -g -O1 -o "$program" "$program.c" "$@" && chmod a+rx "$program"
}
program app innocent_function -Wl,--build-id=0x1234567890123456789012345678901234567890 ||
	skip_all "no compiler"
program other poisoned_function -Wl,--build-id=0x1234567890123456789012345678901234567890

# ---- archive ----

printf 'SECRET of root\n' >secret && chmod 600 secret
printf 'SECRET of alice\n' >alice/secret && chown 61234 alice/secret && chmod 600 alice/secret
ok "measured" mallory "$HPCRUN" -q -o mallory/m ./app
stem=$(cd mallory/m && basename -- *.hpcrun .hpcrun)
# What one file, put there by $2 (ln, ln -s), brings into the archive that root makes.
leaks() { # NAME COMMAND FILE
	rm -rf mallory/try archive && cp -a mallory/m mallory/try
	mkdir -p mallory/try/vdso mallory/try/gpubins && chown -R 61235 mallory/try
	rm -rf "mallory/try/$1"
	# shellcheck disable=SC2086 # a command and its option
	$2 "$3" "mallory/try/$1" || return
	run_limited 60 "$HPCPROF" -q --archive archive mallory/try >out 2>err
	echo "$? $(grep -rl SECRET archive)"
}
for name in "$stem.perfmap" "$stem.jitdump" gpubins/x.gpubin vdso/x.so 9-x-1.hpcrun job; do
	case $name in *.hpcrun) want=1 ;; *) want=0 ;; esac # its data are missing
	for command in "ln -s" ln; do
		for file in "$T/secret" "$T/alice/secret"; do
			is "archive: $name by $command of ${file#"$T/"}" \
				"$(leaks "$name" "$command" "$file" | sed 's/^1 /0 /')" "0 "
		done
	done
done
mkdir closed && cp secret closed/ && chmod 700 closed
for name in gpubins vdso; do
	is "archive: $name is a link to a directory" "$(leaks "$name" "ln -s" "$T/closed")" "0 "
done
like "... which is said" "$(cat err)" '/vdso: warning: left out: is no directory of this'
fifo() { mkfifo "$2"; }
is "archive: a FIFO is not waited for" "$(leaks "$stem.perfmap" fifo x)" "0 "
is "archive: a file of the user's own goes with it" \
	"$(leaks "$stem.perfmap" "cp" "$srcdir/COPYING" >/dev/null 2>&1
	printf 'SECRET\n' >own && leaks "$stem.perfmap" cp own)" "0 archive/$stem.perfmap"
chmod 1777 mallory/m
printf 'SECRET\n' >plain && chmod 600 plain && chown 61235 plain
is "archive: in a directory for all, a private file with two names is not taken" \
	"$(leaks "$stem.perfmap" ln plain)" "0 "
chmod 755 mallory/m

# ---- data on the node ----

# node NAME OWNER: a directory with the data of a process of alice, and what names them
node() {
	place=$T/shared/hpcrun-lite-$2-000000000000000$1
	mkdir "$place" && cp mallory/m/*.hpcrun "$place/$stem.hpcrun"
	chown -R "$2" "$place" && chmod 700 "$place" && chmod 600 "$place/$stem.hpcrun"
}
# text DIRECTORY OWNER: a measurement whose data are in $place
text() {
	mkdir "$1" && printf '%s\nhost %s\nfile %s\n' \
		'hpctoolkit-lite: this file is empty until the data are copied to it' \
		"$(uname -n)" "$place/$stem.hpcrun" >"$1/$stem.hpcrun"
	chown -R "$2" "$1"
}
node 1 61234
text mallory/deputy 61235
"$HPCRUN" --collect mallory/deputy >out 2>err
is "--collect by root of a stranger's text: refused" "$?/$(ls "$place")" "1/$stem.hpcrun"
like "... with the cause" "$(cat err)" 'does not belong to the owner of its data'
is "... and nothing is copied" "$(grep -c '^host' "mallory/deputy/$stem.hpcrun")" 1
"$HPCPROF" -q --to text mallory/deputy >out 2>err
is "a report by root does not read them" "$?/$(grep -c app out)" "1/0"
rm -rf archive
"$HPCPROF" -q --archive archive mallory/deputy >out 2>err
is "nor does an archive" "$(ls archive 2>/dev/null)" ""
chmod a+w "mallory/deputy/$stem.hpcrun"
not_ok "--collect by their owner: refused" alice "$HPCRUN" --collect mallory/deputy
text alice/m 61234
ok "into the owner's file: root" "$HPCRUN" -q --collect alice/m
same "... copied" "alice/m/$stem.hpcrun" "mallory/m/$stem.hpcrun"
not_ok "... and removed from the node" test -e "$place"
node 2 61234
text alice/n 61234
ok "into the owner's file: the owner" alice "$HPCRUN" -q --collect alice/n
same "... copied" "alice/n/$stem.hpcrun" "mallory/m/$stem.hpcrun"

# ---- cache ----

export HPCTOOLKIT_LITE_CACHE="$T/shc"
names() {
	"$@" "$HPCPROF" -q --to text --by function mallory/m 2>err | sed '/ certain)$/d' |
		grep -o '[a-z]*_function'
}
poison() { # MODE OF THE CACHE
	rm -rf shc mallory/x && mkdir -m "$1" shc
	mallory env HPCTOOLKIT_LITE_CACHE="$T/shc" "$HPCSTRUCT" -q -o mallory/x ./other
	touch -d @4000000000 shc/* # was used last, so that it comes first
}
for mode in 1777 777; do
	poison $mode
	is "mode $mode: mallory has put a structure there" "$(ls shc | wc -l)" 1
	is "mode $mode: alice's report has the true name" \
		"$(names alice env HPCTOOLKIT_LITE_CACHE="$T/shc")" innocent_function
	is "mode $mode: and root's" "$(names env)" innocent_function
	is "mode $mode: a second report makes nothing again" "$(names env; ls shc | wc -l)" \
		"innocent_function
$(ls shc | wc -l)"
done
# Nobody can take the names before: a stranger has files of all names that alice ever had here.
alice_reports() { names alice env HPCTOOLKIT_LITE_CACHE="$T/shc"; }
of_alice() { find shc -user 61234 -name '1234567890*' | sort; }
poison 1777
cp shc/* poisoned
for i in 1 2 3 4 5 6 7 8; do
	alice_reports >out
	for file in $(of_alice); do rm "$file" && cp poisoned "$file" && chown 61235 "$file"; done
done
is "a stranger knew eight names: the report has the true name" "$(alice_reports)" innocent_function
is "a stranger knew eight names: the structure is kept" "$(of_alice | wc -l)" 1
of_alice >before
is "a stranger knew eight names: it is used again" "$(alice_reports; of_alice | diff before -)" \
	innocent_function
is "a stranger knew eight names: and made anew in its place" \
	"$(alice env HPCTOOLKIT_LITE_CACHE="$T/shc" "$HPCSTRUCT" -q -f -o shared/y ./app
	of_alice | diff before -)" ""
rm poisoned
is "root's is believed" "$(rm shc/*; names env >out; ls shc >before
	alice env HPCTOOLKIT_LITE_CACHE="$T/shc" "$HPCPROF" -q --to text mallory/m >out
	ls shc | diff before -)" ""
poison 1777
file=$(ls shc) && mv "shc/$file" poisoned && chown 0 poisoned && chmod 777 shc && chown 0 shc
ln -s "$T/poisoned" "shc/$file"
is "a link in the cache is not followed" "$(names env)" innocent_function
rm -rf shc && mkdir shc

# ---- what a report reads ----

cp -a mallory/m mallory/named && chown -R 61235 mallory/named
mkdir closed2 && mv app closed2/app && chmod 700 closed2 && ln -s closed2/app app
rm -rf mallory/m/binaries # their owner may read his copy
is "a binary that the owner of the measurement may not read gives root no names" \
	"$(names env)" ""
like "... which is said" "$(cat err)" 'the owner of the measurement may not read'
"$HPCPROF" -q --to text --all mallory/m >said 2>&1
program third another_function -Wl,--build-id=0x2234567890123456789012345678901234567890
cp third closed2/app
"$HPCPROF" -q --to text --all mallory/m >out 2>&1
same "... whether it is the one that ran or not" out said
rm app

# The name of a lock is a symbol of the binary.
cat >locks.c <<'TEXT'
#include <pthread.h>
#include <unistd.h>
pthread_mutex_t innocent_lock = PTHREAD_MUTEX_INITIALIZER;
static void *wait_for_it(void *arg) { pthread_mutex_lock(&innocent_lock); return arg; }
int main(void)
{
	pthread_t t;
	pthread_mutex_lock(&innocent_lock);
	pthread_create(&t, 0, wait_for_it, 0);
	usleep(200000);
	pthread_mutex_unlock(&innocent_lock);
	return pthread_join(t, 0);
}
TEXT
# shellcheck disable=SC2086 # several words
$cc -g -pthread -o locks locks.c && chmod a+rx locks
ok "a lock: measured" mallory "$HPCRUN" -q -e OFFCPU -o mallory/l ./locks
rm -rf mallory/l/binaries
all_of_locks() { "$HPCPROF" -q --to text --all mallory/l 2>err; }
lock() { all_of_locks | grep -o 'lock [a-z_]* in locks' | sort -u; }
is "a lock: it has its name" "$(lock)" "lock innocent_lock in locks"
mv locks closed2/locks && ln -s closed2/locks locks
is "a lock: of a private binary it has none" "$(lock)" ""
like "a lock: but a place" "$(all_of_locks)" 'lock at 0x[0-9a-f]+ in'
done_testing
