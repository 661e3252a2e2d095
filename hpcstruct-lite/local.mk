# SPDX-License-Identifier: BSD-3-Clause
# hpcstruct-lite: all but main is a library, so that tests link what is shipped. Each folder adds its
# files in its own local.mk.

bin_PROGRAMS += hpcstruct-lite/hpcstruct-lite
hpcstruct_lite_hpcstruct_lite_LDADD = libhlstruct.la

noinst_LTLIBRARIES += libhlstruct.la
libhlstruct_la_SOURCES =
libhlstruct_la_CPPFLAGS = $(AM_CPPFLAGS) $(DWARF_CPPFLAGS) $(ELF_CPPFLAGS) $(IBERTY_CPPFLAGS) $(ZYDIS_CPPFLAGS) $(ZSTD_CPPFLAGS) $(LZ4_CPPFLAGS)
libhlstruct_la_LIBADD = libhlbase.la $(DWARF_LIBS) $(ELF_LIBS) $(IBERTY_LIBS) $(ZYDIS_LIBS) $(ZSTD_LIBS) $(LZ4_LIBS) -lpthread

include $(top_srcdir)/hpcstruct-lite/debug/local.mk
include $(top_srcdir)/hpcstruct-lite/depend/local.mk
include $(top_srcdir)/hpcstruct-lite/driver/local.mk
include $(top_srcdir)/hpcstruct-lite/flow/local.mk
include $(top_srcdir)/hpcstruct-lite/image/local.mk
include $(top_srcdir)/hpcstruct-lite/isa/local.mk
include $(top_srcdir)/hpcstruct-lite/scope/local.mk
