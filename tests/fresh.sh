#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Runs the two commands of README.md, as they stand there, on a fresh Debian: a minimal root made by
# debootstrap, with nothing in it but a clone of HEAD. On bullseye (glibc 2.31, autoconf 2.69, no
# Zydis, no OTF2), builds and runs the tests of measured programs. With another glibc, which it
# builds, it runs there what bullseye built, and builds and runs the tests. Makes the binary tarball
# twice, which must give the same bytes, and tries it on each release. Says what each command
# took; the demo may load 150 MiB of packages. Needs root, unshare, debootstrap, git and the
# archive of packages; without them it skips with status 77. All mounts are in a name space of their
# own, which ends with this script, however it ends. ./bootstrap check --full=fresh runs it.
#
# Usage: tests/fresh.sh [--cache DIR] [--logs DIR] [--only COMMAND] [--keep] [--glibc SOURCE]
#	       [RELEASE...]
#	--cache DIR     roots and packages for the next run, one at a time; remove it to load anew
#	                (${XDG_CACHE_HOME:-~/.cache}/hpctoolkit-lite-fresh; 2 GB a release)
#	--logs DIR      output of the commands (fresh-logs)
#	--only COMMAND  demo, check, old (bullseye, glibc-VERSION) or tarball alone
#	--keep          leave the roots in which something failed, and say where
#	--glibc SOURCE  a git directory of glibc, or a directory with glibc-VERSION.tar.*
#	                ($GLIBC_SOURCE); what was built of it stays in the cache
#	RELEASE         bookworm, trixie, bullseye, glibc-VERSION (default: the first three, and
#	                glibc-2.28 and glibc-2.34 if there is a source)

set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
cache=${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/hpctoolkit-lite-fresh
logs=fresh-logs
only=demo\|check\|old\|tarball
keep=no
glibc=${GLIBC_SOURCE:-}
releases=
demo_mib=150

# shellcheck source=packaging/roots.sh
. "$top/packaging/roots.sh"
say() { printf '%s\n' "fresh: $*"; }
skip() { say "skipped: $*"; exit 77; }
usage() { sed -n '/^# Usage/,/^$/s/^# \{0,1\}//p' "$0"; }

while [ $# -gt 0 ]; do
	case $1 in
	--cache | --logs | --only | --glibc)
		[ $# -ge 2 ] || { usage >&2; exit 2; }
		case $1 in
		--cache) cache=$2 ;;
		--logs) logs=$2 ;;
		--only) only=$2 ;;
		--glibc) glibc=$2 ;;
		esac
		shift
		;;
	--keep) keep=yes ;;
	-h | --help) usage; exit 0 ;;
	-*) usage >&2; exit 2 ;;
	*) releases="$releases $1" ;;
	esac
	shift
done

# system_of RELEASE: the Debian of its root
system_of() {
	case $1 in *glibc-*) echo bullseye ;; *) echo "$1" ;; esac
}

# --- inside a name space of its own: one release ---

# What the tests on an old system need beyond the build. There is no OpenCL: the headers of bullseye
# have no cl_layer.h. Nor MPI: MPI_Win_create of its Open MPI fails in such a root.
old_packages="g++ libcmocka-dev python3 procps xz-utils bubblewrap"
old_packages="$old_packages gfortran sqlite3 openssl bzip2 zstd gawk"
clang_packages="clang libomp-dev" # does not start with an older glibc

# get PACKAGE...: the command that installs these
get() {
	echo "apt-get -q update && apt-get -qy --no-install-recommends install $*"
}

# commands RELEASE: those of README.md that are wanted, one a line; exchange is our function
commands() {
	case $1 in
	build-glibc-*)
		get g++ make bison gawk python3 gettext texinfo
		echo "cd /root/build && ../glibc/configure --prefix=/usr" \
			"--libdir=/usr/lib/x86_64-linux-gnu --sysconfdir=/etc --disable-werror" \
			"--disable-crypt libc_cv_slibdir=/lib/x86_64-linux-gnu" \
			"libc_cv_rtlddir=/lib64 CFLAGS=-O2 && make -j$(nproc) all"
		echo "make -C /root/build install_root=/root/installed install"
		return
		;;
	bullseye | glibc-*)
		[ "$1" != bullseye ] || old_packages="$old_packages $clang_packages"
		get "$old_packages"
		echo "./bootstrap build"
		[ "$1" = bullseye ] || echo exchange
		echo "make -k -C build check-runtime"
		return
		;;
	esac
	sed -n '/^## Two commands/,/^## /s/^    \(\.\/bootstrap [^#]*[^# ]\).*/\1/p' \
		"$top/README.md" | grep -E " ($only)\$"
}

# load ROOT COMMAND: says what the command would load; fails if that is too much for the demo.
load() {
	load_mb=$(inside "$1" sh -c "cd /root/clone && ${2%% *} --dry-run ${2#* }" 2>&1 |
		sed -n 's/.*packages to load, \([0-9]*\) MB$/\1/p')
	say "$release: $2: loads ${load_mb:-?} MB of packages"
	case $2 in
	*demo) [ "${load_mb:-999}" -le $((demo_mib * 1048576 / 1000000)) ] ;;
	esac
}

# exchange: puts the glibc in the place of bullseye's, with its headers. Programs that were linked
# there and need a newer libm ask the older one.
exchange() {
	find "$1/usr/bin" "$1/usr/sbin" "$1/usr/lib" -type f ! -name '*.py' -size +8k \
		-exec "${PYTHON3:-python3}" "$top/tests/judge/older_libm.py" {} +
	inside "$1" dpkg -L libc6 libc6-dev | grep -E '^(/usr)?/(lib|lib64|include)/' |
		while read -r file; do
		[ -d "$1$file" ] || rm -f "$1$file"
	done
	tar -C "$cache/$release" -cf - . | tar -C "$1" --keep-directory-symlink -xf - &&
		inside "$1" ldconfig || return
	libraries=$1/usr/lib/x86_64-linux-gnu
	ln -s ../locale "$libraries/" # C.UTF-8
	[ -e "$libraries/ld-linux-x86-64.so.2" ] || # for dlmopen
		ln -s /lib64/ld-linux-x86-64.so.2 "$libraries/"
	inside "$1" getconf GNU_LIBC_VERSION
}

# try ROOT COMMAND: runs one of the commands. The last word of a command names its log.
try() {
	try_log=$logs/$release-${2##* }.log
	began=$(date +%s)
	case $2 in
	exchange) exchange "$1" >"$try_log" 2>&1 ;;
	*) inside "$1" sh -c "cd /root/clone && $2" >"$try_log" 2>&1 ;;
	esac
	try_status=$?
	say "$release: $2: status $try_status after $(($(date +%s) - began)) s:" \
		"$(tail -n 1 "$try_log")"
	sed -n 's/^bootstrap: \(.* took .*\|not installed: .*\)/    \1/p' "$try_log"
	[ $try_status -eq 0 ] && return
	sed -n '/^bootstrap: failed in/,$s/^/    /p; s/^FAIL: /    &/p' "$try_log" | head -n 200
	say "$release: the output is in $try_log"
	return 1
}

# one_release ROOT: both commands in this root, which holds a clean system.
one_release() {
	mount_all "$1" || { say "$release: cannot mount"; return 1; }
	git clone -q --no-hardlinks "$top" "$1/root/clone" || return 1
	commands "$release" >"$1/commands"
	[ -s "$1/commands" ] || { say "$release: no such command"; return 1; }
	one_status=0
	grep '^\./bootstrap' "$1/commands" >"$1/loading"
	while read -r command; do
		load "$1" "$command" || { say "$release: that is too much"; one_status=1; }
	done <"$1/loading"
	mount_packages "$1" "$(system_of "$release")" || return 1
	while read -r command; do
		try "$1" "$command" && continue
		one_status=1
		case $release in *glibc-*) break ;; esac
	done <"$1/commands"
	return $one_status
}

# one_tarball ROOT: the files of the tarball's test are in its /tarball.
one_tarball() {
	mount_all "$1" || { say "$release: cannot mount"; return 1; }
	try_log=$logs/$release-tarball.log
	try_status=0
	case $release in glibc-*) try "$1" exchange || return ;; esac
	inside "$1" sh /tarball/tarball-try.sh /tarball >"$try_log" 2>&1 || try_status=$?
	say "$release: tarball: status $try_status: $(tail -n 1 "$try_log")"
	return $try_status
}

if [ -n "${FRESH_ROOT:-}" ]; then
	release=${releases# }
	if [ "$only" = tarball ]; then one_tarball "$FRESH_ROOT"; else one_release "$FRESH_ROOT"; fi
	exit
fi

# --- outside: roots and their copies ---

# run_in ROOT RELEASE [ONLY]: its commands that are wanted, in a name space of their own
run_in() {
	in_name_space env FRESH_ROOT="$1" sh "$0" --cache "$cache" --logs "$logs" \
		--only "${3:-$only}" "$2"
}

# put_away ROOT STATUS: removes it, or keeps it if that is wanted and something failed.
put_away() {
	if [ "$2" -ne 0 ] && [ $keep = yes ]; then
		kept=$cache/${1##*/}.failed.$$
		mv "$1" "$kept" && say "kept: $kept"
	fi
	rm -rf "$1"
}

# unpack RELEASE DIR: the source of this glibc. Test data that a repository lacks are not missed.
unpack() {
	if git -C "$glibc" rev-parse -q --verify "$1^{tree}" >/dev/null 2>&1; then
		(
			GIT_DIR=$(git -C "$glibc" rev-parse --absolute-git-dir)
			export GIT_DIR GIT_INDEX_FILE="$T/index"
			git read-tree "$1" && cd "$2" && git --work-tree=. checkout-index -a -q
		) 2>/dev/null
	else
		tar -C "$2" --strip-components=1 -xf "$(echo "$glibc/$1".tar.*)"
	fi
	[ -x "$2/configure" ]
}

# have_base RELEASE: makes the cached root, or skips all.
have_base() {
	base "$(system_of "$1")" || skip "debootstrap cannot make $1: $(
		tail -n 1 "$logs/$(system_of "$1")-debootstrap.log")"
}

# have_glibc RELEASE: makes the cached files of this glibc.
have_glibc() {
	[ ! -d "$cache/$1" ] || return 0
	[ -n "$glibc" ] || skip "$1: no --glibc SOURCE"
	have_base "$1"
	built_root=$(copy_of "$(system_of "$1")" "build-$1") || return 1
	mkdir "$built_root/root/glibc" "$built_root/root/build"
	unpack "$1" "$built_root/root/glibc" && run_in "$built_root" "build-$1" &&
		mv "$built_root/root/installed" "$cache/$1"
	built_status=$?
	[ $built_status -eq 0 ] || say "$1: cannot be built"
	put_away "$built_root" $built_status
	return $built_status
}

# on_copy RELEASE ONLY [FILE...]: in a copy of the cached root, with these files in /tarball
on_copy() {
	release=$1 copy_only=$2
	shift 2
	root=$(copy_of "$(system_of "$release")" "$release") || exit 1
	mkdir "$root/tarball" && chmod 755 "$root/tarball" || exit 1
	for file; do cp "$file" "$root/tarball/" || exit 1; done
	copy_status=0
	run_in "$root" "$release" "$copy_only" || copy_status=1
	put_away "$root" $copy_status
	return $copy_status
}

# tarball_of CLONE: makes the tarball in a clone, which this makes.
tarball_of() {
	tarball_log=$logs/tarball-${1##*/}.log
	began=$(date +%s)
	(
		git clone -q --no-hardlinks "$top" "$1" && cd "$1" && autoreconf -fi &&
			mkdir build && cd build && ../configure -q &&
			FRESH_CACHE=$cache make -s tarball
	) >"$tarball_log" 2>&1
	tarball_status=$?
	say "make tarball: status $tarball_status after $(($(date +%s) - began)) s:" \
		"$(tail -n 1 "$tarball_log")"
	return $tarball_status
}

# tarballs: makes two, and tries the first on each release.
tarballs() {
	tarball_of "$T/one" && (umask 077 && TZ=Pacific/Chatham tarball_of "$T/two") || return
	for made in "$T"/one/build/tarball/*.tar*; do
		cmp "$made" "$T/two/build/tarball/${made##*/}" || {
			say "another clone makes another ${made##*/}"
			return 1
		}
	done
	set -- "$T"/one/build/tarball/*_64.tar.gz "$T"/one/build/tarball/app \
		"$top"/packaging/tarball-try.sh "$top"/packaging/debian/tests/measure
	tarballs_status=0
	for release in ${tarball_releases:-bullseye bookworm trixie jammy noble \
		${glibc:+glibc-2.28 glibc-2.34}}; do
		case $release in
		glibc-*) have_glibc "$release" || { tarballs_status=1; continue; } ;;
		jammy | noble)
			[ -e /usr/share/keyrings/ubuntu-archive-keyring.gpg ] || {
				say "$release: no keys of Ubuntu's archive (package ubuntu-keyring)"
				continue
			}
			;;
		esac
		have_base "$release"
		on_copy "$release" tarball "$@" || tarballs_status=1
	done
	return $tarballs_status
}

missing=$(roots_missing)
[ -z "$missing" ] || skip "$missing"
[ -z "$(git -C "$top" status --porcelain 2>/dev/null)" ] ||
	say "the tree has changes that are not committed; they are not in the clone"
roots_begin || exit 1
[ -z "$glibc" ] || glibc=$(cd "$glibc" && pwd) || exit 1

status=0
tarball_releases=$releases
[ -n "$releases" ] || releases="bookworm trixie bullseye ${glibc:+glibc-2.28 glibc-2.34}"
for release in $releases; do
	case $release in jammy | noble) continue ;; esac
	kind=demo\|check
	[ "$(system_of "$release")" != bullseye ] || kind=old
	echo "$kind" | tr '|' '\n' | grep -qxE "$only" || continue
	have_base "$release"
	case $release in glibc-*) have_glibc "$release" || { status=1; continue; } ;; esac
	on_copy "$release" "$only" || status=1
done
if echo tarball | grep -qxE "$only"; then tarballs || status=1; fi
exit $status
