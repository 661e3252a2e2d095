# SPDX-License-Identifier: BSD-3-Clause
libhlstruct_la_SOURCES += \
	hpcstruct-lite/isa/isa.c hpcstruct-lite/isa/isa.h \
	hpcstruct-lite/isa/isa_sass.c \
	hpcstruct-lite/isa/sass.c hpcstruct-lite/isa/sass.h \
	hpcstruct-lite/isa/sass_table.c
if HAVE_ZYDIS
libhlstruct_la_SOURCES += \
	hpcstruct-lite/isa/isa_x86.c \
	hpcstruct-lite/isa/x86_table.c hpcstruct-lite/isa/x86_table.h \
	hpcstruct-lite/isa/zydis.h
else
libhlstruct_la_SOURCES += \
	hpcstruct-lite/isa/isa_x86_none.c
endif
