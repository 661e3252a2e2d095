#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# hpcstruct-lite over a measurement directory: which binaries, the cache, changed binaries, the
# vdso, several processes at a time, bad input and usage.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/struct
make_run=$builddir/tests/struct/make_run
[ -x "$make_run" ] || skip_all "no tests/struct/make_run"
XDG_CACHE_HOME=$T/cache
export XDG_CACHE_HOME
unset HPCTOOLKIT_LITE_CACHE
cache=$XDG_CACHE_HOME/hpctoolkit-lite

id_of() {
	sed -n 's/^build-id //p' "$golden/${1##*/}.txt"
}
count() {
	find "$1" -name '*.hpcstruct' 2>/dev/null | wc -l
}
# lines of standard error, standard output ignored
said() {
	{ "$@" >/dev/null; } 2>&1
}

mkdir "$T/bin" "$T/run"
cp "$golden"/shapes-gcc-O2-g.so "$golden"/shapes-gcc-O2-nog.so "$golden"/names-clang-O2-g.so \
	"$T/bin"
a=$T/bin/shapes-gcc-O2-g.so b=$T/bin/shapes-gcc-O2-nog.so c=$T/bin/names-clang-O2-g.so
id_a=$(id_of shapes-gcc-O2-g) id_c=$(id_of names-clang-O2-g)

"$make_run" "$T/run/one.hpcrun" "$a" "$b" "unused:$c"
is "binaries with samples" "$(said "$HPCSTRUCT" -j2 "$T/run")" \
	"hpcstruct-lite: $T/run: 2 structures: 2 made, 0 up to date, 0 missing"
ok "named by build id" sh -c "test -s '$cache/$id_a'-*.hpcstruct"
is "none for a module without samples" "$(find "$cache" -name "$id_c*")" ""
not_ok "nothing is written into the measurement" test -e "$T/run/structs"
is "again: up to date" "$(said "$HPCSTRUCT" "$T/run")" \
	"hpcstruct-lite: $T/run: 2 structures: 0 made, 2 up to date, 0 missing"
is "-f makes them again" "$(said "$HPCSTRUCT" -f "$T/run")" \
	"hpcstruct-lite: $T/run: 2 structures: 2 made, 0 up to date, 0 missing"
is "nothing but structures is left" "$(find "$cache" ! -name '*.hpcstruct' -type f | wc -l)" 0
is "the cache has them once" "$(count "$cache")" 2
"$HPCSTRUCT" -q -o "$T/first" "$T/run"
mkdir "$T/other"
"$make_run" "$T/other/x.hpcrun" "$a"
is "and serves another run" "$(said "$HPCSTRUCT" "$T/other")" \
	"hpcstruct-lite: $T/other: 1 structures: 0 made, 1 up to date, 0 missing"
is "--no-cache: made" "$(said "$HPCSTRUCT" --no-cache "$T/other")" \
	"hpcstruct-lite: $T/other: 1 structures: 1 made, 0 up to date, 0 missing"
rm -rf "$T/other/structs"
is "an empty HPCTOOLKIT_LITE_CACHE: made" \
	"$(HPCTOOLKIT_LITE_CACHE='' said "$HPCSTRUCT" "$T/other")" \
	"hpcstruct-lite: $T/other: 1 structures: 1 made, 0 up to date, 0 missing"
same "... beside the measurement, the same file" "$T/other/structs/$id_a.hpcstruct" \
	"$T/first/$id_a.hpcstruct"
for f in "$cache"/"$id_a"*; do
	printf x | dd of="$f" bs=1 seek=400 conv=notrunc 2>/dev/null
done
rm -rf "$T/other/structs"
is "a damaged file in the cache is not used" "$(said "$HPCSTRUCT" "$T/other")" \
	"hpcstruct-lite: $T/other: 1 structures: 1 made, 0 up to date, 0 missing"
same "and replaced" "$(echo "$cache/$id_a"-*)" "$T/first/$id_a.hpcstruct"

# a binary that changed
mkdir "$T/changed"
cp "$a" "$T/bin/app"
"$make_run" "$T/changed/x.hpcrun" "$T/bin/app" "$b"
cp "$golden/shapes-clang-O2-g.so" "$T/bin/app"
out=$(said "$HPCSTRUCT" "$T/changed")
like "changed, but known from before: the structure of what ran" "$out" \
	"$T/bin/app: changed since the run; its structure from before is used"
"$HPCSTRUCT" -q -o "$T/changed-s" "$T/changed"
same "which is right" "$T/changed-s/$id_a.hpcstruct" "$T/first/$id_a.hpcstruct"
out=$(said "$HPCSTRUCT" --no-cache "$T/changed")
like "changed and not known: said" "$out" \
	"$T/bin/app: warning: structure missing: the file changed since the run \\(other build id\\), and no structure"
like "and counted" "$out" "2 structures: 1 made, 0 up to date, 1 missing"
not_ok "and not used" test -e "$T/changed/structs/$id_a.hpcstruct"
"$HPCSTRUCT" -q --no-cache "$T/changed" 2>/dev/null
is "exit status 1 says that one is missing" $? 1
objcopy --remove-section=.note.gnu.build-id "$golden/shapes-gcc-O2-g.so" "$T/bin/noid" \
	2>/dev/null && {
	mkdir "$T/noid"
	"$make_run" "$T/noid/x.hpcrun" "$T/bin/noid"
	is "no build id: known by path, size and time" "$(said "$HPCSTRUCT" "$T/noid")" \
		"hpcstruct-lite: $T/noid: 1 structures: 1 made, 0 up to date, 0 missing"
	like "the key is a hash" "$(ls "$cache")" '^x[0-9a-f]{16}-[0-9a-f]{16}\.hpcstruct$'
	touch -d '2001-01-01' "$T/bin/noid"
	like "and noticed when it changed" "$(said "$HPCSTRUCT" --no-cache "$T/noid")" \
		"the file changed since the run \\(other size, time or content\\)"
}
rm "$T/bin/app"
rm -rf "$T/changed/structs"
like "a binary that is gone" "$(said "$HPCSTRUCT" --no-cache "$T/changed")" \
	"$T/bin/app: .*structure missing: the file is gone; its addresses stay without names"
rm -rf "$T/changed/structs"
out=$(said "$HPCSTRUCT" "$T/changed")
like "... but for its structure: that is used" "$out" \
	"$T/bin/app: no such file any more; its structure from before is used"
like "... and counted" "$out" "2 structures: 0 made, 2 up to date, 0 missing"

# the vdso is kept with the run
mkdir -p "$T/vdso/vdso"
cp "$golden/shapes-gcc-O2-stripped.so" "$T/vdso/vdso/$(id_of shapes-gcc-O2-stripped).so"
"$make_run" "$T/vdso/x.hpcrun" "vdso=$(id_of shapes-gcc-O2-stripped)"
is "vdso" "$(said "$HPCSTRUCT" "$T/vdso")" \
	"hpcstruct-lite: $T/vdso: 1 structures: 1 made, 0 up to date, 0 missing"

# many at a time, in one cache and one directory
mkdir "$T/many"
"$make_run" "$T/many/x.hpcrun" "$golden"/*-O2-*.so
# a stripped copy has the id of the original
n=$(sed -n 's/^build-id //p' "$golden"/*-O2-*.txt | sort -u | wc -l)
rm -rf "$cache"
pids=
for i in 1 2 3 4; do
	"$HPCSTRUCT" -q -j2 "$T/many" 2>"$T/err.$i" &
	pids="$pids $!"
done
rc=0
for p in $pids; do wait "$p" || rc=1; done
is "four processes at a time" "$rc" 0
is "every structure is there" "$(count "$cache")" "$n"
broken=0
for f in "$cache"/*.hpcstruct; do
	"$HPCSTRUCT" --print "$f" >/dev/null 2>&1 || broken=$((broken + 1))
done
is "and sound" "$broken" 0

# a cache that cannot be written is no reason to stop
rm -rf "$cache" "$T/other/structs"
mkdir -p "$XDG_CACHE_HOME"
: >"$cache"
is "a cache that cannot be written" "$(said "$HPCSTRUCT" "$T/other")" \
	"hpcstruct-lite: $T/other: 1 structures: 1 made, 0 up to date, 0 missing"
ok "... the structures are beside the measurement" test -s "$T/other/structs/$id_a.hpcstruct"
rm -rf "$T/other/structs"
is "neither HOME nor XDG_CACHE_HOME: the same" \
	"$(env -u HOME -u XDG_CACHE_HOME "$HPCSTRUCT" "$T/other" 2>&1)" \
	"hpcstruct-lite: $T/other: 1 structures: 1 made, 0 up to date, 0 missing"
rm -rf "$T/other/structs"
mkdir "$T/target"
ln -s "$T/target" "$T/other/structs"
out=$(said "$HPCSTRUCT" "$T/other")
is "structs as a symbolic link: refused" "$?" 1
like "... said" "$out" "$T/other/structs: is a symbolic link, which is not followed to write"
is "... and not followed" "$(ls "$T/target")" ""
rm "$T/other/structs"

# damage and usage
printf 'not one' >"$T/run/bad.hpcrun"
like "a file that is no measurement" "$(said "$HPCSTRUCT" "$T/run")" \
	"run/bad.hpcrun: warning: shorter than a header; left out"
mkdir "$T/empty"
out=$(said "$HPCSTRUCT" "$T/empty")
is "no measurement at all" "$?/$out" \
	"1/hpcstruct-lite: $T/empty: no measurement file (*.hpcrun) that can be read is in this directory"
out=$(said "$HPCSTRUCT" -o "$T/x" "$T/nothing")
is "no such binary" "$?/$out" "1/hpcstruct-lite: $T/nothing: no such file"
out=$(said "$HPCSTRUCT" -o "$T/x" "$srcdir/tests/lib.sh")
is "not a binary" "$?/$out" \
	"1/hpcstruct-lite: $srcdir/tests/lib.sh: not a binary this program knows"
out=$(said "$HPCSTRUCT" --print "$srcdir/tests/lib.sh")
is "not a structure" "$?/$out" "1/hpcstruct-lite: $srcdir/tests/lib.sh: not a structure file"
"$HPCSTRUCT" 2>/dev/null
is "nothing given: usage" $? 2
"$HPCSTRUCT" -j 0 "$a" 2>/dev/null
is "-j 0: usage" $? 2
is "-o with a directory: structures go there" "$(said "$HPCSTRUCT" -o "$T/elsewhere/x" "$T/many")" \
	"hpcstruct-lite: $T/many: $n structures: $n made, 0 up to date, 0 missing"
is "... all of them" "$(count "$T/elsewhere/x")" "$n"
(cd "$T" && "$HPCSTRUCT" -q --no-cache "$a")
ok "the default output is in the working directory" test -s "$T/shapes-gcc-O2-g.so.hpcstruct"
out=$(said "$HPCSTRUCT" --no-cache -o /proc/nowhere "$a")
like "an output that cannot be written" "$out" "/proc/nowhere: cannot be created"
: >"$T/file"
HPCTOOLKIT_LITE_CACHE=$T/cache2 "$HPCSTRUCT" -q -o "$T/elsewhere/y" "$T/many"
HPCTOOLKIT_LITE_CACHE=$T/cache2 said "$HPCSTRUCT" -o "$T/file/x" "$T/many" >"$T/said"
is "what the cache has and cannot be copied is said once each" \
	"$(grep -c 'cannot be created: Not a directory$' "$T/said") $(wc -l <"$T/said" |
	tr -d ' ')" "$n $((n + 1))"

# A name that is no file's: what it stands for is written into, and stays. Made at first, then from
# the cache.
special=$T/special
mkdir "$special" "$special/dir"
rm -rf "$cache"
"$HPCSTRUCT" -q --no-cache -o "$T/plain" "$a"
kind_of() { stat -c '%F %t:%T' "$special/$1"; }
for how in made cached; do
	rm -f "$special"/*.file "$special"/link*
	echo old >"$special/1.file"
	ln -s 1.file "$special/link1"
	ln -s 2.file "$special/link2"
	for link in link1 link2; do
		ok "$how: into a link" "$HPCSTRUCT" -q -o "$special/$link" "$a"
		is "$how: it is still one" "$(readlink "$special/$link")" "${link#link}.file"
		same "$how: its file is the structure" "$special/${link#link}.file" "$T/plain"
	done
	rm -f "$special/fifo" && mkfifo "$special/fifo"
	run_limited 10 cat "$special/fifo" >"$T/through" &
	ok "$how: into a FIFO" run_limited 10 "$HPCSTRUCT" -q -o "$special/fifo" "$a"
	wait $!
	is "$how: it is still one" "$(kind_of fifo)" "fifo 0:0"
	same "$how: what came out of it" "$T/through" "$T/plain"
	if mknod "$special/null" c 1 3 2>/dev/null; then
		ok "$how: into a device" "$HPCSTRUCT" -q -o "$special/null" "$a"
		is "$how: it is still one" "$(kind_of null)" "character special file 1:3"
		rm "$special/null"
	else
		skip "$how: into a device" "this user makes none"
	fi
	ln -s /proc/self/fd/1 "$special/link-out"
	"$HPCSTRUCT" -q -o "$special/link-out" "$a" | cat >"$T/through"
	same "$how: a link to what /dev/stdout is" "$T/through" "$T/plain"
	is "$how: into a directory" "$(said "$HPCSTRUCT" -o "$special/dir" "$a")" \
		"hpcstruct-lite: $special/dir: cannot be written: Is a directory"
done
rm -rf "$T/other/structs" && mkdir "$T/other/structs"
mkfifo "$T/other/structs/$id_a.hpcstruct"
run_limited 10 "$HPCSTRUCT" --no-cache "$T/other" 2>"$T/err"
is "a FIFO in a measurement stays: status" $? 1
ok "... and is one" test -p "$T/other/structs/$id_a.hpcstruct"

done_testing
