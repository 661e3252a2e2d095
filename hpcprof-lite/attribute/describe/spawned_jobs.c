/* SPDX-License-Identifier: BSD-3-Clause */
/* See spawned_jobs.h. Test: tests/unit/prof/test_children.c, tests/cli/mpi/mpi_spawn.sh. */
#include "hpcprof-lite/attribute/describe/spawned_jobs.h"

#include "hpcprof-lite/load/job/load_ranks.h"
#include "hpcprof-lite/model/private.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- notes ---- */

/*
 * The process that spawned the job of `h`. If several programs had its pid, the one that ran at the
 * time.
 */
static const struct load_file *spawner(const struct load_job *job, const struct msr_header *h)
{
	const struct load_file *best = NULL;
	for (size_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		if (f->header.pid == h->job_pid && f->header.host_id == h->job_host_id &&
		    f->header.start_mono_ns <= h->job_id &&
		    (!best || best->header.start_mono_ns < f->header.start_mono_ns))
			best = f;
	}
	return best;
}

static bool add_note(struct model *m, struct model_process *p, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static bool add_note(struct model *m, struct model_process *p, const char *format, ...)
{
	char *note = NULL;
	va_list args;
	va_start(args, format);
	const bool ok = vasprintf(&note, format, args) >= 0;
	va_end(args);
	if (!model_own(m, ok ? note : NULL))
		return false;
	const char **notes = malloc(((size_t)p->n_notes + 1) * sizeof *notes);
	if (!model_own(m, notes))
		return false;
	notes[0] = note;
	if (p->n_notes)
		memcpy(notes + 1, p->notes, p->n_notes * sizeof *notes);
	p->notes = notes;
	p->n_notes++;
	return true;
}

/* Processes are sorted by rank, so `first` has the lowest rank of the job. */
static bool note_job(struct model *m, const struct load_job *job, uint32_t first)
{
	struct model_process *p = &m->private_->processes[first];
	const struct model_process *last = p;
	char who[64] = "a process that is not known";
	const struct load_file *by = spawner(job, &job->files.at[first].header);
	for (uint32_t i = first; i < m->n_processes; i++)
		if (m->processes[i].spawned_job == p->spawned_job)
			last = &m->processes[i];
	if (by && by->rank >= 0)
		snprintf(who, sizeof who, "rank %" PRId32 " (pid %" PRIu32 ")", by->rank,
			 by->header.pid);
	else if (by)
		snprintf(who, sizeof who, "pid %" PRIu32, by->header.pid);
	if (p->rank < 0)
		return add_note(m, p, "job %" PRIu32 " was spawned by %s; its ranks are not known",
				p->spawned_job, who);
	if (last->rank == p->rank)
		return add_note(m, p,
				"job %" PRIu32 " was spawned by %s: rank %" PRId32
				" here is its rank %" PRId32,
				p->spawned_job, who, p->rank, p->job_rank);
	return add_note(m, p,
			"job %" PRIu32 " was spawned by %s: ranks %" PRId32 " to %" PRId32
			" here are its ranks %" PRId32 " to %" PRId32,
			p->spawned_job, who, p->rank, last->rank, p->job_rank, last->job_rank);
}

/* True for the first process of its job. */
static bool is_first(const struct model *m, uint32_t process)
{
	for (uint32_t i = process; i-- > 0;)
		if (m->processes[i].spawned_job == m->processes[process].spawned_job)
			return false;
	return m->processes[process].spawned_job;
}

/* ---- processes that were not measured ---- */

/*
 * The number of measured processes of the job. Processes of one rank, for example below a shell,
 * count once.
 */
static uint64_t n_measured(const struct load_job *job, const struct load_file *by, uint64_t id)
{
	const struct msr_header key = {
		.job_host_id = by->header.host_id, .job_id = id, .job_pid = by->header.pid};
	uint64_t n = 0;
	int32_t last = INT32_MIN;
	for (size_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		if (!load_is_same_job(&f->header, &key) || (f->rank >= 0 && f->rank == last))
			continue;
		last = f->rank;
		n++;
	}
	return n;
}

static bool add_unmeasured(struct model *m, const struct load_spawn *s,
			   enum msr_unmeasured_reason why, uint64_t n)
{
	struct model_unmeasured *to = malloc(((size_t)m->n_unmeasured + 1) * sizeof *to);
	if (!model_own(m, to))
		return false;
	/* The list is sorted by decreasing CPU time, then by path. This entry has no CPU time. */
	uint32_t at = m->n_unmeasured;
	while (at && !m->unmeasured[at - 1].cpu_ns &&
	       strcmp(m->unmeasured[at - 1].path, s->path) > 0)
		at--;
	for (uint32_t i = 0; i < m->n_unmeasured; i++)
		to[i + (i >= at)] = m->unmeasured[i];
	to[at] = (struct model_unmeasured){
		.path = s->path, .why = msr_unmeasured_name(why), .n = n, .n_unknown = n};
	m->n_unmeasured++;
	m->unmeasured = to;
	return true;
}

/* Finds the missing processes of one call. Its programs have neighbouring records [first, end). */
static bool find_missing(struct model *m, const struct load_job *job, const struct load_file *by,
			 size_t first, size_t end)
{
	uint64_t n_due = 0, n = n_measured(job, by, by->spawns.at[first].record->id);
	const struct load_spawn *due = NULL;
	bool ok = true;
	for (size_t i = first; ok && i < end; i++) {
		const struct load_spawn *s = &by->spawns.at[i];
		if (s->record->reason != MSR_UNMEASURED_VOID) {
			ok = add_unmeasured(m, s, s->record->reason, s->record->n_processes);
			continue;
		}
		due = due ? due : s;
		n_due += s->record->n_processes;
	}
	return ok && (n_due <= n || add_unmeasured(m, due, MSR_UNMEASURED_SPAWNED, n_due - n));
}

bool spawned_jobs_describe(struct model *m, const struct load_job *job)
{
	bool ok = true;
	for (uint32_t i = 0; ok && i < m->n_processes; i++)
		ok = !is_first(m, i) || note_job(m, job, i);
	for (size_t i = 0; ok && i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		for (size_t k = 0, end; ok && k < f->spawns.n; k = end) {
			const uint64_t id = f->spawns.at[k].record->id;
			for (end = k + 1; end < f->spawns.n && f->spawns.at[end].record->id == id;)
				end++;
			ok = find_missing(m, job, f, k, end);
		}
	}
	return ok;
}
