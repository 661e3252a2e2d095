/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hand-made models for tests of comparisons: a tree of functions and lines with values. Everything
 * has a fixed bound; a test that exceeds it is aborted. Strings are borrowed.
 */
#ifndef TESTS_UNIT_COMPARE_FIXTURE_H
#define TESTS_UNIT_COMPARE_FIXTURE_H

#include "hpcprof-lite/compare/compare_report.h"

enum { FIXTURE_MOST = 256, FIXTURE_RANKS = 4 };

struct fixture {
	struct model m;
	struct model_module modules[8];
	struct model_file files[8];
	struct model_function functions[FIXTURE_MOST];
	struct model_context contexts[FIXTURE_MOST];
	struct model_metric metrics[8];
	struct model_process processes[FIXTURE_RANKS];
	struct model_profile profiles[FIXTURE_RANKS];
	struct model_value values[FIXTURE_RANKS];
	struct model_total totals[FIXTURE_MOST];
};

/* A model with a root, the entry of the main thread (context 1) and the program (module 0). */
void fixture_begin(struct fixture *f, const char *executable);
uint32_t fixture_module(struct fixture *f, const char *path);
uint32_t fixture_file(struct fixture *f, const char *path);
/* `file` MODEL_NONE and line 0: unknown. */
uint32_t fixture_function(struct fixture *f, const char *name, uint32_t module, uint32_t file,
			  uint32_t line);
uint32_t fixture_call(struct fixture *f, uint32_t parent, uint32_t function,
		      enum model_relation relation);
uint32_t fixture_line(struct fixture *f, uint32_t parent, uint32_t file, uint32_t line);
uint32_t fixture_metric(struct fixture *f, const char *name, const char *event,
			enum model_unit unit, enum model_metric_kind kind,
			enum model_metric_role role);
/* Add values by rising context, then metric. */
void fixture_value(struct fixture *f, uint32_t context, uint32_t metric, uint64_t n, double sum);
/* Ranks 0 and up, with values of metric 0. */
void fixture_rank(struct fixture *f, double sum);

/* A Poisson number with this mean. The same seed gives the same numbers. */
uint64_t fixture_poisson(uint64_t *seed, double mean);
/* A normal number with mean 0 and deviation 1. */
double fixture_normal(uint64_t *seed);

#endif
