#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The mini-application on an OpenCL device: the same numbers as with OpenMP, as far as they are
# printed, whatever the case; and checkpoints of one can be read by the other.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"

melt=$builddir/tests/workload/miniapp/melt
melt_opencl=$builddir/tests/workload/miniapp/melt-opencl
[ -x "$melt_opencl" ] || skip_all "the mini-application is not built (no OpenMP)"
run_limited 120 "$melt_opencl" --cells 8 --steps 1 >/dev/null 2>"$T/err" ||
	! grep -q 'double precision' "$T/err" || skip_all "$(cat "$T/err")"

# numbers FILE: the lines of the steps, without the residual, which is what is left of rounding.
numbers() {
	awk '/^ *[0-9]+ +[0-9]+\.[0-9]+ / { print $1, $2, $3, $5, $6, $7 }' "$1"
}

# agree DESCRIPTION FILE1 FILE2: the same steps and iterations; the other numbers within a millionth
# (or the last digit printed).
agree() {
	if numbers "$2" | grep -q . && [ "$(numbers "$2" | wc -l)" = "$(numbers "$3" | wc -l)" ] &&
		{ numbers "$2"; numbers "$3"; } | awk -v n="$(numbers "$2" | wc -l)" '
		NR <= n { for (i = 1; i <= NF; i++) a[NR, i] = $i; next }
		{ for (i = 1; i <= NF; i++) {
			d = $i - a[NR - n, i]
			if (d < 0) d = -d
			if (i <= 3 ? d != 0 : d > 1.5e-6 * $i + 0.00015) { print "# step " $1 ": " a[NR - n, i] " and " $i; bad = 1 } } }
		END { exit bad }'; then
		pass "$1"
	else
		fail "$1"
	fi
}

for options in "--cells 32 --steps 4" "--cells 30 --steps 3" \
	"--case linear --cells 16 --steps 6"; do
	# shellcheck disable=SC2086 # a list of options
	{
		run_limited 120 "$melt" $options >"$T/omp"
		is "$options: status with OpenMP" $? 0
		run_limited 120 "$melt_opencl" $options >"$T/ocl"
		is "$options: status with OpenCL" $? 0
	}
	agree "$options: the same numbers" "$T/omp" "$T/ocl"
	like "$options: verified" "$(cat "$T/ocl")" '^verified$'
	like "$options: says its device" "$(cat "$T/ocl")" '^melt: OpenCL device .'
done
run_limited 120 "$melt_opencl" --cells 16 --steps 4 --checkpoint "$T/ck" --every 2 >"$T/through"
run_limited 120 "$melt_opencl" --cells 16 --steps 2 --restart "$T/ck.2" >"$T/again"
is "a restart ends with the same bits" "$(grep checksum "$T/again")" "$(grep checksum "$T/through")"
run_limited 120 "$melt" --cells 16 --steps 2 --restart "$T/ck.2" >"$T/other"
agree "OpenMP goes on from a checkpoint of OpenCL" "$T/again" "$T/other"

done_testing
