# SPDX-License-Identifier: BSD-3-Clause
# Foreign text and files of others; attacks with random damage, of which `make check` makes a few
# runs and `./bootstrap check --full` many.

TESTS += tests/lint/foreign.sh tests/fuzz/fuzz_printable tests/cli/prof/prof_sources.sh \
	tests/cli/prof/prof_strangers.sh \
	tests/cli/common/files_hostile.sh
EXTRA_DIST += tests/lint/foreign.sh tests/cli/prof/prof_sources.sh \
	tests/cli/prof/prof_strangers.sh tests/cli/common/files_hostile.sh
check_PROGRAMS += tests/fuzz/fuzz_printable
tests_fuzz_fuzz_printable_SOURCES = tests/fuzz/fuzz_printable.c tests/fuzz/mutate.h
tests_fuzz_fuzz_printable_LDADD = libhlbase.la

if HAVE_CMOCKA
check_PROGRAMS += tests/unit/common/test_printable
TESTS += tests/unit/common/test_printable
tests_unit_common_test_printable_SOURCES = tests/unit/common/test_printable.c
tests_unit_common_test_printable_LDADD = $(UNIT_LDADD)
endif

attacks = tests/attack/agree.sh tests/attack/kills.sh tests/attack/readers.sh tests/attack/unwind.sh
TESTS += $(attacks)
EXTRA_DIST += $(attacks) tests/attack/attack.sh
check_PROGRAMS += tests/attack/busy tests/attack/mutate
tests_attack_busy_SOURCES = tests/attack/busy.c
# Measured programs are not sanitized.
tests_attack_busy_CFLAGS = $(HL_CFLAGS)
tests_attack_busy_LDFLAGS =
tests_attack_busy_LDADD = -lpthread
tests_attack_mutate_SOURCES = tests/attack/mutate.c tests/fuzz/mutate.h
tests_attack_mutate_LDADD = libhlbase.la

# Attacks alone, as `./bootstrap check --full` runs them.
attack:
	$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(attacks)'
.PHONY: attack

clean-local: clean-attack
clean-attack:
	rm -rf attack-found
.PHONY: clean-attack
