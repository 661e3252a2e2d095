#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes Debian packages of a release archive, by the ordinary way, and shows them to lintian.
# Usage: deb.sh ARCHIVE.tar.xz DEBIAN-FOLDER OUTPUT. make deb runs it. Nothing is signed.

set -eu
archive=$1 debian=$2 out=$3
for tool in dpkg-buildpackage dh; do
	command -v "$tool" >/dev/null || {
		echo "make deb: no $tool; install dpkg-dev and debhelper" >&2
		exit 1
	}
done
name=$(basename "$archive" .tar.xz)
rm -rf "$out"
mkdir -p "$out"
cp "$archive" "$out/${name%-*}_${name##*-}.orig.tar.xz"
tar -xJf "$archive" -C "$out"
cp -R "$debian" "$out/$name/debian"
chmod -R u+w "$out/$name/debian"
# A build inside of make must not take its options, which name variables of ours.
unset MAKEFLAGS MFLAGS MAKELEVEL
(cd "$out/$name" && dpkg-buildpackage -us -uc)
if command -v lintian >/dev/null; then
	lintian --allow-root --fail-on error --info "$out"/*.changes
else
	echo "make deb: no lintian, the packages were not examined" >&2
fi
ls -l "$out"/*.deb
