# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# For lints: the files that people wrote, one a line. Golden files and inputs of fuzzers are data,
# and what autoconf makes is not written by people.

# lint_files ERE: files below the current directory whose names match.
lint_files() {
	{
		find common hpcrun-lite hpcstruct-lite hpcprof-lite tests doc man m4 completion \
			.ci packaging \
			-path tests/golden -prune -o -path 'tests/fuzz/*/*' -prune -o -type f -print
		find . -maxdepth 1 -type f | sed 's|^\./||'
	} 2>/dev/null |
		grep \
		-Ev '^(aclocal\.m4|config\.h.*|configure|Makefile.*in|m4/(libtool|lt.*)\.m4)$' |
		grep -E "$1" | LC_ALL=C sort
}
