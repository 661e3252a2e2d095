#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What our libraries call of others inside the measured process, read from the built files: the
# names of symbols.txt alone; and what signal handlers can reach calls only those that are marked
# so. A clock_gettime or a memcpy of libc's may be one of the program's there, with a lock of its
# own. handlers.txt says where handlers begin; reach.py walks from there through the machine code.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

need readelf nm objdump
allowed=$srcdir/tests/lint/symbols.txt
handlers=$srcdir/tests/lint/handlers.txt

# not_allowed KIND...: the names on standard input that no line of these kinds allows
not_allowed() {
	awk -v who=" $* " '
		FILENAME != "-" {
			if (/^#/ || !index(who, " " $1 " ")) next
			if ($2 ~ /\*$/) head[substr($2, 1, length($2) - 1)] = 1
			else name[$2] = 1
			next
		}
		{
			for (h in head) if (index($1, h) == 1) next
			if (!($1 in name)) print $0
		}' "$allowed" - | sort -u
}

is "the lint sees a name that is not allowed" \
	"$(printf '%s\n' environ clock_gettime _ITM_x | not_allowed all)" clock_gettime

# plain: names as the sources have them. glibc 2.38 and later calls strtol __isoc23_strtol.
plain() {
	sed -E 's/(^| )__isoc23_/\1/'
}

# relocated FILE: the names of its relocations; whoever defines such a name first is called.
relocated() {
	readelf -rW "$1" | awk '$3 ~ /^R_X86_64_(JUMP_SLOT|GLOB_DAT|64|COPY)$/ &&
		$5 != "" { sub(/@.*/, "", $5); print $5 }' | plain
}
# new_versions: what on standard input, from "readelf -VW", is a version of libc after 2.17. A
# library that needs one stops each program whose own libc is older.
new_versions() {
	sed -n '/version_r/,$s/.*Name: \([A-Z][A-Za-z0-9_.]*\).*/\1/p' |
		grep -vE '^GLIBC_2\.([0-9]|1[0-7])(\.[0-9]+)?$' | sort -u
}
is "the lint sees a version that is too new" "$(printf '%s\n' "section '.gnu.version_r'" \
	' Name: GLIBC_2.2.5 Flags' ' Name: GLIBC_2.17 Flags' ' Name: GLIBC_2.18 Flags' \
	' Name: GLIBC_2.35 Flags: WEAK' | new_versions | tr '\n' ' ')" 'GLIBC_2.18 GLIBC_2.35 '

for library in "" -opencl -cupti -nvidia -papi -mpi -torch; do
	file=$builddir/.libs/libhpcrun-lite$library.so
	[ -f "$file" ] || continue
	names=$(relocated "$file")
	like "libhpcrun-lite$library.so: names are found" "$names" '^_r_debug$|^PAPI_start$'
	is "libhpcrun-lite$library.so: nothing else can be replaced" \
		"$(printf '%s\n' "$names" | not_allowed all handler "${library#-}")" ''
	is "libhpcrun-lite$library.so: an older libc has what it needs" \
		"$(readelf -VW "$file" | new_versions)" ''
done

# System calls whose names headers of Linux 4.18 lack: the numbers from 424 on.
late=$(echo '#include <sys/syscall.h>' | $CC -E -dM - | sed -nE \
	's/^#define __NR_([a-z0-9_]+) (42[4-9]|4[3-9][0-9]|[5-9][0-9][0-9])$/SYS_\1/p')
like "the lint knows a system call that is too new" "$late" '^SYS_pidfd_open$'
uses() { # OPTION: where sources use one
	grep -rFw "$1" "$late" --include='*.[ch]' common hpcrun-lite hpcprof-lite \
		hpcstruct-lite tests
}
is "sources with such a call include newer.h, which defines it" "$(cd "$srcdir" || exit
	uses -l | xargs grep -L 'include .*/\(newer\|older\)\.h"\|^#define COMMON_SAFE_NEWER_H'
	uses -oh | sort -u | while read -r call; do
		grep -q "^#define $call " common/safe/newer.h || echo "$call"
	done)" ''

# needed FILE: the libraries that it needs
needed() {
	readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'
}
for library in "" -opencl -cupti -nvidia -papi -mpi -torch; do
	file=$builddir/.libs/libhpcrun-lite$library.so
	[ -f "$file" ] || continue
	is "libhpcrun-lite$library.so: needs libc alone" "$(needed "$file" |
		grep -vE '^(libc\.so\.6|ld-linux-x86-64\.so\.2|libpapi\.so\..*)$')" ''
done

# What tools need of versions after 2.28 is in 2.28, too, with an older version: functions that
# moved between libraries or got a new entry. Built with headers of glibc 2.28 to 2.31, they need
# nothing later. later: such names on standard input, from "readelf -W --dyn-syms".
later() {
	sed -nE 's/.* UND ([^ @]+)@+GLIBC_2\.(29|[3-9][0-9])(\.[0-9]+)? .*/\1/p' | plain | sort -u
}
is "the lint sees a name that is too new" "$(printf '%s\n' \
	' 5: 0 0 FUNC GLOBAL DEFAULT UND exp@GLIBC_2.29 (3)' \
	' 6: 0 0 FUNC GLOBAL DEFAULT UND dlsym@GLIBC_2.34 (3)' \
	' 7: 0 0 FUNC GLOBAL DEFAULT UND read@GLIBC_2.2.5 (2)' | later | not_allowed tool)" exp
case $(getconf GNU_LIBC_VERSION 2>/dev/null) in
'glibc 2.28' | 'glibc 2.29' | 'glibc 2.30' | 'glibc 2.31') kind=none ;;
*) kind=tool ;;
esac
for file in hpcrun-lite/hpcrun-lite hpcrun-lite/hpcrun-lite-attach \
	hpcstruct-lite/hpcstruct-lite hpcprof-lite/hpcprof-lite .libs/hpcprof-lite-mpi.so; do
	[ -f "$builddir/$file" ] || continue
	is "${file##*/}: glibc 2.28 has what it needs" \
		"$(readelf -W --dyn-syms "$builddir/$file" | later | not_allowed $kind)" ''
	is "${file##*/}: needs no run time of a compiler" \
		"$(needed "$builddir/$file" | grep -E '^lib(stdc\+\+|gcc_s|gomp|atomic)\.')" ''
done

# handlers_reach KIND NAME LEAST: what the handlers of this kind reach in a library
handlers_reach() {
	file=$builddir/.libs/$2.so
	[ -f "$file" ] || return 0
	if ! have "${PYTHON3:-python3}"; then
		skip "$2.so: handlers call what they may" "no python3 here"
		return
	fi
	"${PYTHON3:-python3}" "$srcdir/tests/lint/reach.py" "$file" "$handlers" "$1" |
		plain >"$T/reached"
	within "$2.so: functions and tables that handlers reach" \
		"$(sed -n 's/^# //p' "$T/reached")" "$3" 2000
	is "$2.so: handlers call what they may" \
		"$(grep -v '^#' "$T/reached" | not_allowed handler "handler-$1")" ''
}
handlers_reach handler libhpcrun-lite 200
handlers_reach papi libhpcrun-lite-papi 2

# Each object of the preloaded library calls what handlers may, and else what symbols.txt allows its
# source. Names that another object of the library defines are ours.
objects=$(find "$builddir/common" "$builddir/hpcrun-lite" -path '*/.libs/*' -name 'lib*.o' |
	grep -E '/(libhl(safe|string|cct|unwind|python|regions|gpu)_la|libhpcrun_lite_la)-' |
	LC_ALL=C sort)
n=$(echo "$objects" | grep -c .)
if [ "$n" -gt 0 ]; then
	# shellcheck disable=SC2086 # words
	nm -g --defined-only $objects | awk 'NF == 3 { print $3 }' >"$T/ours"
	# lines SOURCE NAME
	# shellcheck disable=SC2086
	nm -uA $objects | sed 's|.*_la-\(.*\)\.o: *[A-Za-z] |\1.c |' | plain | awk '
		FILENAME == ARGV[1] { ours[$1] = 1; next }
		FILENAME == ARGV[2] { if (!/^#/) allowed[$1, $2] = 1; next }
		# a name of the list may end in a star
		function may(who, name,   i) {
			if ((who, name) in allowed) return 1
			for (i = length(name); i >= 0; i--)
				if ((who, substr(name, 1, i) "*") in allowed) return 1
			return 0
		}
		$2 != "_GLOBAL_OFFSET_TABLE_" && !($2 in ours) && !may("handler", $2) &&
			!may($1, $2)' "$T/ours" "$allowed" - >"$T/wrong"
	is "each source calls what it may" "$(sort -u "$T/wrong")" ''
fi
within "objects of the preloaded library" "$n" 60 200
done_testing
