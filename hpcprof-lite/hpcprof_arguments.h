/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the command line of hpcprof-lite asks for, its table of options, and which ranks do the
 * work. Test: tests/cli/prof/prof_cli.sh.
 */
#ifndef HPCPROF_LITE_HPCPROF_ARGUMENTS_H
#define HPCPROF_LITE_HPCPROF_ARGUMENTS_H

#include "common/base/options.h"
#include "common/base/vec.h"
#include "hpcprof-lite/filter/filter.h"
#include "hpcprof-lite/parts/comm_mpi.h"
#include "hpcprof-lite/sink/sink.h"

struct arguments {
	const char *database;
	unsigned n_workers;
	const char *to; /* NULL: all but those written on request */
	const char *archive; /* NULL: none */
	bool live;
	const char *prometheus_file; /* NULL: none */
	bool no_structs, no_sources, quiet, internals, ranges;
	enum comm_mpi_use mpi;
	uint64_t command; /* hash of version and arguments */
	void **settings; /* by sink; NULL: it has none */
	const struct filter *filter;
	/* all ranks; NULL: this process works alone, and the others wait for it */
	struct comm *ranks;
	/* the ranks that make the database with this one, from the same model; NULL: none */
	struct comm *comm;
	bool is_apart; /* the first rank makes all other outputs, the others the database */
};

bool arguments_want(const struct arguments *a, const struct sink_ops *sink);
/* True in the process that works alone, or the first rank. */
bool arguments_are_of_first(const struct arguments *a);
/* Ends a step of all ranks. Returns the worst of their statuses. */
enum status arguments_agree(const struct arguments *a, enum status s);

/* The table of options: those of hpcprof-lite, of the filter and of the sinks. */
struct hpcprof_options {
	VEC(struct option_spec) specs;
	VEC(void *) args; /* by spec */
	void **settings; /* by sink; owned */
	struct filter filter;
	char *to_help; /* owned */
};

/* *o must be zero. False if memory is short. In all cases call hpcprof_options_free(). */
bool hpcprof_options_make(struct hpcprof_options *o);
void hpcprof_options_free(struct hpcprof_options *o);

#endif
