/* SPDX-License-Identifier: BSD-3-Clause */
/* See load_ranks.h. Test: tests/unit/prof/test_load.c. */
#include "hpcprof-lite/load/job/load_ranks.h"

#include <stdlib.h>

#define MOST_RANKS (1 << 24) /* largest rank of a job; more is damage */

struct ranked_job {
	const struct msr_header *of; /* header of one of its processes */
	uint64_t start_ns;           /* of the first process, CLOCK_REALTIME */
	int32_t n_ranks, first;
};

static int compare_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* The job that was not spawned comes first. */
static int compare_jobs(const void *pa, const void *pb)
{
	const struct ranked_job *a = pa, *b = pb;
	int c = compare_u64(a->of->job_id != 0, b->of->job_id != 0);
	c = c ? c : compare_u64(a->start_ns, b->start_ns);
	c = c ? c : compare_u64(a->of->job_id, b->of->job_id);
	c = c ? c : compare_u64(a->of->job_host_id, b->of->job_host_id);
	return c ? c : compare_u64(a->of->job_pid, b->of->job_pid);
}

/* Files of a job are mostly neighbours, so this searches backwards. */
static size_t find(const struct ranked_job *jobs, size_t n, const struct msr_header *h)
{
	for (size_t i = n; i-- > 0;)
		if (load_is_same_job(jobs[i].of, h))
			return i;
	return n;
}

static void add(struct ranked_job *j, const struct msr_header *h)
{
	int32_t n = h->n_ranks > h->rank ? h->n_ranks : h->rank < INT32_MAX ? h->rank + 1 : 0;
	n = n <= MOST_RANKS ? n : h->rank < MOST_RANKS ? h->rank + 1 : 0;
	j->n_ranks = n > j->n_ranks ? n : j->n_ranks;
	j->start_ns = h->start_real_ns < j->start_ns ? h->start_real_ns : j->start_ns;
}

bool load_rank_files(struct load_job *job)
{
	VEC(struct ranked_job) jobs = {0};
	for (size_t i = 0; i < job->files.n; i++) {
		const struct msr_header *h = &job->files.at[i].header;
		const size_t at = find(jobs.at, jobs.n, h);
		if (at == jobs.n && !vec_push(&jobs))
			goto no_memory;
		if (!jobs.at[at].of)
			jobs.at[at] = (struct ranked_job){.of = h, .start_ns = UINT64_MAX};
		add(&jobs.at[at], h);
	}
	if (jobs.n)
		qsort(jobs.at, jobs.n, sizeof *jobs.at, compare_jobs);
	const uint32_t first_number = jobs.n && jobs.at[0].of->job_id != 0;
	for (size_t i = 1; i < jobs.n; i++)
		jobs.at[i].first = jobs.at[i - 1].first < INT32_MAX - 2 * MOST_RANKS
					   ? jobs.at[i - 1].first + jobs.at[i - 1].n_ranks
					   : jobs.at[i - 1].first;
	for (size_t i = 0; i < job->files.n; i++) {
		struct load_file *f = &job->files.at[i];
		const size_t at = find(jobs.at, jobs.n, &f->header);
		f->spawned_job = f->header.job_id ? (uint32_t)at + first_number : 0;
		f->rank = f->header.rank >= 0 && f->header.rank < MOST_RANKS
				  ? f->header.rank + jobs.at[at].first
				  : f->header.rank;
	}
	vec_free(&jobs);
	return true;
no_memory:
	vec_free(&jobs);
	return false;
}
