#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# -e gpu=...: what is asked wrongly is refused with what exists, and -L tells what there is and why
# not.

. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
cd "$T" || exit 99
hpcrun=$builddir/hpcrun-lite/hpcrun-lite

run_in "$T/unknown" "$hpcrun" -e gpu=none -- true
is "an unknown back end: usage error" "$(cat unknown.status)" 2
like "which says what there is" "$(cat unknown.err)" \
	"^hpcrun-lite: unknown GPU back end 'none'; choose from: opencl"
run_in "$T/empty" "$hpcrun" -e gpu= -- true
is "no name: usage error" "$(cat empty.status)" 2
run_in "$T/option" "$hpcrun" -e gpu=opencl,fast -- true
is "an unknown option: usage error" "$(cat option.status)" 2
like "which says what there is" "$(cat option.err)" \
	"^hpcrun-lite: gpu=opencl has no option 'fast'; its options are: preload"
run_in "$T/twice" "$hpcrun" -e gpu=opencl -e gpu=opencl,preload -- true
is "given twice: usage error" "$(cat twice.status)" 2

if [ -z "$(find "$builddir/.libs" -name 'libhpcrun-lite-opencl.so')" ]; then
	run_in "$T/without" "$hpcrun" -e gpu=opencl -- true
	is "built without OpenCL: refused" "$(cat without.status)" 1
	like "with the cure" "$(cat without.err)" \
		"^hpcrun-lite: gpu=opencl: hpctoolkit-lite was built without OpenCL; install "
	like "-L says so" "$("$hpcrun" -L)" \
		"^  gpu=opencl hpctoolkit-lite was built without OpenCL"
	done_testing
	exit
fi

like "-L lists OpenCL: its devices, or why there are none" \
	"$("$hpcrun" -L | sed -n '/gpu=opencl/,/gpu=nvidia/p' | tr -s ' \n' ' ')" \
	"gpu=opencl (.*(finds no device|is not found)|.* options: preload (CPU|GPU|accelerator|device) .* units, of .*(layer of|preloaded before) /)"
mkdir empty-vendors
OCL_ICD_VENDORS=$T/empty-vendors "$hpcrun" -L >list
like "no implementation: said" "$(tr -s ' \n' ' ' <list)" "gpu=opencl /[^ ]* finds no device"
unlike "... and nobody misses it" "$(sed '/^Events:/,$d' list)" opencl

run_in "$T/alone" "$hpcrun" -e gpu=opencl -o m -- true
is "without a sampled event" "$(cat alone.status)" 0
ok "a measurement is there" sh -c 'ls alone/m/*.hpcrun'

done_testing
