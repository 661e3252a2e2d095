/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes, and profiles with their values and time lines; see json.h. Test:
 * tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/sink/json/json.h"

static void put_strings(struct json *j, const char *key, const char *const *strings, uint32_t n)
{
	json_begin(j, key, '[');
	for (uint32_t i = 0; i < n; i++)
		json_text(j, NULL, strings[i]);
	json_end(j, ']');
}

static void put_gpu_ledgers(struct json *j, const struct model_process *p)
{
	struct words_count counts[WORDS_COUNTS];
	json_begin(j, "gpu", '[');
	for (uint32_t i = 0; i < p->n_gpu; i++) {
		json_begin(j, NULL, '{');
		json_text(j, "backend", p->gpu[i].backend);
		json_text(j, "entrance", p->gpu[i].entrance);
		json_bool(j, "ledger_closes", p->gpu[i].closes);
		json_counts(j, "ledger", counts, words_gpu_ledger(&p->gpu[i], counts));
		json_end(j, '}');
	}
	json_end(j, ']');
	json_counts(j, "gpu_sampling", counts, words_sampling(&p->gpu_sampling, counts));
}

void json_put_processes(struct json *j, const struct model *m)
{
	struct words_count counts[WORDS_COUNTS];
	char end[128];
	json_begin(j, "processes", '[');
	for (uint32_t i = 0; i < m->n_processes; i++) {
		const struct model_process *p = &m->processes[i];
		json_begin(j, NULL, '{');
		json_id(j, "rank", p->rank < 0 ? MODEL_NONE : (uint32_t)p->rank);
		if (p->spawned_job) {
			json_u64(j, "spawned_job", p->spawned_job);
			json_id(j, "job_rank",
				p->job_rank < 0 ? MODEL_NONE : (uint32_t)p->job_rank);
		}
		if (p->quota > 0) {
			json_real(j, "cpu_quota", p->quota);
			json_u64(j, "throttled_ns", p->throttled_end_ns - p->throttled_start_ns);
		}
		json_text(j, "host", p->host);
		json_u64(j, "pid", p->pid);
		json_u64(j, "exec", p->exec_seq);
		json_text(j, "role", p->role);
		json_text(j, "executable", p->executable);
		json_text(j, "command", p->command);
		json_text(j, "measurement", p->path);
		json_time(j, "start_ns", m, p->start_ns);
		json_time(j, "end_ns", m, p->end_ns);
		json_u64(j, "off_ns", p->off_ns);
		json_bool(j, "is_live", p->is_live);
		json_text(j, "end", ends_text(p->exit_kind, p->exit_code, end, sizeof end));
		put_strings(j, "events", p->events, p->n_events);
		put_strings(j, "notes", p->notes, p->n_notes);
		json_counts(j, "ledger", counts, words_ledger(&p->ledger, counts));
		put_gpu_ledgers(j, p);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_values(struct json *j, const struct model_profile *p)
{
	json_begin(j, "values", '[');
	for (size_t i = 0; i < p->n_values; i++) {
		json_begin(j, NULL, '[');
		json_u64(j, NULL, p->values[i].context);
		json_u64(j, NULL, p->values[i].metric);
		for (unsigned k = 0; k < MODEL_N_SCOPES; k++)
			json_real(j, NULL, p->values[i].at[k]);
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void put_samples(struct json *j, const struct model *m, uint32_t profile)
{
	enum { CHUNK = 1024 };
	struct model_trace_cursor c = {0};
	struct model_sample samples[CHUNK];
	json_begin(j, "samples", '[');
	for (size_t n; (n = model_trace_read(m, profile, &c, samples, CHUNK));)
		for (size_t i = 0; i < n; i++) {
			json_begin(j, NULL, '[');
			json_time(j, NULL, m, samples[i].time_ns);
			json_u64(j, NULL, samples[i].context);
			json_u64(j, NULL, samples[i].metric);
			json_end(j, ']');
		}
	json_end(j, ']');
}

static void put_op(struct json *j, const struct model *m, const struct model_gpu_op *o)
{
	json_begin(j, NULL, '{');
	json_time(j, "start_ns", m, o->start_ns);
	json_time(j, "end_ns", m, o->end_ns);
	json_time(j, "enter_ns", m, o->enter_ns);
	json_time(j, "queued_ns", m, o->queued_ns);
	json_time(j, "submitted_ns", m, o->submitted_ns);
	json_text(j, "kind", words_op(o));
	json_text(j, "detail", words_op_detail(o));
	json_u64(j, "amount", o->amount);
	json_id(j, "context", o->context);
	json_id(j, "shape", o->shape);
	json_id(j, "launcher", o->launcher);
	json_u64(j, "launch_id", o->id);
	json_end(j, '}');
}

static void put_operations(struct json *j, const struct model *m, uint32_t profile)
{
	enum { CHUNK = 512 };
	struct model_gpu_cursor c = {0};
	struct model_gpu_op ops[CHUNK];
	json_begin(j, "operations", '[');
	for (size_t n; m->profiles[profile].n_trace_records &&
		       (n = model_gpu_read(m, profile, &c, ops, CHUNK));)
		for (size_t i = 0; i < n; i++)
			put_op(j, m, &ops[i]);
	json_end(j, ']');
}

static void put_thread(struct json *j, const struct model *m, uint32_t profile)
{
	const struct model_profile *p = &m->profiles[profile];
	struct words_count counts[WORDS_COUNTS];
	json_u64(j, "thread", p->thread);
	json_u64(j, "tid", p->tid);
	json_text(j, "name", p->name);
	json_time(j, "start_ns", m, p->start_ns);
	json_time(j, "end_ns", m, p->end_ns);
	json_u64(j, "cpu_ns", p->cpu_ns);
	json_counts(j, "ledger", counts, words_ledger(p->ledger, counts));
	put_values(j, p);
	model_values_done(m, p->n_values);
	put_samples(j, m, profile);
}

void json_put_profiles(struct json *j, const struct model *m)
{
	json_begin(j, "profiles", '[');
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		bool is_queue = p->kind == MODEL_PROFILE_QUEUE;
		json_begin(j, NULL, '{');
		json_text(j, "kind", is_queue ? "queue" : "thread");
		json_u64(j, "process", p->process);
		if (is_queue) {
			json_u64(j, "queue", p->queue);
			json_u64(j, "lane", p->lane);
			put_operations(j, m, i);
		} else {
			put_thread(j, m, i);
		}
		json_end(j, '}');
	}
	json_end(j, ']');
}
