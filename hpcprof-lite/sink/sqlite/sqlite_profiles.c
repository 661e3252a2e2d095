/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of processes, threads, time lines and ledgers; see sqlite_write.h. Test:
 * tests/cli/sink/sink_sqlite.sh. */
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"
#include "hpcprof-lite/sink/words.h"

#include <math.h>

static void put_processes(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	char end[128];
	sqlite_begin(w, "process", 18);
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		sqlite_int(w, i);
		sqlite_id(w, p->rank < 0 ? MODEL_NONE : (uint32_t)p->rank);
		sqlite_text(w, p->host);
		sqlite_int(w, p->pid);
		sqlite_int(w, p->exec_seq);
		sqlite_text(w, p->executable);
		sqlite_text(w, p->command);
		sqlite_text(w, p->path);
		sqlite_time(w, p->start_ns);
		sqlite_time(w, p->end_ns);
		sqlite_int(w, p->off_ns);
		sqlite_int(w, p->is_live);
		sqlite_text(w, ends_text(p->exit_kind, p->exit_code, end, sizeof end));
		sqlite_text(w, p->role);
		sqlite_id(w, p->spawned_job ? p->spawned_job : MODEL_NONE);
		sqlite_id(w, p->job_rank < 0 ? MODEL_NONE : (uint32_t)p->job_rank);
		sqlite_real(w, p->quota > 0 ? p->quota : NAN);
		sqlite_int(w, p->throttled_end_ns - p->throttled_start_ns);
		sqlite_row(w);
	}
	sqlite_end(w);
	sqlite_begin(w, "profile", 11);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		bool is_queue = p->kind == MODEL_PROFILE_QUEUE;
		sqlite_int(w, i);
		sqlite_int(w, p->process);
		sqlite_word(w, is_queue ? "queue" : "thread");
		sqlite_id(w, p->thread);
		sqlite_id(w, is_queue ? MODEL_NONE : p->tid);
		sqlite_text(w, p->name);
		sqlite_time(w, p->start_ns);
		sqlite_time(w, p->end_ns);
		sqlite_int(w, p->cpu_ns);
		sqlite_id(w, p->queue);
		sqlite_id(w, is_queue ? p->lane : MODEL_NONE);
		sqlite_row(w);
	}
	sqlite_end(w);
}

static void put_values(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	sqlite_begin(w, "value", 7);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		for (size_t k = 0; k < m->profiles[i].n_values; k++) {
			const struct model_value *v = &m->profiles[i].values[k];
			sqlite_int(w, i);
			sqlite_int(w, v->context);
			sqlite_int(w, v->metric);
			for (unsigned s = 0; s < MODEL_N_SCOPES; s++)
				sqlite_real(w, v->at[s]);
			sqlite_row(w);
		}
		model_values_done(m, m->profiles[i].n_values);
	}
	sqlite_end(w);
}

static void put_samples(struct sqlite_writer *w, uint32_t profile)
{
	enum { CHUNK = 1024 };
	struct model_trace_cursor c = {0};
	struct model_sample samples[CHUNK];
	for (size_t n;
	     w->status == STATUS_OK && (n = model_trace_read(w->m, profile, &c, samples, CHUNK));)
		for (size_t i = 0; i < n; i++) {
			sqlite_int(w, profile);
			sqlite_int(w, samples[i].time_ns);
			sqlite_int(w, samples[i].context);
			sqlite_int(w, samples[i].metric);
			sqlite_row(w);
		}
}

static void put_op(struct sqlite_writer *w, uint32_t profile, const struct model_gpu_op *o)
{
	sqlite_int(w, profile);
	sqlite_int(w, o->start_ns);
	sqlite_int(w, o->end_ns);
	sqlite_time(w, o->enter_ns);
	sqlite_time(w, o->queued_ns);
	sqlite_time(w, o->submitted_ns);
	sqlite_word(w, words_op(o));
	sqlite_word(w, words_op_detail(o));
	sqlite_int(w, o->amount);
	sqlite_int(w, o->context);
	sqlite_id(w, o->shape);
	sqlite_id(w, o->launcher);
	sqlite_int(w, o->id);
	sqlite_row(w);
}

static void put_time_lines(struct sqlite_writer *w)
{
	enum { CHUNK = 512 };
	const struct model *m = w->m;
	sqlite_begin(w, "sample", 4);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_THREAD)
			put_samples(w, i);
	sqlite_end(w);
	sqlite_begin(w, "gpu_op", 13);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		struct model_gpu_cursor c = {0};
		struct model_gpu_op ops[CHUNK];
		if (m->profiles[i].kind != MODEL_PROFILE_QUEUE || !m->profiles[i].n_trace_records)
			continue;
		for (size_t n;
		     w->status == STATUS_OK && (n = model_gpu_read(m, i, &c, ops, CHUNK));)
			for (size_t k = 0; k < n; k++)
				put_op(w, i, &ops[k]);
	}
	sqlite_end(w);
}

/* ---- ledgers ---- */

static void put_counts(struct sqlite_writer *w, uint32_t process, uint32_t profile,
		       const char *backend, const struct words_count *counts, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		sqlite_id(w, process);
		sqlite_id(w, profile);
		sqlite_text(w, backend);
		sqlite_word(w, counts[i].group);
		sqlite_word(w, counts[i].name);
		sqlite_int(w, counts[i].n);
		sqlite_row(w);
	}
}

static void put_process_ledgers(struct sqlite_writer *w, uint32_t process)
{
	const struct model_process *p = &w->m->processes[process];
	struct words_count counts[WORDS_COUNTS];
	put_counts(w, process, MODEL_NONE, NULL, counts, words_ledger(&p->ledger, counts));
	for (uint32_t i = 0; i < p->n_gpu; i++)
		put_counts(w, process, MODEL_NONE, p->gpu[i].backend, counts,
			   words_gpu_ledger(&p->gpu[i], counts));
	put_counts(w, process, MODEL_NONE, "PC sampling", counts,
		   words_sampling(&p->gpu_sampling, counts));
}

static void put_ledgers(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	struct words_count counts[WORDS_COUNTS];
	sqlite_begin(w, "ledger", 6);
	put_counts(w, MODEL_NONE, MODEL_NONE, NULL, counts, words_ledger(&m->ledger, counts));
	if (m->has_gpu)
		put_counts(w, MODEL_NONE, MODEL_NONE, "GPU", counts,
			   words_gpu_ledger(&m->gpu_ledger, counts));
	put_counts(w, MODEL_NONE, MODEL_NONE, "PC sampling", counts,
		   words_sampling(&m->gpu_sampling, counts));
	for (uint32_t i = 0; i < m->n_processes; i++)
		put_process_ledgers(w, i);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_THREAD)
			put_counts(w, m->profiles[i].process, i, NULL, counts,
				   words_ledger(m->profiles[i].ledger, counts));
	sqlite_end(w);
}

void sqlite_put_profiles(struct sqlite_writer *w)
{
	put_processes(w);
	put_values(w);
	put_time_lines(w);
	put_ledgers(w);
}
