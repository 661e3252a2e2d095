#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs the packages of make deb in a fresh Debian of this machine's release, runs debian/tests
# there as a user without rights, and removes the packages. Needs root, mmdebstrap and the archive
# of packages. Nothing stays behind. Usage: check-deb.sh FOLDER. make check-deb runs it.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
debs=$(cd "$1" && pwd)
# shellcheck source=/dev/null
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
mkdir "$T/debs"
for deb in "$debs"/*.deb; do
	case $deb in
	*-dbgsym_*) ;;
	*) cp "$deb" "$T/debs/" ;;
	esac
done
cp "$here/debian/tests/measure" "$here/debian/tests/app.c" "$T/"
sed -n 's/^Depends: //p' "$here/debian/tests/control" >"$T/depends"
cat >"$T/inside" <<'TEXT'
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
find / -xdev -name '*hpc*-lite*' ! -path '/check/*' | sort >/check/before
apt-get -q install -y --no-install-recommends /check/debs/*.deb
apt-get -q satisfy -y --no-install-recommends "$(cat /check/depends)"
dpkg --verify hpctoolkit-lite libhpctoolkit-lite-dev hpctoolkit-lite-doc
runuser -u nobody -- sh /check/measure
apt-get -q purge -y hpctoolkit-lite libhpctoolkit-lite-dev hpctoolkit-lite-doc
find / -xdev -name '*hpc*-lite*' ! -path '/check/*' | sort >/check/after
diff /check/before /check/after || { echo "purge left files behind"; exit 1; }
echo "ok: installed, tested, removed"
TEXT
mmdebstrap --variant=minbase --customize-hook='mkdir "$1/check"' \
	--customize-hook="copy-in $T/debs $T/measure $T/app.c $T/depends $T/inside /check" \
	--customize-hook='chmod -R a+rX "$1/check"' \
	--chrooted-customize-hook='sh /check/inside' "$suite" /dev/null
