#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Binaries that are gone when the report is made: programs in memory, libraries that are removed
# after they were loaded, bundles that clean up. The measurement keeps copies. As an ordinary user,
# who may not open the files of mappings.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

cc=${CC:-cc}
have "${cc%% *}" || skip_all "no compiler"
[ -z "${SANITIZER:-}" ] || skip_all "sanitizers"
export HPCTOOLKIT_LITE_CACHE=
user=
if [ "$(id -u)" -eq 0 ] && have setpriv && public_tools; then
	user='setpriv --reuid 61234 --regid 61234 --clear-groups'
	mkdir "$T/home"
	chown 61234:61234 "$T/home"
else
	mkdir "$T/home"
fi
cd "$T/home" || exit 99

build() { # DIRECTORY [OPTIONS OF THE LINKER]
	rm -rf "${T:?}/bin"
	mkdir "$T/bin"
	# shellcheck disable=SC2086 # the compiler may come with arguments
	$cc -g -O1 $1 -o "$T/bin/gone" "$srcdir/tests/workload/run/run_gone.c" -ldl &&
		$cc -g -O1 $1 -shared -fPIC -DPLUGIN -o "$T/bin/plugin.so" \
			"$srcdir/tests/workload/run/run_gone.c"
}
# run NAME ARGUMENT...: measures a copy of the program with a copy of the library
run() {
	rm -rf "${T:?}/home/m" "${T:?}/home/bin"
	# shellcheck disable=SC2086 # a command with arguments
	$user cp -r "$T/bin" bin
	status=0
	# shellcheck disable=SC2086
	run_limited 60 $user "$HPCRUN" -o m "$@" >"$T/stdout" 2>"$T/stderr" || status=$?
}
report() {
	# shellcheck disable=SC2086
	$user "$HPCPROF" -q --to text --by function m 2>&1
}
# named DESCRIPTION FUNCTION: most of the time is there, with a line
named() {
	like "$1" "$(report)" "^ *([6-9][0-9]|100)\\.[0-9]+%.* $2 +run_gone\\.c:[0-9]+"
}
known() { # DESCRIPTION
	unlike "$1" "$(report)" 'unknown function|no structure|structure missing'
}
copies() {
	find m/binaries -type f 2>/dev/null | wc -l | tr -d ' '
}

all='unlink unlinkat remove replace memory'
for options in -Wl,--build-id -Wl,--build-id=none; do
	build "$options"
	id=${options#-Wl,--}
	if [ "$id" = build-id ] || [ "$(thorough few all)" = all ]; then
		run bin/gone memfd spin
		is "$id, a program in memory: it runs" "$status" 0
		named "$id, a program in memory: it has names and lines" hot_main
		is "$id, a program in memory: its copy is private" "$(stat -c %a m/binaries/*)" 600
		run bin/gone closed bin/plugin.so
		named "$id, removed after it was unloaded" hot_plugin
		run sh -c \
			'mkdir b && cp bin/gone b/app && b/app spin & sleep 0.1; rm -r b bin; wait'
		named "$id, a program that is removed while it runs" hot_main
	fi
	for how in $all; do
		run bin/gone $how bin/plugin.so
		is "$id, $how: it runs and notices nothing" "$status $(cat "$T/stdout")" "0 quiet"
		rm -rf bin
		named "$id, $how: the library has names and lines" hot_plugin
	done
	all='unlink memory'
	run bin/gone many bin/plugin.so
	rm -rf bin
	known "$id, the same library in three processes"
	is "$id, the same library in three processes: one copy" \
		"$(for f in m/binaries/*; do cmp -s "$f" "$T/bin/plugin.so" && echo one; done)" one
done

# An archive has the names, too.
# shellcheck disable=SC2086
$user "$HPCPROF" -q --archive "$T/home/archive" m >/dev/null 2>&1
rm -rf m
mv archive m
known "an archive of it"

build -Wl,--build-id
run sh -c 'mkdir b && cp bin/gone b/app && b/app spin; rm -r b bin'
named "a bundle that cleans up" hot_main
run sh -c 'mkdir b && cp bin/gone b/app && b/app term; rm -r b bin'
named "a bundle that a signal ends" hot_main
run sh -c 'mkdir b && cp bin/gone b/app && { b/app spin & sleep 0.1; kill -9 $!; }; rm -r b bin'
known "a bundle that is killed"

# More than a process keeps
truncate -s 70M "$T/bin/plugin.so"
run bin/gone unlink bin/plugin.so
is "too large: it runs" "$status $(cat "$T/stdout")" "0 quiet"
like "too large: it is counted" "$(cat "$T/stderr")" 'also binaries 1,'
rm -rf bin
like "too large: the report says so" "$(report)" 'plugin\.so: .*gone.*at most 64 MiB'
is "too large: it is not there" "$(find m -size +60M)" ""

build -Wl,--build-id
# A copy leaves room for what the program and its samples have yet to write.
mkdir small
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=40m,mode=777 none small 2>/dev/null; then
	at_exit "umount '$T/home/small'"
	cd small || exit 99
	run sh -c 'cp bin/gone bin/new && bin/new unlink bin/plugin.so'
	is "little space: it runs" "$status $(cat "$T/stdout")" "0 quiet"
	like "little space: both are counted" "$(cat "$T/stderr")" 'also binaries 2,'
	rm -rf bin
	like "little space: the report says so" "$(report)" 'plugin\.so: .*gone.*not be copied'
	cd .. || exit 99
else
	skip "little space" "tmpfs cannot be mounted here"
fi

# What stays is not copied, nor what has no samples.
run bin/gone spin
is "a program without the library: no copy of that" \
	"$(for f in m/binaries/*; do cmp -s "$f" "$T/bin/plugin.so" && echo one; done)" ""
run "$(command -v sleep)" 0.1
is "a program that stays: no copy" "$(copies)" 0
done_testing
