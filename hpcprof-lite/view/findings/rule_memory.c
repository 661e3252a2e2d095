/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Page faults: the kernel makes a page for the process at its first access. Doc:
 * doc/findings.md#page-faults. Test: tests/unit/prof/test_findings.c.
 */
#include "hpcprof-lite/view/findings/finding_run.h"

#include <stdlib.h>

/*
 * CPU seconds of a page fault, with clearing the page and giving it back: on a processor of its
 * own, usual, and in a virtual machine. The kernel's CPU time bounds them.
 */
static const double LEAST = 0.25e-6, USUAL = 0.7e-6, MOST = 2e-6;
/* ... and of a call that reads or writes */
static const double CALL = 0.3e-6;

/* Calls that map memory and give it back. */
static bool maps_memory(const char *function)
{
	return strstr(function, "munmap") || strstr(function, "mmap") ||
	       strstr(function, "madvise") || strstr(function, "sbrk") ||
	       strcmp(function, "brk") == 0;
}

static bool put_places(const struct finding_run *r, struct finding *f)
{
	const struct model *m = r->m;
	double *weights = finding_weights(m);
	if (!weights)
		return false;
	for (uint32_t c = 1; c < m->n_contexts; c++)
		if (r->self[c] > 0 && maps_memory(finding_function(m, c)))
			weights[c] = r->self[c];
	finding_places(r, f, weights);
	free(weights);
	return true;
}

bool rule_memory(struct finding_run *r, struct findings *to)
{
	const double n = (double)r->usage.page_faults,
		     kernel = (double)r->usage.system_ns / 1e9 -
			      CALL * (double)(r->usage.reads + r->usage.writes),
		     system = kernel > 0 ? kernel : 0,
		     lanes = r->account.quota.n_given > 0 && r->account.quota.n_given < r->lanes
				     ? r->account.quota.n_given
				     : r->lanes;
	struct finding f =
		finding_begin("page-faults", "page faults: memory that the kernel gives anew",
			      "keep blocks and use them again (a pool, M_MMAP_THRESHOLD and "
			      "M_TRIM_THRESHOLD of mallopt); huge pages");
	/* where faults can explain all of the kernel's time, they are most of it */
	const double usual = n * MOST >= system ? 0.9 * system : n * USUAL;
	if (!finding_is_large(r, usual / lanes))
		return true;
	finding_fact(&f, "page faults", MODEL_COUNT, n);
	finding_fact(&f, "CPU time in the kernel", MODEL_SECONDS,
		     (double)r->usage.system_ns / 1e9);
	finding_fact(&f, "of the CPU time", MODEL_SHARE,
		     r->account.cpu_seconds > 0
			     ? (double)r->usage.system_ns / 1e9 / r->account.cpu_seconds
			     : 0);
	return put_places(r, &f) &&
	       finding_add(r, to, &f, usual / lanes, n * LEAST / lanes, usual / lanes,
			   (n * MOST < system ? n * MOST : 1.2 * system) / lanes);
}
