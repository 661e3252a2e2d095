/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A sink writes the constant model in one form. No sink computes what the model does not hold, and none changes it. One file (or one prefix)
 * per sink, one row in the table of sinks. Test: tests/unit/test_sink_*.c, tests/cli/sink_*.sh.
 */
#ifndef HPCPROF_SINK_SINK_H
#define HPCPROF_SINK_SINK_H

#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

struct sink_options {
	const char *directory;    /* the database directory; exists and is ours, writable */
	unsigned n_workers;       /* 0: one for each CPU */
	const char *otf2_form;    /* "callingcontext" (default when NULL) or "enterleave" */
	bool progress;
	bool no_sources;          /* copy no source files */
	bool *is_private;         /* set when something in it is not for everyone; may be NULL */
	char *const *source_dirs; /* directories whose src/ may have copies of sources, at their paths: archives */
	size_t n_source_dirs;
	const struct sink_text_options *text;
};

struct sink_ops {
	const char *name;         /* for --to: "text", "cctdb", "otf2" */
	const char *what;         /* one line for --help */
	/* Writes everything or logs, returns a failure and leaves no file of its own behind. */
	enum status (*write)(const struct model *m, const struct sink_options *o);
};

extern const struct sink_ops sink_text, sink_cctdb, sink_otf2; /* sink_otf2 only where OTF2 was found (HAVE_OTF2) */

#endif
