# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
#
# For the tests of --attach.

"$HPCRUN" --help | grep -q -- '--attach' ||
	skip_all "built without libunwind-ptrace, or for a processor where it does not attach"

# attach DIR OPTIONS...: measures $pid into DIR; what was said is in $T/said.
attach() {
	attach_dir=$1
	shift
	rm -rf "$attach_dir"
	run_limited 30 "$HPCRUN" "$@" --attach "$pid" -o "$attach_dir" >"$T/said" 2>&1
}

# seen_of PID: what the kernel knows of the process: handlers, masks, threads, timers, descriptors.
seen_of() {
	for attach_task in /proc/"$1"/task/*; do
		sed -n '/^Sig[BCI]/p; /^Threads/p; /^TracerPid/p' "$attach_task/status"
	done
	cat "/proc/$1/timers"
	ls "/proc/$1/fd"
}
