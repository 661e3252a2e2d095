#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Breaks each rule of the lints in a copy of the tree and sees the lint fail, and for that reason.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

mkdir "$T/tree" && cd "$T/tree" || exit 99
for entry in "$srcdir"/* "$srcdir/.ci"; do
	case ${entry##*/} in
	build* | autom4te.cache | Makefile.in | configure) ;;
	tests)
		mkdir tests
		for inner in "$entry"/*; do
			case ${inner##*/} in
			golden) ln -s "$inner" tests/ ;;
			*) cp -R "$inner" tests/ ;;
			esac
		done
		;;
	*) cp -R "$entry" . ;;
	esac
done

# lint NAME: what the lint says of the copy
lint() {
	sh "tests/lint/$1.sh" . 2>&1
}
for name in lines links names rooms cycles; do
	unlike "$name.sh: nothing to find at first" "$(lint $name)" '^not ok'
done

# breaks RULE LINT FILE ERE: a rule that is broken in this file now; the lint shall say a line like
# this. all_seen LINT: it does, of all of them at once; the files are then as they were.
breaks() {
	printf '%s\t%s\t%s\n' "$1" "$4" "$3" >>"$T/broken.$2"
}
all_seen() {
	found=$(lint "$1" | sed -n '/^not ok/,$p')
	while IFS=$(printf '\t') read -r rule ere file; do
		like "$rule: seen" "$found" "$ere"
		rm -f "$file"
		[ ! -e "$srcdir/$file" ] || cp "$srcdir/$file" "$file"
	done <"$T/broken.$1"
	rm "$T/broken.$1"
}

# prepend LINE FILE: writes a line behind the first one, which names the licence.
prepend() {
	sed -i "1a\\
$1" "$2"
}

licence='/* SPDX-License-Identifier: BSD-3-Clause */'

# ---- rooms --------------------------------------------------------------------------------------

prepend '#include "hpcrun-lite/gpu/cupti/nv.h"' hpcrun-lite/gpu/core.c
breaks "the core of GPU measurement includes a back end" rooms hpcrun-lite/gpu/core.c \
	'core\.c: .*nv\.h: hpcrun-lite/gpu may not include'
prepend '#include "hpcrun-lite/unwind/unwind.h"' hpcrun-lite/gpu/opencl/ocl_layer.c
breaks "a back end includes the unwinder" rooms hpcrun-lite/gpu/opencl/ocl_layer.c \
	'ocl_layer\.c: .*unwind\.h: hpcrun-lite/gpu/opencl may not include'
prepend '#include "store.h"' hpcrun-lite/store/store.c
breaks "an include is not a path from the top" rooms hpcrun-lite/store/store.c \
	'not a path from the top'
mkdir common/new
echo "$licence" >common/new/new_room.c
breaks "a folder has no line in rooms.txt" rooms common/new/new_room.c '# common/new: has no line'
sed -i "s|^common/safe  *common/machine\$|& common/base/log.h|" tests/lint/rooms.txt
echo 'common/none' >>tests/lint/rooms.txt
breaks "a line of rooms.txt is for no folder" rooms tests/lint/rooms.txt '# common/none: has a line'
breaks "rooms.txt allows what nobody uses" rooms tests/lint/rooms.txt \
	'# common/safe: may include common/base/log\.h in rooms\.txt, and does not'
echo "$licence" >hpcprof-lite/load/log.c
breaks "two sources have one name" rooms hpcprof-lite/load/log.c \
	'common/base/log\.c and hpcprof-lite/load/log\.c'
echo 'int x;' >hpcprof-lite/load/bare.c
breaks "a file has no licence" rooms hpcprof-lite/load/bare.c '# hpcprof-lite/load/bare\.c$'
prepend '/* TO''DO: later */' common/base/log.c
breaks "a promise" rooms common/base/log.c 'common/base/log\.c:2:'
prepend '#if HAVE_OTF2' common/base/vec.c
breaks "#if of what configure may not define" rooms common/base/vec.c \
	'common/base/vec\.c:2:#if HAVE_OTF2'
prepend '#include <CL/cl.h>' hpcrun-lite/gpu/host.c
breaks "a vendor's header outside its room" rooms hpcrun-lite/gpu/host.c \
	'host\.c:2:#include <CL/cl\.h>'
prepend 'static void *f(void) { return malloc(1); }' hpcrun-lite/cct/table.c
breaks "malloc in the signal path, by its source" rooms hpcrun-lite/cct/table.c \
	'table\.c:2:.*malloc'
all_seen rooms
rmdir common/new

# ---- cycles -------------------------------------------------------------------------------------

prepend '#include "hpcrun-lite/cct/cct.h"' hpcrun-lite/store/store.c
breaks "two folders include each other" cycles hpcrun-lite/store/store.c \
	'# (hpcrun-lite/store hpcrun-lite/cct|hpcrun-lite/cct hpcrun-lite/store)$'
all_seen cycles
prepend '#include "hpcrun-lite/runtime/life/parts.h"' hpcrun-lite/regions/region.c
breaks "a circle of more folders" cycles hpcrun-lite/regions/region.c \
	'# .*hpcrun-lite/regions .*hpcrun-lite/runtime|# .*hpcrun-lite/runtime.* hpcrun-lite/regions'
all_seen cycles
echo 'hpcrun-lite/cct hpcrun-lite/store' >>tests/lint/cycles.txt
breaks "a listed arrow is in no circle" cycles tests/lint/cycles.txt \
	'# hpcrun-lite/cct hpcrun-lite/store: take it off'
echo 'common/none common/safe' >>tests/lint/cycles.txt
breaks "... or is not there" cycles tests/lint/cycles.txt '# common/none common/safe: take it off'
all_seen cycles

# ---- lines --------------------------------------------------------------------------------------

# columns N: a comment so wide, with a tab
columns() {
	printf '/*\t%0*d */\n' $(($1 - 11)) 0
}
{
	echo "$licence"
	columns 100
} >common/base/wide.c
unlike "100 columns are not too long" "$(lint lines)" '^not ok'
wide=$(printf '%099d' 0)
printf '| name | figure |\n|---|---|\n| %s | 1 |\n' "$wide" >doc/new.md
printf 'like "it is said" "$T/err" \\\n\t"%s"\n' "$wide" >tests/cli/new.sh
unlike "a table of figures may be wide, and a line of a script one long string" "$(lint lines)" \
	'^not ok'
{
	echo "$licence"
	columns 101
} >common/base/wide.c
breaks "a line has 101 columns" lines common/base/wide.c \
	'# common/base/wide\.c: 1 lines are longer than 100'
columns 101 >>doc/design.md
breaks "a listed file has one more" lines doc/design.md \
	'# doc/design\.md: [0-9]+ lines are longer .* may be$'
echo "99 common/base/log.h" >>tests/lint/long-lines.txt
breaks "a listed file has fewer" lines tests/lint/long-lines.txt \
	'# common/base/log\.h: .* lower the 99 in long-lines\.txt'
columns 101 >man/new.1
breaks "a man page" lines man/new.1 '# man/new\.1: 1 lines'
printf '| name | text |\n|---|---|\n| %s | word |\n' "$wide" >doc/new.md
breaks "a table of words may not" lines doc/new.md '# doc/new\.md: 1 lines'
printf 'echo "%s"\n' "$wide" >tests/cli/new.sh
breaks "... and nothing else" lines tests/cli/new.sh '# tests/cli/new\.sh: 1 lines'
all_seen lines
columns 101 >common/base/wide.c
sh tests/lint/lines.sh . --accept
unlike "--accept writes the list" "$(lint lines)" '^not ok'
like "... with the new file" "$(cat tests/lint/long-lines.txt)" '^1 common/base/wide\.c$'
is "... and keeps its comments" "$(grep '^#' tests/lint/long-lines.txt)" \
	"$(grep '^#' "$srcdir/tests/lint/long-lines.txt")"
rm common/base/wide.c
cp "$srcdir/tests/lint/long-lines.txt" tests/lint/

# ---- names --------------------------------------------------------------------------------------

prepend 'const char *s = "nowhere.c";' common/base/log.c
unlike "a string may name what is not there" "$(lint names)" '^not ok'
cp "$srcdir/common/base/log.c" common/base/log.c
prepend '/* See common/base/'nowhere.h'. */' common/base/log.c
breaks "a comment names a path that is not there" names common/base/log.c \
	'log\.c:[2-5]: common/base/nowhere\.h'
prepend '/* See 'nowhere.c' */' common/base/log.c
breaks "a comment names a file that is not there" names common/base/log.c \
	'log\.c:[2-5]: nowhere\.c'
prepend '/* Test: tests/cli/'nowhere_'*.sh. */' common/base/log.c
breaks "a comment names a pattern that no file fits" names common/base/log.c \
	'log\.c:[2-5]: tests/cli/nowhere_\*\.sh'
prepend '/* Test: tests/workload/run/'nowhere_'*. */' common/base/log.c
breaks "a comment names a pattern without an ending" names common/base/log.c \
	'log\.c:[2-5]: tests/workload/run/nowhere_\*'
echo 'See [this](doc/'nowhere.md').' >>README.md
breaks "a document names a file that is not there" names README.md \
	'README\.md:[0-9]*: doc/nowhere\.md'
echo '# See tests/cli/'nowhere.sh >tests/new.mk
breaks "a makefile fragment" names tests/new.mk 'tests/new\.mk:1: tests/cli/nowhere\.sh'
printf '    ls nowhere.c\n    sh tests/cli/%s.sh\n' nowhere >doc/new.md
breaks "a block of code names a test that is not there" names doc/new.md \
	'doc/new\.md:2: tests/cli/nowhere\.sh'
all_seen names

# ---- links --------------------------------------------------------------------------------------

echo 'See [this](no''where.md).' >>doc/scale.md
breaks "a link to no file" links doc/scale.md 'doc/scale\.md:[0-9]*: nowhere\.md: no such file'
echo 'See [this](index.md#no''where).' >>doc/energy.md
breaks "a link to no heading" links doc/energy.md 'index\.md#nowhere: no such heading'
echo 'See [this](man/hpcrun-lite.1).' >>README.md
breaks "a link from an installed page to what is not" links README.md \
	'README\.md:[0-9]*: man/hpcrun-lite\.1: is not installed'
all_seen links

# ---- symbols ------------------------------------------------------------------------------------

# broken CALL FILE FUNCTION: an object like that of this source, where the function calls malloc or
# the like, in $T/objects.
mkdir -p "$T/objects" "$T/broken/.libs"
broken() {
	object=${2##*/}
	object=${object%.c}
	sed \
		"/^[a-z].*[ *]$3(.*[,)]\$/,/^{/ s/^{/{ extern void *$1(__SIZE_TYPE__, ...); static void *volatile lint_p; lint_p = $1(8);/" \
		"$srcdir/$2" >"$T/$object.c"
	cmp -s "$srcdir/$2" "$T/$object.c" && return 1
	# shellcheck disable=SC2046,SC2086 # lists
	${CC:-cc} -std=gnu11 -O2 -fPIC -fno-builtin -w -I"$srcdir" -I"$builddir" \
		-D_GNU_SOURCE $(sed -n 's/^SAFE_CFLAGS = //p' "$builddir/Makefile") \
		-c -o "$T/objects/$object.o" "$T/$object.c"
}
# library: the preloaded library with them, in $T/broken/.libs.
library() {
	# shellcheck disable=SC2046,SC2086 # lists
	${CC:-cc} -shared -Wl,-Bsymbolic \
		-Wl,--version-script="$srcdir/hpcrun-lite/exports.map" \
		-o "$T/broken/.libs/libhpcrun-lite.so" "$T"/objects/*.o \
		$(find "$builddir/common" "$builddir/hpcrun-lite" -path '*/.libs/*.o' |
			grep \
			-E '/(libhl(safe|string|cct|unwind|python|regions|gpu)_la|libhpcrun_lite_la)-' |
			grep -vE "_la-($(basename -s .o "$T"/objects/*.o | paste -sd '|'))\\.o\$")
}
if have objdump && have readelf && have "${PYTHON3:-python3}" &&
	[ -f "$builddir/.libs/libhpcrun-lite.so" ]; then
	set -- malloc hpcrun-lite/runtime/sample/sample_record.c:sample_take \
		calloc hpcrun-lite/source/perf.c:perf_poll \
		realloc hpcrun-lite/runtime/watch.c:watch_after_sample
	for _ in 1 2 3; do
		ok "$2 with $1 is built" broken "$1" "${2%:*}" "${2#*:}"
		shift 2
	done
	ok "the library with them is built" library
	found=$(top_builddir=$T/broken sh "$srcdir/tests/lint/symbols.sh" 2>&1 |
		grep -A 9 '^not ok.*handlers call')
	for call in malloc calloc realloc; do
		like "$call in a handler" "$found" "$call by"
	done
else
	skip "malloc in a handler" "no objdump, readelf or python3 here"
fi
done_testing
