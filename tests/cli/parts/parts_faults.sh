#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Ranks of hpcprof-lite that do not all do the same: started by scripts, with other arguments, in
# one rank only, or killed. None of them waits without a word, and no half database is left.
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/parts/parts_lib.sh"

cd "$T" || exit 99
"$builddir/tests/gen/gen_scale" -r 20 -t 3 -d 5 -l 48 -p 30 -s 2 job
"$HPCPROF" -q --no-structs --to cctdb -o alone job

# ---- scripts ----

cat >in_first <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || exit 0
"$HPCPROF" --no-structs --to cctdb -o first job
END
cat >in_each <<'END'
#!/bin/sh
"$HPCPROF" -q --mpi --no-structs --to cctdb -o each job
exit $?
END
cat >in_first_alone <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || exec sleep 600
exec "$HPCPROF" -q --no-structs --to cctdb -o waits job
END
chmod +x in_first in_each in_first_alone
mpi_run "$mine" 3 ./in_first >out 2>err
is "a script starts it in one rank: status" $? 0
like "... it works alone and says so" "$(cat err)" 'rank 0 of .* works alone, as a script'
is "... the database is whole" "$(diff -r alone first 2>&1)" ""
mpi_run "$mine" 3 ./in_each >out 2>err
is "a script starts it in each rank, with --mpi" "$? $(cat err)" "0 "
is "... the database is whole" "$(diff -r alone each 2>&1)" ""

"mpirun.$mine" -n 3 ./in_first_alone >out 2>err </dev/null &
mpirun=$!
ok "a rank that waits for others to start says so" wait_until grep -q \
	'warning: rank 0 of .* waits until all ranks have started this program' err
kill $mpirun
wait $mpirun
is "... and writes nothing" "$(ls -d waits* 2>/dev/null)" ""

# ---- ranks that differ ----

# One program: Open MPI 5.0.7 crashes if it is given two.
cat >other.sh <<'SH'
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 2 ] || exec "$1" -q --no-structs --to text job
exec "$1" -q --no-structs --to cctdb -o differs job
SH
run_limited 240 "mpirun.$mine" -n 3 sh other.sh "$HPCPROF" >out 2>err </dev/null
is "other arguments in one rank are refused" $? 1
is "... once" "$(grep -c 'the ranks have different versions of this program, or differ' err)" 1
is "... and nothing is written" "$(ls -d differs* 2>/dev/null)" ""

# ---- ranks that cannot read ----

cat >in_other_place <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 2 ] || cd / || exit
exec "$HPCPROF" -q --mpi --no-structs --to "$1" -o unread job
END
chmod +x in_other_place
for to in cctdb cctdb,json; do
	mpi_run "$mine" 4 ./in_other_place $to >out 2>err
	is "--to $to: one rank that does not see the files fails all" $? 1
	like "... and says why" "$(cat err)" \
		'^hpcprof-lite: rank 2: job/[0-9]*-.*\.hpcrun: no such file'
	is "... once" "$(grep -c hpcprof-lite: err)" 1
	is "... and nothing is written" "$(ls -d unread* 2>/dev/null)" ""
done

cat >outside <<'END'
#!/bin/sh
case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in
[12]) cd / ;;
esac
exec "$HPCPROF" -q --mpi --no-structs --to "$1" -o unwritten "$T/job"
END
chmod +x outside
export T
for to in cctdb cctdb,json; do
	mpi_run "$mine" 4 ./outside $to >out 2>err
	is "--to $to: ranks that cannot write fail all" $? 1
	like "... the lowest says why" "$(grep hpcprof-lite: err)" \
		'^hpcprof-lite: rank 1: unwritten.*/(profile\.db|src): No such file or directory$'
	is "... once" "$(grep -c hpcprof-lite: err)" 1
	is "... and nothing is written" "$(ls -d unwritten* 2>/dev/null)" ""
done

prof_ranks 3 -q --no-structs --to text,cctdb --metric nothing -o unwritten job >out 2>err
is "what only the first rank refuses fails all" $? 2
like "... and it says why" "$(grep hpcprof-lite: err)" \
	"^hpcprof-lite: --metric: no metric 'nothing'"
is "... once" "$(grep -c hpcprof-lite: err)" 1
is "... and nothing is written" "$(ls -d unwritten* 2>/dev/null)" ""

NO_COLOR=1 # Open MPI gives ranks a terminal
export NO_COLOR
with_other_cache="3 2"
if [ -n "${SANITIZER:-}" ]; then
	skip "one of the ranks finds other structures" "a program with a sanitizer"
	with_other_cache=
else
	"$HPCRUN" -q -e CPUTIME@f1000 -o real "$builddir/tests/gen/gen_scale" -r 200 -t 4 -l 256 \
		big
	"$HPCPROF" -q --to cctdb,text -o real.alone real >text.alone
fi
cat >with_other_cache <<'END'
#!/bin/sh
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || HPCTOOLKIT_LITE_CACHE=$PWD/nowhere
exec "$HPCPROF" -q --mpi --no-structs --to cctdb,text -o real.ranks real
END
chmod +x with_other_cache
for n in $with_other_cache; do
	mpi_run "$mine" "$n" ./with_other_cache >text.ranks 2>err
	is "one of $n ranks finds other structures: status" $? 0
	is "... the first does all the work, and says so" "$(cat err)" "hpcprof-lite: warning: \
the ranks did not read the same measurement: the first one does all the work"
	is "... the database is whole" "$(diff -r real.alone real.ranks 2>&1)" ""
	same "... and so is the text" text.alone text.ranks
	rm -rf real.ranks
done

# ---- ranks that end ----

write_named
for rank in 0 2; do
	kill_writing $rank "mpirun.$mine" -n 3 ./named
	unlike "SIGKILL to rank $rank ends all: status" "$?" "^0\$"
	is "... and leaves no part of a database" "$(ls -d killed* 2>/dev/null)" ""
done
done_testing
