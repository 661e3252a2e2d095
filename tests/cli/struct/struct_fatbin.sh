#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcstruct-lite --gpu-code: cubins out of fat binaries, plain and packed, alone and inside objects,
# programs and archives; damage; usage.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/cubin
need ar ld
said() {
	{ "$@" >/dev/null; } 2>&1
}
has() {
	grep -q "^#define HAVE_$1 1" "$builddir/config.h"
}
# take DESCRIPTION FILE: both cubins come out as nvcc wrote them
take() {
	rm -rf "$T/out"
	if ! ok "$1" "$HPCSTRUCT" -q --no-cache --gpu-code "$T/out" "$2"; then return; fi
	for a in 75 90; do
		same "sm_$a: byte for byte" "$T/out/${2##*/}.$((a == 75 ? 1 : 2)).sm_$a.cubin" \
			"$golden/shared.sm_$a.plain.cubin"
	done
	is "each has a structure" "$(find "$T/out" -name '*.cubin.hpcstruct' | wc -l)" 2
}

take "a fat binary" "$golden/shared.none.fatbin"
like "the structure is that of the cubin" \
	"$("$HPCSTRUCT" --print "$T/out/shared.none.fatbin.2.sm_90.cubin.hpcstruct")" \
	"^  kernel registers 12 shared-bytes 384 parameter-bytes 8 barriers 1"
if has ZSTD; then
	take "packed with zstd" "$golden/shared.size.fatbin"
else
	skip "packed with zstd" "built without zstd"
fi
if has LZ4; then
	take "packed with LZ4" "$golden/shared.speed.fatbin"
else
	skip "packed with LZ4" "built without LZ4"
fi

(cd "$golden" && ld -r -b binary -o "$T/data.o" shared.none.fatbin)
take "inside an object" "$T/data.o"
printf 'x' >"$T/odd"
ar rc "$T/lib.a" "$T/odd" "$T/data.o"
take "inside an archive, at an odd place" "$T/lib.a"

nvcc=$(command -v "${NVCC:-nvcc}" || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if [ -x "$nvcc" ] && "$nvcc" --version | grep -q 'V13.0.88'; then
	printf '#include "%s"\nint main(void)\n{\n\ta<<<1, 1>>>(0);\n\tb<<<1, 1>>>(0);\n}\n' \
		"$golden/src/shared.cu" >"$T/app.cu"
	ok "a program by nvcc" "$nvcc" -arch=sm_90 -cudart shared -lineinfo -o "$T/app" "$T/app.cu"
	like "its kernels have lines" \
		"$(said "$HPCSTRUCT" --no-cache --gpu-code "$T/app.out" "$T/app";
		for s in "$T"/app.out/*.hpcstruct; do "$HPCSTRUCT" --print "$s"; done)" \
		"^function 0x[0-9a-f]* b\(float\*\) \(_Z1bPf\) at .*/shared.cu:5 from symtab"
else
	skip "a program by nvcc" "no nvcc V13.0.88"
fi

cp "$golden/shared.none.fatbin" "$T/cut.fatbin"
truncate -s 3000 "$T/cut.fatbin"
not_ok "a fat binary cut off is none" "$HPCSTRUCT" --no-cache --gpu-code "$T/cut" "$T/cut.fatbin"
like "and that is said" "$(said "$HPCSTRUCT" --no-cache --gpu-code "$T/cut" "$T/cut.fatbin")" \
	"cut.fatbin: no GPU code in it"
if has ZSTD; then
	cp "$golden/shared.size.fatbin" "$T/bad.fatbin"
	printf '\377\377\377\377' | dd of="$T/bad.fatbin" bs=1 seek=100 conv=notrunc 2>/dev/null
	like "a damaged entry is said, the others are used" \
		"$(said "$HPCSTRUCT" --no-cache --gpu-code "$T/bad" "$T/bad.fatbin")" \
		"GPU code at offset 0x[0-9a-f]* is damaged; left out"
	is "one is left" "$(find "$T/bad" -name '*.cubin' | wc -l)" 1
fi
not_ok "a file without" "$HPCSTRUCT" --gpu-code "$T/none" "$srcdir/tests/lib.sh"
"$HPCSTRUCT" -o x --gpu-code "$T/none" "$golden/shared.none.fatbin" 2>"$T/err"
is "with -o: usage" "$?" 2
ok "mutants" run_limited 300 "$builddir/tests/fuzz/fuzz_fatbin" -n 5000 \
	"$golden/shared.none.fatbin" "$golden/shared.size.fatbin" "$golden/shared.speed.fatbin"
grep '^# ' "$T/.ok.out"
done_testing
