# SPDX-License-Identifier: BSD-3-Clause
# Record and replay of the NVIDIA back end, on a driver that does not exist and with recordings of
# one that does.

replay_tests = tests/cli/gpu/replay.sh tests/cli/gpu/replay_damage.sh \
	tests/cli/gpu/replay_fault.sh tests/cli/gpu/replay_golden.sh
TESTS += $(replay_tests)
EXTRA_DIST += $(replay_tests) tests/gpu/recorded.sh tests/golden/replay

if HAVE_CUPTI
# Replays in another order and with faults.
altered = \
	tests/replay/alter.c tests/replay/alter.h \
	tests/replay/fault.c tests/replay/fault.h \
	tests/replay/shuffle.c tests/replay/shuffle.h
check_PROGRAMS += tests/replay/replay_altered
tests_replay_replay_altered_SOURCES = tests/replay/replay_altered.c $(altered)
tests_replay_replay_altered_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_replay_replay_altered_LDADD = $(REPLAY_LIBS)
check_PROGRAMS += tests/fuzz/fuzz_recording
tests_fuzz_fuzz_recording_SOURCES = tests/fuzz/fuzz_recording.c tests/fuzz/mutate.h $(altered)
tests_fuzz_fuzz_recording_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_fuzz_fuzz_recording_LDADD = $(REPLAY_LIBS)
endif

if HAVE_CUPTI
if HAVE_CMOCKA
check_PROGRAMS += tests/unit/cupti/test_recording
TESTS += tests/unit/cupti/test_recording
tests_unit_cupti_test_recording_SOURCES = tests/unit/cupti/test_recording.c
tests_unit_cupti_test_recording_CPPFLAGS = $(AM_CPPFLAGS) $(CUPTI_CPPFLAGS)
tests_unit_cupti_test_recording_LDADD = $(REPLAY_LIBS) $(CMOCKA_LIBS)
endif
endif
