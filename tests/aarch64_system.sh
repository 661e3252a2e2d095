#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Tests of measured programs on kernels of aarch64: builds everything with Debian's cross compiler,
# puts it into a small system of Debian 12 with the tests, and starts that under
# qemu-system-aarch64: with Debian 12's kernel (6.1, pages of 4 KiB) and Debian 13's with pages of
# 16 KiB. tests/aarch64_guest.sh runs in there. The emulated processor signs return addresses (in
# programs that ask for it) and has SVE. Packages come by debootstrap, which needs root and the
# archive. Skips with status 77 where something is missing (packages.txt: aarch64). Prints TAP.
#
# Usage: tests/aarch64_system.sh [--kernel IMAGE] DIR [TEST...]
#	DIR             is made; has packages, the root and the build, which the next run uses again
#	--kernel IMAGE  this one alone: it needs no module for disks of virtio and ext4
#	TEST            as for make check; several by default

set -u
top=$(cd "$(dirname "$0")/.." && pwd) || exit 1
kernel=
[ "${1:-}" != --kernel ] || { kernel=$2; shift 2; }
[ $# -gt 0 ] || { sed -n '/^# Usage/,/^$/s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$1" && dir=$(cd "$1" && pwd) || exit 1
shift
[ $# -gt 0 ] || set -- \
	tests/cli/unwind/unwind_known.sh \
	tests/cli/unwind/unwind_shadow.sh \
	tests/cli/sacred/sacred_exit.sh \
	tests/cli/sacred/sacred_signal.sh \
	tests/cli/sacred/sacred_syscall.sh \
	tests/cli/sacred/sacred_wait.sh \
	tests/cli/offcpu/offcpu_threads.sh
root=$dir/root
build=$dir/build

say() { printf '%s\n' "aarch64: $*"; }
skip() { say "skipped: $*"; exit 77; }
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-g++ qemu-system-aarch64 debootstrap cpio \
	mke2fs; do
	command -v $tool >/dev/null || skip "no $tool"
done
[ "$(id -u)" -eq 0 ] || skip "debootstrap needs root"

# ---- packages ----

# get RELEASE TO PACKAGES: unpacks the packages of a minimal system and these
get() {
	[ ! -e "$2.done" ] || return 0
	rm -rf "$2"
	debootstrap --arch=arm64 --foreign --variant=minbase --include="$3" "$1" "$2" \
		>"$2.log" 2>&1 || skip "see $2.log"
	for package in "$2"/var/cache/apt/archives/*.deb; do
		dpkg -x "$package" "$2" || skip "$package cannot be unpacked"
	done
	rm -rf "$2/var/cache/apt" "$2/usr/share/doc" "$2/usr/share/man" "$2/usr/share/locale"
	: >"$2.done"
}

# take_kernel FROM NAME: the kernel of a system, and its modules
take_kernel() {
	[ ! -e "$dir/$2" ] || return 0
	modules=$1/lib/modules
	[ -d "$modules" ] || modules=$1/usr/lib/modules
	mkdir -p "$dir/$2.new" && mv "$1"/boot/vmlinuz-* "$dir/$2.new/Image" &&
		mv "$modules" "$dir/$2.new/modules" && mv "$dir/$2.new" "$dir/$2"
}

libraries=libc6-dev,libelf-dev,libdwarf-dev,zlib1g-dev,libiberty-dev,libzydis-dev,libzstd-dev
libraries=$libraries,liblz4-dev,libsqlite3-dev,libcmocka-dev,libopenmpi-dev
programs=g++,python3,openmpi-bin,procps,busybox-static,binutils,file,gawk,iproute2,xz-utils
get bookworm "$root" "$libraries,$programs,linux-image-arm64"
take_kernel "$root" kernel-4k || exit 1
if [ -z "$kernel" ] && [ ! -e "$dir/kernel-16k" ]; then
	get trixie "$dir/trixie" linux-image-arm64-16k
	take_kernel "$dir/trixie" kernel-16k && rm -rf "$dir/trixie" || exit 1
fi

# What the scripts of packages would have done.
cp "$root/usr/share/base-passwd/passwd.master" "$root/etc/passwd"
cp "$root/usr/share/base-passwd/group.master" "$root/etc/group"
for service in runuser other; do
	printf '%s pam_permit.so\n' 'auth required' 'account required' 'session required' \
		>"$root/etc/pam.d/$service"
done
echo '127.0.0.1 localhost guest' >"$root/etc/hosts"
ln -sf gawk "$root/usr/bin/awk"

# ---- the build ----

log=$dir/build.log
mkdir -p "$build"
(
	cd "$build" || exit
	# Compilers that are of this machine alone make no programs for tests.
	[ -e Makefile ] || CC="aarch64-linux-gnu-gcc --sysroot=$root" \
		CXX="aarch64-linux-gnu-g++ --sysroot=$root" PKG_CONFIG_SYSROOT_DIR=$root \
		PKG_CONFIG_LIBDIR=$root/usr/lib/aarch64-linux-gnu/pkgconfig \
		ac_cv_path_CLANG=no ac_cv_path_RUSTC=no ac_cv_path_NVCC=no \
		ac_cv_path_PYTHON3=/usr/bin/python3 \
		"$top/configure" --host=aarch64-linux-gnu --without-cupti || exit
	needs=$(make -s check-needs TESTS="$*" | sed -n 's/^check-needs: //p')
	# shellcheck disable=SC2086 # a list
	make all $needs
) >"$log" 2>&1 || { tail -n 20 "$log" | sed 's/^/# /'; echo "not ok 1 - build"; exit 1; }

# ---- the system ----

# The tests find their sources and what was built where these are here.
rm -rf "$dir/image"
mkdir -p "$root$top" "$root$build" "$root/out"
rm -rf "${root:?}$top" "${root:?}$build"
mkdir -p "$root$top" "$root$build"
(cd "$top" && tar -cf - tests common hpcrun-lite) | tar -C "$root$top" -xf - || exit 1
(cd "$build" && tar -cf - --exclude='*.o' --exclude='*.lo' --exclude='*.la' .) |
	tar -C "$root$build" -xf - || exit 1
chmod 755 "$root" && cp "$top/tests/aarch64_guest.sh" "$root/guest.sh" || exit 1
printf '%s\n' "top_srcdir=$top" "top_builddir=$build" >"$root/guest.env"
printf '%s\n' "$@" >"$root/guest.tests"
mke2fs -q -t ext4 -b 4096 -O ^metadata_csum -d "$root" "$dir/image" 3G || exit 1

# add_module KERNEL NAME: into the first file system, after those that it needs; one that is not
# there is part of the kernel
add_module() {
	case " $added " in *" $2 "*) return ;; esac
	added="$added $2"
	set -- "$1" "$2" "$(find "$1/modules" -name "$2.ko*" 2>/dev/null)"
	[ -n "$3" ] || return 0
	case $3 in *.xz) xz -dc "$3" ;; *) cat "$3" ;; esac >"$first/modules/$2.ko"
	for needed in $(tr '\0' '\n' <"$first/modules/$2.ko" | sed -n 's/^depends=//p' |
		tr ',' ' '); do
		add_module "$1" "$needed"
	done
	echo "$2" >>"$first/modules/order"
}

# start NAME IMAGE: boots it; the console is in $dir/NAME.console
start() {
	first=$dir/first
	added=
	rm -rf "$first"
	mkdir -p "$first/bin" "$first/modules" "$first/dev" "$first/new"
	: >"$first/modules/order"
	for name in crc32c_generic virtio_pci virtio_blk ext4; do
		add_module "$dir/$1" "$name"
	done
	cp "$root/bin/busybox" "$first/bin/"
	cat >"$first/init" <<'END'
#!/bin/busybox sh
/bin/busybox --install -s /bin
while read -r module; do insmod /modules/$module.ko; done </modules/order
mount -t devtmpfs dev /dev
mount -t ext4 /dev/vda /new || poweroff -f
exec switch_root /new /guest.sh
END
	chmod 755 "$first/init"
	(cd "$first" && find . | cpio -o -H newc --quiet) >"$dir/first.cpio" || return
	# pauth-impdef: the architecture's own signature takes most of the emulator's time
	timeout 3600 qemu-system-aarch64 -M virt,gic-version=3 -cpu max,pauth-impdef=on -smp 2 \
		-m 3G -accel tcg,thread=multi -kernel "$2" -initrd "$dir/first.cpio" \
		-append "console=ttyAMA0 quiet panic=-1" -nic none -no-reboot -display none \
		-drive "file=$dir/image,format=raw,if=none,id=disk,snapshot=on" \
		-device virtio-blk-pci,drive=disk -serial "file:$dir/$1.console" -monitor none \
		</dev/null >"$dir/$1.log" 2>&1
	sed -i 's/\r*$//' "$dir/$1.console"
}

n=0 failed=0
# report NAME TESTS...: one line for each test; what failed in it below
report() {
	console=$dir/$1.console
	what=$(sed -n 's/^guest: \(Linux\)/\1/p' "$console" | head -n 1)
	shift
	for test; do
		n=$((n + 1))
		if grep -q "^guest: $test: status 0\$" "$console"; then
			echo "ok $n - ${what:-no start}: $test"
		else
			failed=1
			echo "not ok $n - ${what:-no start}: $test"
			sed -n "\\|^guest: $test\$|,\\|^guest: $test: status|p" "$console" |
				sed -n 's/^not ok/# &/p; s/^guest:/# &/p' | cut -c 1-600
		fi
	done
}
if [ -n "$kernel" ]; then
	start own "$kernel"
	report own "$@"
else
	for pages in 4k 16k; do
		start "kernel-$pages" "$dir/kernel-$pages/Image"
		report "kernel-$pages" "$@"
	done
fi
echo "1..$n"
exit "$failed"
