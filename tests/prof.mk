# SPDX-License-Identifier: BSD-3-Clause
# The synthetic measurements (tests/gen), hpcprof-lite's load, model, attribute and text.

check_LTLIBRARIES += tests/gen/libgen.la
tests_gen_libgen_la_SOURCES = \
	tests/gen/gen.c tests/gen/gen.h \
	tests/gen/gen_job.c \
	tests/gen/gen_program.c tests/gen/gen_program.h \
	tests/gen/gen_structure.c tests/gen/gen_structure.h
tests_gen_libgen_la_LIBADD = libhlbase.la

check_PROGRAMS += tests/gen/gen_measurement
tests_gen_gen_measurement_SOURCES = tests/gen/gen_main.c
tests_gen_gen_measurement_LDADD = tests/gen/libgen.la
