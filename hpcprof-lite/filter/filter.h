/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Filters turn the model of a run into the model of a part of it: some ranks, processes or threads,
 * a range of time, or what runs below a function. The result is an ordinary constant model, so no
 * output knows about filters. model.part describes the part, for the heads of outputs.
 *
 * Values are added up again, by the sums of attribute. With a range of time, the value of a
 * (thread, context, metric) is shared out over its samples or GPU operations, so that all ranges
 * together add up to the whole value. Values without a time line are left out; model.part_notes
 * lists them. Test: tests/unit/prof/test_filter.c, tests/cli/prof/prof_filter.sh.
 */
#ifndef HPCPROF_FILTER_FILTER_H
#define HPCPROF_FILTER_FILTER_H

#include "common/base/options.h"
#include "common/base/status.h"
#include "hpcprof-lite/model/model.h"

/* What the user asked for. NULL: everything. The strings are borrowed and have been checked. */
struct filter {
	const char *ranks, *threads; /* numbers and ranges: "0,4-7" */
	const char *processes;       /* pids, names of programs, patterns: "12,solver*" */
	const char *time;            /* "FROM:TO", each in seconds of the run, in percent, or "" */
	const char *below;           /* name of a function, or a pattern for fnmatch() */
};

/*
 * The options that set a struct filter, which is the argument of their set(). The array ends like
 * option_table.specs.
 */
extern const struct option_spec filter_options[];

bool filter_is_empty(const struct filter *f);
/*
 * Replaces *m by the model of the part. The new model owns what is left of the old one. If nothing
 * matches, logs what could match, leaves *m alone and returns STATUS_USAGE. If memory is short, *m
 * may have lost its values. n_workers: as in pool_run().
 */
enum status filter_apply(struct model **m, const struct filter *f, unsigned n_workers);

#endif
