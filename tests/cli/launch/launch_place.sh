#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The launcher finds its library from where it is itself: a moved prefix, a symbolic link, a path
# that LD_PRELOAD cannot carry.

. "${srcdir:-.}/tests/lib.sh"
public_tools || skip_all "no staged installation"
cd "$T" || exit 99

measured() { # DIRECTORY
	find "$1" -name '*.hpcrun' 2>/dev/null | wc -l
}
"$HPCRUN" -q -o m1 true
is "where it was installed" "$(measured m1)" 1
[ -d prefix ] || cp -R "${HPCRUN%/bin/*}" prefix
mv prefix moved
"$T/moved/bin/hpcrun-lite" -q -o m2 true
is "a prefix that was moved" "$(measured m2)" 1
ln -s moved/bin/hpcrun-lite link
./link -q -o m3 true
is "by a symbolic link" "$(measured m3)" 1
PATH=$T/moved/bin:$PATH
hpcrun-lite -q -o m4 true
is "by PATH" "$(measured m4)" 1
mv moved "with blank"
like "a path that LD_PRELOAD cannot carry" "$("./with blank/bin/hpcrun-lite" -o m5 true 2>&1)" \
	'the path contains a blank, a colon or a dollar sign, which LD_PRELOAD does not allow; install in another directory$'
mv "with blank" moved
find moved -name 'libhpcrun-lite.so' -exec rm {} +
like "an installation without its library" "$(moved/bin/hpcrun-lite -o m6 true 2>&1)" \
	'the run-time library is not in .*; is the installation complete\?$'

if unshare -m mount -t tmpfs none /proc 2>/dev/null; then
	bare=$PWD/moved/bin/hpcrun-lite
	like "without /proc" "$(unshare -m sh -c 'mount -t tmpfs none /proc; exec "$0" -o m7 true' \
		"$bare" 2>&1)" '/proc/self/exe: cannot be read .*; mount /proc$'
else
	skip "without /proc" "no name space of its own for a test here"
fi
done_testing
