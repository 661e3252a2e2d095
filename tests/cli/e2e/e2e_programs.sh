#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Real programs, measured from end to end: exit status, output and files as without us, every
# process measured, the ledger closed. As an ordinary user, and where we are root some of them as
# root too. Programs that are not here are skipped.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"

public_tools || skip_all "the tools are not staged; run make check"
PATH=/usr/local/bin:/usr/bin:/bin
HOME=$T
export PATH HOME
cp "$srcdir/tests/workload/e2e/threads.py" "$srcdir/tests/workload/e2e/script.pl" "$T/"
chmod a+r "$T/threads.py" "$T/script.pl"
cp -R "$srcdir/tests/workload/miniapp" "$T/src"
chmod -R a+rX "$T/src"
chmod -R u+w "$T/src"
# Something to compress: text that is neither random nor trivial.
for i in 1 2 3 4 5 6 7 8; do
	cat "$T"/src/*.c "$T"/src/*.h
	seq $((i * 20000)) $((i * 20000 + 40000))
done >"$T/data"

# more COMMAND...: what only --full does.
more() {
	[ "$(thorough few all)" = few ] || "$@"
}

# program NAME STATUS LEAST COMMAND...: measures one command, with the options in $OPTIONS, and
# analyses it. STATUS is how it ends, plain or not; at least LEAST processes must have been
# measured.
OPTIONS=
program() {
	p_name=$1
	p_status=$2
	p_least=$3
	p_command=$4
	shift 3
	case $p_command in
	/*) [ -x "$p_command" ] || { skip "$p_name" "no $p_command here"; return; } ;;
	*) have "$p_command" || { skip "$p_name" "no $p_command here"; return; } ;;
	esac
	# shellcheck disable=SC2086 # a list of options
	both "$p_name" $OPTIONS -- "$@"
	is "$p_name: status without us" "$(cat "$T/plain-$p_name.status")" "$p_status"
	p_n=$(processes "$M")
	within "$p_name: processes measured" "${p_n:-0}" "$p_least" 100000
	analyse "$p_name" text "$M"
}

# names NAME ERE: the tree of a measured program holds such a function.
names() {
	[ ! -e "$T/text-$1" ] || holds "$1: $2 is in the tree" "$1" \
		"function [^ ]+ [^ ]+ [^ ]+ [^ ]+ [^ ]+ .*($2).*"
}

programs() {
	program python 3 3 /usr/bin/python3 "$T/threads.py"
	# the latter where this CPython is not known
	names python '<genexpr>|_PyEval_EvalFrameDefault'
	OPTIONS='-a native'
	more program python-native 3 3 /usr/bin/python3 "$T/threads.py"
	more names python-native '_PyEval_EvalFrameDefault'
	OPTIONS=
	program perl 5 2 perl "$T/script.pl"
	names perl 'Perl_runops_standard|Perl_pp_|libperl'
	program xz 0 1 xz -T2 -3 --block-size=500KiB -k -c "$T/data"
	more program zstd 0 1 zstd -q -T2 -9 -c "$T/data"
	more program gzip 0 1 gzip -9 -n -c "$T/data"
	program gcc 0 3 gcc -O2 -g -fopenmp -D_GNU_SOURCE -c -o heat.o "$T/src/heat_omp.c"
	more program gcc-link 0 5 gcc -O1 -fopenmp -D_GNU_SOURCE -o melt "$T/src/cg.c" \
		"$T/src/checkpoint.c" "$T/src/comm_serial.c" "$T/src/heat.c" \
		"$T/src/heat_omp.c" "$T/src/kernels_omp.c" "$T/src/main.c" "$T/src/material.c" \
		"$T/src/matrix.c" "$T/src/multigrid.c" \
		"$T/src/simulation.c" -lm
	more program clang 0 1 clang -O2 -g -D_GNU_SOURCE -c -o material.o "$T/src/material.c"
	# shellcheck disable=SC2016 # for bash
	program bash 11 5 bash -c \
		'set -o pipefail; seq 1 60000 | sort -R --random-source="$0" | sort -n | awk "{ s += \$1 } END { print s }" |
		sed "s/^/sum /"; (exit 6) | cat; echo "${PIPESTATUS[@]}"; exit 11' "$T/data"
	more program sqlite 0 1 sqlite3 :memory: \
		'with recursive n(i) as (select 1 union all select i + 1 from n where i < 700000)
		select count(*), sum(i % 7), max(i * 3) from n; create table t(a, b);
		insert into t values (1, 2); select * from t;'
	# shellcheck disable=SC2016 # for make
	printf \
		'all: a.o b.o\n%%.o: %%.c\n\tgcc -O1 -I%s -c -o $@ $<\na.c b.c:\n\tcp %s $@\n' \
		"$T/src" "$T/src/matrix.c" >"$T/Makefile"
	program make 0 6 make -s -j2 -f "$T/Makefile"
	more program git 0 3 sh -c \
		'export GIT_AUTHOR_DATE="1700000000 +0000" GIT_COMMITTER_DATE="1700000000 +0000"
		git init -q . && git config gc.auto 0 && git config maintenance.auto false &&
		git config user.name test && git config user.email test@example.org && cp -R '"$T"'/src . &&
		git add -A && git commit -q -m first && git log --stat && git fsck &&
		git rev-parse HEAD && rm -rf .git'
	more program tar 0 3 sh -c \
		'tar -C '"$T"' --sort=name --mtime=@0 --owner=0 --group=0 -cf - src data | gzip -n >a.tar.gz; tar -tzf a.tar.gz; exit $?'
	more program openssl 0 1 openssl dgst -sha512 -r "$T/data" "$T/data" "$T/data" "$T/data"
	more program bzip2 0 1 bzip2 -9 -c "$T/data"
	# shellcheck disable=SC2016 # for awk
	more program awk 0 1 awk '{ n[$1 % 1000] += $1 } END { for (i in n) s += n[i]; print s }' \
		"$T/data"
	more program find 0 1 sh -c 'find /usr/share /usr/lib -name "*.[ch]" | sort | cksum'
	program killed 143 1 sh -c 'echo before; kill -TERM $$; echo after'
}

export e2e_user=nobody
programs

if [ "$(id -u)" -eq 0 ]; then
	diag "as root"
	export e2e_user=
	rm -rf "$T"/m-* "$T"/db-* "$T"/plain-* "$T"/measured-* "$T"/text-*
	more program python 3 3 /usr/bin/python3 "$T/threads.py"
	program gcc 0 3 gcc -O2 -g -fopenmp -D_GNU_SOURCE -c -o heat.o "$T/src/heat_omp.c"
fi

done_testing
