/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows of code, the tree, its totals and GPUs; see sqlite_write.h. Test:
 * tests/cli/sink/sink_sqlite.sh. */
#include "config.h"

#include "hpcprof-lite/sink/names.h"
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"
#include "hpcprof-lite/sink/words.h"
#include "hpcprof-lite/view/view_gpu.h"
#include "hpcprof-lite/view/view_launch.h"
#include "hpcprof-lite/view/view_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void put_fact(struct sqlite_writer *w, const char *name, uint64_t value)
{
	sqlite_word(w, name);
	sqlite_int(w, value);
	sqlite_row(w);
}

static void put_run(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	sqlite_begin(w, "run", 2);
	sqlite_word(w, "title");
	sqlite_text(w, m->title);
	sqlite_row(w);
	for (uint32_t i = 0; i <= m->n_part_notes && m->part; i++) {
		char name[32] = "part";
		if (i)
			snprintf(name, sizeof name, "part_note_%" PRIu32, i);
		sqlite_word(w, name);
		sqlite_text(w, i ? m->part_notes[i - 1] : m->part);
		sqlite_row(w);
	}
	sqlite_word(w, "generator");
	sqlite_word(w, PACKAGE_NAME " " PACKAGE_VERSION);
	sqlite_row(w);
	put_fact(w, "start_ns", m->start_ns);
	put_fact(w, "end_ns", m->end_ns);
	put_fact(w, "elapsed_ns", m->elapsed_ns);
	put_fact(w, "runs", m->n_runs);
	put_fact(w, "ledger_closes", m->ledger_closes);
	if (m->has_gpu)
		put_fact(w, "gpu_ledger_closes", m->gpu_ledger.closes);
	sqlite_end(w);
	sqlite_begin(w, "unmeasured", 5);
	for (uint32_t i = 0; i < m->n_unmeasured; i++) {
		sqlite_text(w, m->unmeasured[i].path);
		sqlite_text(w, m->unmeasured[i].why);
		sqlite_int(w, m->unmeasured[i].is_starter);
		sqlite_int(w, m->unmeasured[i].n);
		sqlite_int(w, m->unmeasured[i].cpu_ns);
		sqlite_row(w);
	}
	sqlite_end(w);
}

static void put_modules(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	enum { MOST_ID_BYTES = 64 };
	sqlite_begin(w, "module", 7);
	for (uint32_t i = 0; i < m->n_modules; i++) {
		const struct model_module *x = &m->modules[i];
		char id[2 * MOST_ID_BYTES + 1] = "";
		for (uint32_t k = 0; k < x->build_id_bytes && k < MOST_ID_BYTES; k++)
			snprintf(id + 2 * (size_t)k, 3, "%02x", x->build_id[k]);
		sqlite_int(w, i);
		sqlite_text(w, x->path);
		sqlite_text(w, id);
		sqlite_word(w, words_structure(x->structure));
		sqlite_word(w, words_role((enum model_module_role)x->role));
		sqlite_int(w, x->is_gpu);
		sqlite_int(w, x->is_python);
		sqlite_row(w);
	}
	sqlite_end(w);
	sqlite_begin(w, "file", 2);
	for (uint32_t i = 0; i < m->n_files; i++) {
		sqlite_int(w, i);
		sqlite_text(w, m->files[i].path);
		sqlite_row(w);
	}
	sqlite_end(w);
}

static void put_functions(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	sqlite_begin(w, "function", 8);
	for (uint32_t i = 0; i < m->n_functions; i++) {
		const struct model_function *f = &m->functions[i];
		sqlite_int(w, i);
		sqlite_text(w, names_function(m, i));
		sqlite_id(w, f->module);
		sqlite_id(w, f->file);
		sqlite_id(w, f->line ? f->line : MODEL_NONE);
		sqlite_int(w, f->link_addr);
		sqlite_int(w, f->is_launch);
		sqlite_word(w,
			    f->wait       ? "wait"
			    : f->is_range ? "range"
			    : f->gpu_kind ? msr_gpu_kind_name((enum msr_gpu_kind)f->gpu_kind)
					  : NULL);
		sqlite_row(w);
	}
	sqlite_end(w);
}

static void put_metrics(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	sqlite_begin(w, "metric", 12);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		sqlite_int(w, i);
		sqlite_text(w, k->name);
		sqlite_text(w, k->event);
		sqlite_text(w, k->unit);
		sqlite_text(w, k->description);
		sqlite_word(w, words_metric((enum model_metric_kind)k->kind));
		sqlite_word(w, words_metric_role((enum model_metric_role)k->role));
		sqlite_id(w, k->parent);
		sqlite_id(w, k->divisor);
		sqlite_int(w, k->period);
		sqlite_text(w, k->reason);
		sqlite_int(w, k->apportioned);
		sqlite_row(w);
	}
	sqlite_end(w);
}

static void put_context(struct sqlite_writer *w, uint32_t i, bool *const outer[3])
{
	const struct model *m = w->m;
	const struct model_context *c = &m->contexts[i];
	bool is_line = c->file != MODEL_NONE && c->line, is_kernel = view_is_kernel(m, i);
	sqlite_int(w, i);
	sqlite_id(w, c->parent);
	sqlite_int(w, i + c->subtree_n - 1);
	sqlite_word(w, words_context((enum model_context_kind)c->kind));
	sqlite_word(w, words_relation((enum model_relation)c->relation));
	sqlite_word(w, c->kind == MODEL_CONTEXT_ENTRY ? names_entry(c) : NULL);
	sqlite_id(w, c->kind < MODEL_CONTEXT_FUNCTION ? MODEL_NONE : c->function);
	sqlite_id(w, c->module);
	sqlite_id(w, is_line ? c->file : MODEL_NONE);
	sqlite_id(w, is_line ? c->line : MODEL_NONE);
	sqlite_int(w, c->link_addr);
	sqlite_int(w, c->marked);
	for (unsigned k = 0; k < 3; k++)
		sqlite_int(w, outer[k][i]);
	sqlite_int(w, is_kernel);
	sqlite_id(w, is_kernel ? view_launch_of(m, i).site : MODEL_NONE);
	sqlite_row(w);
}

static void put_contexts(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	bool *outer[3], ok = true;
	for (unsigned k = 0; k < 3; k++) { /* function, line, module */
		outer[k] = calloc(m->n_contexts, sizeof *outer[k]);
		ok = ok && outer[k] && view_find_outermost(m, (enum view_by)k, outer[k]);
	}
	if (!ok)
		sqlite_fail(w);
	sqlite_begin(w, "context", 17);
	for (uint32_t i = 0; ok && i < m->n_contexts; i++)
		put_context(w, i, outer);
	sqlite_end(w);
	for (unsigned k = 0; k < 3; k++)
		free(outer[k]);
}

static void put_totals(struct sqlite_writer *w)
{
	const struct model *m = w->m;
	sqlite_begin(w, "total", 8);
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		sqlite_int(w, t->context);
		sqlite_int(w, t->metric);
		sqlite_int(w, t->n_profiles);
		sqlite_int(w, t->n_samples);
		for (unsigned k = 0; k < MODEL_N_SCOPES; k++)
			sqlite_real(w, t->sum[k]);
		sqlite_row(w);
	}
	sqlite_end(w);
}

void sqlite_put_code(struct sqlite_writer *w)
{
	put_run(w);
	put_modules(w);
	put_functions(w);
	put_metrics(w);
	put_contexts(w);
	put_totals(w);
}

/* ---- GPUs ---- */

static void put_devices(struct sqlite_writer *w)
{
	static const struct msr_gpu_def_device unknown;
	const struct model *m = w->m;
	sqlite_begin(w, "gpu_device", 9);
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		const struct model_gpu_device *d = &m->gpu_devices[i];
		const struct msr_gpu_def_device *def = d->definition ? d->definition : &unknown;
		sqlite_int(w, i);
		sqlite_text(w, d->name);
		sqlite_text(w, d->driver);
		sqlite_word(w, names_device_type(d));
		sqlite_id(w, d->process);
		sqlite_int(w, d->ordinal);
		sqlite_int(w, def->n_units);
		sqlite_int(w, def->clock_mhz);
		sqlite_int(w, def->memory_bytes);
		sqlite_row(w);
	}
	sqlite_end(w);
	sqlite_begin(w, "gpu_queue", 8);
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		const struct model_gpu_queue *q = &m->gpu_queues[i];
		sqlite_int(w, i);
		sqlite_text(w, q->name);
		sqlite_int(w, m->gpu_contexts[q->context].process);
		sqlite_int(w, q->device);
		sqlite_int(w, m->gpu_contexts[q->context].ordinal);
		sqlite_int(w, q->ordinal);
		sqlite_int(w, (q->flags & MSR_GPU_QUEUE_OUT_OF_ORDER) != 0);
		sqlite_int(w, q->busy_ns);
		sqlite_row(w);
	}
	sqlite_end(w);
}

void sqlite_put_gpu(struct sqlite_writer *w)
{
	static const struct model_gpu_occupancy unknown;
	const struct model *m = w->m;
	put_devices(w);
	sqlite_begin(w, "gpu_shape", 13);
	for (uint32_t i = 0; i < m->n_gpu_shapes; i++) {
		const struct msr_gpu_shape *s = &m->gpu_shapes[i];
		const struct model_gpu_occupancy *o =
			m->gpu_occupancies ? &m->gpu_occupancies[i] : &unknown;
		sqlite_int(w, i);
		for (unsigned k = 0; k < 3; k++)
			sqlite_int(w, s->grid[k]);
		for (unsigned k = 0; k < 3; k++)
			sqlite_int(w, s->block[k]);
		sqlite_int(w, s->registers);
		sqlite_int(w, s->static_shared_bytes);
		sqlite_int(w, s->dynamic_shared_bytes);
		sqlite_int(w, s->local_bytes);
		sqlite_int(w, o->warps);
		sqlite_int(w, o->warps_most);
		sqlite_row(w);
	}
	sqlite_end(w);
}
