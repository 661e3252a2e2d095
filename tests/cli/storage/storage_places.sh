#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Places of the node: what the user is told if no place can be used.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"

if [ "$(id -u)" -eq 0 ] && unshare -m true 2>/dev/null && serve served; then
	# none RANK: a run on a node whose other places are too small
	cat >"$T/small_places" <<-'END'
		mount -t tmpfs -o size=1m none /var/tmp &&
			mount -t tmpfs -o size=1m none /dev/shm && exec "$@"
	END
	none() {
		env TMPDIR="$T/served" PMIX_NAMESPACE=none OMPI_COMM_WORLD_RANK="$1" \
			OMPI_COMM_WORLD_SIZE=2 unshare -m sh "$T/small_places" \
			"$HPCRUN" -o "$T/served/none" true 2>&1 | grep 'file server'
	}
	is "no place: the note has the causes" "$(none 0)" \
		"hpcrun-lite: $T/served/none: is on a file server (FUSE), and no directory of this node can be used: \$TMPDIR (on a file server), /var/tmp (No space left on device), /dev/shm (No space left on device); the program may wait for the server; name one with --local"
	is "no place: other ranks say nothing" "$(none 1)" ""
else
	skip "no place: the note has the causes" "${reason:-no right to mount}"
	skip "no place: other ranks say nothing" "${reason:-no right to mount}"
fi

done_testing
