#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes the binary tarball of a release archive, in a fresh root of Debian 11. tarball-inside.sh
# does the work there. Needs root, unshare, debootstrap and the archive of packages.
#
# Usage: tarball.sh ARCHIVE.tar.xz OUTPUT EPOCH [INCLUDE...]. make tarball runs it.
#	EPOCH       time of all files, in seconds
#	INCLUDE     folders with the headers of CUDA and CUPTI; without them the tarball has no
#	            module for NVIDIA GPUs
#	FRESH_CACHE in the environment: where roots and packages are kept
#	            (${XDG_CACHE_HOME:-~/.cache}/hpctoolkit-lite-fresh)

set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
cache=${FRESH_CACHE:-${XDG_CACHE_HOME:-${HOME:-/root}/.cache}/hpctoolkit-lite-fresh}
# shellcheck source=packaging/roots.sh
. "$here/roots.sh"
archive=$1 out=$2 epoch=$3 logs=$2/logs
shift 3

say() { printf '%s\n' "tarball: $*"; }
die() {
	say "$*" >&2
	exit 1
}

# mount_headers ROOT [INCLUDE...]: as in a toolkit in /opt/cuda
mount_headers() {
	headers_at=$1/opt/cuda/include
	shift
	for include; do
		mkdir -p "$headers_at" && mount --bind "$include" "$headers_at" || return
		headers_at=${headers_at%/include}/extras/CUPTI/include
	done
}

if [ -n "${TARBALL_ROOT:-}" ]; then
	mount_all "$TARBALL_ROOT" && mount_packages "$TARBALL_ROOT" bullseye &&
		mount_headers "$TARBALL_ROOT" "$@" || die "cannot mount"
	inside "$TARBALL_ROOT" sh /build/hpctoolkit-lite/packaging/tarball-inside.sh \
		"$(basename "$archive" .tar.xz)-x86_64" "$epoch" ||
		die "failed; the output is in $logs"
	exit
fi

missing=$(roots_missing)
[ -z "$missing" ] || die "make tarball needs root, unshare, debootstrap and git: $missing"
rm -rf "$out"
roots_begin || exit 1
base bullseye ||
	die "debootstrap cannot make bullseye: $(tail -n 1 "$logs/bullseye-debootstrap.log")"
root=$(copy_of bullseye bullseye) || exit 1
mkdir -p "$root/build/hpctoolkit-lite" &&
	tar -xJf "$archive" -C "$root/build/hpctoolkit-lite" --strip-components=1 \
		--no-same-owner || exit 1
status=0
in_name_space env TARBALL_ROOT="$root" FRESH_CACHE="$cache" sh "$0" "$archive" "$out" "$epoch" \
	"$@" || status=1
cp "$root"/build/*.log "$logs/"
[ $status -eq 0 ] || exit 1
cp "$root"/build/out/* "$out/"
cd "$out" && sha256sum ./*.tar*
