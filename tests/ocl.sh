# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=sh
# shellcheck disable=SC2034 # variables are for the tests
#
# Helpers of the OpenCL tests. Source after tests/lib.sh. Its users are tests/cli/ocl_*.sh.
#
# After sourcing:
#	W               directory of the workloads
#	POCL_CACHE_DIR  where PoCL keeps what it compiled, open to every user

# shellcheck disable=SC2154 # builddir comes from lib.sh
W=$builddir/tests/workload
[ -x "$W/ocl_paths" ] || skip_all "built without OpenCL"
POCL_CACHE_DIR=$T/pocl
export POCL_CACHE_DIR
mkdir "$POCL_CACHE_DIR"
chmod 1777 "$POCL_CACHE_DIR"
unset OCL_TRUTH OPENCL_LAYERS
ocl_status=0
"$W/ocl_paths" 1 >/dev/null 2>"$T/.ocl" || ocl_status=$?
[ "$ocl_status" -ne 77 ] || skip_all "no OpenCL platform with a device here (PoCL: package pocl-opencl-icd)"

# truth FILE WHAT NAME: a sum of what the workloads counted themselves: truth t count kernel; 0 when there is none.
truth() {
	awk -v what="$2" -v name="$3" '$1 == what && $2 == name { sum += $3 } END { printf "%.0f\n", sum }' "$1"
}
