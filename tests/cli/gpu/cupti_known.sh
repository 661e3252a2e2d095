#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# GPU code that an earlier report has analysed is not copied into a measurement again: its structure
# is put there, and gives the same report where there is no cache. On a driver and a CUPTI that do
# not exist.

. "${srcdir:-.}/tests/lib.sh"
CUDA_CALLS=$builddir/tests/gpu/cuda_calls
. "$srcdir/tests/gpu/fake/fake.sh"
see_fake

measured() { # NAME OPTIONS
	run_limited 60 "$HPCRUN" -e "gpu=nvidia$2" -o "m-$1" "$CUDA_CALLS" paths >"out-$1" \
		2>"err-$1"
}
# kernels NAME: what the report says of kernels, by their functions' names
kernels() {
	run_limited 60 "$HPCPROF" --to text --all "m-$1" >"all-$1" 2>"prof-$1"
	by_name '$1 == "by-function" && get("metric") == "GKER:COUNT" && get("module") ~ /gpubins/ {
		print get("name"), get("inclusive") }' \
		"all-$1" | sort
}
n_files() { # DIRECTORY: number of files in it
	if [ -d "$1" ]; then find "$1" -type f | wc -l; else echo 0; fi
}

ok "the first run" measured first ""
n_codes=$(n_files m-first/gpubins)
like "has copies" "$n_codes" "^[1-9]"
is "and no structures" "$(n_files m-first/structs)" 0
kernels first >first
like "the report has kernels" "$(cat first)" "^spin [1-9][0-9]*$"
is "the report leaves it as it was" "$(n_files m-first/gpubins) $(n_files m-first/structs)" \
	"$n_codes 0"
n_known=$(find "$HPCTOOLKIT_LITE_CACHE" -name '*-00000000000000??.hpcstruct' | wc -l)
like "the cache has structures" "$n_known" "^[1-9]"

ok "the second run" measured second ""
is "has copies of what was not known" "$(n_files m-second/gpubins)" $((n_codes - n_known))
is "and structures of the rest" "$(n_files m-second/structs)" "$n_known"
kernels second >second
same "the reports agree" second first
HPCTOOLKIT_LITE_CACHE='' kernels second >second
same "without a cache too" second first
unlike "nothing is missing" "$(cat prof-second)" \
	"structure missing|no such file| [1-9][0-9]* missing"
said=$("$HPCSTRUCT" m-second 2>&1)
like "hpcstruct-lite finds them" "$said" " 0 missing"

ok "an archive" "$HPCPROF" -q --archive m-archive m-second
HPCTOOLKIT_LITE_CACHE='' kernels archive >archive
same "gives the same report" archive first

HPCTOOLKIT_LITE_CACHE='' measured uncached ""
is "without a cache all is copied" "$(n_files m-uncached/gpubins)" "$n_codes"
measured recorded ,record
is "for a recording too" "$(n_files m-recorded/gpubins)" "$n_codes"

other=$(mktemp -d /dev/shm/hpctoolkit-lite.XXXXXX 2>/dev/null) || other=
if [ -n "$other" ] && [ "$(stat -c %d "$other")" != "$(stat -c %d .)" ]; then
	at_exit 'rm -rf "$other"'
	cp -R "$HPCTOOLKIT_LITE_CACHE" "$other/cache"
	HPCTOOLKIT_LITE_CACHE=$other/cache measured far ""
	is "a cache on another file system" "$(n_files m-far/gpubins) $(n_files m-far/structs)" \
		"$((n_codes - n_known)) $n_known"
	kernels far >far
	same "gives the same report" far first
else
	skip "a cache on another file system" "no other file system"
fi

for f in "$HPCTOOLKIT_LITE_CACHE"/*-00000000000000??.hpcstruct; do
	cp "$f" whole
	rm "$f" # measurements have links to it
	head -c 200 whole >"$f"
done
measured cut ""
is "a file that was cut off is not used" "$(n_files m-cut/gpubins)" "$n_codes"
done_testing
