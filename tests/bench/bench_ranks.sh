#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# CPU time of hpcprof-lite as N ranks of an MPI program: of all ranks together, and of the one that
# takes most. Each rank has one thread. JOBS="NAME ...", RANKS="N ..." and WRITES="LIST ..." choose.
# Figures only; nothing is asserted.
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/cli/parts/parts_lib.sh"

cd "$T" || exit 99
cat >timed <<'EOF'
#!/bin/sh
"$@" >/dev/null
times >times.$$
sed -n '$s/[ms]/ /gp' times.$$ | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }' >cpu.$$
EOF
chmod +x timed

# bench_job NAME OUTPUTS GENERATOR-OPTION...
bench_job() {
	bench_name=$1
	bench_to=$2
	shift 2
	rm -rf job
	"$builddir/tests/gen/gen_scale" "$@" job
	for n in ${RANKS:-1 2 4 8}; do
		rm -rf db cpu.*
		mpi_run "$mine" $n ./timed "$HPCPROF" --mpi -q -j 1 --no-structs --to "$bench_to" \
			-o db job
		cat cpu.* | awk -v n=$n -v what="$bench_name, --to $bench_to" '
			{ all += $1; most = most > $1 ? most : $1 }
			END { printf "%-40s %d ranks: all %6.2f s, one %6.2f s\n",
				what, n, all, most }'
	done
}

for to in ${WRITES:-cctdb text,html,cctdb}; do
	for job in ${JOBS:-ranks threads lines calls}; do
		case $job in
		ranks) bench_job "2048 x 1" "$to" -r 2048 -t 1 -d 6 -l 1024 -p 30 -s 100 ;;
		threads) bench_job "1000 x 64" "$to" -r 1000 -t 64 -d 5 -l 64 -p 50 -s 20 ;;
		large) bench_job "4000 x 64" "$to" -r 4000 -t 64 -d 5 -l 64 -p 50 -s 20 ;;
		lines) bench_job "time lines" "$to" -r 2048 -t 1 -d 5 -l 64 -p 50 -s 9600 ;;
		gpu) bench_job "GPU" "$to" -r 512 -t 1 -d 5 -l 64 -p 50 -s 200 -g 2000 ;;
		calls) bench_job "calls of MPI" "$to" -r 1000 -t 4 -l 64 -p 50 -s 20 -m 1000 ;;
		*) diag "no such job: $job" ;;
		esac
	done
done
