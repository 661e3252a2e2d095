#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# GPU code objects beside a measurement (gpubins/): OpenCL source as functions and lines, ELF files
# by the hash of their content, forms that are not looked into, what was not kept, damage.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden
make_run=$builddir/tests/struct/make_run
[ -x "$make_run" ] || skip_all "no tests/struct/make_run"
said() {
	{ "$@" >/dev/null; } 2>&1
}

# of one file
cp "$golden/opencl/jacobi.cl" "$T/jacobi.cl"
ok "source text is a binary" "$HPCSTRUCT" --no-cache -o "$T/j.hpcstruct" "$T/jacobi.cl"
"$HPCSTRUCT" --print "$T/j.hpcstruct" | sed "s:$T/::" >"$T/j.txt"
same "functions and lines" "$T/j.txt" "$golden/opencl/jacobi.txt"
(cd "$T" && "$HPCSTRUCT" --no-cache -o r.hpcstruct jacobi.cl)
like "the file is named by its absolute path" "$("$HPCSTRUCT" --print "$T/r.hpcstruct")" \
	"^function 0x[0-9a-f]* jacobi at $T/jacobi.cl:23 from source\$"
: >"$T/empty.cl"
not_ok "an empty text is refused" "$HPCSTRUCT" --no-cache -o "$T/e.hpcstruct" "$T/empty.cl"
printf '\0\377{{{"#if' >"$T/odd.cl"
ok "odd bytes are not" "$HPCSTRUCT" --no-cache -o "$T/odd.hpcstruct" "$T/odd.cl"

# of a measurement
run=$T/run
source=0123456789abcdef00000000000000a1.cl
elf=0123456789abcdef00000000000000a2.gpubin
spirv=0123456789abcdef00000000000000a3.spv
ptx=0123456789abcdef00000000000000a4.ptx
other=0123456789abcdef00000000000000a5.gpubin
cubin=0123456789abcdef00000000000000a6.gpubin
idle=0123456789abcdef00000000000000a7.gpubin
mkdir -p "$run/gpubins"
cp "$golden/opencl/jacobi.cl" "$run/gpubins/$source"
cp "$golden/struct/shapes-gcc-O2-g.so" "$run/gpubins/$elf"
cp "$golden/cubin/shared.sm_90.plain.cubin" "$run/gpubins/$cubin"
cp "$golden/cubin/inline.sm_90.plain.cubin" "$run/gpubins/$idle"
printf '\003\002\043\007more' >"$run/gpubins/$spirv"
printf '//\n// NVIDIA\n\n.version 8.0\n' >"$run/gpubins/$ptx"
printf 'poclbin\0\0\0' >"$run/gpubins/$other"
"$make_run" "$run/0.hpcrun" "code:$source" "code:$elf" "code:$spirv" "code:$ptx" "code:$other" \
	code: "code:$source" "code:$cubin" "loaded:$idle"
"$make_run" "$run/1.hpcrun" "code:$source" "code:../../etc/passwd" \
	"$golden/struct/shapes-gcc-O2-nog.so"
said "$HPCSTRUCT" "$run" | sort >"$T/said"
like "each content once, the rest is said" "$(cat "$T/said")" \
	"$run: 4 structures: 4 made, 0 up to date, 0 missing"
like "skipped ones are counted" "$(cat "$T/said")" \
	"$run: 3 GPU code objects are in forms without lines to be read"
like "and so are those that were not kept" "$(cat "$T/said")" \
	"$run: 2 records of GPU code objects whose code was not kept"
like "SPIR-V is named" "$(cat "$T/said")" "$spirv: SPIR-V: "
like "PTX is named" "$(cat "$T/said")" "$ptx: PTX text: "
like "PoCL's container is named" "$(cat "$T/said")" "$other: PoCL program binary: "
is "that is all" "$(wc -l <"$T/said")" 6
ok "it is no failure" "$HPCSTRUCT" -q "$run"
is "code of which no function ran is left out" \
	"$(find "$HPCTOOLKIT_LITE_CACHE" -name "${idle%.*}-*" | wc -l)" 0
structure_of() { # CODE: its file in the cache that was used last
	ls -t "$HPCTOOLKIT_LITE_CACHE/${1%.*}"-*.hpcstruct | head -n 1
}
like "source: by the hash of its content" "$("$HPCSTRUCT" --print "$(structure_of $source)")" \
	"^function 0x[0-9a-f]* jacobi at $run/gpubins/$source:23 from source"
like "ELF: by the hash of its content, with or without a build id" \
	"$("$HPCSTRUCT" --print "$(structure_of $elf)")" "^build-id [0-9a-f][0-9a-f]*\$"
like "a cubin: kernels with their resources" "$("$HPCSTRUCT" --print "$(structure_of $cubin)")" \
	"^  kernel registers 12 shared-bytes 384 parameter-bytes 8 barriers 1"
like "again: up to date" "$(said "$HPCSTRUCT" "$run")" \
	"4 structures: 0 made, 4 up to date, 0 missing"

mv "$run" "$T/moved"
touch "$T/moved/gpubins/"*
like "moved and touched: ELF comes from the cache, source is read again" \
	"$(said "$HPCSTRUCT" "$T/moved")" "4 structures: 1 made, 3 up to date, 0 missing"
like "with its new path" "$("$HPCSTRUCT" --print "$(structure_of $source)")" \
	"jacobi at $T/moved/gpubins/$source:23"

rm "$T/moved/gpubins/$source"
not_ok "a file that is gone is missing" "$HPCSTRUCT" -f "$T/moved"
like "and said" "$(said "$HPCSTRUCT" -f "$T/moved")" "$source: no such file"

fuzz=$builddir/tests/fuzz
ok "mutants of source text" run_limited 300 "$fuzz/fuzz_source" -n 20000 \
	"$golden/opencl/jacobi.cl" "$golden/struct/shapes.c" "$golden/struct/names.cpp"
for f in "$srcdir"/tests/fuzz/corpus/source/*; do
	if [ -f "$f" ]; then ok "corpus: ${f##*/}" run_limited 60 "$fuzz/fuzz_source" "$f"; fi
done
done_testing
