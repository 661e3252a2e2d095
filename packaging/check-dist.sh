#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Checks the release archive, in some minutes: the same bytes from another clone, umask, locale and
# time zone, and from the archive itself; all files of git are in it; and it builds where git,
# autotools and a network are missing.
# Usage: check-dist.sh SOURCE VERSION. Prints TAP. make check-dist runs it.

set -u
top=$(cd "$1" && pwd) || exit 99
name=hpctoolkit-lite-$2
if ! command -v git >/dev/null || [ ! -e "$top/.git" ]; then
	echo "1..0 # SKIP not a clone of git"
	exit 0
fi
T=$(mktemp -d) || exit 99
trap 'chmod -R u+w "$T"; rm -rf "$T"' EXIT
cd "$T" || exit 99
n=0
ok() { # STATUS NAME LOG
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		tail -n 20 "$3" | sed 's/^/# /'
	fi
}
sum() { sha256sum <"$1"; }

# archive CLONE: clones the committed state, and makes CLONE/build/$name.tar.xz.
archive() {
	git clone -q "$top" "$1" && cd "$1" && autoreconf -fi && mkdir build && cd build &&
		../configure -q && make -s dist
}

(umask 022 && export LC_ALL=C TZ=UTC && archive one) >one.log 2>&1
ok $? "make dist in a clone" one.log
other=$(locale -a | grep -v '^C$' | tail -n 1)
(umask 077 && export LC_ALL="$other" TZ=Pacific/Chatham &&
	archive two) >two.log 2>&1
ok $? "make dist with another umask, locale and time zone" two.log
one=$T/one/build/$name.tar.xz
cmp "$one" "two/build/$name.tar.xz" >cmp.log 2>&1
ok $? "both have the same bytes" cmp.log

{
	tar -xJf "$one"
	(cd one && git ls-files) | grep -v '^\.git' | while read -r file; do
		[ -e "$name/$file" ] || echo "missing: $file"
	done
} >missing.log 2>&1
whole=0
[ ! -s missing.log ] || whole=1
ok $whole "all files of git are in it" missing.log

# Programs of the build alone; nothing that makes configure, and no network.
mkdir bin
for dir in /usr/bin /bin; do
	for file in "$dir"/*; do
		case ${file##*/} in
		git | auto* | aclocal* | libtool* | m4 | curl | wget) ;;
		*) [ -e "bin/${file##*/}" ] || ln -s "$file" bin/ ;;
		esac
	done
done
alone=
if unshare -rn true 2>/dev/null; then alone="unshare -rn"; fi
chmod -R a-w "$name"
# shellcheck disable=SC2086 # a command and its option
(mkdir build && cd build && PATH=$T/bin && export PATH &&
	$alone "../$name/configure" -q --prefix=/opt/a+b --libdir=/opt/a+b/lib64/deep \
		CC=gcc CXX=g++ && $alone make -s -j "$(nproc)" &&
	make -s install DESTDIR="$T/dest" && make -s dist) >build.log 2>&1
ok $? "it builds without git, autotools${alone:+ and network}, read-only" build.log
cmp "$one" "build/$name.tar.xz" >again.log 2>&1
ok $? "make dist in it writes the same bytes again" again.log
mv "$T/dest/opt/a+b" "$T/moved"
"$T/moved/bin/hpcrun-lite" -q -o run true >run.log 2>&1 &&
	"$T/moved/bin/hpcprof-lite" --to text run >run.log 2>&1
ok $? "what make install DESTDIR=... wrote measures a program, after it was moved" run.log
echo "1..$n"
