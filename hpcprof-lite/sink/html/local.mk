# SPDX-License-Identifier: BSD-3-Clause
# The page is part of the program: embed.sh makes C source of the files of page/.
html_scripts = data.js model.js frames.js flame.js tables.js timeline_paint.js timeline.js \
	blame.js advice.js counters.js kernels.js source.js threads.js waiting.js mpi.js \
	nccl.js nvtx.js overview.js compare.js app.js
html_page = hpcprof-lite/sink/html/page/head.html hpcprof-lite/sink/html/page/body.html \
	hpcprof-lite/sink/html/page/style.css \
	$(html_scripts:%=hpcprof-lite/sink/html/page/%)
EXTRA_DIST += hpcprof-lite/sink/html/embed.sh $(html_page)

hpcprof-lite/sink/html/html_page.c: $(html_page) hpcprof-lite/sink/html/embed.sh
	$(AM_V_GEN)$(MKDIR_P) hpcprof-lite/sink/html && \
	$(SHELL) $(srcdir)/hpcprof-lite/sink/html/embed.sh \
		$(srcdir)/hpcprof-lite/sink/html/page $(html_scripts) >$@.tmp && mv $@.tmp $@
CLEANFILES += hpcprof-lite/sink/html/html_page.c

libhlsink_la_SOURCES += \
	hpcprof-lite/sink/html/html.c hpcprof-lite/sink/html/html.h \
	hpcprof-lite/sink/html/html_advice.c \
	hpcprof-lite/sink/html/html_blame.c \
	hpcprof-lite/sink/html/html_contexts.c \
	hpcprof-lite/sink/html/html_counters.c \
	hpcprof-lite/sink/html/html_meta.c \
	hpcprof-lite/sink/html/html_mpi.c \
	hpcprof-lite/sink/html/html_nccl.c \
	hpcprof-lite/sink/html/html_nvtx.c \
	hpcprof-lite/sink/html/html_pack.c hpcprof-lite/sink/html/html_pack.h \
	hpcprof-lite/sink/html/html_parts.c hpcprof-lite/sink/html/html_parts.h \
	hpcprof-lite/sink/html/html_reduce.c hpcprof-lite/sink/html/html_reduce.h \
	hpcprof-lite/sink/html/html_section.c hpcprof-lite/sink/html/html_section.h \
	hpcprof-lite/sink/html/html_sink.h \
	hpcprof-lite/sink/html/html_source.c \
	hpcprof-lite/sink/html/html_times.c \
	hpcprof-lite/sink/html/html_values.c \
	hpcprof-lite/sink/html/html_waiting.c
nodist_libhlsink_la_SOURCES = hpcprof-lite/sink/html/html_page.c
