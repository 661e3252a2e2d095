#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# No space, no rights, no descriptors: the program runs as without us, samples that could not be
# kept are counted, and the user is told.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

measure -e CPUTIME@f5000 -- sh -c "ulimit -f 600; exec '$LIFE' wander 0.5"
is "file size limit: no SIGXFSZ" "$status" 0
sound "file size limit: files are sound"

# A process that starts under a limit too small for anything.
measure -- sh -c "ulimit -f 8; exec '$LIFE' spin 0.1"
is "tiny file size limit: the program runs" "$status" 0
like "tiny file size limit: the user is told" "$(cat "$T/stderr")" 'ulimit -f.*runs unmeasured'

measure -- sh -c "ulimit -f 0; exec '$LIFE' spin 0.1"
is "no file may grow, standard error neither: the program runs" "$status" 0

# The launcher itself, whose messages go to a file here as well.
mkdir "$T/limited"
rc=0
(
	cd "$T/limited" || exit 99
	ulimit -f 0
	exec "$HPCRUN" -o m sh -c 'exit 5'
) >/dev/null 2>"$T/limited.err" || rc=$?
within "no file may grow for the launcher: it is not killed" "$rc" 0 127
is "no file may grow for the launcher: nothing is left behind" \
	"$(find "$T/limited" -name '*.new-*')" ''
is "no file may grow for the launcher: the program's SIGXFSZ is its own" \
	"$("$HPCRUN" -q -o "$T/xfsz" sed -n 's/^SigIgn:\t//p' /proc/self/status)" \
	"$(sed -n 's/^SigIgn:\t//p' /proc/self/status)"

measure -- sh -c "ulimit -n 12; exec '$LIFE' spin 0.1"
is "few descriptors: the program runs" "$status" 0

measure -- sh -c "ulimit -v 200000; exec '$LIFE' threads 8 0.05"
is "memory limit: the program runs" "$status" 0
sound "memory limit: files are sound"

# The program gets what it asks for in the end, although its paths would fill whatever there is.
measure -e CPUTIME@f10000,perf -- sh -c "ulimit -v 100000; exec '$LIFE' explode 1 60"
is "memory limit, many paths: the program's malloc" "$status" 0
sound "memory limit, many paths: files are sound"
within "memory limit, many paths: what did not fit is counted" "$(value lost-no-memory)" 1 1000000
measure -- sh -c "rm -rf '$OUT'; exec '$LIFE' spin 0.1"
is "directory removed: the program runs" "$status" 0
like "directory removed: the user is told" "$(cat "$T/stderr")" \
	'not measured: 1 process of .*or the measurement was removed'

if [ "$(id -u)" -eq 0 ]; then
	disk=$T/disk
	mkdir "$disk"
	if mount -t tmpfs -o size=2000k none "$disk" 2>/dev/null; then
		at_exit "umount '$disk'"
		OUT=$disk/out
		# the first reservation shrinks to what is there, and the time line needs more, if
		# samples come as fast as they are asked for
		dd if=/dev/zero of="$disk/fill" bs=1k count=1800 2>/dev/null
		measure -e CPUTIME@f10000 -- "$LIFE" threads 16 0.15
		is "disk nearly full: exit status" "$status" 0
		sound "disk nearly full: files are sound"
		within "disk nearly full: some samples are in the tree" "$(value recorded)" 1000 \
			1000000
		# so many threads need more in any case
		measure -e CPUTIME@f10000 -- "$LIFE" threads 3000
		is "disk full: exit status" "$status" 0
		sound "disk full: files are sound"
		lost=$(($(value lost-no-space) + $(value lost-trace) + $(value lost-thread-setup)))
		within "disk full: the rest is counted" "$lost" 1 100000000
		like "disk full: the line says so" "$(cat "$T/stderr")" \
			'(no-space|trace|thread-setup) [0-9]'
		also=
		if [ $(($(value lost-trace) + $(value lost-thread-setup))) -gt 0 ]; then
			also=' also (, |(trace|thread-setup) [0-9,]+)+,'
		fi
		like "disk full: what takes no sample is not among the lost ones" \
			"$(cat "$T/stderr")" \
			"samples, [0-9,]+ lost( \\((, |(no-space|no-memory|busy) [0-9,]+)+\\))?,$also [0-9,]+ truncated"
		rm -rf "$OUT"
		dd if=/dev/zero of="$disk/fill" bs=1k count=1960 2>/dev/null
		measure -- "$LIFE" spin 0.1
		is "disk full from the start: the program runs" "$status" 0
		like "disk full from the start: the user is told" "$(cat "$T/stderr")" \
			'no space on the device'
	else
		skip "disk full" "tmpfs cannot be mounted here"
	fi
else
	skip "disk full" "not root"
fi
done_testing
