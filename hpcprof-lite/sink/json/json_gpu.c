/* SPDX-License-Identifier: BSD-3-Clause */
/* Devices, queues, shapes and ledgers of GPUs; see json.h. Test: tests/cli/sink/sink_json.sh. */
#include "hpcprof-lite/sink/json/json.h"

#include "common/format/structure.h"
#include "hpcprof-lite/sink/names.h"

static void put_devices(struct json *j, const struct model *m)
{
	static const struct msr_gpu_def_device unknown;
	json_begin(j, "devices", '[');
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		const struct model_gpu_device *d = &m->gpu_devices[i];
		const struct msr_gpu_def_device *def = d->definition ? d->definition : &unknown;
		json_begin(j, NULL, '{');
		json_text(j, "name", d->name);
		json_text(j, "driver", d->driver);
		json_text(j, "type", names_device_type(d));
		json_id(j, "process", d->process);
		json_u64(j, "ordinal", d->ordinal);
		json_u64(j, "units", def->n_units);
		json_u64(j, "clock_mhz", def->clock_mhz);
		json_u64(j, "memory_bytes", def->memory_bytes);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_queues(struct json *j, const struct model *m)
{
	json_begin(j, "queues", '[');
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		const struct model_gpu_queue *q = &m->gpu_queues[i];
		const struct model_gpu_context *c = &m->gpu_contexts[q->context];
		json_begin(j, NULL, '{');
		json_text(j, "name", q->name);
		json_u64(j, "process", c->process);
		json_u64(j, "device", q->device);
		json_u64(j, "context", c->ordinal);
		json_u64(j, "ordinal", q->ordinal);
		json_bool(j, "out_of_order", q->flags & MSR_GPU_QUEUE_OUT_OF_ORDER);
		json_u64(j, "busy_ns", q->busy_ns);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_three(struct json *j, const char *key, const uint32_t at[3])
{
	json_begin(j, key, '[');
	for (unsigned i = 0; i < 3; i++)
		json_u64(j, NULL, at[i]);
	json_end(j, ']');
}

static void put_shapes(struct json *j, const struct model *m)
{
	json_begin(j, "shapes", '[');
	for (uint32_t i = 0; i < m->n_gpu_shapes; i++) {
		const struct msr_gpu_shape *s = &m->gpu_shapes[i];
		json_begin(j, NULL, '{');
		put_three(j, "grid", s->grid);
		put_three(j, "block", s->block);
		put_three(j, "cluster", s->cluster);
		json_begin(j, "global", '[');
		for (unsigned k = 0; k < 3; k++)
			json_u64(j, NULL, s->global[k]);
		json_end(j, ']');
		json_u64(j, "registers", s->registers);
		json_u64(j, "static_shared_bytes", s->static_shared_bytes);
		json_u64(j, "dynamic_shared_bytes", s->dynamic_shared_bytes);
		json_u64(j, "local_bytes", s->local_bytes);
		if (m->gpu_occupancies && m->gpu_occupancies[i].warps_most) {
			json_u64(j, "resident_warps", m->gpu_occupancies[i].warps);
			json_u64(j, "resident_warps_most", m->gpu_occupancies[i].warps_most);
			json_text(j, "limited_by", m->gpu_occupancies[i].limit);
		}
		json_end(j, '}');
	}
	json_end(j, ']');
}

static const char *wait_of(const struct model_gpu_blame *b)
{
	static const char *const words[STRUCTURE_N_WAIT_KINDS] = {
		[STRUCTURE_WAIT_RESULT] = "result",
		[STRUCTURE_WAIT_OPERANDS] = "operands",
		[STRUCTURE_WAIT_FIXED] = "fixed",
		[STRUCTURE_WAIT_WARPS] = "warps"};
	return b->is_before ? "before" : words[b->kind];
}

static void put_blames(struct json *j, const struct model *m)
{
	json_begin(j, "blames", '[');
	for (size_t i = 0; i < m->n_gpu_blames; i++) {
		const struct model_gpu_blame *b = &m->gpu_blames[i];
		json_begin(j, NULL, '{');
		json_u64(j, "profile", b->profile);
		json_u64(j, "waiting", b->waiting);
		json_u64(j, "cause", b->cause);
		json_u64(j, "metric", b->metric);
		json_u64(j, "samples", b->n);
		json_text(j, "wait", wait_of(b));
		json_text(j, "operation",
			  structure_operation_name((enum structure_operation)b->operation));
		json_bool(j, "is_carried", b->is_carried);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_changes(struct json *j, const struct model_meter *meter)
{
	json_begin(j, "changes", '[');
	for (size_t i = 0; i < meter->n_changes; i++) {
		const struct model_energy_change *c = &meter->changes[i];
		json_begin(j, NULL, '[');
		json_u64(j, NULL, c->time_ns);
		json_u64(j, NULL, c->unchanged_ns);
		json_u64(j, NULL, c->energy_uj);
		json_u64(j, NULL, c->begins);
		json_end(j, ']');
	}
	json_end(j, ']');
}

static void put_meters(struct json *j, const struct model *m)
{
	json_begin(j, "meters", '[');
	for (uint32_t i = 0; i < m->n_meters; i++) {
		const struct model_meter *meter = &m->meters[i];
		const struct model_energy *e = &meter->sum;
		json_begin(j, NULL, '{');
		json_text(j, "name", meter->name);
		json_id(j, "device", meter->device);
		json_u64(j, "process", meter->process);
		json_u64(j, "covered_ns", e->covered_ns);
		json_u64(j, "total_uj", e->total_uj);
		json_u64(j, "operations_uj", e->operations_uj);
		json_u64(j, "shared_uj", e->shared_uj);
		json_u64(j, "idle_uj", e->idle_uj);
		json_u64(j, "unknown_uj", e->unknown_uj);
		json_u64(j, "busy_ns", e->busy_ns);
		json_u64(j, "idle_ns", e->idle_ns);
		json_u64(j, "idle_mw", e->idle_mw);
		json_u64(j, "step_ns", e->step_ns);
		json_u64(j, "late_ns", e->late_ns);
		json_u64(j, "error_uj", e->error_uj);
		put_changes(j, meter);
		json_end(j, '}');
	}
	json_end(j, ']');
}

void json_put_gpu(struct json *j, const struct model *m)
{
	struct words_count counts[WORDS_COUNTS];
	if (!m->has_gpu) {
		json_null(j, "gpu");
		return;
	}
	json_begin(j, "gpu", '{');
	put_devices(j, m);
	put_queues(j, m);
	put_shapes(j, m);
	json_bool(j, "ledger_closes", m->gpu_ledger.closes);
	json_counts(j, "ledger", counts, words_gpu_ledger(&m->gpu_ledger, counts));
	json_bool(j, "sampling_closes", m->gpu_sampling.closes);
	json_counts(j, "sampling", counts, words_sampling(&m->gpu_sampling, counts));
	if (m->n_gpu_blames)
		put_blames(j, m);
	if (m->n_meters)
		put_meters(j, m);
	json_end(j, '}');
}
