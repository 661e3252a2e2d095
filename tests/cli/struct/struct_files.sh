#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Separate debug files: by build id, by .gnu_debuglink in its three places, and those that do not
# belong.

. "${srcdir:-.}/tests/lib.sh"
need objcopy strip "${CC:-gcc}"

golden=$srcdir/tests/golden/struct
mkdir -p "$T/debug" "$T/app/.debug"
run_struct() {
	run_limited 60 "$HPCSTRUCT" -f --no-cache -o "$T/s" --debug-dir "$T/debug" "$@" 2>"$T/err"
}
has_lines() {
	"$HPCSTRUCT" --print "$T/s" | grep -c "^function .* checked at .*shapes.c:24 from dwarf"
}
debug_file() {
	"$HPCSTRUCT" --print "$T/s" | sed -n 's/^debug-file //p'
}

# by build id
objcopy --only-keep-debug "$golden/shapes-gcc-O2-g.so" "$T/a.debug"
strip -o "$T/app/a.so" "$golden/shapes-gcc-O2-g.so"
id=$(sed -n 's/^build-id //p' "$golden/shapes-gcc-O2-g.txt")
ok "without its debug file" run_struct "$T/app/a.so"
is "a stripped file has no lines" "$(has_lines)" 0
place=$T/debug/.build-id/$(printf %.2s "$id")
mkdir -p "$place"
cp "$T/a.debug" "$place/${id#??}.debug"
ok "with it, below --debug-dir by build id" run_struct "$T/app/a.so"
is "lines are there" "$(has_lines)" 1
is "and the file is named" "$(debug_file)" "$place/${id#??}.debug"
"$HPCSTRUCT" --print "$T/s" | sed '/^binary /d; /^debug-file /d' >"$T/split.txt"
run_struct "$golden/shapes-gcc-O2-g.so" && "$HPCSTRUCT" --print "$T/s" |
	sed '/^binary /d' >"$T/whole.txt"
same "the structure is that of the file before it was split" "$T/split.txt" "$T/whole.txt"
mkdir -p "$T/fetched/$id"
mv "$place/${id#??}.debug" "$T/fetched/$id/debuginfo"
DEBUGINFOD_CACHE_PATH=$T/fetched run_struct "$T/app/a.so"
is "one that debuginfod-find fetched" "$(debug_file)" "$T/fetched/$id/debuginfo"
mv "$T/fetched/$id/debuginfo" "$place/${id#??}.debug"
: >"$T/fetched/$id/debuginfo"
mv "$place/${id#??}.debug" "$T/kept"
DEBUGINFOD_CACHE_PATH=$T/fetched run_struct "$T/app/a.so"
is "an empty one, which no server had: no word" "$(debug_file)$(cat "$T/err")" ""
mv "$T/kept" "$place/${id#??}.debug"
ok "compressed" objcopy --compress-debug-sections "$place/${id#??}.debug"
ok "analysed" run_struct "$T/app/a.so"
"$HPCSTRUCT" --print "$T/s" | sed '/^binary /d; /^debug-file /d' >"$T/packed.txt"
same "the same again" "$T/packed.txt" "$T/split.txt"
if ! grep -q '^#define HAVE_ZSTD ' "$builddir/config.h"; then
	skip "zstd" "built without it"
elif ! objcopy --decompress-debug-sections "$place/${id#??}.debug" "$T/plain.debug" ||
	! objcopy --compress-debug-sections=zstd "$T/plain.debug" "$place/${id#??}.debug" \
		2>/dev/null; then
	skip "zstd" "objcopy does not know it"
else
	ok "compressed by zstd: analysed" run_struct "$T/app/a.so"
	is "zstd: no word" "$(cat "$T/err")" ""
	"$HPCSTRUCT" --print "$T/s" | sed '/^binary /d; /^debug-file /d' >"$T/packed.txt"
	same "zstd: the same" "$T/packed.txt" "$T/split.txt"
	objcopy --compress-debug-sections=zstd "$golden/shapes-gcc-O2-g.so" "$T/z.so"
	at=$(objdump -h "$T/z.so" | awk '$2 == ".debug_info" { print $6 }')
	printf '\377\377\377\377' |
		dd of="$T/z.so" bs=1 seek=$((0x$at + 40)) conv=notrunc 2>/dev/null
	run_struct "$T/z.so"
	like "zstd: damage is said" "$(cat "$T/err")" \
		"section .debug_info at file offset 0x$(printf %x "0x$at") cannot be decompressed"
fi
objcopy --only-keep-debug "$golden/shapes-gcc-O2-ibt.so" "$place/${id#??}.debug"
ok "with another binary's in its place" run_struct "$T/app/a.so"
like "said and not used" "$(cat "$T/err")" "its build id is not the one in its name; not used"
is "no lines" "$(has_lines)" 0
rm -rf "$T/debug/.build-id"

# by link, without build id: three places
objcopy --remove-section=.note.gnu.build-id "$golden/shapes-gcc-O2-g.so" "$T/noid.so"
objcopy --only-keep-debug "$T/noid.so" "$T/noid.debug"
(cd "$T" && strip -o app/noid.so noid.so && objcopy --add-gnu-debuglink=noid.debug app/noid.so)
for to in "$T/app" "$T/app/.debug" "$T/debug$T/app"; do
	mkdir -p "$to"
	cp "$T/noid.debug" "$to/noid.debug"
	run_struct "$T/app/noid.so"
	is "by link in ${to#"$T"/}" "$?/$(has_lines)/$(debug_file)" "0/1/$to/noid.debug"
	printf 'x' >>"$to/noid.debug"
	run_struct "$T/app/noid.so"
	like "another check sum is said and not used" "$(cat "$T/err")/$(has_lines)" \
		"does not belong to .* \\(other build id or check sum\\); not used"
	rm "$to/noid.debug"
done

# DWARF in .dwo files is not read, and that is said
for version in 4 5; do
	if "${CC:-gcc}" -g -gdwarf-$version -gsplit-dwarf \
		-O2 -fPIC -shared -nostdlib "$golden/shapes.c" -o "$T/dwo.so" 2>/dev/null; then
		ok "split DWARF $version" run_struct "$T/dwo.so"
		like "is said" "$(cat "$T/err")" \
			"dwo.so: warning: 1 of 1 units keep their functions in .dwo files, which are not read: lines and symbols alone"
		like "lines and symbols are there" \
			"$("$HPCSTRUCT" --print "$T/s" |
			sed -n '/^function .* twice from symtab/,/^$/p')" "shapes.c:4[0-9]"
	else
		skip "split DWARF $version" "the compiler refuses"
	fi
done
done_testing
