#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program in a root directory of its own, with an older libc, in which the library and the
# measurement are visible: it runs and is measured, and has names outside, too.
. "${top_srcdir:-.}/tests/lib.sh"
. "$srcdir/tests/run_lib.sh"

need unshare readelf ldd
root=$T/root
mkdir -p "$root$builddir" "$root$T" "$root/proc"
for file in $(ldd "$LIFE" | grep -o '/[^ )]*'); do
	mkdir -p "$root${file%/*}"
	older_libc "$file" "$root$file"
done
cp "$LIFE" "$root/life"

# enter: what is outside is at the same place inside, and stays there until the command has ended.
cat >"$T/enter" <<'EOF'
mount --bind "$1" "$2$1" && mount --bind "$3" "$2$3" && mount --rbind /proc "$2/proc" || exit 99
root=$2
shift 3
chroot "$root" "$@"
exit $?
EOF
unshare -rm sh "$T/enter" "$builddir" "$root" "$T" /life spin 0.01 2>"$T/stderr" ||
	skip_all "no mounts of an ordinary user here: $(cat "$T/stderr")"

# report: functions of the last measurement, read outside
report() {
	"$HPCPROF" -q --to text --by function,module -o "$T/database" "$OUT" 2>&1
	rm -rf "$T/database"
}
# measured WHAT FUNCTION
measured() {
	is "$1: the program runs" "$status" 0
	unlike "$1: the loader has no complaint" "$(cat "$T/stderr")" 'ld\.so|GLIBC'
	sound "$1: files are sound"
	is "$1: all paths are complete" "$(value complete)" "$(value recorded)"
	like "$1: functions have names" "$(report)" "%.* $2 "
}

measure -- unshare -rm sh "$T/enter" "$builddir" "$root" "$T" /life spin 0.3
measured "chroot" spin
weights_fit "chroot: weights are the CPU time" 6 10
measure -- unshare -rm sh "$T/enter" "$builddir" "$root" "$T" /life plugins "$PLUGIN" 5 0.03
measured "libraries that come and go" plugin_run
if have bwrap && bwrap --bind "$root" / /life spin 0.01 2>/dev/null; then
	measure -- bwrap --bind "$root" / --bind "$builddir" "$builddir" --bind "$T" "$T" \
		/life spin 0.3
	measured "bwrap" spin
else
	skip "bwrap" "it does not work here"
fi
done_testing
