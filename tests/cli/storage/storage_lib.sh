# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # variables of lib.sh, and for the tests
#
# For the tests of where the data are. Source it after tests/lib.sh and tests/run_lib.sh.
#
#	NODE    a directory for --local

NODE=$T/node
mkdir "$NODE"
chmod 1777 "$NODE" # as /var/tmp

# on_node: how many files with data are on the node.
on_node() {
	find "$NODE" -name '*.hpcrun' | wc -l | tr -d ' '
}

# waiting: how many files of the measurement directory wait for their data.
waiting() {
	grep -l '^hpctoolkit-lite: this file is empty until' "$OUT"/*.hpcrun 2>/dev/null |
		wc -l | tr -d ' '
}

# collected DESCRIPTION: nothing is on the node any more and no file waits for data. What ends after
# the program has a moment.
collected() {
	for storage_turn in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(on_node) $(waiting)" != "0 0" ] || break
		sleep 0.3
	done
	is "$1" "$(on_node) on the node, $(waiting) waiting" "0 on the node, 0 waiting"
}

# serve [OPTION...]: mounts $T/back at $T/served, a file system that hands everything on and does
# what the word in $T/word says. Returns 1, with the reason in $reason, if that cannot be done.
serve() {
	reason=
	pkg-config --exists fuse3 2>/dev/null || reason="no libfuse3 here"
	[ -n "$reason" ] || [ -w /dev/fuse ] || reason="no right to mount FUSE here"
	[ -z "$reason" ] || return 1
	mkdir -p "$T/back" "$T/served"
	echo ok >"$T/word"
	# shellcheck disable=SC2046,SC2086 # options
	${CC:-cc} -O1 $(pkg-config --cflags fuse3) -o "$T/bad_fs" \
		"$srcdir/tests/workload/storage/bad_fs.c" $(pkg-config --libs fuse3) \
		>"$T/cc" 2>&1 || {
		reason="bad_fs.c cannot be built"
		return 1
	}
	"$T/bad_fs" "$T/back" "$T/word" "$T/log" -f "$@" "$T/served" >"$T/bad_fs.out" 2>&1 &
	server=$!
	at_exit "echo ok >'$T/word'; kill $server; wait $server"
	for storage_turn in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(stat -f -c %t "$T/served")" = 65735546 ] && return
		kill -0 "$server" 2>/dev/null || break
		sleep 0.2
	done
	reason="FUSE cannot be mounted: $(head -n 1 "$T/bad_fs.out")"
	return 1
}
