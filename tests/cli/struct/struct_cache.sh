#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The cache of structures: what --cache shows and --clear-cache removes, its bound, and what is left
# alone.

. "${srcdir:-.}/tests/lib.sh"

golden=$srcdir/tests/golden/struct
make_run=$builddir/tests/struct/make_run
[ -x "$make_run" ] || skip_all "no tests/struct/make_run"
cache=$HPCTOOLKIT_LITE_CACHE
said() {
	{ "$@" >/dev/null; } 2>&1
}
id_of() {
	sed -n 's/^build-id //p' "$golden/$1.txt"
}
entry_of() {
	basename "$cache/$(id_of "$1")"-*.hpcstruct
}
run_of() { # DIRECTORY BINARY...
	mkdir -p "$T/$1"
	at=$T/$1/x.hpcrun
	shift
	"$make_run" "$at" "$@"
}

is "an empty cache" "$("$HPCSTRUCT" --cache)" "$cache: 0 structures, 0 bytes of at most 2.0 GiB"
not_ok "showing it makes no directory" test -e "$cache"
run_of m "$golden/shapes-gcc-O2-g.so" "$golden/names-gcc-O2-g.so"
"$HPCSTRUCT" -q "$T/m"
out=$("$HPCSTRUCT" --cache)
like "what it holds" "$out" "^$cache: 2 structures, [0-9.]+ KiB of at most 2\\.0 GiB\$"
like "each with its time, size and binary" "$out" \
	"^20[0-9-]{8} [0-9:]{5} +[0-9.]+ KiB  $golden/shapes-gcc-O2-g\\.so\$"
is "the directory is for its user alone" "$(stat -c %a "$cache")" 700
out=$(HPCTOOLKIT_LITE_CACHE_SIZE=1536K "$HPCSTRUCT" --cache)
like "a size of its own" "$out" " of at most 1\\.5 MiB\$"
out=$(HPCTOOLKIT_LITE_CACHE_SIZE=much said "$HPCSTRUCT" --cache)
like "a size that is none" "$out" "HPCTOOLKIT_LITE_CACHE_SIZE is 'much', which is no size like"
"$HPCSTRUCT" --cache "$T/m" 2>"$T/err"
is "--cache takes nothing else" $? 2
HPCTOOLKIT_LITE_CACHE='' "$HPCSTRUCT" --cache 2>"$T/err"
is "no cache: status" $? 1
like "no cache: said" "$(cat "$T/err")" \
	"^hpcstruct-lite: there is no cache: HPCTOOLKIT_LITE_CACHE is empty, or"

# The bound: what was used longest ago goes first, but nothing that was used in the last hour.
shapes=$(entry_of shapes-gcc-O2-g) names=$(entry_of names-gcc-O2-g)
run_of other "$golden/shapes-clang-O2-g.so"
touch -d '3 days ago' "$cache/$shapes"
touch -d '2 days ago' "$cache/$names"
"$HPCSTRUCT" -q --no-cache -o "$T/clang" "$golden/shapes-clang-O2-g.so"
size=$(($(stat -c %s "$T/clang") + $(stat -c %s "$cache/$names") + 100))
HPCTOOLKIT_LITE_CACHE_SIZE=$size "$HPCSTRUCT" -q "$T/other"
clang=$(entry_of shapes-clang-O2-g)
is "too large: the oldest goes, what is needed stays" "$(ls "$cache")" \
	"$(printf '%s\n' "$names" "$clang" | sort)"
HPCTOOLKIT_LITE_CACHE_SIZE=0 "$HPCSTRUCT" -q "$T/other"
is "what is in use stays, whatever the bound" "$(ls "$cache")" "$clang"
"$HPCSTRUCT" -q "$T/m"
touch -d '3 days ago' "$cache/$shapes" "$cache/$names"
"$HPCSTRUCT" -q "$T/m"
HPCTOOLKIT_LITE_CACHE_SIZE=0 "$HPCSTRUCT" -q "$T/other"
is "use makes it young again" "$(find "$cache" -name '*.hpcstruct' | wc -l)" 3

# Other files, and drafts of processes that were ended
: >"$cache/notes.txt"
: >"$cache/$shapes.AbC123"
: >"$cache/$names.XyZ789"
touch -d '3 days ago' "$cache/$shapes.AbC123" "$cache/notes.txt"
HPCTOOLKIT_LITE_CACHE_SIZE=0 "$HPCSTRUCT" -q "$T/other"
not_ok "an old draft goes" test -e "$cache/$shapes.AbC123"
ok "a young one stays" test -e "$cache/$names.XyZ789"
is "--clear-cache" "$(said "$HPCSTRUCT" --clear-cache)" \
	"hpcstruct-lite: $cache: 4 structures removed"
is "leaves what is not ours" "$(ls "$cache")" notes.txt
ln -s "$T/m" "$T/link"
rm "$cache/notes.txt"
ln -s "$T/m/x.hpcrun" "$cache/$shapes"
HPCTOOLKIT_LITE_CACHE_SIZE=0 "$HPCSTRUCT" --clear-cache 2>"$T/err"
ok "and what links lead to" test -s "$T/m/x.hpcrun"
rm "$cache/$shapes"

# Another build without a build id, of the same path, size and time, as in images whose files all
# have one time
twin_build() { # NAME: of the function
	printf '%s\n' 'static volatile unsigned x;' \
		"__attribute__((noinline)) void $1(void)" \
		'{ for (long i = 0; i < 100000000; i++) x = x * 7 + 1; }' \
		"int main(void) { $1(); return 0; }" >"$T/twin.c"
	# shellcheck disable=SC2086 # the compiler may come with arguments
	${CC:-cc} -g -O1 -Wl,--build-id=none -o "$T/twin" "$T/twin.c" && touch -d @1 "$T/twin"
}
twin_report() {
	"$HPCPROF" -q --to text --by function "$T/twin-m" 2>&1 |
		grep -oE '[a-z]*_twin|changed since the run' | sort -u
}
twin() { # NAME: the build in which the first function is called so; what is in the report of it
	twin_build "$1"
	rm -rf "$T/twin-m"
	"$HPCRUN" -q -o "$T/twin-m" "$T/twin" && twin_report
}
if [ -n "${SANITIZER:-}" ] || ! have "${CC%% *}"; then
	skip "two builds of one size and time" "no compiler, or sanitizers"
else
	is "one build" "$(twin first_twin)" first_twin
	is "another one of the same size and time" "$(twin other_twin)" other_twin
	is "the first again, whose structure is older" "$(twin first_twin)" first_twin
	rm -rf "$T/twin-m/binaries" # which has the first, as it was below /tmp
	twin_build other_twin
	is "rebuilt since the run: the structure from before is used" "$(twin_report)" first_twin
	is "rebuilt since the run, without a cache" "$(HPCTOOLKIT_LITE_CACHE='' twin_report)" \
		'changed since the run'
fi

# Many at a time, with a bound that nothing fits into: the second one finds a file or makes it.
rm -rf "$cache"
"$make_run" "$T/m/x.hpcrun" "$golden"/*-O2-*.so
"$HPCSTRUCT" -q "$T/m"
find "$cache" -name '*.hpcstruct' -exec touch -d '2 days ago' {} +
pids=
for i in 1 2 3 4; do
	HPCTOOLKIT_LITE_CACHE_SIZE=1K "$HPCSTRUCT" -q -j2 "$T/m" 2>"$T/err.$i" &
	pids="$pids $!"
done
rc=0
for p in $pids; do wait "$p" || rc=1; done
is "four at a time in a cache that is too small" "$rc/$(cat "$T"/err.?)" "0/"
is "each structure is there" "$(find "$cache" -name '*.hpcstruct' | wc -l)" \
	"$(sed -n 's/^build-id //p' "$golden"/*-O2-*.txt | sort -u | wc -l)"

# An ordinary user, whose cache lies below a directory that someone else owns
if public_tools; then
	run_of public "$HPCSTRUCT"
	chmod -R a+rX "$T/public"
	home=$(public_dir home)
	out=$(as_nobody env -u HPCTOOLKIT_LITE_CACHE HOME="$home" "$HPCSTRUCT" "$T/public" 2>&1)
	is "an ordinary user's cache" "$out" \
		"hpcstruct-lite: $T/public: 1 structures: 1 made, 0 up to date, 0 missing"
	is "is where it should be" \
		"$(find "$home/.cache/hpctoolkit-lite" -name '*.hpcstruct' | wc -l)" 1
else
	skip "an ordinary user's cache" "no staged installation"
fi
done_testing
