/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See describe.h. Describes processes, threads and their time lines. Test:
 * tests/unit/prof/test_order.c, tests/unit/prof/test_ledger.c.
 */
#include "hpcprof-lite/attribute/describe/describe.h"

#include "common/base/pool.h"
#include "hpcprof-lite/attribute/describe/child_processes.h"
#include "hpcprof-lite/attribute/describe/ledger.h"
#include "hpcprof-lite/attribute/describe/process_roles.h"
#include "hpcprof-lite/attribute/describe/spawned_jobs.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdatomic.h>
#include <stdlib.h>

static uint64_t real_time(const struct load_file *f, uint64_t mono_ns)
{
	return mono_ns + (f->header.start_real_ns - f->header.start_mono_ns);
}

/*
 * The time of the last record, or of reading if the process still ran. Used if the process could
 * not write its end.
 */
static uint64_t last_moment(const struct load_file *f, uint64_t other_ns)
{
	uint64_t last = f->header.start_mono_ns > other_ns ? f->header.start_mono_ns : other_ns;
	const uint64_t read_ns = f->copied_ns > f->live_ns ? f->copied_ns : f->live_ns;
	if (read_ns > last && read_ns - last < LOAD_LONGEST_NS)
		last = read_ns;
	for (size_t i = 0; i < f->threads.n; i++) {
		const struct load_thread *t = &f->threads.at[i];
		if (t->last_trace_ns > last)
			last = t->last_trace_ns;
		if (t->record->end_ns > last)
			last = t->record->end_ns;
		if (t->record->start_ns > last)
			last = t->record->start_ns;
	}
	return last;
}

static uint64_t off_ns(const struct load_file *f, uint64_t end_ns)
{
	const struct msr_header *h = &f->header;
	uint64_t all = end_ns > h->start_mono_ns ? end_ns - h->start_mono_ns : 0,
		 since = h->off_since_ns, off = h->off_ns;
	if (since && end_ns > since)
		off = end_ns - since > UINT64_MAX - off ? UINT64_MAX : off + (end_ns - since);
	return off < all ? off : all;
}

static bool is_blank(const struct load_file *f)
{
	unsigned n = 0;
	while (n < MSR_MAX_METRICS && !f->metrics[n])
		n++;
	return n == MSR_MAX_METRICS && !f->events.n && !f->threads.n && !f->header.end_mono_ns;
}

/* At least the start, even in a damaged file. A process that was killed did not write the end. */
static uint64_t throttled_end(const struct msr_header *h)
{
	return h->throttled_end_ns > h->throttled_start_ns ? h->throttled_end_ns
							   : h->throttled_start_ns;
}

static uint32_t exit_kind(const struct msr_header *h)
{
	return h->exit_kind == MSR_EXIT_NONE && h->flags & MSR_FLAG_GO ? MSR_EXIT_GO : h->exit_kind;
}

bool describe_processes(struct model *m, const struct load_job *job, const uint64_t *last_moments)
{
	struct model_process *out = calloc(job->files.n + 1, sizeof *out);
	if (!out)
		return false;
	m->processes = m->private_->processes = out;
	m->n_processes = (uint32_t)job->files.n;
	for (size_t i = 0; i < job->files.n; i++) {
		const struct load_file *f = &job->files.at[i];
		const struct msr_header *h = &f->header;
		uint64_t end_ns = h->end_mono_ns ? h->end_mono_ns : last_moment(f, last_moments[i]);
		out[i] = (struct model_process){.path = f->path,
						.owner = f->map.owner,
						.host = h->host,
						.host_id = h->host_id,
						.pid = h->pid,
						.rank = f->rank,
						.spawned_job = f->spawned_job,
						.job_rank = h->rank,
						.exec_seq = h->exec_seq,
						.is_launched = h->flags & MSR_FLAG_ROOT &&
							       !h->exec_seq && h->rank < 0,
						.is_attached = h->flags & MSR_FLAG_ATTACHED,
						.job = f->job ? f->job : "",
						.executable = f->executable,
						.called = f->called ? f->called : "",
						.processors = f->processors ? f->processors : "",
						.quota = (double)h->quota_ns / 1e9,
						.quota_id = h->quota_id,
						.throttled_start_ns = h->throttled_start_ns,
						.throttled_end_ns = throttled_end(h),
						.usage = h->usage,
						.command = f->command ? f->command : "",
						.command_line =
							f->command_line ? f->command_line : "",
						.exit_kind = exit_kind(h),
						.is_blank = is_blank(f),
						.exit_code = h->exit_code,
						.start_ns = h->start_real_ns,
						.end_ns = real_time(f, end_ns),
						.off_ns = off_ns(f, end_ns),
						.n_starts = h->n_starts,
						.n_stops = h->n_stops,
						.notes = f->notes.at,
						.n_notes = (uint32_t)f->notes.n,
						.events = f->events.at,
						.n_events = (uint32_t)f->events.n};
		if (out[i].end_ns < out[i].start_ns) /* a damaged header */
			out[i].end_ns = out[i].start_ns;
		ledger_of_process(f, &out[i].ledger);
	}
	return children_settle(m, job) && spawned_jobs_describe(m, job) &&
	       process_roles_find(m, job);
}

/* CPU time while measurement was on. */
static uint64_t cpu_ns(const struct msr_thread *r)
{
	uint64_t all = r->cpu_end_ns > r->cpu_start_ns ? r->cpu_end_ns - r->cpu_start_ns : 0;
	return all > r->cpu_off_ns ? all - r->cpu_off_ns : 0;
}

static struct model_source_use source_use(const struct msr_source_use *u)
{
	return (struct model_source_use){.event_ns = u->event_ns,
					 .event_samples = u->event_samples,
					 .event_switches = u->event_switches,
					 .timer_ns = u->timer_ns,
					 .timer_samples = u->timer_samples,
					 .n_changes = u->n_changes};
}

static void describe_thread(const struct model *m, const struct load_file *f,
			    const struct load_thread *t, uint32_t process,
			    struct model_profile *out)
{
	const struct msr_thread *r = t->record;
	uint64_t start = r->start_ns         ? r->start_ns
			 : t->first_trace_ns ? t->first_trace_ns
					     : f->header.start_mono_ns;
	struct model_profile p = {.queue = MODEL_NONE,
				  .process = process,
				  .thread = t->number,
				  .tid = r->tid,
				  .name = r->name,
				  .start_ns = real_time(f, start),
				  .end_ns = r->end_ns ? real_time(f, r->end_ns)
						      : m->processes[process].end_ns,
				  .cpu_ns = cpu_ns(r),
				  .source_use = source_use(&r->use),
				  .n_trace_records = t->n_trace_records};
	if (t->n_trace_records &&
	    real_time(f, t->first_trace_ns) <
		    p.start_ns) /* damage; the profile still includes its time line */
		p.start_ns = real_time(f, t->first_trace_ns);
	if (t->n_trace_records && real_time(f, t->last_trace_ns) > p.end_ns)
		p.end_ns = real_time(f, t->last_trace_ns);
	if (p.end_ns < p.start_ns)
		p.end_ns = p.start_ns;
	*out = p;
}

struct describing {
	struct model *m;
	struct load_job *job;
	uint32_t *first; /* by file: its first profile */
	atomic_bool failed;
};

static void describe_file(void *arg, size_t i, unsigned worker)
{
	struct describing *d = arg;
	struct load_file *f = &d->job->files.at[i];
	struct model_private *own = d->m->private_;
	const bool is_own = load_is_own(d->job, i);
	(void)worker;
	own->processes[i].is_live = f->is_live;
	own->processes[i].is_copied = f->is_live && f->copied_ns;
	for (size_t k = 0; k < f->threads.n; k++) {
		const struct load_thread *t = &f->threads.at[k];
		struct model_profile *p = &own->profiles[d->first[i] + k];
		struct model_ledger *ledger = &own->ledgers[d->first[i] + k];
		describe_thread(d->m, f, t, (uint32_t)i, p);
		own->processes[i].is_live |= load_is_live(f, t);
		p->ledger = is_own ? ledger : NULL;
		if (is_own && !ledger_of_thread(f, t, ledger))
			atomic_store(&d->failed, true);
	}
	load_release(f, LOAD_ALL);
}

bool describe_profiles(struct model *m, struct load_job *job, const uint32_t *n_more,
		       unsigned n_workers)
{
	struct describing d = {m, job, calloc(job->files.n + 1, sizeof *d.first), false};
	size_t n = 0;
	for (size_t i = 0; d.first && i < job->files.n; i++) {
		d.first[i] = (uint32_t)n;
		n += job->files.at[i].threads.n + n_more[i];
	}
	m->profiles = m->private_->profiles = calloc(n + 1, sizeof *m->profiles);
	m->private_->ledgers = calloc(n + 1, sizeof *m->private_->ledgers);
	m->private_->timelines = calloc(n + 1, sizeof *m->private_->timelines);
	bool ok = d.first && m->profiles && m->private_->ledgers && m->private_->timelines;
	if (ok) {
		m->n_profiles = (uint32_t)n;
		pool_run(job->files.n, n_workers, describe_file, &d);
	}
	free(d.first);
	return ok && !atomic_load(&d.failed);
}

bool describe_timeline(const struct model *m, const struct load_file *f, struct load_thread *t,
		       struct model_timeline *line)
{
	line->context_of = t->node_to;
	line->n_nodes = t->n_nodes;
	t->node_to = NULL;
	line->shown_of = t->shown_to;
	t->shown_to = NULL;
	line->latest_ns = f->header.start_mono_ns + LOAD_LONGEST_NS;
	line->to_real_ns = (int64_t)(f->header.start_real_ns - f->header.start_mono_ns);
	for (unsigned k = 0; k < 16; k++)
		line->metric_of[k] = k < MSR_MAX_METRICS && f->metrics[k]
					     ? describe_metric(m, f->metrics[k])
					     : MODEL_NONE;
	line->parts = calloc(t->trace.n + 1, sizeof *line->parts);
	if (!line->parts)
		return false;
	line->n_parts = t->trace.n;
	line->mapped = f->path && !f->map.is_copy && !f->stays ? f->map.bytes : NULL;
	line->mapped_bytes = f->map.n_bytes;
	for (size_t i = 0; i < t->trace.n; i++)
		line->parts[i] = (struct model_trace_part){
			t->trace.at[i].content, t->trace.at[i].n_bytes, t->trace.at[i].first};
	return true;
}
