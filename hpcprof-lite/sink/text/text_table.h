/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One metric of the model by context, and its flat tables: sums over all contexts of one function,
 * line of a function, or module. A total counts a context that lies inside another of the same
 * function, line or module once, so that recursion does not exceed the whole. Test:
 * tests/unit/test_text.c.
 */
#ifndef HPCPROF_LITE_SINK_TEXT_TEXT_TABLE_H
#define HPCPROF_LITE_SINK_TEXT_TEXT_TABLE_H

#include "hpcprof-lite/model/model.h"

/* The totals of one metric, by context; 0 where there are none. */
struct text_metric {
	uint32_t metric;
	double *total;       /* inclusive */
	double *self;        /* at the context itself */
	uint64_t *n_samples; /* at the context itself */
	double whole;        /* of the root */
	uint64_t n_all;
	bool spread;         /* GPU time that is shared out inside of kernels by PC samples: text_gpu_spread() */
};

bool text_metric_open(const struct model *m, uint32_t metric, struct text_metric *t);
void text_metric_close(struct text_metric *t);

enum text_by {
	TEXT_BY_FUNCTION,
	TEXT_BY_LINE,
	TEXT_BY_MODULE
};

struct text_row {
	uint32_t context;    /* the first that belongs to the row: says what the row is */
	double self, total;
	double guessed; /* of total: what came by a guessed frame that is of the row, or further in:
			   by that frame alone it belongs to the row */
	uint64_t n_samples;
};

struct text_rows {
	struct text_row *at; /* falling self, then total, then first context */
	size_t n;
	bool has_guesses; /* some row has `guessed` */
};

/* Rows with neither self nor total are left out. False when memory is short. */
bool text_rows_make(const struct model *m, const struct text_metric *t, enum text_by by, struct text_rows *rows);
/* By falling total, then self, then first context. */
void text_rows_sort_by_total(struct text_row *rows, size_t n);
void text_rows_free(struct text_rows *rows);

#endif
