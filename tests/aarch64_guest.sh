#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The first program of the system that tests/aarch64_system.sh starts: mounts what programs expect,
# runs the tests that /guest.tests lists, and switches the machine off. Lines that begin with
# "guest: " are for that script.

[ $$ -eq 1 ] || { echo "aarch64_guest.sh: for the system of aarch64_system.sh alone" >&2; exit 2; }
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
chmod 1777 /tmp /dev/shm
ln -s /proc/self/fd /dev/fd
for i in 0,stdin 1,stdout 2,stderr; do ln -s "/proc/self/fd/${i%,*}" "/dev/${i#*,}"; done
hostname guest
ip link set lo up
echo "guest: Linux $(uname -r), pages of $(getconf PAGESIZE) bytes"

# The emulator takes ten times as long for a program, and more for a signal.
export SACRED_EVENTS="-e CPUTIME@f1000 -e REALTIME@f500" TEST_PATIENCE=60
export CMOCKA_MESSAGE_OUTPUT=TAP LC_ALL=C.UTF-8 CC=gcc top_srcdir top_builddir srcdir
. /guest.env
srcdir=$top_srcdir
cd "$top_builddir" || exit
while read -r test; do
	echo "guest: $test"
	case $test in
	*.sh) sh "$top_srcdir/$test" ;;
	*) "./$test" ;;
	esac </dev/null 2>&1
	echo "guest: $test: status $?"
	echo "# up for $(cut -d ' ' -f 1 /proc/uptime) s"
done </guest.tests
busybox poweroff -f
