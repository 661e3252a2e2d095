#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# A broken binary costs what is broken and no more: damaged sections and units, a libdwarf that
# crashes, and mutants of ELF files through the whole analysis.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/struct
run_struct() {
	run_limited 120 "$HPCSTRUCT" -f --no-cache -o "$T/s" "$@" 2>"$T/err" >/dev/null
}
# origins: how many functions come from where
origins() {
	"$HPCSTRUCT" --print "$T/s" | sed -n 's/^function .* from //p' | grep -c "^$1\$"
}
# offset_of FILE SECTION, size_of FILE SECTION: in bytes, decimal
offset_of() {
	readelf -SW "$1" 2>/dev/null |
		sed -n "s/^ *\[ *[0-9]*\] $2  *[A-Z0-9_]* *[0-9a-f]* \([0-9a-f]*\) .*/0x\1/p"
}
# poke FILE OFFSET BYTES-AS-PRINTF-ESCAPES
poke() {
	# shellcheck disable=SC2059 # escapes are the point
	printf "$3" | dd of="$1" bs=1 seek="$2" conv=notrunc 2>/dev/null
}

need readelf dd

a=$T/a.so
cp "$golden/shapes-gcc-O2-g.so" "$a"
info=$(($(offset_of "$a" .debug_info)))

cp "$a" "$T/version.so"
poke "$T/version.so" $((info + 4)) '\115'
ok "a unit of an unknown version" run_struct "$T/version.so"
like "is said, with section and offset" "$(cat "$T/err")" \
	"version.so: warning: section .debug_info at offset 0x0: unknown DWARF version"
is "symbols remain" "$(origins dwarf) $(origins symtab)" "0 8"
like "and the file says that it is incomplete" "$("$HPCSTRUCT" --print "$T/s")" "^incomplete: "

cp "$a" "$T/abbrev.so"
poke "$T/abbrev.so" $((info + 8)) '\377\377\377\177'
ok "a unit without abbreviations" run_struct "$T/abbrev.so"
like "is said" "$(cat "$T/err")" \
	"abbrev.so: warning: section .debug_info at offset 0x0: the unit cannot be read: "

cp "$a" "$T/line.so"
poke "$T/line.so" $(($(offset_of "$a" .debug_line) + 4)) '\11'
ok "a line table of an unknown version" run_struct "$T/line.so"
like "is said" "$(cat "$T/err")" \
	"line.so: warning: section .debug_line at offset 0x[0-9a-f]*: the line table is damaged"
is "functions and inlined calls remain" \
	"$(origins dwarf)/$("$HPCSTRUCT" --print "$T/s" | grep -c '^ *inline .* square')" "8/3"

cp "$a" "$T/short.so"
truncate -s 3000 "$T/short.so"
not_ok "a file cut off" run_struct "$T/short.so"
like "is said" "$(cat "$T/err")" \
	"short.so: the section headers at file offset 0x[0-9a-f]* are outside the file"
not_ok "and nothing is left behind" sh -c "ls '$T'/s.??????"

cp "$golden/names-gcc-O2-gz.so" "$T/gz.so"
poke "$T/gz.so" $(($(offset_of "$T/gz.so" .debug_info) + 60)) '\377\377\377\377\377\377'
ok "a compressed section that is damaged" run_struct "$T/gz.so"
like "is said" "$(cat "$T/err")" \
	"gz.so: warning: section .debug_info at file offset 0x[0-9a-f]* cannot be decompressed"
cp "$golden/names-gcc-O2-gz.so" "$T/huge.so"
poke "$T/huge.so" $(($(offset_of "$T/huge.so" .debug_info) + 8)) '\377\377\377\377\377\377\377\17'
ok "one that claims an impossible size" run_struct "$T/huge.so"
like "is said" "$(cat "$T/err")" \
	"huge.so: warning: section .debug_info at file offset 0x[0-9a-f]* claims that its [0-9]+ bytes unpack to [0-9]+, which no debug information does"

crash=$builddir/tests/struct/.libs/crash_dwarf.so
if [ -e "$crash" ] && ! grep -q 'fsanitize=' "$builddir/config.log" && have "${CC:-gcc}"; then
	for i in 1 2 3; do
		printf \
			'static inline int sq%d(int x) { return x * x; }\nint fn%d(int x) { return sq%d(x) + %d; }\n' \
			$i $i $i $i >"$T/u$i.c"
	done
	"${CC:-gcc}" -g -O2 -gdwarf-4 -fPIC -shared -nostdlib -o "$T/units.so" "$T/u1.c" "$T/u2.c" \
		"$T/u3.c"
	second=$(readelf --debug-dump=info "$T/units.so" 2>/dev/null |
		sed -n 's/^ <0><\([0-9a-f]*\)>: Abbrev.*compile_unit.*/0x\1/p' | sed -n 2p)
	unit=$(readelf --debug-dump=info "$T/units.so" 2>/dev/null |
		sed -n \
		's/.*Compilation Unit @ offset \(0x[0-9a-f]*\).*/\1/p;s/.*Compilation Unit @ offset \(0\):.*/0x0/p' | sed -n 2p)
	for j in 1 3; do
		CRASH_DWARF_AT=$second LD_PRELOAD=$crash run_limited 120 "$HPCSTRUCT" \
			-f --no-cache -j$j -o "$T/s" "$T/units.so" 2>"$T/err"
		is "libdwarf crashes in a unit, -j $j: a structure is made" $? 0
		like "the unit is named" "$(cat "$T/err")" \
			"section .debug_info at offset $unit: libdwarf was ended by signal 11 .*; the unit is left out"
		is "the others are used, and the symbol of this one" \
			"$(origins dwarf) $(origins symtab)" "2 1"
	done
	CRASH_DWARF_AT=all LD_PRELOAD=$crash run_limited 120 "$HPCSTRUCT" -f --no-cache -o "$T/s" \
		"$T/units.so" 2>"$T/err"
	is "libdwarf crashes in every unit: symbols remain" \
		"$?/$(origins dwarf)/$(origins symtab)" "0/0/3"
else
	skip "libdwarf crashes in a unit" "no compiler, or built with a sanitizer"
fi

fuzz=$builddir/tests/fuzz
ok "mutants of ELF files" run_limited 600 "$fuzz/fuzz_elf" -n 120 "$golden/shapes-gcc-O2-g.so" \
	"$golden/names-clang-O2-g.so" "$golden/names-gcc-O3lto-g.so" \
	"$golden/shapes-gcc-O2-dwarf3.so" "$golden/shapes-gcc-O2-stripped.so" \
	"$golden/names-gcc-O2-gz.so" "$golden/loops-aarch64-gcc-O2-g.so" \
	"$golden/shapes-aarch64-gcc-O2-bti.so"
grep '^# ' "$T/.ok.out"
for version in 4 5; do
	if g++ -g -gdwarf-$version -fdebug-types-section -O1 -std=c++17 -fPIC -shared -nostdlib \
		"$srcdir/tests/struct/inlined_names.cpp" -o "$T/types.so" 2>"$T/err"; then
		ok "mutants with type units of DWARF $version" \
			run_limited 300 "$fuzz/fuzz_elf" -n 60 "$T/types.so"
	else
		skip "mutants with type units of DWARF $version" "no g++ here"
	fi
done
for f in shapes-gcc-O2-g names-clang-O3lto-g shapes-gcc-O2-stripped; do
	"$HPCSTRUCT" -q -f --no-cache -o "$T/$f.hpcstruct" "$golden/$f.so"
done
ok "mutants of structure files" run_limited 300 "$fuzz/fuzz_structure" -n 20000 "$T"/*.hpcstruct
for f in "$srcdir"/tests/fuzz/corpus/elf/*; do
	if [ -f "$f" ]; then ok "corpus: ${f##*/}" run_limited 60 "$fuzz/fuzz_elf" "$f"; fi
done
for f in "$srcdir"/tests/fuzz/corpus/structure/*; do
	if [ -f "$f" ]; then ok "corpus: ${f##*/}" run_limited 60 "$fuzz/fuzz_structure" "$f"; fi
done
done_testing
