#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Every shell script of the tree passes shellcheck, as POSIX sh; the completion as bash.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

need shellcheck
cd "$srcdir" || exit 99
for script in bootstrap .ci/run packaging/debian/tests/measure \
	$(find packaging tests -name "*.sh" ! -path "tests/golden/*"); do
	[ -f "$script" ] || continue
	# SC1091: files that are sourced are checked by themselves. SC2154, SC2034: variables that
	# come from there or go there. SC2069: the error output alone is meant. SC3045: ulimit -S is
	# in every shell that Debian has as sh.
	is "$script" "$(shellcheck -s sh -S warning -e SC1091,SC2154,SC2034,SC2069,SC3045 \
		"$script" 2>&1)" ""
done
for script in completion/hpc*; do
	is "$script" "$(shellcheck -x -s bash -S warning "$script" 2>&1)" ""
done
done_testing
