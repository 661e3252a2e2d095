# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Minimal systems of Debian and Ubuntu to build and test in: made by debootstrap, kept in a cache,
# copied for each use. A script sources this, and sets cache and logs (folders) and say(). All
# mounts are in a name space of their own, which ends with the script, however it ends.
# Tests: tests/fresh.sh, make tarball.

# roots_missing: prints what this machine lacks; nothing if it can make roots.
roots_missing() {
	if [ "$(id -u)" -ne 0 ]; then
		echo "not root"
		return
	fi
	for command in unshare debootstrap git; do
		command -v $command >/dev/null || { echo "no $command here"; return; }
	done
	unshare --mount --pid --fork --kill-child true 2>/dev/null || echo "no name spaces here"
}

# roots_begin: makes the folders and $T, for copies of roots. They go with the script.
roots_begin() {
	mkdir -p "$cache" "$logs" || return
	cache=$(cd "$cache" && pwd) logs=$(cd "$logs" && pwd)
	T=$(mktemp -d "${TMPDIR:-/var/tmp}/hpctoolkit-lite-roots.XXXXXX") || return
	inner=
	trap roots_end EXIT
	trap 'exit 130' HUP INT TERM
}

# The name space is gone when its first process is; then nothing is mounted below $T.
roots_end() {
	[ -z "$inner" ] || { kill -9 "$inner"; wait "$inner"; } 2>/dev/null
	rm -rf "$T"
}

# in_name_space COMMAND...
in_name_space() {
	unshare --mount --pid --fork --kill-child "$@" &
	inner=$!
	wait "$inner"
	set -- $?
	inner=
	return "$1"
}

# base RELEASE: makes the cached root.
base() {
	[ ! -d "$cache/$1" ] || return 0
	rm -rf "$cache/$1.new"
	say "$1: making a root"
	# An older debootstrap does not know noble, which is made in the same way as jammy.
	base_script=/usr/share/debootstrap/scripts/$1
	[ -e "$base_script" ] || base_script=${base_script%/*}/jammy
	debootstrap --variant=minbase "$1" "$cache/$1.new" "" "$base_script" \
		>"$logs/$1-debootstrap.log" 2>&1 &&
		mv "$cache/$1.new" "$cache/$1"
}

# copy_of RELEASE NAME: a copy of the cached root, as $T/NAME; prints where it is.
copy_of() {
	cp -a --reflink=auto "$cache/$1" "$T/$2" &&
		cp /etc/resolv.conf /etc/hosts "$T/$2/etc/" && echo "$T/$2"
}

# --- in the name space ---

# inside ROOT COMMAND...: in the root, with the environment of somebody who just logged in
inside() {
	inside_root=$1
	shift
	chroot "$inside_root" env -i HOME=/root TERM=dumb \
		PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@" </dev/null
}

# mount_all ROOT: what a running system has
mount_all() {
	mount -t proc proc "$1/proc" && mount -t sysfs -o ro sysfs "$1/sys" &&
		mount -t devpts -o newinstance,ptmxmode=666,mode=620 devpts "$1/dev/pts" &&
		ln -sf pts/ptmx "$1/dev/ptmx" &&
		{ [ -e "$1/dev/fuse" ] || mknod -m 666 "$1/dev/fuse" c 10 229; } &&
		mount -t tmpfs -o mode=1777 shm "$1/dev/shm"
}

# mount_packages ROOT RELEASE: packages that were loaded are there for the next run.
mount_packages() {
	mkdir -p "$cache/$2.debs/partial" &&
		mount --bind "$cache/$2.debs" "$1/var/cache/apt/archives"
}
