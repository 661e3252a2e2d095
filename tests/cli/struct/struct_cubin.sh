#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Structures of cubins: golden ones of several architectures and ways of compiling; three judges
# that read the same line tables (nvdisasm's output, kept; libdw; CUPTI where it is installed); the
# same from sources, where the same nvcc is installed; damage.
#
# --accept: rewrites the expected texts, when what is said changed on purpose.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/cubin
chains=$builddir/tests/struct/cubin_chains
judge=$builddir/tests/struct/judge_cubin
cupti_judge=$builddir/tests/struct/judge_cupti
[ -x "$chains" ] || skip_all "no tests/struct/cubin_chains"
need readelf dd od
demangles=no
if grep -q '^#define HAVE_IBERTY 1' "$builddir/config.h"; then demangles=yes; fi

make_structure() {
	"$HPCSTRUCT" -q -f --no-cache -o "$T/s" "$1" >"$T/err" 2>&1
}
# the innermost place alone
innermost() {
	sed 's/ <.*//' "$1" | awk '/^\.text/ { print; last = ""; next }
		$2 != last { print; last = $2 }'
}
# chains without the names of their functions
places() {
	sed -E 's/^(0x[0-9a-f]+ [^ ]+) [^ ]+/\1/; s/ < ([^ ]+) [^ ]+/ < \1/g' "$1"
}

# nvcc names its name space for what a file keeps to itself at random
without_salt() {
	sed 's/_INTERNAL_[0-9a-f]\{8\}_/_INTERNAL_/g' "$1"
}
find_cupti() {
	for d in "${CUDA_HOME:-/usr/local/cuda}/lib64" \
		"${CUDA_HOME:-/usr/local/cuda}/extras/CUPTI/lib64" /usr/local/cuda/lib \
		/usr/local/cuda-13.0/lib; do
		if [ -e "$d/libcupti.so" ]; then
			echo "$d/libcupti.so"
			return
		fi
	done
}
cupti=$(find_cupti)

ok "the cubins are those the structures were made from" \
	sh -c "cd '$golden' && sha256sum -c SHA256SUMS"
n_instructions=0
for cubin in "$golden"/*.cubin; do
	name=${cubin##*/}
	name=${name%.cubin}
	if ! make_structure "$cubin"; then
		fail "$name: analysis"
		diag_file "$T/err"
		continue
	fi
	"$HPCSTRUCT" --print "$T/s" | sed '/^binary /d' >"$T/$name.txt"
	if [ "${1:-}" = --accept ]; then cp "$T/$name.txt" "$golden/$name.txt"; fi
	if [ $demangles = yes ]; then
		same "$name: functions, inlined calls, lines, resources, calls" "$T/$name.txt" \
			"$golden/$name.txt"
	else
		skip "$name: functions, inlined calls, lines, resources, calls" \
			"built without libiberty: names are not demangled"
	fi
	n_instructions=$((n_instructions + $(size -A "$cubin" 2>/dev/null |
		awk '/^\.text/ { n += $2 } END { print n / 16 }')))
	"$chains" -n "$T/s" "$cubin" >"$T/chains"
	"$chains" -i "$T/s" "$cubin" >"$T/as-nvdisasm"
	"$chains" "$T/s" "$cubin" >"$T/plain"
	innermost "$T/plain" >"$T/innermost"
	case $name in
	*.G)
		# the line table has the innermost place alone where inlining is in .debug_info
		innermost "$golden/$name.nvdisasm" >"$T/nvdisasm"
		same "$name: as nvdisasm has it (innermost)" "$T/innermost" "$T/nvdisasm"
		if [ -x "$judge" ]; then
			"$judge" -w "$T/copy.so" "$cubin"
			ok "$name: as libdw reads .debug_info" "$builddir/tests/struct/judge_dw" \
				"$T/s" "$T/copy.so" 16
			grep '^# ' "$T/.ok.out" | sed "s:$T/::"
		fi
		;;
	*)
		if [ -e "$golden/$name.nvdisasm" ]; then
			same "$name: as nvdisasm has it" "$T/as-nvdisasm" "$golden/$name.nvdisasm"
		fi
		if [ -x "$judge" ]; then
			"$judge" "$cubin" >"$T/judge" 2>"$T/err"
			case $name in
			rdc_linked.sm_90.*)
				# nvlink left no base for the names of the second table: libdw gives
				# "T_S1_S1_"; ours are in the expected text
				places "$T/chains" >"$T/chains.places"
				places "$T/judge" >"$T/judge.places"
				same "$name: as libdw has it, but for names" "$T/chains.places" \
					"$T/judge.places"
				;;
			*) same "$name: as libdw has it, with names" "$T/chains" "$T/judge" ;;
			esac
		fi
		;;
	esac
	if [ -n "$cupti" ] && [ -x "$cupti_judge" ] &&
		! grep -q 'fsanitize=' "$builddir/config.log"; then
		"$cupti_judge" "$cupti" "$cubin" >"$T/cupti"
		same "$name: as CUPTI has it (innermost)" "$T/innermost" "$T/cupti"
	fi
done
diag "$n_instructions instructions"
[ -n "$cupti" ] || skip "CUPTI as a judge" "no libcupti.so"

# From sources. The golden cubins are what this nvcc makes of them, so nobody waits for it again.
nvcc=$(command -v "${NVCC:-nvcc}" || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")
if [ "$(thorough kept made)" = kept ]; then
	skip "the golden cubins from their sources" "takes longer: see --full"
elif [ -x "$nvcc" ] && "$nvcc" --version | grep -q 'V13.0.88'; then
	PATH=$PATH:${nvcc%/*}
	export PATH
	if ok "the golden cubins from their sources" sh "$golden/make-golden.sh" "$T/made"; then
		for cubin in "$T"/made/*.cubin; do
			name=${cubin##*/}
			name=${name%.cubin}
			make_structure "$golden/$name.cubin"
			"$chains" -n "$T/s" "$golden/$name.cubin" >"$T/made.names"
			without_salt "$T/made.names" >"$T/kept"
			make_structure "$cubin"
			"$chains" -n "$T/s" "$cubin" >"$T/made.names"
			without_salt "$T/made.names" >"$T/again"
			same "$name: the same code and lines" "$T/again" "$T/kept"
		done
	fi
	for arch in 75 90; do
		nvcc -cubin -arch=sm_$arch -Xptxas -v -o "$T/v.cubin" "$golden/src/shared.cu" \
			2>"$T/said"
		make_structure "$T/v.cubin"
		"$HPCSTRUCT" --print "$T/s" |
			sed -n \
			'/^function/{s/^function 0x[0-9a-f]* \([a-z]\)(.*/\1/;h;};/^  kernel/{s/.* registers \([0-9]*\) \(shared-bytes \([0-9]*\)\)*.*/\1 \3/;H;g;s/\n/ /;s/ *$//;p;}' | sort >"$T/ours"
		sed -n \
			"/Compiling entry function/{s/.*'_Z1\([a-z]\)Pf'.*/\1/;h;};/Used [0-9]* registers/{s/.*Used \([0-9]*\) registers\(.* \([0-9]*\) bytes smem\)*.*/\1 \3/;H;g;s/\n/ /;s/ *\$//;p;}" \
			"$T/said" |
			sort >"$T/ptxas"
		same "sm_$arch: registers and shared memory are those that ptxas says" "$T/ours" \
			"$T/ptxas"
	done
else
	skip "the golden cubins from their sources" "no nvcc V13.0.88"
fi

# damage
poke() { # FILE OFFSET BYTES-AS-PRINTF-ESCAPES
	# shellcheck disable=SC2059 # escapes are the point
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}
offset_of() { # FILE SECTION
	readelf -SW "$1" 2>/dev/null |
		sed -n "s/^ *\[ *[0-9]*\] $2  *[A-Z0-9_]* *[0-9a-f]* \([0-9a-f]*\) .*/0x\1/p"
}
a=$golden/inline.sm_90.lineinfo.cubin
line=$(($(offset_of "$a" .debug_line)))
call=$(dd if="$a" bs=1 skip=$line count=400 2>/dev/null | od -An -v -tx1 | tr -d ' \n' |
	sed 's/00049002.*//' | wc -c)
cp "$a" "$T/cycle.cubin"
poke "$T/cycle.cubin" $((line + call / 2 + 3)) '\003'
ok "an inlined call that refers to itself" make_structure "$T/cycle.cubin"
like "is said" "$(cat "$T/err")" \
	"cycle.cubin: warning: section .debug_line at offset 0x[0-9a-f]*: an inlined call refers to a row that does not come before it"
like "the structure says that it is incomplete" "$("$HPCSTRUCT" --print "$T/s")" "^incomplete: "
is "functions are all there" "$("$HPCSTRUCT" --print "$T/s" | grep -c '^function')" \
	"$(grep -c '^function' "$golden/inline.sm_90.lineinfo.txt")"

cp "$a" "$T/reloc.cubin"
poke "$T/reloc.cubin" $(($(offset_of "$a" .rela.debug_line) + 12)) '\377\377\377'
ok "a relocation to no symbol" make_structure "$T/reloc.cubin"
like "is said" "$(cat "$T/err")" \
	"reloc.cubin: warning: section .rela.debug_line at file offset 0x[0-9a-f]*: 1 relocations that make no sense"
like "the structure says that it is incomplete" "$("$HPCSTRUCT" --print "$T/s")" "^incomplete: "

# nvcc 12.0 writes sections for sm_90a whose header names .debug_line where .symtab is meant
header_of() { # FILE SECTION: offset of its section header
	readelf -hSW "$1" 2>/dev/null |
		awk -v name="$2" '/Start of section headers/ { at = $5 } { sub(/\[ +/, "[") }
			$2 == name { print at + 64 * substr($1, 2) }'
}
for name in inline.sm_90.lineinfo calls.sm_90.lineinfo inline.sm_75.lineinfo; do
	cp "$golden/$name.cubin" "$T/link.cubin"
	for section in $(readelf -SW "$T/link.cubin" 2>/dev/null |
		sed -nE 's/^ *\[ *[0-9]+\] (\.rela?\.[^ ]*|\.nv\.info[^ ]*) .*/\1/p'); do
		poke "$T/link.cubin" $(($(header_of "$T/link.cubin" "$section") + 40)) '\005'
	done
	ok "$name with sections that name the wrong symbol table" make_structure "$T/link.cubin"
	is "... nothing is wrong with them" "$(cat "$T/err")" ""
	"$HPCSTRUCT" --print "$T/s" | sed '/^binary /d' >"$T/link.txt"
	if [ $demangles = yes ]; then
		same "... the same structure" "$T/link.txt" "$golden/$name.txt"
	fi
done

# .nv_debug.shared of older compilers has a size and no bytes in the file
cp "$a" "$T/shared.cubin"
at=$(header_of "$a" .nv_debug_ptx_txt)
name=$(dd if="$a" bs=1 skip="$at" count=4 2>/dev/null | od -An -tu4)
poke "$T/shared.cubin" $(($(offset_of "$a" .shstrtab) + name)) '.nv_debug.shared\0'
poke "$T/shared.cubin" $((at + 24)) '\000\000\001\000'
ok "a section .nv_debug.shared without bytes" make_structure "$T/shared.cubin"
ok "... is there" \
	sh -c "readelf -SW '$T/shared.cubin' 2>/dev/null | grep -q ' \.nv_debug\.shared  *PROGBITS'"
is "... and means nothing" "$(cat "$T/err")" ""
"$HPCSTRUCT" --print "$T/s" >"$T/shared.txt"
unlike "... nor is the structure incomplete" "$(cat "$T/shared.txt")" "^incomplete"

cp "$a" "$T/name.cubin"
poke "$T/name.cubin" $((line + call / 2 + 4)) '\377\177'
ok "a name outside the table of names" make_structure "$T/name.cubin"
like "is said" "$(cat "$T/err")" \
	"name.cubin: warning: section .debug_str at offset 0x[0-9a-f]*: no name of a function here"

cp "$a" "$T/short.cubin"
truncate -s 20000 "$T/short.cubin"
not_ok "a cubin cut off" make_structure "$T/short.cubin"
like "is said" "$(cat "$T/err")" \
	"short.cubin: the section headers at file offset 0x[0-9a-f]* are outside the file"

fuzz=$builddir/tests/fuzz/fuzz_cubin
kib=300000 # of memory, whatever the damage claims
if grep -q 'fsanitize=' "$builddir/config.log"; then kib=unlimited; fi
limited() {
	# shellcheck disable=SC2016 # for the inner shell
	run_limited 300 sh -c 'ulimit -v "$0" && exec "$@"' $kib "$@"
}
# shellcheck disable=SC2046 # two names
ok "each byte flipped" limited "$fuzz" -f "$golden/shared.sm_75.plain.cubin" \
	$(thorough "" "$golden/shared.sm_90.plain.cubin $golden/rdc_a.sm_90.rdc.cubin")
grep '^# ' "$T/.ok.out"
ok "mutants" limited "$fuzz" -n "$(thorough 300 3000)" "$golden/inline.sm_90.lineinfo.cubin" \
	"$golden/calls.sm_75.lineinfo.cubin" "$golden/rdc_linked.sm_90.rdc.cubin" \
	"$golden/inline.sm_120.lineinfo.cubin"
grep '^# ' "$T/.ok.out"
for f in "$srcdir"/tests/fuzz/corpus/cubin/*; do
	if [ -f "$f" ]; then ok "corpus: ${f##*/}" run_limited 60 "$fuzz" "$f"; fi
done
ok "mutants with .debug_info" run_limited 300 "$builddir/tests/fuzz/fuzz_elf" -n 60 \
	"$golden/inline.sm_90.G.cubin"
done_testing
