#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An OTF2 archive by several ranks: the files are those of one process. The anchor has a number that
# differs from run to run.
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/parts/parts_lib.sh"

cd "$T" || exit 99
have otf2-print || skip_all "no otf2-print"
"$HPCPROF" --help | grep -q otf2 || skip_all "built without OTF2"
# Rows end between hosts of eight ranks. Three ranks share the files of 12 and 24 and all open those
# of 9, which would be uneven rows, and those with readings of energy.
"$builddir/tests/gen/gen_scale" -r 9 -t 2 -g 20 gpu
"$builddir/tests/gen/gen_scale" -r 12 -t 1 -g 40 gpu.rows
"$builddir/tests/gen/gen_scale" -r 24 -t 2 -g 20 -m 20 gpu.mpi
"$builddir/tests/gen/gen_scale" -r 12 -t 1 -g 20 -m 20 -e 30 energy
"$builddir/tests/gen/gen_scale" -r 7 -t 3 -d 5 -l 48 -p 30 -s 5 cpu

anchor() { otf2-print -A "$1/otf2/traces.otf2" | grep -v 'Trace identifier'; }

# check_archive JOB N
check_archive() {
	"$HPCPROF" -q --no-structs --to otf2 -o "$1.one" "$1"
	is "$1: $2 ranks write an archive" "$(prof_ranks "$2" -q --no-structs --to otf2 \
		-o "$1.many" "$1" 2>&1; echo $?)" 0
	is "... with the same files" "$(diff -rq -x traces.otf2 "$1.one" "$1.many" 2>&1)" ""
	is "... and the same anchor" "$(anchor "$1.many")" "$(anchor "$1.one")"
}
check_archive gpu 3
check_archive gpu.rows 3
check_archive gpu.mpi 3
check_archive energy 3
check_archive cpu 8

# The third rank has no files of the first one, and need not.
cat >apart.sh <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 2 ] || cd apart || exit
exec "$HPCPROF" -q --no-structs --to otf2 -o "$T/$1.apart" "$1"
END
chmod +x apart.sh
mkdir apart
for job in gpu.rows gpu.mpi; do
	cp -R $job apart
	rm apart/$job/0-*
	is "$job: each rank opens the files of its row" \
		"$(mpi_run "$mine" 3 ./apart.sh $job 2>&1; echo $?)" 0
	is "... with the same files" "$(diff -rq -x traces.otf2 $job.one $job.apart 2>&1)" ""
done

if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
	at_exit "umount -l '$T/full' 2>/dev/null"
	prof_ranks 3 -q --to otf2 --no-structs -o full/db cpu >/dev/null 2>err.full
	is "a full disk fails all ranks" $? 1
	like "... and one says so" "$(cat err.full)" 'hpcprof-lite: .*: No space left on device'
	is "... and nothing is left" "$(ls full)" ""
	umount full
else
	skip "a full disk fails all ranks" "needs the right to mount"
fi
done_testing
