#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# What the tool says of OpenCL commands is what the program itself knows: kernel times equal its own
# event readings, whole, by kernel and by CPU path; every command that it counted is in the ledger;
# through both entrances, with and without CPU events beside.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"
public_workloads ocl_paths ocl_solver ocl_storm ocl_queues

native paths "$W/ocl_paths" 20
native solver "$W/ocl_solver" 48
[ "$(thorough few all)" = few ] || native storm "$W/ocl_storm" 3 2000
native queues "$W/ocl_queues" 5

for entrance in layer preload; do
	# what differs is tried by ocl_same.sh
	[ $entrance = layer ] || [ "$(thorough few all)" = all ] || continue
	case $entrance in layer) event=gpu=opencl ;; *) event=gpu=opencl,preload ;; esac

	name=paths-$entrance
	measured "$name" paths -e CPUTIME -e "$event" -- "$W/ocl_paths" 20
	analyse "$name" text "$M"
	accounted "$name"
	same_time "$name: kernel time" "$(gpu_total "$name" "GKER (sec)")" \
		"$(truth "$name" ns kernel)"
	for path in path_once path_thrice; do
		same_time "$name: kernel time under $path" \
			"$(gpu_total "$name" "GKER (sec)" $path)" "$(truth "$name" ns kernel:$path)"
	done
	is "$name: kernels counted" "$(gpu_total "$name" "GKER:COUNT")" \
		"$(truth "$name" count kernel).000000000"

	name=solver-$entrance
	measured "$name" solver -e "$event" -- "$W/ocl_solver" 48
	analyse "$name" text "$M"
	accounted "$name"
	same_time "$name: kernel time" "$(gpu_total "$name" "GKER (sec)")" \
		"$(truth "$name" ns kernel)"
	for kernel in laplace inner_product axpy xpay; do
		same_time "$name: time of $kernel" "$(gpu_total "$name" "GKER (sec)" $kernel)" \
			"$(truth "$name" ns kernel:$kernel)"
	done
	same_time "$name: time of copies and maps" "$(gpu_total "$name" "GXCOPY (sec)")" \
		$(($(truth "$name" ns write) + $(truth "$name" ns read) + $(truth "$name" ns \
		copy) + $(truth "$name" ns map) + $(truth "$name" ns unmap)))
	is "$name: bytes to the device" "$(gpu_total "$name" "GXCOPY:H2D (B)")" \
		"$(truth "$name" bytes write).000000000"
	is "$name: bytes from the device" "$(gpu_total "$name" "GXCOPY:D2H (B)")" \
		"$(truth "$name" bytes read).000000000"
	is "$name: bytes on the device" "$(gpu_total "$name" "GXCOPY:D2D (B)")" \
		"$(truth "$name" bytes copy).000000000"
	is "$name: bytes mapped" "$(gpu_total "$name" "GXCOPY:MAP (B)")" \
		"$(truth "$name" bytes map).000000000"
	same_time "$name: time of fills" "$(gpu_total "$name" "GMSET (sec)")" \
		"$(truth "$name" ns fill)"

	# ocl_same.sh and ocl_life.sh have it, too
	[ "$(thorough few all)" = all ] || continue
	name=storm-$entrance
	measured "$name" storm -e CPUTIME -e "$event" -- "$W/ocl_storm" 3 2000
	analyse "$name" text "$M"
	accounted "$name"
	same_time "$name: kernel time" "$(gpu_total "$name" "GKER (sec)")" \
		"$(truth "$name" ns kernel)"
done

name=queues
measured "$name" queues -e gpu=opencl -- "$W/ocl_queues" 5
analyse "$name" text "$M"
accounted "$name"

done_testing
