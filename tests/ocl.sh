# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2034,SC2154 # variables of lib.sh, and for the tests
#
# Helpers of the OpenCL tests: run a workload plain and measured, hold what the tool says against
# what the program counted. Source after tests/lib.sh and tests/e2e.sh. Its users are
# tests/cli/opencl/ocl_*.sh. Must not: look at times between runs; a truth is compared with the
# measurement of the same run.
#
# After sourcing:
#	W               directory of the workloads
#	POCL_CACHE_DIR  where PoCL keeps what it compiled

# A test that needs no device (it reads measurements of others) sets ocl_device=no before.
W=$builddir/tests/workload/opencl
unset OCL_TRUTH OPENCL_LAYERS
if [ "${ocl_device-}" != no ]; then
	[ -x "$W/ocl_device" ] || skip_all "built without OpenCL"
	ocl_status=0
	# what it compiles for this question serves the next script, too
	POCL_CACHE_DIR=$builddir/tests/pocl "$W/ocl_device" >/dev/null 2>"$T/probe.err" ||
		ocl_status=$?
	[ "$ocl_status" -ne 77 ] ||
		skip_all "$(tail -n 1 "$T/probe.err") (PoCL: package pocl-opencl-icd)"
	POCL_CACHE_DIR=$(public_dir pocl)
	export POCL_CACHE_DIR
fi
ocl_truths=$(public_dir truths)

# public_workloads NAME...: copies of these for any user, and W is their directory from here on; the
# tools are copies too. PoCL's cache is then nobody's.
public_workloads() {
	public_tools || skip_all "the tools are not staged; run make check"
	for ocl_name; do public_copy "$W/$ocl_name" || skip_all "$ocl_name is not built"; done
	W=$T
	export e2e_user=nobody
}

# truth NAME WHAT KIND: a sum of what the workload counted itself in the measured run of that name:
# truth paths count kernel. 0 when there is none.
truth() {
	awk -v what="$2" -v kind="$3" '$1 == what && $2 == kind { sum += $3 }
		END { printf "%.0f\n", sum }' "$ocl_truths/$1" 2>/dev/null
}

# counted NAME KIND...: commands of these kinds together.
counted() {
	ocl_sum=0
	ocl_of=$1
	shift
	for ocl_kind; do ocl_sum=$((ocl_sum + $(truth "$ocl_of" count "$ocl_kind"))); done
	echo $ocl_sum
}

# native NAME COMMAND...: without the tool; what it did is the plain run of that name.
native() {
	ocl_name=$1
	shift
	run_in "$T/plain-$ocl_name" env OCL_TRUTH="$ocl_truths/$ocl_name.plain" "$@"
}

# measured NAME PLAIN [OPTION...] -- COMMAND...: with these options of hpcrun-lite. Tests that exit
# status, output and error output are those of the native run PLAIN. The measurement directory is
# then in $M, and what the program counted in truth NAME.
measured() {
	ocl_name=$1
	ocl_plain=$T/plain-$2
	ocl_options=
	shift 2
	while [ "$1" != -- ]; do
		ocl_options="$ocl_options $1"
		shift
	done
	shift
	public_dir "m-$ocl_name" >/dev/null
	M=$T/m-$ocl_name/m
	rm -f "$ocl_truths/$ocl_name"
	# shellcheck disable=SC2086 # a list of options
	run_in "$T/measured-$ocl_name" env OCL_TRUTH="$ocl_truths/$ocl_name" "$HPCRUN" \
		-q $ocl_options -o "$M" -- "$@"
	is "$ocl_name: exit status" "$(cat "$T/measured-$ocl_name.status")" \
		"$(cat "$ocl_plain.status")"
	same "$ocl_name: output" "$ocl_plain.out" "$T/measured-$ocl_name.out"
	same "$ocl_name: error output" "$ocl_plain.err" "$T/measured-$ocl_name.err"
}

# gpu_total NAME METRIC [FUNCTION]: from the complete text of the analysis NAME: the sum of a
# metric, or below all contexts of one function.
gpu_total() {
	by_name -v metric="$2" -v name="${3-}" \
		'$1 == "tree" && get("metric") == metric &&
			(name == "" ? get("depth") == 0 : get("kind") == "function" &&
			get("name") == name) { sum += get("inclusive") } END {
				printf "%.9f\n", sum }' \
		"$T/text-$1"
}

# launched NAME KIND: operations of a kind that the ledger of the analysis NAME has.
launched() {
	by_name -v kind="$2" '$1 == "gpu-kind" && get("of") == "all" && get("kind") == kind {
		sum += get("launched") }
		END { printf "%d\n", sum }' "$T/text-$1"
}

# accounted NAME: each command that the program counted is an operation in the ledger, kind by kind,
# and the ledger closes.
accounted() {
	holds "$1: the ledger of the GPU closes" "$1" "gpu-closes 1"
	is "$1: every kernel counted is in the ledger" "$(launched "$1" kernel)" \
		"$(counted "$1" kernel native)"
	is "$1: every copy" "$(launched "$1" copy)" \
		"$(counted "$1" write read copy map unmap migrate svm-copy)"
	is "$1: every fill" "$(launched "$1" set)" "$(counted "$1" fill)"
	is "$1: every marker" "$(launched "$1" marker)" "$(counted "$1" marker svm-free)"
}

# same_time DESCRIPTION SECONDS NS: equal to a thousandth.
same_time() {
	within "$1" "$2" "$(awk -v n="$3" 'BEGIN { printf "%.9f", n * 0.999e-9 }')" \
		"$(awk -v n="$3" 'BEGIN { printf "%.9f", n * 1.001e-9 }')"
}
