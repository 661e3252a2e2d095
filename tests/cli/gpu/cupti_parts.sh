#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Of big cubins a measurement keeps the kernels that ran: alone, in two processes of one run, of a
# process that is killed, in an archive, and with a cache that knows them. On a driver and a CUPTI
# that do not exist.

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

big() { FAKE_BIG_CUBIN=1 "$@"; }
measured() { # NAME OPTIONS [COMMAND...]
	name=$1
	options=$2
	shift 2
	[ $# -gt 0 ] || set -- "$CUDA_CALLS" paths
	run_limited 60 "$HPCRUN" -e "gpu=nvidia$options" -o "m-$name" "$@" >"out-$name" \
		2>"err-$name"
}
# kernels NAME: what the report says of kernels, by their functions' names
kernels() {
	run_limited 60 "$HPCPROF" --to text --all "m-$1" >"all-$1" 2>"prof-$1"
	by_name '$1 == "by-function" && get("metric") == "GKER:COUNT" && get("module") ~ /gpubins/ {
		print get("name"), get("inclusive") }' \
		"all-$1" | sort
}
bytes_of() { # DIRECTORY: of all files in it
	if [ -d "$1" ]; then cat "$1"/* | wc -c; else echo 0; fi
}
n_files() {
	if [ -d "$1" ]; then find "$1" -type f | wc -l; else echo 0; fi
}

ok "small cubins" measured small ""
kernels small >small
ok "big cubins" big measured first ""
within "the kernels that ran are kept" "$(bytes_of m-first/gpubins)" 1 20000
n_parts=$(n_files m-first/gpubins)
kernels first >first
same "the reports agree" first small
unlike "nothing is missing" "$(cat prof-first)" "structure missing|[1-9][0-9]* missing"

ok "an archive" "$HPCPROF" -q --archive m-archive m-first
HPCTOOLKIT_LITE_CACHE='' kernels archive >archive
same "gives the same report" archive first

ok "the second run" big measured second ""
is "has structures in their place" "$(n_files m-second/gpubins) $(n_files m-second/structs)" \
	"0 $n_parts"
HPCTOOLKIT_LITE_CACHE='' kernels second >second
same "which give the same report" second first

export HPCTOOLKIT_LITE_CACHE="$T/other-cache"
big measured two "" sh -c '"$0" paths & "$0" paths; wait' "$CUDA_CALLS"
is "two processes have one file of each kernel" "$(n_files m-two/gpubins)" "$n_parts"

big measured killed "" "$CUDA_CALLS" killed
within "of a killed process the kernels are there" "$(bytes_of m-killed/gpubins)" 1 20000
kernels killed >killed
like "and are in its report" "$(cat killed)" "^(spin|empty) [1-9]"

big measured recorded ,record
within "a recording has whole cubins" "$(bytes_of m-recorded/gpubins)" 80000 10000000
done_testing
