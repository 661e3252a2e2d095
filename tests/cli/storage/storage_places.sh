#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Places of the node: where --collect looks, what the report counts if a copy fails, and what the
# user is told if no place can be used.

. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"
. "$srcdir/tests/cli/storage/storage_lib.sh"

# A child that is killed after its parent has ended: nobody has its part copied.
# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '
	(: >"$0.begun"; while :; do :; done) &
	echo $! >"$0"
	until [ -e "$0.begun" ]; do :; done
	exit 3' "$T/child" >/dev/null
kill -KILL "$(cat "$T/child")"
is "a killed child: its parent's file is on the node" "$(on_node) $(waiting)" "1 0"
for storage_turn in $(seq 50); do
	kill -0 "$(cat "$T/child")" 2>/dev/null || break
	sleep 0.2
done
"$HPCRUN" --collect "$OUT" >"$T/text" 2>&1
is "--collect alone does not know the place" "$(on_node)" 1
rc=0
"$HPCRUN" --local "$NODE" --collect "$OUT" >"$T/text" 2>&1 || rc=$?
like "--collect with --local copies it" "$rc $(cat "$T/text")" \
	'^0 hpcrun-lite: .*/out: 1 file copied from this node, [0-9]+ bytes$'
collected "... and leaves nothing"
sound "... it is sound" -k
rc=0
"$HPCRUN" --local "$T/no" --collect "$OUT" >"$T/text" 2>&1 || rc=$?
is "--collect with a place that is not there" "$rc $(cat "$T/text")" \
	"1 hpcrun-lite: $T/no: No such file or directory"

# A directory in the place of the file: the copy fails.
# needs: run_life
# shellcheck disable=SC2016 # the measured shell's
measure --local "$NODE" -- sh -c '
	"$0" spin 0.1
	for file in "$1"/*-$$.hpcrun; do rm "$file"; mkdir "$file"; done
	exit 3' "$LIFE" "$OUT"
like "a copy that fails: the user is told" "$(cat "$T/stderr")" \
	': cannot copy the measurement of process '
like "... and the report counts what was copied before" "$(cat "$T/stderr")" \
	'^hpcrun-lite: 4 processes, '
rmdir "$OUT"/*.hpcrun 2>/dev/null
rm -rf "${NODE:?}"/*

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
	cd "$T/served" || exit 99
	like "-L: where files are kept" "$("$HPCRUN" -L)" \
		'^  files      FUSE: kept in /[^ ]+ while programs run$'
	like "-L: no place" \
		"$(env TMPDIR="$T/served" unshare -m sh "$T/small_places" "$HPCRUN" -L)" \
		'^  this directory is on FUSE: programs may wait for the server$'
	cd "$T" || exit 99
else
	skip "no place: the note has the causes" "${reason:-no right to mount}"
	skip "no place: other ranks say nothing" "${reason:-no right to mount}"
	skip "-L: where files are kept" "${reason:-no right to mount}"
	skip "-L: no place" "${reason:-no right to mount}"
fi

done_testing
