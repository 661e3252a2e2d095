#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# hpcprof-lite in jobs of Slurm: the tasks of a step write one database. Batch scripts and shells
# that Slurm gives several tasks work alone.
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/parts/parts_lib.sh"
. "$srcdir/tests/slurm.sh"

why=$(slurm_missing)
[ -z "$why" ] || skip_all "$why"
case $mine in openmpi) plugin=pmix ;; *) plugin=pmi2 ;; esac
slurm_start || skip_all "Slurm does not start here"
srun --mpi=list 2>&1 | grep -q "$plugin" || skip_all "no srun --mpi=$plugin"
cd "$T" || exit 99
"$builddir/tests/gen/gen_scale" -r 20 -t 3 -d 5 -l 48 -p 30 -s 2 job
options="--no-structs --to cctdb job -o"
# shellcheck disable=SC2086 # two options
"$HPCPROF" -q $options alone

# same_database DIR
same_database() {
	is "... the database is whole" "$(diff -r alone "$1" 2>&1)" ""
}

# ---- steps ----

# shellcheck disable=SC2086 # several options
run_limited 120 srun --mpi=$plugin -n 4 "$HPCPROF" $options four >out 2>err
is "four tasks: status" $? 0
is "... one of them speaks" "$(cat out err)" "hpcprof-lite: cctdb in four"
same_database four
# shellcheck disable=SC2086 # several options
run_limited 120 srun --mpi=$plugin -n 1 "$HPCPROF" $options one >out 2>err
is "one task: status and words" "$? $(cat out err)" "0 hpcprof-lite: cctdb in one"
same_database one

# ---- scripts and shells ----

printf '#!/bin/sh\n"%s" %s batch\nstatus=$?\n"%s" %s step || exit\nexit $status\n' \
	"$HPCPROF" "$options" "srun\" --mpi=$plugin -n 3 \"$HPCPROF" "$options" >batch.sh
run_limited 120 sbatch -W -n 4 -o batch.out batch.sh >out 2>err
is "a batch script of four tasks: status" $? 0
is "... it works alone, without a word, and so does a step of it" "$(cat batch.out)" \
	"hpcprof-lite: cctdb in batch
hpcprof-lite: cctdb in step"
same_database batch
same_database step

run_limited 120 salloc -n 4 sh -c "'$HPCPROF' $options salloc" >out 2>err
is "a shell of salloc: status" $? 0
is "... works alone, without a word" "$(grep hpcprof err)" "hpcprof-lite: cctdb in salloc"
same_database salloc

cat >shell.sh <<END
#!/bin/sh
[ "\$SLURM_PROCID" = 0 ] || exit 0
"$HPCPROF" $options pty
exit \$?
END
chmod +x shell.sh
if have script; then
	run_limited 120 script -qec "srun --mpi=$plugin -n 4 --pty ./shell.sh" /dev/null >out 2>err
	is "a shell of srun --pty: status" $? 0
	like "... works alone, and says so" "$(cat out)" 'rank 0 of [A-Za-z]* works alone, as a'
	same_database pty
else
	skip "a shell of srun --pty" "no script"
fi

# ---- a task that is killed ----

write_named
kill_writing 1 srun --mpi=$plugin --kill-on-bad-exit=1 -n 3 ./named
unlike "SIGKILL to a task ends the step: status" "$?" "^0\$"
is "... and leaves no part of a database" "$(ls -d killed* 2>/dev/null)" ""
done_testing
