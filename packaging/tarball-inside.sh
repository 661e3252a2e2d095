#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# The part of tarball.sh inside of the root: builds the libraries that the tools need, then the
# tools, and packs both. The output is the same for the same archive, time and packages. Writes
# /build/out, and a log for each step in /build. Usage: tarball-inside.sh NAME EPOCH

set -eu
umask 022
name=$1 SOURCE_DATE_EPOCH=$2
export SOURCE_DATE_EPOCH DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 TZ=UTC
needed=/opt/needed
prefix=/opt/hpctoolkit-lite
tree=/build/tree/$name
docs=$tree/share/doc/hpctoolkit-lite/licences
bundled=$tree/lib/hpctoolkit-lite/bundled
jobs=-j$(nproc)

# Debian's source packages, in the order of the build: name, release of Debian, library (inside:
# linked into hpcstruct-lite), licences. Used as released, without the changes of Debian.
libraries='
zlib trixie libz.so.1 LICENSE
libzstd trixie libzstd.so.1 LICENSE
lz4 trixie liblz4.so.1 lib/LICENSE
elfutils trixie libelf.so.1 COPYING-LGPLV3 COPYING
libiberty trixie inside libiberty/COPYING.LIB
sqlite3 trixie libsqlite3.so.0 LICENSE.md
zycore-c trixie libZycore.so.1.5 LICENSE
zydis trixie libZydis.so.4.1 LICENSE
dwarfutils trixie libdwarf.so.0 src/lib/libdwarf/LIBDWARFCOPYRIGHT src/lib/libdwarf/LGPL.txt
otf2 bookworm libotf2.so.10 COPYING
libunwind trixie libunwind-ptrace.so.0,libunwind-x86_64.so.8,libunwind.so.8 COPYING
papi bookworm libpapi.so.7.0,libpfm.so.4 LICENSE.txt src/libpfm4/COPYING'

each_library() { # COMMAND...: with the words of each line
	printf '%s\n' "$libraries" | grep . >/build/libraries
	# shellcheck disable=SC2086 # words
	while read -r line; do "$@" $line </dev/null; done </build/libraries
}

# step NAME COMMAND...: in a subshell, which ends with the first command that fails
step() {
	step=$1
	began=$(date +%s)
	shift
	set +e
	(
		set -e
		"$@"
	) >"/build/$step.log" 2>&1
	status=$?
	set -e
	echo "tarball: $step: status $status after $(($(date +%s) - began)) s"
	[ $status -eq 0 ] || {
		tail -n 20 "/build/$step.log"
		exit 1
	}
}

# --- packages ---

# What Debian 11 has too old, by name and release, never gets in by itself.
install_packages() {
	archive=http://deb.debian.org/debian
	printf "deb-src $archive %s main\n" trixie bookworm >/etc/apt/sources.list.d/later.list
	echo "deb $archive bookworm main" >>/etc/apt/sources.list.d/later.list
	printf 'Package: *\nPin: release n=bookworm\nPin-Priority: -1\n' \
		>/etc/apt/preferences.d/later
	apt-get -q update
	apt-get -qy --no-install-recommends install gcc g++ libc6-dev make cmake m4 python3 \
		tcl pkg-config dpkg-dev xz-utils bzip2 patchelf ocl-icd-libopencl1 \
		opencl-c-headers/bookworm
}

load_source() { # PACKAGE RELEASE
	apt-get -q source --tar-only --download-only "$1/$2"
}
load_sources() {
	mkdir /build/sources
	cd /build/sources
	each_library load_source
	rm -f ./*.orig-*.tar.*
}

# --- libraries ---

with_cmake() {
	cmake -S . -B build -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=$needed \
		-DCMAKE_INSTALL_LIBDIR=lib "$@"
	make -C build "$jobs" install
}
build_zlib() { ./configure --prefix=$needed && make "$jobs" install; }
build_libzstd() {
	make -C lib "$jobs" PREFIX=$needed libzstd
	make -C lib PREFIX=$needed install-shared install-includes
}
build_lz4() { make -C lib "$jobs" PREFIX=$needed BUILD_STATIC=no install; }
build_elfutils() {
	./configure --prefix=$needed --disable-debuginfod --disable-libdebuginfod --disable-nls \
		--disable-demangler --without-bzlib --without-lzma --without-zstd
	make -C lib "$jobs"
	make -C libelf "$jobs" install
}
build_libiberty() {
	cd libiberty
	./configure --prefix=$needed --libdir=$needed/lib --enable-install-libiberty
	make "$jobs"
	make install
}
# No functions of libm: its log() would be that of glibc 2.29.
build_sqlite3() {
	./configure --prefix=$needed --disable-static --disable-tcl --disable-readline \
		--disable-math --disable-load-extension
	make "$jobs" libsqlite3.la sqlite3.h
	make lib_install
	cp sqlite3.h $needed/include/
}
build_zycore_c() { with_cmake -DZYCORE_BUILD_SHARED_LIB=ON; }
build_zydis() {
	with_cmake -DZYDIS_BUILD_SHARED_LIB=ON -DZYDIS_BUILD_EXAMPLES=OFF -DZYDIS_BUILD_TOOLS=OFF \
		-DZYDIS_BUILD_DOXYGEN=OFF -DZYDIS_BUILD_MAN=OFF -DZYAN_SYSTEM_ZYCORE=ON
}
build_dwarfutils() {
	with_cmake -DBUILD_SHARED=YES -DBUILD_NON_SHARED=NO -DBUILD_DWARFDUMP=NO
}
build_otf2() { ./configure --prefix=$needed --disable-static && make "$jobs" && make install; }
build_libunwind() {
	./configure --prefix=$needed --disable-static --disable-documentation --disable-tests \
		--disable-coredump --disable-setjmp --disable-minidebuginfo \
		--disable-zlibdebuginfo
	make "$jobs"
	make install
}
# Its own gettid(): that of libc came with glibc 2.30.
build_papi() {
	cd src
	./configure --prefix=$needed --with-shared-lib=yes --with-static-lib=no \
		--with-shlib-tools=no
	sed -i '/define HAVE_GETTID/d' config.h
	make "$jobs"
	make install-lib
}

build_library() { # PACKAGE RELEASE LIBRARY LICENCE...
	mkdir "/build/$1"
	tar -xf "$(echo "/build/sources/$1"_*.orig.tar.*)" -C "/build/$1" --strip-components=1
	cd "/build/$1"
	step "$1" "build_$(echo "$1" | tr - _)"
}

# --- tools ---

build_tools() {
	ln -s "$(echo /usr/lib/*/libOpenCL.so.1)" $needed/lib/libOpenCL.so
	cupti=no
	[ ! -d /opt/cuda ] || cupti=/opt/cuda
	mkdir /build/hpctoolkit-lite/build
	cd /build/hpctoolkit-lite/build
	# Each library is named, so that configure fails without it.
	../configure --enable-option-checking=fatal --prefix=$prefix --without-cmocka \
		--without-unwind --without-dw --without-mpi --with-cupti=$cupti \
		--with-opencl=$needed --with-z=$needed --with-elf=$needed --with-dwarf=$needed \
		--with-iberty=$needed --with-zydis=$needed --with-zstd=$needed \
		--with-lz4=$needed --with-papi=$needed --with-otf2=$needed \
		--with-sqlite3=$needed --with-attach=$needed
	make "$jobs"
	make install-strip DESTDIR=/build/stage
	mkdir -p "${tree%/*}"
	mv "/build/stage$prefix" "$tree"
	find "$tree" -name '*.la' -exec rm {} +
}

# --- the tree ---

# Libraries have no RPATH, so they find each other by that of the program (DT_RPATH, which a
# library path in the environment does not override). What is loaded into a measured program has
# RUNPATH, which counts for it alone.
bundle() {
	mkdir "$bundled"
	for file in "$tree"/bin/* "$tree"/lib/hpctoolkit-lite/*-lite*; do
		LD_LIBRARY_PATH=$needed/lib ldd "$file"
	done | awk -v from=$needed/ 'index($3, from) == 1 { print $1, $3 }' | sort -u |
		while read -r library path; do cp "$path" "$bundled/$library"; done
	strip --strip-unneeded "$bundled"/*
	chmod 644 "$bundled"/*
	for file in "$bundled"/*; do patchelf --remove-rpath "$file"; done
	patchelf --force-rpath --set-rpath "\$ORIGIN/../lib/hpctoolkit-lite/bundled" \
		"$tree"/bin/hpcprof-lite "$tree"/bin/hpcstruct-lite
	patchelf --force-rpath --set-rpath "\$ORIGIN/bundled" \
		"$tree"/lib/hpctoolkit-lite/hpcrun-lite-attach
	patchelf --set-rpath "\$ORIGIN/bundled" "$tree"/lib/hpctoolkit-lite/libhpcrun-lite-papi.so
	patchelf --set-rpath "\$ORIGIN" "$bundled"/libpapi.so.*
}

# The two files that name the prefix find it from where they are.
relocate() {
	sed -i -e "s|^prefix=.*|prefix=\${pcfiledir}/../..|" -e "s|=$prefix/|=\${prefix}/|" \
		"$tree"/lib/pkgconfig/hpctoolkit-lite.pc
	# shellcheck disable=SC2016 # variables of Tcl
	sed -i -e "s|$prefix/|\$prefix/|" \
		-e 's|^# For .*|# For Environment Modules and Lmod, in this directory.|' \
		-e '/^module-whatis/i set here [file dirname $ModulesCurrentModulefile]' \
		-e '/^module-whatis/i set prefix [file normalize $here/../../..]' \
		"$tree"/share/modulefiles/hpctoolkit-lite/*
}

# add_licences PACKAGE FILE...: copies them, and prints their names here.
add_licences() {
	package=$1
	shift
	for licence; do
		cp "$licence" "$docs/$package-${licence##*/}"
		printf ' %s' "$package-${licence##*/}"
	done
	echo
}
list_library() { # PACKAGE RELEASE LIBRARY LICENCE...
	archive=$(echo "/build/sources/$1"_*.orig.tar.*)
	listed=$(echo "$3" | tr , ' ')
	[ "$3" != inside ] || listed="(in hpcstruct-lite)"
	printf '%s\n  from %s\n ' "$listed" "${archive##*/}"
	cd "/build/$1"
	package=$1
	shift 3
	add_licences "$package" "$@"
}
list_compiler() { # PACKAGE WHAT
	source=$(dpkg-query -W -f '${source:Package}' "$1")
	printf '%s\n  from %s %s of Debian 11\n ' "$2" "$source" \
		"$(dpkg-query -W -f '${source:Version}' "$1")"
	add_licences "$source" "/usr/share/doc/$1/copyright"
}
licences() {
	mkdir "$docs"
	{
		printf '%s\n' "What others wrote and this tarball contains: each library or part" \
			"of one, what it was built from, unchanged, and the files here with its" \
			"licence. The archives are in $name-sources.tar," \
			"which is published beside the tarball." ''
		each_library list_library
		list_compiler libgcc-10-dev "(in programs and libraries: libgcc.a, crtbegin.o)"
		list_compiler libc6-dev "(in programs and libraries: crt1.o, libc_nonshared.a)"
	} >"$docs/LIST"
	grep -oh '/usr/share/common-licenses/[A-Za-z0-9.-]*[A-Za-z0-9]' "$docs"/*-copyright |
		sort -u | while read -r licence; do cp "$licence" "$docs/"; done
}

pack() {
	mkdir /build/out
	cd /build/tree
	pack_tar "$name" | gzip -9n >"/build/out/$name.tar.gz"
	cd /build
	pack_tar sources >"/build/out/$name-sources.tar"
}
pack_tar() {
	tar --format=gnu --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
		--numeric-owner --mode=u=rwX,go=rX -cf - "$1"
}

# A program for the tests, built with what the tarball has; they run where there is no compiler.
build_app() {
	# shellcheck disable=SC2046 # options
	PKG_CONFIG_PATH=$tree/lib/pkgconfig gcc -g -O1 -o /build/out/app \
		/build/hpctoolkit-lite/packaging/debian/tests/app.c \
		$(PKG_CONFIG_PATH=$tree/lib/pkgconfig pkg-config --cflags --libs hpctoolkit-lite)
}

step packages install_packages
step sources load_sources
export CFLAGS="-O2 -I$needed/include" LDFLAGS=-L$needed/lib
each_library build_library
unset CFLAGS LDFLAGS
step tools build_tools
step bundle bundle
step relocate relocate
step licences licences
cd /build/hpctoolkit-lite
step check sh packaging/tarball-check.sh "$tree" "$prefix"
step pack pack
step app build_app
