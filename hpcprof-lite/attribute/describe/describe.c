/* SPDX-License-Identifier: BSD-3-Clause */
/* See describe.h. Test: tests/unit/prof/test_order.c, tests/unit/prof/test_ledger.c. */
#include "hpcprof-lite/attribute/describe/describe.h"

#include "common/base/pool.h"
#include "common/safe/printable.h"
#include "hpcprof-lite/attribute/describe/child_processes.h"
#include "hpcprof-lite/attribute/describe/ledger.h"
#include "hpcprof-lite/attribute/describe/process_roles.h"
#include "hpcprof-lite/attribute/describe/spawned_jobs.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/parts/comm.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- metrics ---- */

static const char *unit_of(const struct msr_metric *r)
{
	return r->unit == MSR_UNIT_NS ? "sec" : r->unit == MSR_UNIT_BYTES ? "B" : "count";
}

static uint32_t find_metric(const struct model *m, const struct msr_metric *r)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		if (strcmp(m->metrics[i].event, r->name) == 0 &&
		    strcmp(m->metrics[i].unit, unit_of(r)) == 0)
			return i;
	return MODEL_NONE;
}

/* Readers of HPCToolkit know "CPUTIME (sec)"; what counts events goes by its bare name. */
static char *name_of(const struct msr_metric *r)
{
	char *name;
	int n = r->unit == MSR_UNIT_COUNT ? asprintf(&name, "%s", r->name)
					  : asprintf(&name, "%s (%s)", r->name, unit_of(r));
	return n < 0 ? NULL : name;
}

static bool add_metric(struct model *m, const struct msr_metric *r)
{
	struct model_private *p = m->private_;
	struct model_metric *metrics = realloc(p->metrics, (m->n_metrics + 1) * sizeof *metrics);
	if (!metrics)
		return false;
	m->metrics = p->metrics = metrics;
	char *name = model_own(m, name_of(r));
	if (!name)
		return false;
	metrics[m->n_metrics++] = (struct model_metric){.kind = MODEL_METRIC_SAMPLED,
							.parent = MODEL_NONE,
							.divisor = MODEL_NONE,
							.name = name,
							.event = r->name,
							.unit = unit_of(r),
							.description = r->description,
							.period = r->period,
							.period_most = r->period,
							.source = (enum msr_source)r->source};
	return true;
}

/* Runs of several rates may be merged, and nodes of one run may differ in what they can. */
static void widen_metric(struct model_metric *k, const struct msr_metric *r)
{
	k->period = r->period < k->period ? r->period : k->period;
	k->period_most = r->period > k->period_most ? r->period : k->period_most;
	k->sources_differ |= r->source != k->source;
}

/* Owned by the caller; NULL if memory is short. */
static char *format(const char *how, ...) __attribute__((format(printf, 1, 2)));
static char *format(const char *how, ...)
{
	char *text;
	va_list args;
	va_start(args, how);
	int n = vasprintf(&text, how, args);
	va_end(args);
	return n < 0 ? NULL : text;
}

/* Adds the metric for the part of `of` that came by guessed frames. */
static bool add_guessed(struct model *m, uint32_t of)
{
	struct model_metric *metrics =
		realloc(m->private_->metrics, (m->n_metrics + 1) * sizeof *metrics);
	if (!metrics)
		return false;
	m->metrics = m->private_->metrics = metrics;
	struct model_metric k = metrics[of];
	const char *unit = strstr(k.name, " (");
	int head = unit ? (int)(unit - k.name) : (int)strlen(k.name);
	char *event = format("%s:GUESSED", k.event);
	char *name = format("%.*s:GUESSED%s", head, k.name, k.name + head);
	char *description = format("%s on call paths with a frame that was guessed", k.event);
	k.kind = MODEL_METRIC_GUESSED;
	k.parent = of;
	/* all three, so that none is lost when memory is short */
	k.event = model_own(m, event);
	k.name = model_own(m, name);
	k.description = model_own(m, description);
	if (!k.event || !k.name || !k.description)
		return false;
	metrics[m->n_metrics++] = k;
	return true;
}

static bool has_guesses(const struct model *m)
{
	for (uint32_t i = 0; i < m->n_contexts; i++)
		if (m->contexts[i].marked)
			return true;
	return false;
}

bool describe_metrics(struct model *m, const struct load_job *job)
{
	for (size_t i = 0; i < job->files.n; i++)
		for (unsigned k = 0; k < MSR_MAX_METRICS; k++) {
			const struct msr_metric *r = job->files.at[i].metrics[k];
			uint32_t known = r ? find_metric(m, r) : MODEL_NONE;
			if (known != MODEL_NONE)
				widen_metric(&m->private_->metrics[known], r);
			else if (r && !add_metric(m, r))
				return false;
		}
	for (uint32_t i = 0, n = has_guesses(m) ? m->n_metrics : 0; i < n; i++)
		if (!add_guessed(m, i))
			return false;
	return true;
}

void describe_is_time(const struct model *m, const struct load_file *f,
		      bool is_time[MSR_MAX_METRICS])
{
	for (unsigned i = 0; i < MSR_MAX_METRICS; i++) {
		uint32_t metric = f->metrics[i] ? find_metric(m, f->metrics[i]) : MODEL_NONE;
		is_time[i] = metric != MODEL_NONE && m->metrics[metric].is_time;
	}
}

void describe_divisors(const struct model *m, double *divisors)
{
	for (uint32_t i = 0; i < m->n_metrics; i++)
		divisors[i] = model_unit_scale(m->metrics[i].unit);
}

/* ---- processes and threads ---- */

static uint64_t real_time(const struct load_file *f, uint64_t mono_ns)
{
	return mono_ns + (f->header.start_real_ns - f->header.start_mono_ns);
}

/* The time of the last record, if the process could not write its end. */
static uint64_t last_moment(const struct load_file *f, uint64_t other_ns)
{
	uint64_t last = f->header.start_mono_ns > other_ns ? f->header.start_mono_ns : other_ns;
	if (f->copied_ns > last && f->copied_ns - last < LOAD_LONGEST_NS)
		last = f->copied_ns;
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

/* Never before the start, whatever is damaged; not written by a process that was killed. */
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
						.job = f->job ? f->job : "",
						.executable = f->executable,
						.called = f->called ? f->called : "",
						.processors = f->processors ? f->processors : "",
						.quota = (double)h->quota_ns / 1e9,
						.quota_id = h->quota_id,
						.throttled_start_ns = h->throttled_start_ns,
						.throttled_end_ns = throttled_end(h),
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

/* While measurement was on. */
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
		    p.start_ns) /* damage: the time line lies inside all the same */
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
					     ? find_metric(m, f->metrics[k])
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

/* ---- the whole ---- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

/* "sh" and not "dash", "python3" and not "python3.11". Login shells are called "-sh". */
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
};

static int compare_stretches(const void *pa, const void *pb)
{
	const struct stretch *a = pa, *b = pb;
	return (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/*
 * Leaves out the time between runs. Processes of one run are at most a second apart. Few threads
 * live beyond what is known of their process.
 */
static bool add_up_runs(struct model *m)
{
	size_t n = m->n_processes;
	struct stretch *all = malloc((n + m->n_profiles + 1) * sizeof *all);
	uint64_t start = 0, end = 0;
	if (!all)
		return false;
	for (uint32_t i = 0; i < m->n_processes; i++)
		all[i] = (struct stretch){m->processes[i].start_ns, m->processes[i].end_ns};
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		const struct stretch *process = &all[p->process];
		if (p->start_ns < process->start_ns || p->end_ns > process->end_ns)
			all[n++] = (struct stretch){p->start_ns, p->end_ns};
	}
	if (n)
		qsort(all, n, sizeof *all, compare_stretches);
	for (size_t i = 0; i < n; i++) {
		if (i && all[i].start_ns <= end + 1000000000u) {
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

/* What a part knows of the whole: the sum of its threads, and times. */
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
