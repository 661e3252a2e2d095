/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a page of a comparison shows: the model of compare_model.h, the runs, and what the page
 * needs to find the same noise as the tables. Test: tests/cli/sink/sink_html.sh,
 * tests/unit/compare/test_compare_alloc.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_PAGE_H
#define HPCPROF_COMPARE_COMPARE_PAGE_H

#include "hpcprof-lite/compare/compare_report.h"
#include "hpcprof-lite/sink/html/html_sink.h"

struct compare_page {
	struct model *m;
	struct sink_html_comparison comparison;
	/* private */
	const struct compare_report *r;
	struct sink_html_run *runs;
	struct sink_html_noise *noise;
};

/*
 * Borrows the report; `assumed` as in compare_values_open(). False if memory is short. In all cases
 * call compare_page_close(). The page must not move while it is open.
 */
bool compare_page_open(const struct compare_report *r, double assumed, struct compare_page *p);
void compare_page_close(struct compare_page *p);

#endif
