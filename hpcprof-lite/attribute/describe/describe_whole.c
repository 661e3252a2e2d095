/* SPDX-License-Identifier: BSD-3-Clause */
/* See describe.h. Describes the whole run. Test: tests/unit/prof/test_order.c. */
#include "common/safe/printable.h"
#include "hpcprof-lite/attribute/describe/describe.h"
#include "hpcprof-lite/attribute/describe/ledger.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/*
 * The name that people use: "sh" rather than "dash", "python3" rather than "python3.11". Login
 * shells are called "-sh".
 */
static const char *name_for_people(const struct model_process *p)
{
	const char *called = base_name(p->called + (p->called[0] == '-'));
	return printable_is_name(called) ? called : base_name(p->executable);
}

static void describe_title(struct model *m)
{
	for (uint32_t i = 0; i < m->n_processes; i++)
		if (m->processes[i].executable[0] &&
		    (!m->title[0] || m->processes[i].exec_seq == 0)) {
			m->title = name_for_people(&m->processes[i]);
			if (m->processes[i].exec_seq == 0)
				return;
		}
}

struct stretch {
	uint64_t start_ns, end_ns;
	bool is_launched;
};

static int compare_stretches(const void *pa, const void *pb)
{
	const struct stretch *a = pa, *b = pb;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/*
 * Adds up the time of all runs and leaves out the time between them. Processes of one run are at
 * most a second apart, and those that were launched overlap. A thread counts by itself only if it
 * outlives what is known about its process.
 */
static bool add_up_runs(struct model *m)
{
	size_t n = m->n_processes;
	struct stretch *all = malloc((n + m->n_profiles + 1) * sizeof *all);
	uint64_t start = 0, end = 0;
	if (!all)
		return false;
	for (uint32_t i = 0; i < m->n_processes; i++)
		all[i] = (struct stretch){m->processes[i].start_ns, m->processes[i].end_ns,
					  m->processes[i].is_launched};
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		const struct stretch *process = &all[p->process];
		if (p->start_ns < process->start_ns || p->end_ns > process->end_ns)
			all[n++] = (struct stretch){p->start_ns, p->end_ns, false};
	}
	if (n)
		qsort(all, n, sizeof *all, compare_stretches);
	for (size_t i = 0; i < n; i++) {
		const uint64_t most_ns = all[i].is_launched ? 0 : 1000000000u;
		if (i && all[i].start_ns <= end + most_ns) {
			end = all[i].end_ns > end ? all[i].end_ns : end;
			continue;
		}
		m->elapsed_ns += end - start;
		m->n_runs++;
		start = all[i].start_ns;
		end = all[i].end_ns;
	}
	m->elapsed_ns += end - start;
	free(all);
	return true;
}

bool describe_times(struct model *m)
{
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		if (i == 0 || p->start_ns < m->start_ns)
			m->start_ns = p->start_ns;
		if (p->end_ns > m->end_ns)
			m->end_ns = p->end_ns;
	}
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		if (p->start_ns < m->start_ns)
			m->start_ns = p->start_ns;
		if (p->end_ns > m->end_ns)
			m->end_ns = p->end_ns;
		m->has_traces = m->has_traces || p->n_trace_records;
	}
	return add_up_runs(m);
}

/* What a part contributes to the whole: the sum over its threads, and times. */
struct known {
	struct model_ledger ledger;
	uint64_t closes, start_ns, end_ns;
};

static void add_known(struct model *m, const struct known *k)
{
	ledger_add(&m->ledger, &k->ledger);
	m->ledger_closes = m->ledger_closes && k->closes;
	m->start_ns = k->start_ns < m->start_ns ? k->start_ns : m->start_ns;
	m->end_ns = k->end_ns > m->end_ns ? k->end_ns : m->end_ns;
}

/* Ends a step. */
static bool join_known(struct model *m, struct comm *c, const struct known *own)
{
	uint64_t *first = calloc((size_t)c->n_parts + 1, sizeof *first);
	struct known *all = comm_join(c, own, 1, sizeof *own, first);
	for (int i = 0; all && i < c->n_parts; i++)
		add_known(m, &all[i]);
	free(first);
	free(all);
	return all;
}

bool describe_whole(struct model *m, struct comm *c)
{
	struct known own = {.closes = !m->sums_overflow};
	bool ok = describe_times(m);
	describe_title(m);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_ledger *l = m->profiles[i].ledger;
		if (l)
			ledger_add(&own.ledger, l);
		own.closes = own.closes && (!l || ledger_closes(l));
	}
	own.start_ns = m->start_ns;
	own.end_ns = m->end_ns;
	m->ledger_closes = true;
	for (uint32_t i = 0; i < m->n_processes; i++)
		ledger_add(&m->ledger, &m->processes[i].ledger);
	if (c)
		ok = comm_agree(c, ok ? STATUS_OK : STATUS_NO_MEMORY) == STATUS_OK &&
		     join_known(m, c, &own);
	else
		add_known(m, &own);
	m->ledger_closes = m->ledger_closes && !ledger_is_at_bound(&m->ledger);
	return ok;
}
