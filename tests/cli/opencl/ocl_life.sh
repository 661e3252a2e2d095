#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# OpenCL in the life of processes: fork, exec, SIGKILL in the middle, operations beyond the bound on
# records, several ranks, programs that the user measures with a layer of their own, and processes
# that do not use OpenCL, into which nothing comes.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"
public_workloads ocl_end ocl_storm
export e2e_structs=--no-structs

# --- fork and exec
for way in fork before exec; do
	native $way "$W/ocl_end" $way
	measured $way $way -e CPUTIME -e gpu=opencl -- "$W/ocl_end" $way
	is "$way: both are measured" "$(processes "$M")" 2
	analyse $way text "$M"
	holds "$way: the ledger of the GPU closes" $way "gpu-closes 1"
	is "$way: every kernel is in the ledger, once" "$(launched $way kernel)" \
		"$(counted $way kernel)"
done

# --- killed: at random moments; what was launched is there, and what was not done yet is told apart
program=
# shellcheck disable=SC2016 # expanded at the end
at_exit 'if [ -n "$program" ]; then kill -KILL "$program"; fi'
for try in $(thorough "1 3" "1 2 3 4 5"); do
	M=$(public_dir killed$try)/m
	as_nobody "$HPCRUN" -q -e gpu=opencl -o "$M" -- "$W/ocl_end" forever >"$T/begun$try" \
		2>"$T/err$try" &
	pid=$!
	tries=0
	until program=$(sed -n 's/^begun //p' "$T/begun$try" 2>/dev/null) && [ -n "$program" ] ||
		[ $((tries += 1)) -gt 3000 ]; do
		sleep 0.02
	done
	if [ -z "$program" ]; then
		fail "killed $try: the program begins" "$(cat "$T/err$try")"
		kill $pid 2>/dev/null
		wait $pid 2>/dev/null
		continue
	fi
	sleep 0.0$((try * 17 % 10))$try
	kill -KILL "$program"
	program=
	wait $pid 2>/dev/null
	analyse killed$try text "$M"
	holds "killed $try: the ledger of the GPU closes" killed$try "gpu-closes 1"
	within "killed $try: kernels are there" "$(launched killed$try kernel)" 201 1000000000
done

# --- summed up beyond the bound
native storm "$W/ocl_storm" 3 2000
measured few storm -e gpu=opencl --gpu-memory 64K -- "$W/ocl_storm" 3 2000
analyse few text "$M"
accounted few
same_time "records beyond the bound: kernel time" "$(gpu_total few "GKER (sec)")" \
	"$(truth few ns kernel)"
within "records beyond the bound: some are summed up" \
	"$(by_name '$1 == "gpu-kind" && get("of") == "all" &&
		get("kind") == "kernel" { print get("aggregated") }' "$T/text-few")" 1 5999
measured none storm -e gpu=opencl --gpu-memory 0 -- "$W/ocl_storm" 3 2000
analyse none text "$M"
accounted none
same_time "no records at all: kernel time" "$(gpu_total none "GKER (sec)")" \
	"$(truth none ns kernel)"

# --- no OpenCL, no trace of us
cat >"$T/maps.sh" <<'SH'
grep -c opencl /proc/self/maps
env | grep -i -e opencl -e hpctoolkit
SH
chmod a+r "$T/maps.sh"
run_in "$T/plain-none" sh "$T/maps.sh"
M=$(public_dir without)/m
run_in "$T/measured-none" "$HPCRUN" -q -e CPUTIME -e gpu=opencl -o "$M" -- sh "$T/maps.sh"
if grep -aq OPENCL_LAYERS "$(ldd "$W/ocl_storm" | awk '/libOpenCL/ { print $3 }')"; then
	same "a program without OpenCL: nothing is loaded, nothing in its environment" \
		"$T/plain-none.out" "$T/measured-none.out"
else # then the back end is preloaded into every process
	is "a program without OpenCL: nothing in its environment" \
		"$(sed 1d "$T/measured-none.out")" "$(sed 1d "$T/plain-none.out")"
fi
analyse without text "$M"
unlike "a program without OpenCL: no operation" "$(cat "$T/text-without")" '^gpu-kind'

# --- refused with a reason
not_ok "an unknown option of the back end is refused" as_nobody "$HPCRUN" \
	-q -e gpu=opencl,nonsense -o "$T/nonsense" -- true
not_ok "an unknown back end is refused" as_nobody "$HPCRUN" -q -e gpu=nonsense -o "$T/nonsense" \
	-- true
like "it is told apart" "$(cat "$T/.ok.out")" 'nonsense'
"$HPCRUN" -L >"$T/list" 2>&1
like "-L lists gpu=opencl" "$(cat "$T/list")" 'gpu=opencl'

# --- ranks
if have mpirun && [ "$(id -u)" -eq 0 ]; then
	# A program whose kernel PoCL has compiled by now: it starts compilers for others, which
	# would be measured, too.
	M=$(public_dir ranks)/m
	cd "${M%/*}" || exit 99 # an ordinary user may not be let into the directory of the build
	HOME=$(public_dir home) run_limited 120 "$tap_runuser" -u nobody -- mpirun --oversubscribe \
		--bind-to none -n 2 \
		"$HPCRUN" -q -e CPUTIME -e gpu=opencl -o "$M" -- "$W/ocl_storm" 2 10 \
		>"$T/ranks.out" 2>"$T/ranks.err" </dev/null
	is "two ranks: status" $? 0
	cd "$T" || exit 99
	is "two ranks: a file each" "$(processes "$M")" 2
	analyse ranks text "$M"
	is "two ranks: the kernels of both" "$(launched ranks kernel)" 40
else
	skip "two ranks" "no mpirun here, or not root"
fi

done_testing
