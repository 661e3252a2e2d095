#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Every shell script of the tree passes shellcheck, as POSIX sh.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

need shellcheck
cd "$srcdir" || exit 99
for script in bootstrap .ci/run tests/*.sh tests/*/*.sh; do
	[ -f "$script" ] || continue
	# SC1091: files that are sourced are checked by themselves. SC2154: their variables.
	is "$script" "$(shellcheck -s sh -S warning -e SC1091,SC2154 "$script" 2>&1)" ""
done
done_testing
