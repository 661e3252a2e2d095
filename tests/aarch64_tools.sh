#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Called by tests/aarch64.sh: builds hpcstruct-lite and hpcprof-lite for aarch64, and compares what
# they write under qemu with what those of BUILD write. The structures of the golden binaries of
# both machines are equal, byte for byte, and so is every output for RUN, a measurement of
# aarch64. A tree of the same program built for x86-64 has the same call paths by name, and the
# instructions in the page are those of llvm-objdump. `main` of stripped programs is where nm has
# it. Prints TAP.
#
# Usage: tests/aarch64_tools.sh QEMU SYSROOT BUILD AARCH64-BUILD RUN

set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
[ $# -eq 5 ] || { sed -n '/^# Usage/,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
qemu=$1 sysroot=$2 native=$3 build=$4 run=$5
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
n=0 failed=0
result() { # STATUS NAME FILE: ok or not, with the file if not
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		failed=1
		echo "not ok $n - $2"
		sed 's/^/# /' "$3" | tail -n 20
	fi
}

make -C "$build" hpcstruct-lite/hpcstruct-lite hpcprof-lite/hpcprof-lite >"$T/log" 2>&1
result $? "the tools are built" "$T/log"
[ "$failed" -eq 0 ] || exit 1
here() { # TOOL ARGUMENTS...
	tool=$1
	shift
	"$native/$tool/$tool" -q "$@"
}
there() {
	tool=$1
	shift
	"$qemu" -L "$sysroot" "$build/$tool/$tool" -q "$@"
}

# The same libraries are needed for the same names, and for loops in x86-64 code.
skipped='^$'
for library in 'IBERTY 1,names-' 'ZYDIS 1,-gcc\|-clang'; do
	is_here=$(grep -c "^#define HAVE_${library%,*}" "$native/config.h")
	[ "$is_here" -eq "$(grep -c "^#define HAVE_${library%,*}" "$build/config.h")" ] ||
		skipped="$skipped\|${library#*,}"
done
: >"$T/differ"
n_compared=0
for binary in "$top"/tests/golden/struct/*.so; do
	case $binary in
	*aarch64*) [ "${skipped#*names-}" = "$skipped" ] || continue ;;
	*) ! echo "$binary" | grep -q "$skipped" || continue ;;
	esac
	here hpcstruct-lite -f --no-cache -o "$T/here" "$binary" >>"$T/differ" 2>&1
	there hpcstruct-lite -f --no-cache -o "$T/there" "$binary" >>"$T/differ" 2>&1
	cmp "$T/here" "$T/there" >>"$T/differ" 2>&1 || echo "$binary" >>"$T/differ"
	n_compared=$((n_compared + 1))
done
[ ! -s "$T/differ" ] && [ "$n_compared" -gt 0 ]
result $? "structures of $n_compared golden binaries are equal" "$T/differ"

# main_of FLAGS...: compares main of a stripped program
printf '%s\n' 'int helper(int n) { return n + 1; }' \
	'int main(int n, char **v) { (void)v; return helper(n) == 0; }' >"$T/main.c"
main_of() {
	"$@" --sysroot="$sysroot" -O2 "$T/main.c" -o "$T/main" >"$T/log" 2>&1 || return
	aarch64-linux-gnu-nm "$T/main" | sed -n 's/^0*\([0-9a-f]*\) T main$/0x\1/p' >"$T/theirs"
	aarch64-linux-gnu-strip "$T/main" &&
		here hpcstruct-lite -f --no-cache -o "$T/here" "$T/main" &&
		"$native/hpcstruct-lite/hpcstruct-lite" --print "$T/here" |
		sed -n 's/^function \(0x[0-9a-f]*\) main .*/\1/p' >"$T/ours"
	[ -s "$T/ours" ] && diff "$T/ours" "$T/theirs" >>"$T/log" 2>&1
	result $? "main of a stripped program: $*" "$T/log"
}
main_of aarch64-linux-gnu-gcc
main_of aarch64-linux-gnu-gcc -no-pie
main_of aarch64-linux-gnu-gcc -static
main_of aarch64-linux-gnu-gcc -mbranch-protection=standard
! command -v clang >/dev/null || ! command -v ld.lld >/dev/null ||
	main_of clang --target=aarch64-linux-gnu -fuse-ld=lld

# hpcprof-lite under qemu cannot start hpcstruct-lite, and only qemu finds the libraries of SYSROOT
# where the measurement has them. So hpcstruct-lite of aarch64 makes the structures for both. The
# page is apart: one that qemu makes has instructions of these libraries, too.
cp -r "$run" "$T/run" && there hpcstruct-lite --no-cache "$T/run" >"$T/log" 2>&1 &&
	here hpcstruct-lite -f --no-cache -o "$T/here" "$build/paths" >>"$T/log" 2>&1
id=$(readelf -n "$build/paths" | sed -n 's/ *Build ID: //p')
cmp "$T/here" "$T/run/structs/$id.hpcstruct" >>"$T/log" 2>&1
result $? "structures of the program are equal" "$T/log"
formats=text,cctdb,folded,perfetto,pprof,json,brief
export HPCTOOLKIT_LITE_CACHE=
for where in here there; do
	$where hpcprof-lite -o "$T/$where.d" --to "$formats" "$T/run" >"$T/$where.said" \
		2>"$T/$where.log" && [ -s "$T/$where.said" ] &&
		mv "$T/$where.said" "$T/$where.d/said" &&
		$where hpcprof-lite -o "$T/$where.page" --to html "$T/run" >>"$T/$where.log" 2>&1
	result $? "a measurement of aarch64 is read $where" "$T/$where.log"
done
diff -r "$T/here.d" "$T/there.d" >"$T/differ" 2>&1
result $? "all outputs but the page are equal" "$T/differ"

# The same program, measured on this machine: its call paths have the same names. What is between a
# signal and its handler is of libc there, and of the emulator here.
paths() { # DATABASE: the call paths of spin_leaf() from main() on, a recursion once
	sed -n '/spin_handler/d; s/ [0-9]*$//; s/.*main;\(.*spin_leaf\)$/\1/p' \
		"$1/folded/CPUTIME.folded" |
		awk '{ gsub(/(recurse;)+/, "recurse;") } 1' | sort -u
}
c++ -O2 -g "$top/tests/workload/machine/machine_paths.cc" -pthread -o "$T/paths" >"$T/log" 2>&1 &&
	"$native/hpcrun-lite/hpcrun-lite" -o "$T/own" -e CPUTIME "$T/paths" 300000 \
		>>"$T/log" 2>&1 && here hpcprof-lite -o "$T/db" --to folded "$T/own" >>"$T/log" 2>&1
paths "$T/db" >"$T/ours"
paths "$T/there.d" >"$T/theirs"
[ -s "$T/ours" ] && diff "$T/ours" "$T/theirs" >>"$T/log" 2>&1
result $? "call paths of x86-64 and aarch64 have the same names" "$T/log"

# Instructions of the page: mnemonics, registers and numbers; symbols are written in other ways.
cat >"$T/compare.py" <<'END'
import re, sys
def parts(text):
    words = re.findall(r"-?[a-z0-9.]+", re.sub(r"\s*(//|<).*", "", text).lower())
    if re.fullmatch(r"b|bl|b\..*|cbn?z|tbn?z|adrp?", words[0]): # objdump writes no 0x
        words[-1] = str(int(words[-1], 16))
    return [int(w, 0) if re.fullmatch(r"-?(0x[0-9a-f]+|[0-9]+)", w) else w for w in words]
theirs = {}
for line in open(sys.argv[2]):
    found = re.match(r"\s*([0-9a-f]+):\s+(.*)", line)
    if found:
        theirs[int(found.group(1), 16)] = found.group(2)
n = wrong = 0
for line in open(sys.argv[1]):
    words = line.split(None, 3)
    if words[0].startswith("0x") and int(words[0], 16) in theirs and len(words) == 4:
        n += 1
        if parts(words[3]) != parts(theirs[int(words[0], 16)]):
            wrong += 1
            print(line, theirs[int(words[0], 16)])
print(n, "instructions,", wrong, "differ")
sys.exit(n < 10 or wrong > 0)
END
if ! command -v python3 >/dev/null || ! command -v llvm-objdump >/dev/null; then
	echo "# no python3 or llvm-objdump: instructions are not compared"
else
	llvm-objdump -d --no-show-raw-insn "$build/paths" >"$T/dump" &&
		python3 "$top/tests/judge/read_code.py" "$T/here.page/report.html" |
		grep -v '/lib\|ld-linux' >"$T/code"
	python3 "$T/compare.py" "$T/code" "$T/dump" >"$T/log" 2>&1
	result $? "instructions in the page are those of llvm-objdump" "$T/log"
fi
echo "1..$n"
exit "$failed"
