#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
#
# Test of `make check TESTS=...`, which builds only what those tests need: tests/needs.sh finds
# every program and library that is built for tests, and names may come one a line.

# shellcheck disable=SC2154 # variables of lib.sh
. "${srcdir:-.}/tests/lib.sh"

unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES TESTS
needs() { sh "$srcdir/tests/needs.sh" "$srcdir" "$@" | sed 's/^check-needs: //'; }

# What is built for tests is named by a test, or linked into what is.
cat >"$T/print.mk" <<'MK'
include Makefile
print:
	$(foreach name,$(check_PROGRAMS) $(check_LTLIBRARIES) $(check_DATA),$(info built: $(name)))
MK
make -s -C "$builddir" -f "$T/print.mk" print 2>/dev/null | sed -n "s/^built: //p" >"$T/built"
within "programs and libraries for tests" "$(wc -l <"$T/built")" 100 1000
make -s -C "$builddir" -f Makefile check-needs 2>/dev/null |
	sed -n 's/^check-needs: //p' >"$T/needed"
is "each is needed by a test" "$(grep -vxFf "$T/needed" "$T/built" | while read -r name; do
	grep -rhE --include='*.mk' "(LDADD|LIBADD|_libs) .*\\b${name##*/}" "$srcdir/tests" |
		grep -q . || echo "$name"
done)" ""

is "a library that a program opens by its name" \
	"$(needs tests/unit/run/test_getenv tests/unit/run/libOpenCL_asker.la none_such.la)" \
	tests/unit/run/libOpenCL_asker.la
is "a name with an ending: \${FAMILY}_go" \
	"$(needs tests/cli/run/run_ends.sh x/run_family x/run_family_go x/run_family_no)" \
	"x/run_family
x/run_family_go"
is "tests one a line" "$(needs "
tests/unit/a
	tests/unit/b
" tests/unit/a tests/unit/b tests/unit/c)" "tests/unit/a
tests/unit/b"

# And so through make, in the makes that it runs, too.
cp "$srcdir/GNUmakefile.in" "$T/GNUmakefile"
cat >"$T/Makefile" <<'MK'
check:
	@$(MAKE) -s --no-print-directory other OTHER='$(check_DATA)'
other:
	@echo '$(TESTS), $(TWO), $(OTHER)'
check-needs:
	@echo 'check-needs: need of $(TESTS)'
MK
is "make check TESTS with lines" "$(make -s --no-print-directory -C "$T" check TWO="1 2" TESTS="
  a.sh b
c
" 2>&1)" "a.sh b c, 1 2, need of a.sh b c"
done_testing
