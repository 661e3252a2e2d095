#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Test of bootstrap and of tests/check.sh, which it calls: what they would run, which packages are
# taken from an archive that lacks some, and the last line of "check". dpkg-query, apt-get,
# apt-cache, rpm, dnf, zypper, sudo and make are fakes here; nothing is installed or built.

# shellcheck disable=SC2154 # srcdir and T come from lib.sh
. "${srcdir:-.}/tests/lib.sh"

# The make that runs this test must not speak to the one that is run here.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES ATTACK_SEED ATTACK_SECONDS
boot=$srcdir/bootstrap
fake=$T/bin
mkdir "$fake" "$T/pkg"

# Installed packages are the lines of $T/installed, those on offer the lines of $T/archive.
# Installing one named in $T/broken fails.
cat >"$fake/dpkg-query" <<-'SH'
	#!/bin/sh
	for name; do
		if grep -qx "$name" "$T/installed"; then echo "$name installed"; fi
	done
SH
cat >"$fake/apt-cache" <<-'SH'
	#!/bin/sh
	shift
	for name; do
		echo "$name:"
		echo "  Installed: (none)"
		version=$(grep -qx "$name" "$T/archive" && echo 1.0)
		echo "  Candidate: ${version:-(none)}"
	done
SH
cat >"$fake/apt-get" <<-'SH'
	#!/bin/sh
	case $* in *--print-uris*) echo "'http://x/a.deb' a.deb 1600000 SHA256:1" && exit ;; esac
	echo "apt-get $*" >>"$T/calls"
	case $* in *install*) ;; *) exit 0 ;; esac
	while [ "$1" != --no-install-recommends ]; do shift; done
	shift
	for p; do grep -qx "$p" "$T/broken" && exit 100; done
	printf '%s\n' "$@" >>"$T/installed"
SH
cat >"$fake/sudo" <<-'SH'
	#!/bin/sh
	echo "sudo $*" >>"$T/calls"
	exec "$@"
SH
chmod +x "$fake"/*

# A bootstrap of its own with a short list.
cp "$boot" "$T/pkg/bootstrap"
cat >"$T/pkg/packages.txt" <<-'TXT'
	need	build	build	cc-dev	cc-devel	cc
	want build trace trace-dev|old-trace-dev|oldest-trace-dev trace-devel|old-trace-devel -
	want	tests	ranks	ranks-dev	ranks-devel	ranks-devel
TXT

# set_up: runs the fakes; prints the status, and leaves what was said in $T/said and what
# apt-get was asked for in $T/calls.
set_up() {
	: >"$T/calls"
	PATH=$fake:$PATH sh "$T/pkg/bootstrap" "$@" packages >"$T/said" 2>&1
	echo $?
}
: >"$T/broken"

printf '%s\n' cc-dev old-trace-dev ranks-dev >"$T/installed"
: >"$T/archive"
is "all there: status" "$(set_up)" 0
is "all there: apt-get is not called" "$(cat "$T/calls")" ""

printf '%s\n' trace-dev cc-dev >"$T/installed"
is "one wanted is nowhere: no failure" "$(set_up)" 0
like "one wanted is nowhere: said" "$(cat "$T/said")" 'not installed: ranks-dev \(ranks is off'
unlike "one wanted is nowhere: nothing is installed" "$(cat "$T/calls")" install

: >"$T/installed"
printf '%s\n' cc-dev old-trace-dev oldest-trace-dev ranks-dev >"$T/archive"
is "fresh machine: status" "$(set_up)" 0
is "fresh machine: the first name on offer is taken" "$(sort "$T/installed" | tr '\n' ' ')" \
	"cc-dev old-trace-dev ranks-dev "
if [ "$(id -u)" -eq 0 ]; then
	unlike "root does not ask sudo" "$(cat "$T/calls")" '^sudo'
else
	like "others ask sudo" "$(cat "$T/calls")" '^sudo .*install'
fi
is "a second time: status" "$(set_up)" 0
is "a second time: nothing to do" "$(cat "$T/calls")" ""

: >"$T/installed"
echo ranks-dev >"$T/broken"
is "one wanted cannot be installed: no failure" "$(set_up)" 0
is "one wanted cannot be installed: the others are" "$(sort -u "$T/installed" | tr '\n' ' ')" \
	"cc-dev old-trace-dev "

: >"$T/installed"
: >"$T/broken"
echo ranks-dev >"$T/archive"
is "one needed is nowhere: fails" "$(set_up)" 1
like "one needed is nowhere: said" "$(cat "$T/said")" 'cannot do without: cc-dev'

: >"$T/installed"
echo cc-dev >"$T/archive"
is "dry run: status" "$(set_up --dry-run)" 0
like "dry run: shows what it would do" "$(cat "$T/said")" '^\+ .*apt-get.* install .*cc-dev'
like "dry run: says how much that is" "$(cat "$T/said")" '^bootstrap: 1 packages to load, 2 MB$'
is "dry run: does nothing" "$(cat "$T/calls")" ""

# parts COMMAND: the packages that it would install
parts() {
	PATH=$fake:$PATH sh "$T/pkg/bootstrap" --dry-run "$1" |
		sed -n 's/.* --no-install-recommends //p'
}
printf 'want demo device device-icd device device\n' >>"$T/pkg/packages.txt"
printf '%s\n' cc-dev trace-dev ranks-dev device-icd >"$T/archive"
is "build takes what the build uses" "$(parts build)" "cc-dev trace-dev"
is "demo also takes what it runs with" "$(parts demo)" "cc-dev trace-dev device-icd"
is "check takes everything" "$(parts check)" "cc-dev trace-dev ranks-dev device-icd"
is "and so does packages" "$(parts packages)" "cc-dev trace-dev ranks-dev device-icd"
is "each line of packages.txt says for what" "$(grep -vE \
	'^(#.*)?$|^(need|want) +(build|demo|tests|aarch64) +[^ ]+( +[^ ]+){3}$' \
	"$srcdir/packages.txt")" ""

# Sources that come with configure need no autotools.
cp "$T/pkg/packages.txt" "$T/packages.before"
printf 'need build autotools tools-dev tools tools\n' >>"$T/pkg/packages.txt"
printf '%s\n' cc-dev tools-dev >"$T/archive"
is "a clone needs the autotools" "$(parts build)" "cc-dev tools-dev"
touch "$T/pkg/configure"
chmod +x "$T/pkg/configure"
is "a release archive does not" "$(parts build)" "cc-dev"
touch "$T/pkg/.git"
is "a clone in which configure was made does" "$(parts build)" "cc-dev tools-dev"
rm "$T/pkg/configure" "$T/pkg/.git"
mv "$T/packages.before" "$T/pkg/packages.txt"

# The same with rpm and dnf, or zypper: a directory of programs without those of Debian.
rpms=$T/rpms
mkdir "$rpms"
find /usr/local/bin /usr/sbin /usr/bin /sbin /bin -maxdepth 1 \( -type f -o -type l \) \
	! -name 'dpkg*' ! -name 'apt*' ! -name rpm ! -name dnf ! -name zypper \
	>"$T/programs" 2>"$T/said"
while read -r program; do
	[ -e "$rpms/${program##*/}" ] || ln -s "$program" "$rpms/"
done <"$T/programs"
rm -f "$rpms/sudo"
cp "$fake/sudo" "$rpms/"
cat >"$rpms/rpm" <<-'SH'
	#!/bin/sh
	shift 3
	for name; do
		grep -qx "$name" "$T/installed" && echo "$name:" ||
			echo "package $name is not installed"
	done
SH
# What both install: the arguments from the first package on.
cat >"$T/install" <<-'SH'
	for p; do grep -qx "$p" "$T/broken" && exit 1; done
	printf '%s\n' "$@" >>"$T/installed"
SH
cat >"$T/dnf" <<-'SH'
	#!/bin/sh
	case $2 in
	repoquery)
		shift 4
		for name; do grep -x "$name" "$T/archive"; done
		exit
		;;
	esac
	echo "dnf $*" >>"$T/calls"
	[ "$1" = install ] || exit 0
	shift 3
	. "$T/install"
SH
cat >"$T/zypper" <<-'SH'
	#!/bin/sh
	case $3 in
	search)
		shift 6
		echo 'S  | Name | Summary | Type'
		echo '---+------+---------+--------'
		for name; do
			grep -qx "$name" "$T/archive" && echo "   | $name | A thing | package"
		done
		exit 0
		;;
	esac
	echo "zypper $*" >>"$T/calls"
	[ "$2" = install ] || exit 0
	shift 3
	. "$T/install"
SH
chmod +x "$rpms/rpm" "$T/dnf" "$T/zypper"
# set_up_rpm OPTIONS...: as set_up
set_up_rpm() {
	: >"$T/calls"
	PATH=$rpms "$rpms/sh" "$T/pkg/bootstrap" "$@" packages >"$T/said" 2>&1
	echo $?
}
for manager in dnf zypper; do
	rm -f "$rpms/dnf" "$rpms/zypper"
	ln -s "$T/$manager" "$rpms/$manager"
	cc=cc-devel want="cc-devel old-trace-devel ranks-devel "
	if [ $manager = zypper ]; then cc=cc want="cc ranks-devel "; fi
	: >"$T/broken"
	printf '%s\n' $cc old-trace-devel ranks-devel device >"$T/installed"
	: >"$T/archive"
	is "$manager, all there: status" "$(set_up_rpm)" 0
	is "$manager, all there: nothing is called" "$(cat "$T/calls")" ""
	: >"$T/installed"
	printf '%s\n' $cc old-trace-devel ranks-devel >"$T/archive"
	is "$manager, fresh machine: status" "$(set_up_rpm)" 0
	is "$manager, fresh machine: what is on offer is installed" \
		"$(sort "$T/installed" | tr '\n' ' ')" "$want"
	like "$manager, fresh machine: the rest is named" "$(cat "$T/said")" \
		'not installed: device \(device is off'
	: >"$T/installed"
	is "$manager, dry run: status" "$(set_up_rpm --dry-run)" 0
	like "$manager, dry run: shows the command" "$(cat "$T/said")" \
		"^\+ (sudo )?$manager .*install .*$cc"
	is "$manager, dry run: does nothing" "$(cat "$T/calls" "$T/installed")" ""
	echo ranks-devel >"$T/broken"
	is "$manager, one wanted cannot be installed: no failure" "$(set_up_rpm)" 0
	is "$manager, one wanted cannot be installed: the others are" \
		"$(sort -u "$T/installed" | tr '\n' ' ')" "${want%ranks-devel *}"
	: >"$T/installed"
	echo ranks-devel >"$T/archive"
	is "$manager, one needed is nowhere: fails" "$(set_up_rpm)" 1
	like "$manager, one needed is nowhere: said" "$(cat "$T/said")" "cannot do without: $cc"
done
unlike "only dnf has EPEL" "$(cat "$T/said")" EPEL
printf 'need build reader reader-dev reader-devel -\n' >>"$T/pkg/packages.txt"
printf '%s\n' cc ranks-devel device >"$T/installed"
is "needed, and no package will do: configure decides" "$(set_up_rpm)" 0
like "... said" "$(cat "$T/said")" 'no package of this distribution will do: reader'
rm "$rpms/zypper"
is "no package manager: status" "$(set_up_rpm)" 0
like "... said" "$(cat "$T/said")" 'no apt-get, dnf or zypper here'

# The sum of test results.
work=$T/work
mkdir "$work"
[ -x "$srcdir/configure" ] || skip_all "no configure in the source tree"
cp "$srcdir/configure" "$work/config.status"
touch -d 2100-01-01 "$work/config.status" # nobody configures it again
# shellcheck disable=SC2016 # for make
printf 'all:\n\ncheck:\n\tcp $(T)/trs/* .; test ! -e $(T)/fails\n' >"$work/Makefile"

# last_line: the last line of "bootstrap check" with the result files of $T/trs, and its status.
last_line() {
	rm -f "$work"/*.trs "$work"/*.log
	sh "$boot" --no-install --build-dir "$work" check >"$T/said" 2>&1
	status=$?
	echo "$(tail -n 1 "$T/said") / $status"
}
mkdir "$T/trs"
printf ':test-result: PASS 1 - a\n:test-result: SKIP 2 - b\n:test-global-result: PASS\n' \
	>"$T/trs/one.trs"
printf ':test-result: PASS\n:test-result: XFAIL 2 - x\n' >"$T/trs/two.trs"
is "check: all good" "$(last_line)" "3 passed, 0 failed, 1 skipped / 0"
printf ':test-result: FAIL\n:test-result: ERROR\n' >"$T/trs/three.trs"
printf 'ok 1 - b\nnot ok 2 - c\n# why\n' >"$T/trs/three.log"
touch "$T/fails"
is "check: some fail" "$(last_line)" "3 passed, 2 failed, 1 skipped / 1"
like "check: which ones" "$(cat "$T/said")" 'failed in three.log'
like "check: what" "$(cat "$T/said")" '^ *not ok 2 - c'
rm "$T/trs/three.trs"
is "check: make fails though no test does" "$(last_line)" "3 passed, 1 failed, 1 skipped / 1"

# Attacks: short in a check, longer with --full, always with a seed that can be given again.
cat >"$work/Makefile" <<'END'
all:

check-full:
	cp $(T)/trs/one.trs .
	touch $(T)/thorough

check attack:
	cp $(T)/trs/* .
	echo "$@ $${ATTACK_SEED-none} $${ATTACK_SECONDS-none}" >$(T)/attack
	test ! -e $(T)/fails
END
rm "$T/fails"
mkdir "$work-sanitizer" "$work-clang"
cp -p "$work/config.status" "$work-sanitizer"
cp -p "$work/config.status" "$work-clang"
cat >"$work-sanitizer/Makefile" <<'END'
all:

check:
	cp $(T)/trs/one.trs .
	echo "$${ATTACK_SECONDS-none}" >$(T)/sanitized
END
cat >"$work-clang/Makefile" <<'END'
all:

check-programs:
	echo "$(CC)" >$(T)/clang
	test ! -e $(T)/warns
END
printf '#!/bin/sh\n' >"$T/bin/clang"
chmod +x "$T/bin/clang"
# A tree of its own, whose fresh.sh and aarch64.sh are fakes that skip; the tools are those of the
# real one.
mkdir -p "$T/tree/tests"
cp -p "$boot" "$srcdir/packages.txt" "$srcdir/configure" "$T/tree"
cp "$srcdir/tests/check.sh" "$T/tree/tests"
printf 'echo "$@" >"$T/fresh"; exit 77\n' >"$T/tree/tests/fresh.sh"
printf 'echo "$@" >"$T/aarch64"; exit 77\n' >"$T/tree/tests/aarch64.sh"
boot=$T/tree/bootstrap
full() {
	rm -f "$work"/*.trs "$work"/*.log "$T/sanitized" "$T/clang" "$T/fresh" "$T/attack" \
		"$T/thorough"
	PATH=$PATH:$fake sh "$boot" --no-install --build-dir "$work" "$@" >"$T/said" 2>&1
	cat "$T/attack" 2>/dev/null
}
is "check: no attacks beyond the tests" "$(full check)" "check none none"
is "check --full" "$(full check --full --seed 77 --seconds 9)" "attack 77 9"
like "... says how it is repeated" "$(cat "$T/said")" \
	'^bootstrap: attacks: 9 s of each kind, --seed 77$'
ok "... thorough" test -e "$T/thorough"
is "... sanitizers: without the long attacks" "$(cat "$T/sanitized")" none
is "... clang" "$(cat "$T/clang")" clang
is "... fresh systems" "$(cat "$T/fresh")" "--logs $work-fresh"
is "... aarch64" "$(cat "$T/aarch64")" "$work $work-aarch64"
is "... the last line counts all parts" "$(tail -n 1 "$T/said")" "6 passed, 0 failed, 5 skipped"
is "... each says how long it took" "$(grep -cE \
	'^bootstrap: (thorough|attacks|sanitizers|clang|fresh|aarch64): .* skipped; it took [0-9]+ s$' \
	"$T/said")" 6
is "one part: clang" "$(full check --full=clang)" ""
is "... alone" "$(tail -n 1 "$T/said") $(cd "$T" && ls clang sanitized fresh thorough 2>err)" \
	"1 passed, 0 failed, 0 skipped clang"
is "two parts" "$(full check --full=sanitizers,fresh)" ""
is "... those" "$(tail -n 1 "$T/said")" "1 passed, 0 failed, 2 skipped"
touch "$T/warns"
is "... a warning of clang" "$(full check --full=clang)" ""
is "... is a failure" "$(tail -n 1 "$T/said")" "0 passed, 1 failed, 0 skipped"
rm "$T/warns"
like "check --full=attacks draws a seed" "$(full --full=attacks check)" '^attack [0-9]+ 300$'
like "... and prints it" "$(cat "$T/said")" \
	"^bootstrap: attacks: 300 s of each kind, --seed $(cut -d' ' -f2 "$T/attack")\$"
sh "$boot" --full build >"$T/said" 2>&1
is "--full is for check alone" $? 2
sh "$boot" check --full=gcc >"$T/said" 2>&1
is "a part that there is not" $? 2
sh "$boot" check --full --seed x >"$T/said" 2>&1
is "a seed is a number" $? 2
rm "$T"/trs/*
touch "$T/trs/empty"
is "check: no test at all is a failure" "$(last_line)" "0 passed, 1 failed, 0 skipped / 1"

# What was installed since the last configure may be more to build with.
if [ -e /var/lib/dpkg/status ]; then
	printf '#!/bin/sh\necho "$@" >>"$T/configured"\ntouch -d 2100-01-01 "$0"\n' \
		>"$work/config.status"
	chmod +x "$work/config.status"
	touch -d 2100-01-01 "$work/config.status"
	for _ in 1 2; do sh "$boot" --no-install --build-dir "$work" build >"$T/said" 2>&1; done
	is "nothing new: configured as it is" "$(cat "$T/configured" 2>/dev/null)" ""
	touch -d 1990-01-01 "$T/tree/configure" "$work/config.status"
	for _ in 1 2; do sh "$boot" --no-install --build-dir "$work" build >"$T/said" 2>&1; done
	is "new packages: configured again, once" "$(tr '\n' . <"$T/configured")" "--recheck.."
fi

# The real thing, dry.
said=$(sh "$boot" --dry-run --no-install --build-dir "$T/none" demo)
is "demo, dry: status" $? 0
like "demo, dry: measures" "$said" '^\+ .*/hpcrun-lite .*melt'
like "demo, dry: analyses" "$said" '^\+ .*/hpcprof-lite '
not_ok "demo, dry: makes nothing" test -e "$T/none"

# A device that cannot run the kernels: the demonstration says what the program said of it, and has
# succeeded.
mkdir -p "$work/hpcrun-lite" "$work/hpcprof-lite" "$work/tests/workload/miniapp"
echo '#define HAVE_OPENCL 1' >"$work/config.h"
printf '#!/bin/sh\n' | tee "$work/hpcrun-lite/hpcrun-lite" "$work/hpcprof-lite/hpcprof-lite" \
	>"$work/tests/workload/miniapp/melt"
cat >"$work/tests/workload/miniapp/melt-opencl" <<-'SH'
	#!/bin/sh
	echo "melt: the kernels do not compile:" >&2
	echo >&2
	echo "melt: no program" >&2
	echo "the device"
	exit 1
SH
chmod +x "$work"/hpc*-lite/* "$work/tests/workload/miniapp"/*
ok "demo without a device that works" sh "$boot" --no-install --build-dir "$work" demo
is "demo without a device that works: says why" "$(
	grep -Ev '^(Open this page|bootstrap: .* took |$)' "$T/.ok.out" | tail -n 3)" \
	"bootstrap: no run on an OpenCL device:
    melt: the kernels do not compile:
    melt: no program"
# With a device: the second report does not push the first one off the screen.
printf '#!/bin/sh\n' >"$work/tests/workload/miniapp/melt-opencl"
cat >"$work/hpcprof-lite/hpcprof-lite" <<-'SH'
	#!/bin/sh
	for part in 'Functions by' 'Call paths' 'GPU kernels'; do
		echo "$part"
		seq 100
		echo
	done
SH
ok "demo with a device" sh "$boot" --no-install --build-dir "$work" demo
is "... prints the first rows of the tree and of the kernels" \
	"$(sed '1,/on an OpenCL device/d' "$T/.ok.out" |
		grep -cE '^([0-9]+|Call paths|GPU kernels)$')" 22
is "... and the whole report is in a file" \
	"$(wc -l <"$work/demo/opencl-report.txt" | tr -d ' ')" 306
sh "$boot" unknown >"$T/said" 2>&1
is "unknown command: status" $? 2
sh "$boot" -j x check >"$T/said" 2>&1
is "bad number: status" $? 2
like "help" "$(sh "$boot" help)" '^usage: ./bootstrap '

done_testing
