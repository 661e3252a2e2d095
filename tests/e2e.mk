# SPDX-License-Identifier: BSD-3-Clause
# The shell test library, the mini-application, bootstrap, real programs from end to end, known shares.

EXTRA_DIST += tests/lib.sh tests/slurm.sh .ci/run

e2e_tests = \
	tests/cli/taplib.sh
TESTS += $(e2e_tests)
EXTRA_DIST += $(e2e_tests)

# An installation inside the build tree, for tests that run the tools as another user and from another place.
check_DATA += tests/stage.stamp
CLEANFILES += tests/stage.stamp
tests/stage.stamp: $(bin_PROGRAMS) $(pkglib_LTLIBRARIES)
	@rm -rf tests/stage
	@$(MKDIR_P) tests
	$(AM_V_GEN)$(MAKE) $(AM_MAKEFLAGS) install DESTDIR=$(abs_builddir)/tests/stage >tests/stage.log 2>&1 || { cat tests/stage.log; exit 1; }
	@echo done >$@
clean-local: clean-stage
clean-stage:
	rm -rf tests/stage tests/stage.log
.PHONY: clean-stage
