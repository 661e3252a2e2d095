/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What people see of a running program: the last seconds beside the whole run. The numbers come
 * from hpcprof-lite/view, as those of the report do. Test:
 * tests/cli/live/live_run.sh, tests/cli/live/live_terminal.sh.
 */
#ifndef HPCPROF_LITE_LIVE_LIVE_SCREEN_H
#define HPCPROF_LITE_LIVE_LIVE_SCREEN_H

#include "hpcprof-lite/model/model.h"

#include <stdio.h>

struct live_screen {
	const struct model *whole;
	const struct model *last; /* the last seconds; NULL: not known yet, or the run has ended */
	double last_seconds, age; /* length of the last seconds; how old the whole is */
	size_t width, n_rows;     /* of the terminal; at least 40 and 10 are used */
	bool colour;
	size_t n_unknown;    /* processes of which nobody here knows whether they run */
	size_t n_by_symbols; /* binaries of which only symbols are known */
};

/* Writes at most n_rows lines of at most `width` columns. False if memory is short. */
bool live_screen_write(const struct live_screen *s, FILE *out);
/* The same in one line. */
bool live_screen_line(const struct live_screen *s, FILE *out);

#endif
