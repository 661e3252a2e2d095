#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Lints what is released: one version number everywhere, options that configure has, packages that
# packages.txt has, versions of formats, and an archive with all files that git has.

. "${srcdir:-.}/tests/lib.sh"

build=$(cd "$builddir" && pwd)
cd "$srcdir" || exit 99

# --- versions ---

version=$(sed -n 's/^AC_INIT(\[hpctoolkit-lite\], \[\(.*\)\])$/\1/p' configure.ac)
like "the version is a semantic one" "$version" '^[0-9]+\.[0-9]+\.[0-9]+$'
is "NEWS begins with it" "$(grep -oEm 1 '^[0-9]+\.[0-9.]*[0-9]' NEWS)" "$version"
is "and so does the Debian changelog" "$(sed -n '1s/.*(\(.*\)-[0-9]*).*/\1/p' \
	packaging/debian/changelog)" "$version"

# page_version NAME: from the title of its page. header_version NAME HEADER: from its macros.
page_version() {
	sed -n '1s/.*, version //p' "doc/formats/$1.md"
}
header_version() {
	sed -nE 's/^#define [A-Z]+_VERSION_(MAJOR|MINOR) +([0-9]+).*/\2/p' "common/format/$1.h" |
		paste -s -d .
}
for format in measurement recording; do
	is "the page has the version of the $format" "$(page_version $format)" \
		"$(header_version $format)"
done
is "and of the structure" "$(page_version structure)" "$(header_version structure_layout)"

# --- recipes ---

names() { # what is packaged with, one option a line
	grep -ohE -- '--(with|without|enable|disable)-[a-z0-9-]+' packaging/debian/rules \
		packaging/package.py.in packaging/hpctoolkit-lite.eb.in
	sed -n '/libraries = {/,/}/s/^ *"\([a-z0-9]*\)":.*/--with-\1/p' packaging/package.py.in
}
./configure --help >"$T/help"
names | sort -u | while read -r option; do
	option=${option#--*-}
	grep -qE -- "^ +--(with|enable)-$option([= ]|\[|\$)" "$T/help" ||
		echo "configure has no $option"
done >"$T/options"
is "configure has the options of all recipes" "$(cat "$T/options")" ""
sed -n '/^Build-Depends:/,/^$/s/^ \(.*[^,]\),*$/\1/p' packaging/debian/control | tr '|' '\n' |
	tr -d ' ' | while read -r name; do
	awk '{ print "|" $4 "|" }' packages.txt | grep -qF "|$name|" ||
		echo "packages.txt has no $name"
done >"$T/depends"
is "packages.txt has what Debian builds with" "$(cat "$T/depends")" ""
least=$(sed -n 's/.*"CUPTI \([0-9.]*\) or later was not found.*/\1/p' m4/hl-cupti.m4)
is "recipes ask for the headers of CUDA that configure asks for" \
	"$(sed -n -e "s/.*'CUDA'.* from \\([0-9.]*\\) on.*/\\1/p" \
		-e 's/.*"cuda@\(.*\):".*/\1/p' packaging/*.in | paste -s -d ' ')" "$least $least"
is "recipes name no page that is made up" "$(grep -l 'example\.' packaging/*.in)" ""
if command -v "${PYTHON3:-python3}" >/dev/null; then
	is "recipes are Python" "$("${PYTHON3:-python3}" -c '
import ast, sys
for name in sys.argv[1:]: ast.parse(open(name).read(), name)' packaging/package.py.in \
		packaging/hpctoolkit-lite.eb.in 2>&1)" ""
else
	skip "recipes are Python" "no python3"
fi

# --- what is installed, and the archive ---

stage=$(find "$build/tests/stage" -type d -name bin 2>/dev/null | head -n 1)
prefix=${stage#"$build/tests/stage"}
prefix=${prefix%/bin}
is "the module file names the prefix" \
	"$(grep '^prepend-path PATH' "${stage%/bin}/share/modulefiles/hpctoolkit-lite/$version")" \
	"prepend-path PATH $prefix/bin"
pkgconfig=$(cat "${stage%/bin}"/lib*/pkgconfig/hpctoolkit-lite.pc 2>&1)
like "the pkg-config file names the version" "$pkgconfig" "^Version: $version\$"
unlike "... and has no name left to replace" "$pkgconfig" '@'

if [ -e .git ] && command -v git >/dev/null; then
	# files and folders that make dist copies
	env -u MAKEFLAGS -u MAKELEVEL make -s --no-print-directory -C "$build" --eval \
		'say-dist: ; @printf "%s\n" $(patsubst $(srcdir)/%,%,$(DISTFILES))' say-dist 2>&1 |
		sort -u >"$T/dist"
	is "make dist finds what it copies" "$(cd "$build" && while read -r file; do
		[ -e "$file" ] || [ -e "$srcdir/$file" ] || echo "$file"; done <"$T/dist")" ""
	is "the archive has all files of git" "$(git ls-files | grep -v '^\.git' | awk '
		FILENAME != "-" { has[$0] = 1; next }
		{
			for (path = $0; path != ""; sub(/\/?[^\/]*$/, "", path))
				if (path in has) next
			print
		}' "$T/dist" -)" ""
fi
done_testing
