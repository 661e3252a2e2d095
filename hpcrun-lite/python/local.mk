# SPDX-License-Identifier: BSD-3-Clause
# libhlpython: part of the run-time library.

noinst_LTLIBRARIES += libhlpython.la
libhlpython_la_SOURCES = \
	hpcrun-lite/python/python_code.c hpcrun-lite/python/python_code.h \
	hpcrun-lite/python/frames.c hpcrun-lite/python/frames.h \
	hpcrun-lite/python/layout.c hpcrun-lite/python/layout.h \
	hpcrun-lite/python/python.c hpcrun-lite/python/python.h \
	hpcrun-lite/python/reader.c hpcrun-lite/python/reader.h \
	hpcrun-lite/python/python_object.c hpcrun-lite/python/python_object.h \
	hpcrun-lite/python/torch_code.c hpcrun-lite/python/torch_code.h \
	hpcrun-lite/python/torch_module.c hpcrun-lite/python/torch_module.h \
	hpcrun-lite/python/torch_search.c hpcrun-lite/python/torch_search.h \
	hpcrun-lite/python/torch_table.c hpcrun-lite/python/torch_table.h \
	hpcrun-lite/python/python_symbols.c hpcrun-lite/python/python_symbols.h
libhlpython_la_CFLAGS = $(HL_CFLAGS) $(SAFE_CFLAGS)
