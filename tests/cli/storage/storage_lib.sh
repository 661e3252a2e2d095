# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh disable=SC2034,SC2154 # variables of lib.sh, and for the tests
#
# For the tests of where the data are. Source it after tests/lib.sh and tests/run_lib.sh.
#
#	NODE    a directory for --local
#	STORAGE_SMALL   as nobody: a file system of 1 MiB, or not set

NODE=$T/node
mkdir "$NODE"
chmod 1777 "$NODE" # as /var/tmp
# What a killed process has left stays there for --collect.
HPCTOOLKIT_LITE_COPY_MS=0
export HPCTOOLKIT_LITE_COPY_MS

# storage_as_user: as root, the script that calls this first runs as nobody instead, with copies of
# what it needs, and this does not return.
storage_as_user() {
	[ "$(id -u)" -eq 0 ] && public_tools || return 0
	mkdir -p "$T/tree/tests/cli" "$T/tree/tests/workload/run" "$T/small"
	cp "$srcdir"/tests/*.sh "$T/tree/tests"
	cp -R "$srcdir/tests/cli/storage" "$T/tree/tests/cli"
	cp -R "$srcdir/tests/workload/storage" "$T/tree/tests/workload"
	cp "$LIFE" "$CHECK" "$T/tree/tests/workload/run"
	chmod -R a+rX "$T/tree"
	if mount -t tmpfs -o size=1m,mode=1777 none "$T/small" 2>/dev/null; then
		at_exit "umount '$T/small'"
		STORAGE_SMALL=$T/small
		export STORAGE_SMALL
	fi
	cd "$T/tree" || exit 99
	as_nobody env srcdir=. top_srcdir=. top_builddir=. sh "tests/cli/storage/${0##*/}"
	tap_failed=$?
	tap_finished=yes
	exit
}

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

# serve NAME [OPTION...]: mounts $T/NAME.back at $T/NAME, a file system that hands everything on and
# does what the word in $T/NAME.word says. Returns 1, with the reason in $reason, if that cannot be
# done.
serve() {
	storage_at=$T/$1
	shift
	reason=
	pkg-config --exists fuse3 2>/dev/null || reason="no libfuse3 here"
	[ -n "$reason" ] || [ -w /dev/fuse ] || reason="no right to mount FUSE here"
	[ -n "$reason" ] || storage_has_room "$NODE" || reason="too little room in $NODE"
	[ -z "$reason" ] || return 1
	mkdir -p "$storage_at" "$storage_at.back"
	echo ok >"$storage_at.word"
	# shellcheck disable=SC2046,SC2086 # options
	[ -x "$T/bad_fs" ] || ${CC:-cc} -O1 $(pkg-config --cflags fuse3) -o "$T/bad_fs" \
		"$srcdir/tests/workload/storage/bad_fs.c" $(pkg-config --libs fuse3) \
		>"$T/cc" 2>&1 || {
		reason="bad_fs.c cannot be built"
		return 1
	}
	"$T/bad_fs" "$storage_at.back" "$storage_at.word" "$storage_at.log" -f "$@" "$storage_at" \
		>"$T/bad_fs.out" 2>&1 &
	server=$!
	at_exit "echo ok >'$storage_at.word'; kill $server; wait $server"
	for storage_turn in 1 2 3 4 5 6 7 8 9 10; do
		[ "$(stat -f -c %t "$storage_at")" = 65735546 ] && return
		kill -0 "$server" 2>/dev/null || break
		sleep 0.2
	done
	reason="FUSE cannot be mounted: $(head -n 1 "$T/bad_fs.out")"
	return 1
}

# storage_has_room DIR: hpcrun-lite may choose a directory there; see node_local.c.
storage_has_room() {
	# shellcheck disable=SC2046 # four words
	set -- $(stat -f -c '%t %b %a %s' "$1")
	storage_most=10737418240
	storage_leave=$(($2 / 10 * $4))
	[ $storage_leave -le $storage_most ] || storage_leave=$storage_most
	case $1 in 1021994 | 858458f6) storage_leave=$(($2 / 2 * $4)) ;; esac
	[ $(($3 * $4)) -ge $((storage_leave + 67108864)) ]
}
