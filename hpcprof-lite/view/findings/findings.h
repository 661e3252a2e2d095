/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What matters most in a run: causes of lost time, each with the elapsed time that it costs, what a
 * cure could give back, the evidence, and where in the program it is. Also what makes the
 * measurement say less than it could. One table of rules makes all findings, and all outputs show
 * them. doc/findings.md has the rules with their evidence and thresholds. Tests:
 * tests/unit/prof/test_findings*.c, tests/cli/parallel/findings.sh.
 */
#ifndef HPCPROF_VIEW_FINDINGS_FINDINGS_H
#define HPCPROF_VIEW_FINDINGS_FINDINGS_H

#include "common/base/vec.h"
#include "hpcprof-lite/model/model.h"
#include "hpcprof-lite/view/view_evidence.h"

enum {
	FINDING_SUBJECT = 240,
	FINDINGS_HEAD = 5 /* findings that the head of a report shows */
};

struct finding {
	const char *key;   /* one word for programs: "imbalance" */
	const char *title; /* "threads with unequal work" */
	const char *cure;  /* what to do */
	/* which: "solve, parallel region at FILE:88, static"; ""; has text of the program */
	char subject[FINDING_SUBJECT];
	/*
	 * Elapsed seconds of the run that it costs, and that a cure could give back. 0 <= low <=
	 * likely <= high <= elapsed time. All 0: it is about the measurement.
	 */
	double cost, low, likely, high;
	struct view_fact facts[VIEW_FACTS];
	unsigned n_facts;
	struct view_place places[VIEW_PLACES]; /* by falling share */
	unsigned n_places;
	uint32_t process;  /* that it is about; MODEL_NONE: several */
	uint32_t function; /* the kernel or function that it is about; MODEL_NONE: none */
	bool is_advice;    /* about a GPU: view_advice.h has it, too */
};

struct findings {
	/*
	 * Calls that did not end come first, then what makes a measurement say too little, causes
	 * by falling `likely`, and other findings about the measurement.
	 */
	VEC(struct finding) list;
	double elapsed; /* seconds */
};

/* False if memory is short; then there is nothing to free. */
bool findings_make(const struct model *m, struct findings *f);
void findings_free(struct findings *f);

/*
 * A command that shows what the finding is about more closely: "hpcprof-lite --below solve DIR".
 * `directory` is the measurement. Arguments are quoted for a shell. False: there is none.
 */
bool findings_command(const struct model *m, const struct finding *f, const char *directory,
		      char *to, size_t n_bytes);

#endif
