#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Measurements of all kinds by three ranks: the database and the reports are those of one process.
# All ranks share the database; if there are reports, the first rank makes these and two ranks share
# the database.
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/parts/parts_lib.sh"

cd "$T" || exit 99
# in_file COMMAND...: what a rank says goes into a file; Open MPI takes seconds for some megabytes.
cat >in_file <<'EOF'
#!/bin/sh
exec "$@" >>text.three
EOF
chmod +x in_file

# compare_ranks NAME DIR [database]: the last one, that the database alone is the same, too.
compare_ranks() {
	"$HPCPROF" -q --no-structs --to cctdb,text,json --all -o one "$2" >text.one 2>err.one
	parts_status=$?
	: >text.three
	mpi_run "$mine" 3 ./in_file "$HPCPROF" -q --no-structs --to cctdb,text,json --all \
		-o three "$2" 2>err.three
	is "$1: three ranks return the same" "$?" "$parts_status"
	is "... write the same" "$(diff -r one three 2>&1)" ""
	same "... say the same" text.one text.three
	same "... and warn of the same" err.one err.three
	[ "${3:-}" = database ] || [ "$(thorough few all)" = all ] || { rm -rf one three; return; }
	prof_ranks 3 -q --no-structs --to cctdb -o db "$2" 2>err
	is "... the database alone is the same" "$(diff -r -x profile.json one db 2>&1; cat err)" \
		"$(cat err.one)"
	rm -rf one three db
}

# shellcheck disable=SC2046 # names
for golden in prof/gpu-killed torch_backward $(thorough "" "prof/job forks"); do
	name=$(basename "$golden")
	mkdir "$name"
	cp "$srcdir/tests/golden/$golden"/*.hpcrun* "$name"
	gunzip -f "$name"/*.gz 2>/dev/null
	compare_ranks "$golden" "$name"
done
mkdir torch nvidia nvidia/gpubins
cp "$srcdir"/tests/golden/torch/*.hpcrun.gz torch
gunzip -f torch/*.gz
[ "$(thorough few all)" = few ] || compare_ranks "torch, all in one job" torch
# Each process seems to have a host of its own, and so a GPU. Structures of kernels say what samples
# wait for.
cp "$srcdir"/tests/golden/nvidia/*.hpcrun.gz nvidia
cp "$srcdir"/tests/golden/nvidia/gpubins/*.gz nvidia/gpubins
gunzip -f nvidia/*.gz nvidia/gpubins/*.gz
n=0
for f in nvidia/*.hpcrun; do
	n=$((n + 1))
	# host_id of struct msr_header
	printf %b "\\0$(printf %o $n)" | dd of="$f" bs=1 seek=32 conv=notrunc 2>/dev/null
done
"$HPCPROF" -q --to text nvidia >/dev/null 2>&1 # makes structures
compare_ranks "nvidia, each on a host" nvidia database
ok "... and structures say what waits" grep -q ^gpu-blame text.one
"$builddir/tests/gen/gen_scale" -r 24 -t 1 -g 50 gpu.many
[ "$(thorough few all)" = few ] ||
	compare_ranks "queues of 24 ranks on three hosts" gpu.many
"$builddir/tests/gen/gen_scale" -r 40 -t 2 -g 20 -m 20 -e 30 all.many
compare_ranks "queues, calls and meters of 40 ranks" all.many database
"$builddir/tests/gen/gen_scale" -r 9 -t 2 -m 50 mpi.many
[ "$(thorough few all)" = few ] ||
	compare_ranks "calls of nine ranks on two hosts" mpi.many
done_testing
