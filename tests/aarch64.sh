#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Builds the run time and the launcher for aarch64 with Debian's cross compiler, and runs the
# shadow-stack check (tests/workload/unwind/unwind_shadow.cc) under qemu-aarch64: gcc -O0, -O2, with
# signed return addresses, and clang. Then measures a program whose paths are known
# (tests/workload/machine/machine_paths.cc), with OpenMP, SVE and pages of 64 KiB, and Python;
# hpcprof-lite of BUILD, which must exist, reads that.
# The libraries of arm64 are unpacked by debootstrap, which needs root and the archive of packages.
# Skips with status 77 and a word where something is missing (packages.txt: aarch64). Prints TAP.
#
# Usage: tests/aarch64.sh [--sysroot DIR] BUILD AARCH64-BUILD
#	--sysroot DIR  libraries of arm64; made if it does not exist (AARCH64-BUILD/sysroot), and
#	               DIR-trixie, with those of Debian 13

set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
sysroot=
[ "${1:-}" != --sysroot ] || { sysroot=$(mkdir -p "$2" && cd "$2" && pwd); shift 2; }
[ $# -eq 2 ] || { sed -n '/^# Usage/,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
native=$(cd "$1" && pwd) || exit 1
mkdir -p "$2" && build=$(cd "$2" && pwd) || exit 1
[ -n "$sysroot" ] || sysroot=$build/sysroot

say() { printf '%s\n' "aarch64: $*"; }
skip() { say "skipped: $*"; exit 77; }
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

for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++; do
	command -v "$tool" >/dev/null || skip "no $tool"
done
qemu=$(command -v qemu-aarch64-static || command -v qemu-aarch64) || skip "no qemu-aarch64"
# get RELEASE TO PYTHON PACKAGES: unpacks the packages of a minimal system, and these
get() {
	[ ! -e "$2/usr/bin/$3" ] || return 0
	command -v debootstrap >/dev/null || skip "no debootstrap for the libraries of arm64"
	[ "$(id -u)" -eq 0 ] || skip "debootstrap needs root"
	debootstrap --arch=arm64 --foreign --variant=minbase --include="$4" "$1" "$2" \
		>"$build/debootstrap.log" 2>&1 || skip "see $build/debootstrap.log"
	for package in "$2"/var/cache/apt/archives/*.deb; do
		dpkg -x "$package" "$2" || skip "$package cannot be unpacked"
	done
}
include=libc6-dev,libelf-dev,libdwarf-dev,zlib1g-dev,libstdc++-12-dev,libgcc-12-dev
include=$include,libiberty-dev,libzydis-dev,libgomp1,libomp5-14,python3.11-minimal
get bookworm "$sysroot" python3.11 "$include"
get trixie "$sysroot-trixie" python3.13 python3.13-minimal

log=$build/build.log
(
	cd "$build" && { [ -e Makefile ] || CC="aarch64-linux-gnu-gcc --sysroot=$sysroot" \
		CXX="aarch64-linux-gnu-g++ --sysroot=$sysroot" \
		PKG_CONFIG_LIBDIR=$sysroot/usr/lib/aarch64-linux-gnu/pkgconfig \
		"$top/configure" --host=aarch64-linux-gnu --enable-werror; } &&
		make libhpcrun-lite.la hpcrun-lite/hpcrun-lite
) >"$log" 2>&1
result $? "the run time and the launcher are built" "$log"
[ "$failed" -eq 0 ] || exit 1

T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
work=$top/tests/workload
libs="$build/.libs/libhlunwind.a $build/.libs/libhlsafe.a -ldl -lrt -lpthread"
aarch64-linux-gnu-gcc --sysroot="$sysroot" -O2 -shared -fPIC \
	"$work/unwind/unwind_shadow_plugin.c" -o "$T/plugin.so" || exit 1

# qemu interrupts a program only between blocks of instructions, and a block is one instruction if
# these variables say so (the name depends on its version). That is slow, so samples are rarer.
export QEMU_SINGLESTEP=1 QEMU_ONE_INSN_PER_TB=1
# shadow NAME COMPILER OPTIONS...: fails if a path is wrong and not marked, or too few are exact
shadow() {
	name=$1
	shift
	# shellcheck disable=SC2086 # a list of libraries
	"$@" --sysroot="$sysroot" -D_GNU_SOURCE -I"$top" "$work/unwind/unwind_shadow.cc" $libs \
		-pthread -o "$T/shadow" >"$T/out" 2>&1 &&
		timeout 300 "$qemu" -L "$sysroot" "$T/shadow" "$T/plugin.so" 4000 4000 \
			>"$T/out" 2>&1
	result $? "shadow stack: $name" "$T/out"
}
shadow "gcc -O2 -fomit-frame-pointer" aarch64-linux-gnu-g++ -O2 -fomit-frame-pointer
shadow "gcc -O0" aarch64-linux-gnu-g++ -O0
shadow "gcc -O3, signed return addresses" aarch64-linux-gnu-g++ -O3 -mbranch-protection=standard
if command -v clang++ >/dev/null && command -v ld.lld >/dev/null; then
	shadow "clang -O2" clang++ --target=aarch64-linux-gnu -O2 -fuse-ld=lld
else
	say "no clang++ or ld.lld: not tried"
fi
unset QEMU_SINGLESTEP QEMU_ONE_INSN_PER_TB
export QEMU_PAGE=

# The kernel need not know how to start a program of arm64: the script that is measured starts qemu.
printf '#!/bin/sh\nexec "%s" $QEMU_PAGE -L "%s" "$@"\n' "$qemu" "$sysroot" >"$T/program"
chmod +x "$T/program"
# The program is not in /tmp: binaries there are copied by a process that shares our memory, which
# qemu 7.2 cannot start. Nor can it queue a SIGSEGV with the si_code of a fault, as our handler for
# fatal signals does: it takes that for a fault of its own and aborts. And an interrupted ppoll does
# not say how much of its time is left, so one that samples interrupt (OFFCPU) never ends.
# paths NAME COMPILER OPTIONS...: 999 of 1000 paths are complete, and the program has them all
paths() {
	name=$1
	shift
	rm -rf "$T/run" "$T/db"
	"$@" --sysroot="$sysroot" -g "$work/machine/machine_paths.cc" \
		-pthread -o "$build/paths" >"$T/out" 2>&1 &&
		"$qemu" -L "$sysroot" "$build/hpcrun-lite/hpcrun-lite" -o "$T/run" -e CPUTIME \
			"$T/program" "$build/paths" 100000 >"$T/out" 2>&1 &&
		"$native/hpcprof-lite/hpcprof-lite" -q -o "$T/db" --to folded "$T/run" \
			>>"$T/out" 2>&1
	cat "$T/db/folded/CPUTIME.folded" >>"$T/out" 2>/dev/null
	# Samples elsewhere than in spin_leaf are of libc or the loader, whose names are not here.
	awk '/spin_leaf/ {
		all += $NF
		if (/main;(recurse;)+spin_deep;spin_leaf/ || /main;spin_catch;spin_leaf/ ||
			/spin_thread;spin_leaf/ || /main;spin_alloca;spin_leaf/ ||
			/main;.*spin_handler;spin_leaf/ || /main;spin_child;spin_leaf/ ||
			/main;spin_region(;[^;]*omp[^;]*)*;spin_leaf/ ||
			/main;spin_vectors(;spin_vector)+;spin_leaf/)
			right += $NF
	} END { exit !(all > 0 && right >= 0.999 * all) }' "$T/out"
	result $? "paths of a program: $name" "$T/out"
}
gxx=aarch64-linux-gnu-g++
paths "gcc -O2" $gxx -O2
paths "gcc -O2, signed return addresses" $gxx -O2 -mbranch-protection=standard
paths "gcc -O3 -fomit-frame-pointer, OpenMP" $gxx -O3 -fomit-frame-pointer -fopenmp
if command -v clang++ >/dev/null && command -v ld.lld >/dev/null; then
	ln -sf "$sysroot/usr/lib/llvm-14/lib/libomp.so.5" "$T/libomp.so"
	paths "clang -O2, OpenMP" clang++ --target=aarch64-linux-gnu -O2 -fuse-ld=lld \
		-fopenmp=libomp -L"$T"
fi
# qemu knows the length of vectors by default, and 512 bits. Pages of 64 KiB: qemu refuses system
# calls the memory after the end of a mapping in its last page, so names of libraries are missing.
export QEMU_CPU=max
paths "gcc -O2, SVE" $gxx -O2 -march=armv9-a+sve2
QEMU_CPU=max,sve-default-vector-length=64
paths "gcc -O2, SVE of 512 bits" $gxx -O2 -march=armv9-a+sve2
unset QEMU_CPU
QEMU_PAGE='-p 65536'
paths "gcc -O2, pages of 64 KiB" $gxx -O2
QEMU_PAGE=
sh "$top/tests/aarch64_tools.sh" "$qemu" "$sysroot" "$native" "$build" "$T/run" >"$T/out" 2>&1
result $? "hpcstruct-lite and hpcprof-lite of both machines agree" "$T/out"

cat >"$T/program.py" <<'EOF'
def leaf(n):
    v = 0
    for i in range(n):
        v = (v * 1664525 + 1013904223) & 0xffffffff
    return v
def top():
    for i in range(30):
        leaf(20000)
top()
EOF
# measure ROOT EVENT PROGRAM...
measure() {
	rm -rf "$T/run" "$T/db"
	root=$1 event=$2
	shift 2
	printf '#!/bin/sh\nexec "%s" -L "%s" "$@"\n' "$qemu" "$root" >"$T/program"
	timeout 100 "$qemu" -L "$root" "$build/hpcrun-lite/hpcrun-lite" -o "$T/run" -e "$event" \
		"$T/program" "$@"
}

# python ROOT NAME
python() {
	measure "$1" CPUTIME "$1/usr/bin/$2" -S "$T/program.py" >"$T/out" 2>&1 &&
		"$native/hpcprof-lite/hpcprof-lite" -q -o "$T/db" --to folded "$T/run" \
			>>"$T/out" 2>&1
	awk '{ all += $NF } /<module>;top;leaf/ { right += $NF }
		END { exit !(all > 0 && right > all / 2) }' "$T/db/folded/CPUTIME.folded" \
		2>>"$T/out"
	result $? "frames of $2" "$T/out"
}
python "$sysroot" python3.11
python "$sysroot-trixie" python3.13

# A thread that is cancelled in a wait ends, and does not wait on. glibc 2.41 has another way.
aarch64-linux-gnu-gcc --sysroot="$sysroot" -D_GNU_SOURCE -I"$top" -O2 \
	"$work/sacred/sacred_cancel.c" -pthread -o "$build/cancel" || exit 1
for root in "$sysroot" "$sysroot-trixie"; do
	for wait in poll nanosleep sem; do
		measure "$root" REALTIME@f3000 "$build/cancel" cancel "$wait" 200
	done >"$T/out" 2>&1
	[ "$(grep -c ': 200 cancelled$' "$T/out")" -eq 3 ]
	result $? "threads are cancelled in waits: ${root##*/}" "$T/out"
done
sh "$top/tests/aarch64_system.sh" "$build/system" >"$T/out" && status=0 || status=$?
[ "$status" -eq 77 ] || result "$status" "tests on kernels of aarch64" "$T/out"
echo "1..$n"
exit "$failed"
