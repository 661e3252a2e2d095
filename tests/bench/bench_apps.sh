#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# What measuring costs parallel programs that others wrote, as Debian has them: ratios of wall time
# and CPU time to the plain program, medians of RUNS (default 5) interleaved runs of each kind. Also
# whether they computed the same and every ledger closed. What is not installed is left out with a
# word. Asserts nothing. APPS and KINDS choose; BASE is the kind that the ratios are for.
b=$(cd "${top_builddir:-.}" && pwd)
hpcrun=$b/hpcrun-lite/hpcrun-lite
hpcprof=$b/hpcprof-lite/hpcprof-lite
n=${RUNS:-5}
base=${BASE:-plain}
t=$(mktemp -d "${TMPDIR:-/tmp}/bench-apps.XXXXXX") || exit 1
trap 'rm -rf "$t"' EXIT
share=/usr/share

# An application: a function that makes its input in the current directory, one that runs it (`tool`
# is what stands in front of it, `mpi` starts its ranks), and one that prints what it computed.

ranks() {
	mpirun --allow-run-as-root --oversubscribe -n 2 "$@"
}

needs_gromacs="gmx gmx_mpi mpirun"
input_gromacs() {
	printf '%s\n' '#include "oplsaa.ff/forcefield.itp"' '#include "oplsaa.ff/spce.itp"' \
		'[ system ]' water '[ molecules ]' >topol.top
	gmx solvate -cs spc216 -box 4 4 4 -o box.gro -p topol.top
	echo 'integrator=steep nsteps=200 coulombtype=PME rcoulomb=0.9 rvdw=0.9' |
		tr ' ' '\n' >least.mdp
	gmx grompp -f least.mdp -c box.gro -p topol.top -o least.tpr -maxwarn 5
	OMP_NUM_THREADS=2 gmx mdrun -ntmpi 1 -s least.tpr -deffnm least
	echo 'integrator=md dt=0.002 nsteps=1000 nstxout-compressed=100 coulombtype=PME' \
		'rcoulomb=0.9 rvdw=0.9 gen-vel=yes gen-seed=1 constraints=h-bonds' |
		tr ' ' '\n' >run.mdp
	gmx grompp -f run.mdp -c least.gro -p topol.top -o topol.tpr -maxwarn 5
}
mdrun="-nobackup mdrun -npme 0 -pin off -reprod -s topol.tpr -deffnm r"
run_gromacs_omp() {
	OMP_NUM_THREADS=2 $tool gmx $mdrun -ntmpi 1 -ntomp 2
}
run_gromacs_mpi() {
	OMP_NUM_THREADS=1 ranks $tool gmx_mpi $mdrun -ntomp 1
}
run_gromacs_hybrid() {
	OMP_NUM_THREADS=2 ranks $tool gmx_mpi $mdrun -ntomp 2
}
result_gromacs() {
	cat r.xtc
}

needs_hpcc="hpcc mpirun"
input_hpcc() {
	sed -e 's/^1000         Ns/3000         Ns/' -e 's/^2            Ps/1            Ps/' \
		$share/doc/hpcc/examples/_hpccinf.txt >hpccinf.txt
}
run_hpcc() {
	ranks $tool hpcc
}
result_hpcc() {
	grep -oE 'Success=.|PASSED|FAILED' hpccoutf.txt
}

needs_lammps="lmp mpirun $share/lammps/examples/peptide"
input_lammps() {
	cp $share/lammps/examples/peptide/* .
	sed -i 's/^run.*/run 700/' in.peptide
}
run_lammps() {
	OMP_NUM_THREADS=1 ranks $tool lmp -in in.peptide -log log.lammps
}
result_lammps() {
	grep -E 'TotEng|PotEng|E_' log.lammps
}

cavity=$share/doc/openfoam-examples/examples/incompressible/icoFoam/cavity/cavity
needs_openfoam="icoFoam decomposePar mpirun $cavity"
input_openfoam() {
	cp -r "$cavity"/* .
	printf '%s\n' 'FoamFile { version 2.0; format ascii; class dictionary; object d; }' \
		'numberOfSubdomains 2; method simple; simpleCoeffs { n (2 1 1); delta 0.001; }' \
		>system/decomposeParDict
	sed -i 's/(20 20 1)/(100 100 1)/' system/blockMeshDict
	sed -i -e 's/^deltaT .*/deltaT 0.001;/' -e 's/^endTime .*/endTime 0.2;/' \
		-e 's/^writeInterval .*/writeInterval 100;/' system/controlDict
	WM_PROJECT_DIR=$share/openfoam blockMesh
	WM_PROJECT_DIR=$share/openfoam decomposePar
}
run_openfoam() {
	WM_PROJECT_DIR=$share/openfoam ranks $tool icoFoam -parallel
}
result_openfoam() {
	cat processor?/0.2/U processor?/0.2/p
}

si=$share/doc/quantum-espresso/examples/EPW/sic/pp/Si.pz-vbc.UPF.gz
needs_espresso="pw.x mpirun $si"
input_espresso() {
	gzip -dc $si >Si.UPF
	cat >si.in <<-END
		&control
		  pseudo_dir='.', outdir='.', tstress=.true., tprnfor=.true.
		/
		&system
		  ibrav=2, celldm(1)=10.20, nat=2, ntyp=1, ecutwfc=50.0
		/
		&electrons
		  conv_thr=1.0d-10
		/
		ATOMIC_SPECIES
		Si 28.086 Si.UPF
		ATOMIC_POSITIONS (alat)
		Si 0.00 0.00 0.00
		Si 0.27 0.25 0.25
		K_POINTS automatic
		5 5 5 0 0 0
	END
}
run_espresso() {
	ranks $tool pw.x -in si.in
}
result_espresso() {
	grep -E '^!|Total force' stdout
}

needs_gm="gm"
input_gm() {
	gm convert -size 2500x2500 plasma:red-blue in.miff
}
run_gm() {
	OMP_NUM_THREADS=2 $tool gm convert in.miff -blur 0x12 -sharpen 0x2 -resize '60%' out.ppm
}
result_gm() {
	cat out.ppm
}

needs_clustalo="clustalo"
input_clustalo() {
	awk 'BEGIN { srand(7); a = "ACDEFGHIKLMNPQRSTVWY"
		for (i = 0; i < 60; i++) {
			s = ""
			for (j = 0; j < 250; j++) s = s substr(a, 1 + int(rand() * 20), 1)
			print ">s" i "\n" s
		} }' >in.fa
}
run_clustalo() {
	$tool clustalo --threads=2 --force -i in.fa -o out.aln
}
result_clustalo() {
	cat out.aln
}

# clocks FILE: writes the time, and the CPU time of the commands that have ended. A pipe or $(...)
# would have commands of its own.
clocks() {
	times >"$t/times"
	{ date +%s.%N; tail -n 1 "$t/times"; } | tr 'ms\n' '   ' >"$1"
}

# measure APP KIND: one run in a copy of the input; a line in $t/APP.KIND: wall s, CPU s.
measure() {
	app=$1
	rm -rf "$t/run"
	cp -r "$t/input.${app%%_*}" "$t/run"
	tool=
	[ "$2" = plain ] || tool="$hpcrun -q -e $(echo "$2" | sed 's/+/ -e /g') -o $t/run/m --"
	(
		cd "$t/run" || exit 1
		clocks "$t/before"
		"run_$app" >stdout 2>stderr || echo "$app, $2: exit status $?" >&2
		clocks "$t/after"
		paste "$t/before" "$t/after" | awk '{ print $6 - $1,
			($7 - $2 + $9 - $4) * 60 + $8 - $3 + $10 - $5 }' >>"$t/$app.$2"
		"result_${app%%_*}" | cksum >>"$t/$app.results"
	)
	[ "$2" = plain ] || "$hpcprof" -q --to text --by line -o "$t/run/db" "$t/run/m" |
		sed -n 's/^Ledger: .* lost/lost/p' >>"$t/$app.ledgers"
}

# ratio FILE BASE COLUMN: the median of the ratios of pairs.
ratio() {
	paste "$1" "$2" | awk -v c="$3" '$(c + 2) > 0 { print $c / $(c + 2) }' | sort -n |
		awk '{ v[NR] = $1 } END { if (NR) printf "%.3f\n", v[int((NR + 1) / 2)] }'
}

report() {
	app=$1
	printf '%-16s %s' "$app" "$base $(sort -n "$t/$app.$base" | awk '{ w[NR] = $1; c[NR] = $2 }
		END { m = int((NR + 1) / 2); printf "%.2f s, CPU %.2f s", w[m], c[m] }')"
	for kind in $kinds; do
		[ "$kind" = "$base" ] || printf ', %s x%s, CPU x%s' "$kind" \
			"$(ratio "$t/$app.$kind" "$t/$app.$base" 1)" \
			"$(ratio "$t/$app.$kind" "$t/$app.$base" 2)"
	done
	echo
	[ "$(sort -u "$t/$app.results" | wc -l)" -eq 1 ] || echo "  the results differ"
	grep -v '^lost; it closes for every thread' "$t/$app.ledgers" | sort | uniq -c
}

# is_known EVENT: whether this build has it.
is_known() {
	"$hpcrun" -q -e "$1" -o "$t/probe" -- true 2>/dev/null
	status=$?
	rm -rf "$t/probe"
	return $status
}
kinds=$base
for kind in ${KINDS:-plain CPUTIME CPUTIME+OFFCPU CPUTIME+MPI}; do
	[ "$kind" != "$base" ] || continue
	is_known "${kind#*+}" && kinds="$kinds $kind"
done

for app in ${APPS:-gromacs_omp gromacs_mpi gromacs_hybrid hpcc lammps openfoam espresso gm \
	clustalo}; do
	family=${app%%_*}
	eval "needs=\$needs_$family"
	for need in $needs; do
		command -v "$need" >/dev/null || [ -e "$need" ] || {
			echo "$need is not installed: no $app"
			continue 2
		}
	done
	if [ ! -d "$t/input.$family" ]; then
		mkdir "$t/input.$family"
		(cd "$t/input.$family" && "input_$family" >"$t/input.log" 2>&1) || {
			echo "no input for $app:"
			tail -n 5 "$t/input.log"
			continue
		}
	fi
	i=0
	while [ $i -lt "$n" ]; do
		i=$((i + 1))
		for kind in $kinds; do
			measure "$app" "$kind"
		done
	done
	report "$app"
done
