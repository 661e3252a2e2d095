#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite under mpirun: the ranks write one database, the same as one process, and return the
# same status. The first rank makes all other outputs. Without a module for the MPI of the launcher
# the ranks refuse.
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/parts/parts_lib.sh"

cd "$T" || exit 99
outputs=text,html,cctdb,json,sqlite
NO_COLOR=1 # Open MPI gives ranks a terminal
export NO_COLOR
"$builddir/tests/gen/gen_scale" -r 20 -t 3 -d 5 -l 48 -p 30 -s 2 job

"$HPCPROF" -q --no-structs --to "$outputs" -o alone job >text.alone
for n in 1 2 5; do
	is "$n ranks merge it" \
		"$(prof_ranks $n -q --no-structs --to "$outputs" -o db.$n job >text.$n 2>err
			echo $?; cat err)" 0
	is "... into the same database" "$(diff -r alone db.$n 2>&1)" ""
	same "... and the same text" text.alone text.$n
done

prof_ranks 3 -q --no-structs job >/dev/null 2>err
is "a database without a name is one" \
	"$(ls -d hpctoolkit-lite-*)" hpctoolkit-lite-synthetic-database
prof_ranks 3 --no-structs --to cctdb,json -o both job 2>err
is "one rank says what all have written" "$? $(cat err)" "0 hpcprof-lite: cctdb, json in both"

# ---- what is not shared ----

prof_ranks 3 --no-structs --to json -o json job 2>err
is "without cctdb the first rank works alone, and says so" "$? $(cat err)" "0 hpcprof-lite: rank 0 \
works alone: other ranks help only to write cctdb of a whole run
hpcprof-lite: json in json"
same "... the output is the same" alone/profile.json json/profile.json
prof_ranks 3 -q --no-structs --rank 2 --to cctdb -o part job 2>err
is "so it does with a filter" "$? $(cat err)" "0 "
"$HPCPROF" -q --no-structs --rank 2 --to cctdb -o part.alone job
is "... the database is the same" "$(diff -r part.alone part 2>&1)" ""

# Rows end between hosts of eight ranks. The third rank has no files of the first one.
cat >apart.sh <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 2 ] || cd apart || exit
exec "$HPCPROF" -q --no-structs --to cctdb -o "$T/rows.three" rows
END
chmod +x apart.sh
export T
"$builddir/tests/gen/gen_scale" -r 24 -t 2 -g 20 -m 20 rows
mkdir apart
cp -R rows apart
rm apart/rows/0-*
"$HPCPROF" -q --no-structs --to cctdb -o rows.one rows
is "each rank opens the files of its row" "$(mpi_run "$mine" 3 ./apart.sh 2>&1; echo $?)" 0
is "... the database is the same" "$(diff -r rows.one rows.three 2>&1)" ""

# ---- failures ----

prof_ranks 3 -o db.2 job >/dev/null 2>err
is "a failure is the status of all ranks" $? 1
is "... and is said once" "$(grep -c 'exists already' err)" 1
prof_ranks 3 --to nothing job >/dev/null 2>err
is "wrong usage is, too" $? 2
mkdir empty
prof_ranks 3 -o db.none empty >/dev/null 2>err
is "no measurement: status 1" $? 1
is "... and no database" "$(ls -d db.none* 2>/dev/null)" ""

if [ "$(id -u)" -eq 0 ] && mkdir full && mount -t tmpfs -o size=64k tmpfs full 2>/dev/null; then
	at_exit "umount -l '$T/full' 2>/dev/null"
	prof_ranks 3 -q --to cctdb --no-structs -o full/db job >/dev/null 2>err.full
	is "a full disk fails all ranks" $? 1
	like "... and one says so" "$(cat err.full)" \
		'full/db\.partial-[^/]*/(meta|profile|cct|trace)\.db: No space left on device'
	is "... and nothing is left" "$(ls full)" ""
	umount full
else
	skip "a full disk fails all ranks" "needs the right to mount"
fi

prof_ranks 2 -q --no-mpi --no-structs --to "$outputs" -o many job >/dev/null 2>err
is "--no-mpi: each rank works alone, and one of them finds the place taken" \
	"$? $(grep -c 'exists already\|cannot be named' err)" "1 1"

# A launcher's variables without a launcher: MPI starts as one rank.
OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=4 "$HPCPROF" -q --no-mpi --to text job >text.no 2>&1
same "--no-mpi believes no launcher" text.alone text.no
ALPS_APP_PE=1 run_limited 60 "$HPCPROF" -q --mpi --to text job >out 2>err
is "a rank of a job of unknown size is refused" "$? $(wc -c <out)" "1 0"
like "... and says why" "$(cat err)" 'ALPS started several ranks, but .* finds 1; start it with'
if have "mpirun.$other"; then
	mpi_run "$other" 3 "$HPCPROF" -q -o wrong job >out 2>err
	is "ranks of another MPI are refused" $? 1
	like "... and both are named" "$(cat err)" \
		'started 3 ranks, but (Open MPI|MPICH).*, which this program was built with, finds 1;'
	is "... once" "$(grep -c 'started 3 ranks' err)" 1
	is "... and nothing is written" "$(ls -d wrong* 2>/dev/null)" ""
else
	skip "ranks of another MPI are refused" "no mpirun.$other"
fi

# A build without MPI: the module is not where the program looks for it.
mkdir bin
cp "$HPCPROF" bin/hpcprof-lite
mpi_run "$mine" 2 ./bin/hpcprof-lite -q --to text --no-structs job >text.two 2>err
is "without the module each rank does all the work" "$? $(grep -c . text.two)" \
	"0 $((2 * $(grep -c . text.alone)))"
is "... with a warning" "$(grep -c 'was built without MPI, so each rank does all the work' err)" 2
done_testing
