/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink writes the constant model in one form. None changes the model, and none computes what
 * another report needs: that is in hpcprof-lite/view. A sink is one folder and one row in sinks.c.
 * Test: tests/unit/test_sink_*.c, tests/cli/sink_*.sh.
 */
#ifndef HPCPROF_SINK_SINK_H
#define HPCPROF_SINK_SINK_H

#include "common/base/options.h"
#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

struct sink_options {
	const char *directory; /* the database directory; exists and is ours, writable */
	unsigned n_workers;    /* 0: one for each CPU */
	bool progress;
	bool no_sources;          /* copy no source files */
	bool *is_private;         /* set when something in it is not for everyone; may be NULL */
	char *const *source_dirs; /* directories whose src/ may have copies of sources, at their
				     paths: archives */
	size_t n_source_dirs;
	const void *settings; /* of this sink; NULL: its defaults */
};

struct sink_ops {
	const char *name; /* for --to: "text", "cctdb", "otf2" */
	const char *what; /* one line for --help */
	bool makes_files; /* in sink_options.directory; else it writes to standard output */
	const struct option_spec *options; /* of the command line, for this sink: set() gets its
					      settings; NULL: none */
	const void *defaults; /* its settings before any option, `settings_bytes` long; NULL: it has
				 none */
	size_t settings_bytes;
	/* Whether the model has what the settings ask for; logs where it has not. NULL: always. */
	enum status (*check)(const struct model *m, const void *settings);
	/* Too large to be written unless the user asked for it; logs that. NULL: never. */
	bool (*is_too_large)(const struct model *m, const void *settings);
	/* Writes everything or logs, returns a failure and leaves no file of its own behind. */
	enum status (*write)(const struct model *m, const struct sink_options *o);
};

#endif
