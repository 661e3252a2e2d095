#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# shellcheck disable=SC2016 # programs in Perl
#
# Tries the binary tarball as an ordinary user, on a system that has neither a compiler nor the
# libraries: unpacked in a directory with a blank in its name, and moved to another odd one. Then
# root uses the same tree.
# Usage, as root: tarball-try.sh FOLDER. It has the tarball, measure, and app, which make tarball
# built. tests/fresh.sh runs this.

set -eu
folder=$1
die() {
	echo "$*"
	exit 1
}

odd="/tmp/odd+(dir),[1]'é"

# The first example of README.md, with a program that each system has, and the libraries of nobody
# in the way.
example() {
	mkdir nobody
	for library in libz.so.1 libsqlite3.so.0 libdwarf.so.0 libelf.so.1; do
		echo nonsense >"nobody/$library"
	done
	cp /usr/bin/perl app
	"$odd/bin/hpcrun-lite" ./app -e '$s += sqrt($_) for 1 .. 2e7'
	LD_LIBRARY_PATH=$PWD/nobody "$odd/bin/hpcprof-lite" hpctoolkit-lite-app-measurements \
		>report.txt
	cat report.txt
	grep -q 'Perl_' report.txt
	grep -q 'it closes for every thread' report.txt
	[ -s hpctoolkit-lite-app-database/report.html ]
}

# A program of the same user that runs already. Some systems let only a parent trace it.
attach() {
	./app -e '$s++ while 1' &
	pid=$!
	status=0
	LD_LIBRARY_PATH=$PWD/nobody "$odd/bin/hpcrun-lite" --attach $pid --seconds 1 -o attached \
		2>said || status=$?
	cat said
	if [ $status -eq 0 ]; then
		kill -0 $pid
		"$odd/bin/hpcprof-lite" --to text attached >report.txt
		grep 'Perl_' report.txt
		grep -q 'it closes for every thread' report.txt
	else
		[ "$(id -u)" -ne 0 ]
		grep -q 'ptrace_scope is [1-9]' said
	fi
	kill $pid
}

if [ "$(id -u)" -eq 0 ]; then
	home="/home/some body"
	mkdir -p "$home" /root/example
	chown 4711:4711 "$home"
	setpriv --reuid 4711 --regid 4711 --clear-groups env HOME="$home" LC_ALL=C.UTF-8 \
		sh "$0" "$folder"
	cd /root/example
	example
	attach
	echo "$(. /etc/os-release && echo "$PRETTY_NAME"): measured, reported"
	exit
fi

! command -v cc gcc || die "there is a compiler"
cd "$HOME"
mkdir "with blank"
cd "with blank"
tar -xf "$folder"/*.tar.gz
set -- *
blank=$PWD/$1

# A blank is too much for LD_PRELOAD. The programs work that preload nothing.
"$blank/bin/hpcprof-lite" --version
if "$blank/bin/hpcrun-lite" true 2>message; then die "measured from a path with a blank"; fi
grep -q 'contains a blank' message

mv "$blank" "$odd"
sh "$folder/measure" "$odd" "$folder/app"

example
attach

# PAPI's module finds its library, in the launcher and in the program.
"$odd/bin/hpcrun-lite" -L >events.txt
cat events.txt
grep -q '^PAPI [0-9.]*:$' events.txt
if grep -q ' perf::PERF_COUNT_SW_TASK_CLOCK@' events.txt; then
	"$odd/bin/hpcrun-lite" -e perf::PERF_COUNT_SW_TASK_CLOCK -o papi \
		./app -e '$s++ for 1 .. 1e7'
	"$odd/bin/hpcprof-lite" --to text papi | grep -A 9 PERF_COUNT_SW_TASK_CLOCK
fi
