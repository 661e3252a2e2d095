# SPDX-License-Identifier: BSD-3-Clause
libhlcompare_la_SOURCES += \
	hpcprof-lite/compare/compare.c hpcprof-lite/compare/compare.h \
	hpcprof-lite/compare/compare_add.c hpcprof-lite/compare/compare_adding.h \
	hpcprof-lite/compare/compare_cell.c \
	hpcprof-lite/compare/compare_check.c hpcprof-lite/compare/compare_check.h \
	hpcprof-lite/compare/compare_condition.c hpcprof-lite/compare/compare_condition.h \
	hpcprof-lite/compare/compare_file.c hpcprof-lite/compare/compare_file.h \
	hpcprof-lite/compare/compare_functions.c \
	hpcprof-lite/compare/compare_junit.c \
	hpcprof-lite/compare/compare_markdown.c \
	hpcprof-lite/compare/compare_model.c hpcprof-lite/compare/compare_model.h \
	hpcprof-lite/compare/compare_names.c hpcprof-lite/compare/compare_names.h \
	hpcprof-lite/compare/compare_renames.c hpcprof-lite/compare/compare_renames.h \
	hpcprof-lite/compare/compare_report.c hpcprof-lite/compare/compare_report.h \
	hpcprof-lite/compare/compare_row_name.c \
	hpcprof-lite/compare/compare_rows.c hpcprof-lite/compare/compare_rows.h \
	hpcprof-lite/compare/compare_settle.c \
	hpcprof-lite/compare/compare_text.c hpcprof-lite/compare/compare_text.h \
	hpcprof-lite/compare/compare_values.c hpcprof-lite/compare/compare_values.h
