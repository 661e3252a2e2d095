/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink writes the constant model in one form. Sinks do not change the model. They do not compute
 * what another report needs; hpcprof-lite/view does that. A sink is one folder and one row in
 * sinks.c. Test: tests/unit/sink/test_sink_*.c, tests/cli/sink/sink_*.sh.
 */
#ifndef HPCPROF_SINK_SINK_H
#define HPCPROF_SINK_SINK_H

#include "common/base/options.h"
#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

struct code;

struct sink_options {
	/* the database directory; it exists, belongs to us and is writable */
	const char *directory;
	unsigned n_workers;    /* 0: one for each CPU */
	bool progress;
	bool no_sources;          /* copy no source files */
	/* set if the output contains data that not everyone may read; may be NULL */
	bool *is_private;
	/*
	 * directories whose src/ may contain copies of sources at their full paths, as in archives
	 */
	char *const *source_dirs;
	size_t n_source_dirs;
	const void *settings; /* settings of this sink; NULL: its defaults */
	const struct code *code; /* instructions of the hottest functions; NULL: none */
};

struct sink_ops {
	const char *name; /* for --to: "text", "cctdb", "otf2" */
	const char *what; /* for --help: at most 41 characters */
	/* writes files in sink_options.directory; otherwise writes to standard output */
	bool makes_files;
	const char *opens; /* the file that people open; NULL: none is for them alone */
	/*
	 * If m->share is set, all processes call write() on their main threads, and write it
	 * together. Other outputs need the model of one process.
	 */
	bool is_shared;
	/* written only if --to names it */
	bool on_request;
	/* command-line options of this sink; their set() gets its settings; NULL: none */
	const struct option_spec *options;
	/* default settings, `settings_bytes` long; NULL: the sink has no settings */
	const void *defaults;
	size_t settings_bytes;
	/*
	 * Checks that the model has what the settings ask for. Logs if it does not. NULL: always
	 * true.
	 */
	enum status (*check)(const struct model *m, const void *settings);
	/*
	 * True if the output is too large to write unless the user asks for it; logs that. NULL:
	 * never.
	 */
	bool (*is_too_large)(const struct model *m, const void *settings);
	/* Writes everything. On failure logs, removes its own files and returns the failure. */
	enum status (*write)(const struct model *m, const struct sink_options *o);
};

#endif
