#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# How the OpenCL back end comes into a process: as a layer of the ICD loader, beside layers of the
# user's; preloaded, where that is asked for or the loader is too old; never twice; and not at all
# into processes that do not use OpenCL. The program sees nothing of it in its environment.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/e2e.sh"
. "$srcdir/tests/ocl.sh"

H=$builddir/hpcrun-lite/hpcrun-lite
module=$(find "$builddir/.libs" -name libhpcrun-lite-opencl.so)
own=$(find "$W/.libs" -name ocl_user_layer.so)

# enter NAME [OPTION...] -- COMMAND...: measured; output in NAME.out, NAME.err, the report's word
# for the entrance in $entrance, and launches in $n.
enter() {
	e_name=$1
	shift
	e_options=
	while [ "$1" != -- ]; do
		e_options="$e_options $1"
		shift
	done
	shift
	rm -rf "$T/m"
	# shellcheck disable=SC2086 # the options are meant to be split
	"$H" -v $e_options -o "$T/m" -- "$@" >"$T/$e_name.out" 2>"$T/$e_name.err"
	entrance=$(sed -n 's/^ *gpu=opencl: *//p' "$T/$e_name.err")
	n=$(awk '/GPU operations launched/ { gsub(",", ""); print $NF }' "$T/$e_name.err")
}

# The number of operations of the workload, and what it prints without us.
"$W/ocl_paths" 3 >"$T/plain.out" 2>"$T/plain.err"

enter layer -e gpu=opencl -- "$W/ocl_paths" 3
same "as a layer: output" "$T/plain.out" "$T/layer.out"
all=$n
loader=$(ldd "$W/ocl_paths" | awk '/libOpenCL/ { print $3 }')
layers=no
if grep -aq OPENCL_LAYERS "$loader"; then layers=yes; fi
if [ $layers = yes ]; then
	is "as a layer, the report says so" "$entrance" "ICD loader's layer"
else
	is "this machine's loader is too old: preloaded" "$entrance" preloaded
fi
ok "operations are recorded" test "$all" -gt 10

enter preload -e gpu=opencl,preload -- "$W/ocl_paths" 3
is "preloaded on request" "$entrance" preloaded
is "the same operations" "$n" "$all"
same "preloaded: output" "$T/plain.out" "$T/preload.out"

# A loader that knows no layers: ours with the name of the variable spoilt.
mkdir "$T/old"
sed 's/OPENCL_LAYERS/OPENCL_LAYERX/g' "$loader" >"$T/old/libOpenCL.so.1"
LD_LIBRARY_PATH=$T/old enter old -e gpu=opencl -- "$W/ocl_paths" 3
is "a loader without layers: preloaded" "$entrance" preloaded
is "the same operations" "$n" "$all"
like "and said" "$(cat "$T/old.err")" "too old for layers"

# A copy of the loader under another name, as wheels of Python bring it.
mkdir "$T/copy"
cp "$loader" "$T/copy/libOpenCL-1f2e3d4c.so.1.0.0"
ln -s libOpenCL-1f2e3d4c.so.1.0.0 "$T/copy/libOpenCL.so.1"
LD_LIBRARY_PATH=$T/copy enter copy -e gpu=opencl -- "$W/ocl_paths" 3
is "a copy of the loader" "$n" "$all"

# Never twice.
OPENCL_LAYERS=$module enter twice -e gpu=opencl -- "$W/ocl_paths" 3
is "named by the user too: once" "$n" "$all"
OPENCL_LAYERS=$module enter twice-preload -e gpu=opencl,preload -- "$W/ocl_paths" 3
is "preloaded and named: once" "$n" "$all"
OPENCL_LAYERS=$module "$W/ocl_paths" 3 >"$T/alone.out" 2>"$T/alone.err"
same "named in a run that is not measured: output" "$T/plain.out" "$T/alone.out"
same "and error output" "$T/plain.err" "$T/alone.err"

# The user's own layer.
if [ $layers = yes ]; then
	OPENCL_LAYERS=$own "$W/ocl_paths" 3 >"$T/own.out" 2>"$T/own.err"
	like "the user's layer works by itself" "$(cat "$T/own.err")" "the user's layer: [1-9]"
	OPENCL_LAYERS=$own enter beside -e gpu=opencl -- "$W/ocl_paths" 3
	is "beside the user's layer: as many kernels" "$(grep "user's layer" "$T/beside.err")" \
		"$(grep "user's layer" "$T/own.err")"
	is "and all operations" "$n" "$all"
else
	skip "the user's layer" "the loader knows no layers"
fi

# What the program sees.
for how in gpu=opencl gpu=opencl,preload; do
	is "$how: no variable of ours" \
		"$("$H" -q -e $how -o "$T/env-$how" -- env |
		grep -E '^(OPENCL_LAYERS|LD_PRELOAD|HPCTOOLKIT_LITE)=')" ""
	is "$how: the user's is as it was" \
		"$(OPENCL_LAYERS=a:b "$H" -q -e $how -o "$T/env2-$how" \
		-- sh -c "printenv OPENCL_LAYERS; exec env" |
		grep -c '^OPENCL_LAYERS=a:b$\|^a:b$')" 2
	if [ -n "${SANITIZER:-}" ]; then
		skip "$how: and the user's preloads" "a sanitizer wants to be preloaded first"
		continue
	fi
	is "$how: and the user's preloads" \
		"$(LD_PRELOAD=libm.so.6 "$H" -q -e $how -o "$T/env3-$how" \
		-- sh -c "printenv LD_PRELOAD")" libm.so.6
done
if [ $layers = yes ]; then
	is "a process without OpenCL has nothing of it" \
		"$("$H" -q -e gpu=opencl -o "$T/maps" -- cat /proc/self/maps |
		grep -c -e 'libOpenCL[^/]*$' -e 'lite-opencl[.]so$')" 0
else
	skip "a process without OpenCL has nothing of it" "the module is preloaded here"
fi

# Children are measured through both entrances; their environment is clean.
for how in gpu=opencl gpu=opencl,preload; do
	enter "child" -e $how \
		-- sh -c "'$W/ocl_paths' 3; printenv OPENCL_LAYERS; printenv LD_PRELOAD"
	same "$how: a child: output" "$T/plain.out" "$T/child.out"
	is "$how: a child: operations" "$n" "$all"
done

done_testing
