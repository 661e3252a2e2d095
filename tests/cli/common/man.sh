#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The manual pages: well-formed, and with exactly the options that the tools' own --help has.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

# options: the options in a text, one a line, sorted. Long ones as --name, short ones as -x.
options() {
	grep -oE '(^|[[:blank:][(,|])(--[a-z][-a-z0-9]*|-[A-Za-z])([][:blank:]=,)|]|$)' |
		grep -oE -e '-(-[a-z][-a-z0-9]*|[A-Za-z])' | sort -u
}

for tool in hpcrun-lite hpcstruct-lite hpcprof-lite; do
	page=$srcdir/man/$tool.1
	program=$builddir/$tool/$tool
	if have mandoc; then
		is "$tool.1: lint" "$(mandoc -Tlint -Wwarning "$page" 2>&1)" ""
	else
		skip "$tool.1: lint" "no mandoc here"
	fi
	if ! have mandoc || [ ! -x "$program" ]; then
		skip "$tool.1: options" "no mandoc here, or no $tool"
		continue
	fi
	"$program" --help | grep -E "^ {2,6}-" | options >"$T/help"
	# Only what stands as an item of a list counts, not a mention.
	mandoc -Tascii "$page" | sed "s/.$(printf '\b')//g" | grep -E '^ {5}-' | options >"$T/page"
	same "$tool.1: the options of --help" "$T/help" "$T/page"
	[ "$tool" = hpcprof-lite ] || continue
	"$program" compare --help | grep -E "^ {2,6}-" | options >"$T/help"
	mandoc -Tascii "$page" | sed "s/.$(printf '\b')//g" | grep -E '^ {11}-' | options >"$T/page"
	echo "--help -h --version" | tr ' ' '\n' | sort - "$T/page" >"$T/all"
	same "hpcprof-lite.1: the options of compare --help" "$T/help" "$T/all"
done

done_testing
