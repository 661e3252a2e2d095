#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Which perf map and jitdump is believed, and that names outlive the files: copies at the end of the
# process, originals of a process that was killed or that wrote the rest later, and none that may be
# another process's.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
jit=$builddir/tests/workload/prof/jit
cd "$T" || exit 99
mkdir tmp dumps hidden
at_exit 'for map in $maps; do rm -f "$map"; done'
maps=

# functions NAME: those of the program that the profile knows. The head names the hottest one, too.
functions() {
	"$HPCPROF" -q --no-structs --to=text --by=function --threshold=0 "$1" 2>"$1.err" | grep -o \
		'alpha or beta\|alpha\|beta\|stays\|<code outside every module>' | sort -u |
		tr '\n' ' '
}
untimed="alpha or beta stays "
nothing="<code outside every module> "
# Each function computes for 30 ms. On a busy machine CPUTIME may have its first sample after 50 ms
# of CPU time; the timer of REALTIME has expired whenever the thread gets the processor.
measure() {
	name=$1
	shift
	"$HPCRUN" -q -e REALTIME@f1000 -o "$name" "$@" >"$name.out" 2>"$name.err"
}

# the file is gone, and the measurement elsewhere
TMPDIR=$T/tmp measure removed "$jit" -t 0.03 -f -m tmp -d dumps
rm tmp/perf-*.map dumps/jit-*.dump
is "copies are in the measurement" \
	"$(ls removed | sed -n 's/.*\.\(jitdump\|perfmap\)$/\1/p' | sort | tr '\n' ' ')" \
		"jitdump perfmap "
mkdir elsewhere && mv removed elsewhere/
is "names come from the copies" "$(functions elsewhere/removed)" "alpha beta stays "
rm elsewhere/removed/*.jitdump
is "of the perf map alone" "$(functions elsewhere/removed)" "$untimed"

# /tmp, as is the custom
measure custom "$jit" -t 0.03 -m /tmp
pid=$(echo custom/*.hpcrun | sed 's/.*-\([0-9]*\)\.hpcrun/\1/')
map=/tmp/perf-$pid.map
maps="$maps $map"
is "a perf map in /tmp is copied" "$(cmp "$map" custom/*.perfmap && echo same)" same
is "and read" "$(functions custom)" "$untimed"

# A part of the list of mappings is looked at in the handler, all of it at the end
mkdir apart
measure many "$jit" -t 0.03 -f -d apart -n 12000
is "behind many mappings the jitdump is found at the end" "$(functions many)" "alpha beta stays "
measure many_killed "$jit" -t 0.03 -k -d apart -n 12000
is "but not in the handler" "$(functions many_killed)" "$nothing"

# killed: no copy
TMPDIR=$T/tmp measure killed "$jit" -t 0.03 -k -m tmp -d dumps
is "a killed process leaves no copy" "$(find killed -name '*.jitdump' -o -name '*.perfmap')" ""
is "the jitdump is found where it was mapped" "$(TMPDIR=$T/tmp functions killed)" \
	"alpha beta stays "
mv dumps tmp hidden/
is "and kept beside the measurement" "$(functions killed)" "alpha beta stays "
mv hidden/* .
# anew NAME: the functions by the originals alone
anew() {
	rm -f "$1"/*.jitdump "$1"/*.perfmap
	TMPDIR=$T/tmp functions "$1"
}
rm dumps/*
is "the perf map by its name" "$(anew killed)" "$untimed"
original=$(echo tmp/perf-*.map)
touch -d '1 hour ago' "$original"
is "one that was last written before the process ran is another's" "$(anew killed)" "$nothing"
touch -d '1 hour' "$original"
is "one that was last written after it ended, too" "$(anew killed)" "$nothing"
touch -r killed/*.hpcrun "$original"
is "the right one again" "$(anew killed)" "$untimed"
mv "$original" tmp/kept && ln -s kept "$original"
is "a symbolic link is not followed" "$(anew killed)" "$nothing"
rm "$original" && mkfifo "$original"
is "a FIFO is not opened" "$(anew killed)" "$nothing"
rm "$original"
if [ "$(id -u)" -eq 0 ]; then
	cp -p tmp/kept "$original" && chown nobody "$original"
	is "nor the file of another user" "$(anew killed)" "$nothing"
	rm "$original"
fi

# the rest of the jitdump is written after our end of the process: the copy is short, or not there
measure later "$jit" -t 0.03 -d dumps
is "the jitdump is not complete when the process ends" "$(find later -name '*.jitdump')" ""
is "the original is" "$(functions later)" "alpha beta stays "
rm later/*.jitdump
head -c 300 dumps/*.dump >"later/$(basename later/*.hpcrun .hpcrun).jitdump"
is "it goes on where the copy ends" "$(functions later)" "alpha beta stays "
head -c 299 dumps/*.dump >"later/$(basename later/*.hpcrun .hpcrun).jitdump"
echo >>"later/$(basename later/*.hpcrun .hpcrun).jitdump"
is "one that begins otherwise is another's" "$(functions later | grep -c beta)" 0

# bounds: neither the program nor the copy suffers
(ulimit -f 8 && TMPDIR=$T/tmp "$HPCRUN" -q -e REALTIME@f1000 -o small "$jit" -t 0.03 -m tmp \
	>small.out 2>small.err)
is "a limit on the size of files" "$? $(grep -c truth small.out)" "0 4"

# a container: its own process ids, and files that nobody else sees
inside='mount --make-rprivate / && mount -t tmpfs none "$T/tmp" && TMPDIR=$T/tmp && export TMPDIR'
rm -f tmp/*
if unshare --mount --pid --fork --mount-proc sh -c "$inside" 2>/dev/null; then
	unshare --mount --pid --fork --mount-proc sh -c "$inside && exec \"\$@\"" sh "$HPCRUN" -q \
		-e REALTIME@f1000 -o container "$jit" -t 0.03 -f -m tmp -d tmp >container.out 2>&1
	is "a container leaves nothing" "$(find tmp -name '*.map' -o -name '*.dump')" ""
	is "but copies" "$(functions container)" "alpha beta stays "
else
	skip "a container leaves nothing" "namespaces cannot be made here"
	skip "but copies" "namespaces cannot be made here"
fi

# the same as another user, whose own files these are
if public_tools && public_copy "$jit"; then
	dir=$(public_dir nobody)
	cd "$dir" || exit 99
	as_nobody env TMPDIR="$dir" HPCTOOLKIT_LITE_CACHE= "$HPCRUN" -q -e REALTIME@f1000 -o m \
		"$T/jit" -t 0.03 -f -m . -d . >"$T/user.out" 2>&1
	rm -f ./perf-*.map ./jit-*.dump
	is "as an ordinary user" \
		"$(as_nobody "$HPCPROF" -q --no-structs --to=text --by=function --threshold=0 m |
		grep -o 'alpha or beta\|alpha\|beta\|stays' | sort -u | tr '\n' ' ')" \
		"alpha beta stays "
else
	skip "as an ordinary user" "there is no staged installation"
fi
done_testing
