#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Programs that run with more rights than their caller: told apart before they start; run as they
# are when a measured program starts them.

. "${srcdir:-.}/tests/lib.sh"
[ "$(id -u)" -eq 0 ] || skip_all "only root can make such programs"
public_tools || skip_all "no staged installation"
dir=$(public_dir work)
cd "$dir" || exit 99
cp /usr/bin/id suid && chown root suid && chmod 4755 suid
cp /usr/bin/id sgid && chgrp root sgid && chmod 2755 sgid
cp /usr/bin/id capable && chmod 755 capable
options=$(findmnt -no OPTIONS -T . 2>/dev/null)
case $options in *nosuid*) skip_all "the file system here knows no set-user-ID" ;; esac

refusal() {
	# shellcheck disable=SC2069 # standard error is what is wanted
	as_nobody env HOME=/ "$HPCRUN" -q -o "$dir/m" "./$1" 2>&1 >/dev/null
}
like "set-user-ID" "$(refusal suid)" \
	'^hpcrun-lite: \./suid is set-user-ID: the system keeps measurement libraries out of it\. Run it as its owner'
like "set-group-ID" "$(refusal sgid)" '^hpcrun-lite: \./sgid is set-group-ID: '
if have setcap && setcap cap_net_raw+ep capable 2>/dev/null; then
	like "file capabilities" "$(refusal capable)" \
		'^hpcrun-lite: \./capable has file capabilities: '
else
	skip "file capabilities" "setcap does not work here"
fi
is "its owner may measure a set-user-ID program" "$("$HPCRUN" -q -o "$dir/m1" ./suid -u)" 0
as_nobody "$HPCRUN" -q -o "$dir/m2" \
	sh -c './suid -u; ./sgid -g; env | grep -e ^HPCTOOLKIT_LITE= -e ^LD_PRELOAD=' >"$T/out" 2>&1
is "started by a measured program they run" "$(tr '\n' ' ' <"$T/out")" "0 0 "

done_testing
