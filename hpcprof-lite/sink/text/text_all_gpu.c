/* SPDX-License-Identifier: BSD-3-Clause */
/* The records of GPUs in the complete form of the text; see text_all.h. Test:
 * tests/cli/sink/sink_gpu.sh, tests/cli/sink/sink_agree.sh. */
#include "hpcprof-lite/sink/text/text_all.h"
#include "hpcprof-lite/sink/text/text_gpu.h"
#include "hpcprof-lite/sink/text/text_report.h"

#include <inttypes.h>

enum { CHUNK_OPS = 512 };

/* ---- what contexts and operations name ---- */

static void put_system(const struct model *m, FILE *out)
{
	static const struct msr_gpu_def_device none;
	fputs("# gpu-device id process ordinal type units clock-mhz memory name driver\n", out);
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		const struct model_gpu_device *d = &m->gpu_devices[i];
		const struct msr_gpu_def_device *def = d->definition ? d->definition : &none;
		fprintf(out, "gpu-device\t%u", i);
		text_all_id(out, d->process);
		fprintf(out, "\t%u\t%u\t%u\t%u\t%" PRIu64, d->ordinal, def->type, def->n_units,
			def->clock_mhz, def->memory_bytes);
		text_all_name(out, d->name);
		text_all_name(out, d->driver ? d->driver : "");
		putc('\n', out);
	}
	fputs("# gpu-device-limits device compute-major compute-minor registers-per-group "
	      "reserved-shared shared-per-group shared-optin\n",
	      out);
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		const struct msr_gpu_def_device_limits *l = m->gpu_devices[i].limits;
		if (l)
			fprintf(out, "gpu-device-limits\t%u\t%u\t%u\t%u\t%u\t%u\t%u\n", i,
				l->compute_major, l->compute_minor, l->registers_per_group,
				l->reserved_shared_bytes, l->shared_bytes_per_group,
				l->shared_bytes_per_group_optin);
	}
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		const struct msr_gpu_def_device_rates *r = m->gpu_devices[i].rates;
		if (r)
			fprintf(out,
				"# gpu-device-rates device memory-khz memory-bits\n"
				"gpu-device-rates\t%u\t%u\t%u\n",
				i, r->memory_khz, r->memory_bits);
	}
	fputs("# gpu-context id process device ordinal\n", out);
	for (uint32_t i = 0; i < m->n_gpu_contexts; i++)
		fprintf(out, "gpu-context\t%u\t%u\t%u\t%u\n", i, m->gpu_contexts[i].process,
			m->gpu_contexts[i].device, m->gpu_contexts[i].ordinal);
	fputs("# gpu-queue id context device ordinal flags lanes busy-ns name\n", out);
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		const struct model_gpu_queue *q = &m->gpu_queues[i];
		fprintf(out, "gpu-queue\t%u\t%u\t%u\t%u\t%u\t%u\t%" PRIu64, i, q->context,
			q->device, q->ordinal, q->flags, q->n_lanes, q->busy_ns);
		text_all_name(out, q->name);
		putc('\n', out);
	}
}

static void put_shapes(const struct model *m, FILE *out)
{
	fputs("# gpu-shape id, then x y z of grid block cluster global, then registers "
	      "static-shared dynamic-shared local\n",
	      out);
	for (uint32_t i = 0; i < m->n_gpu_shapes; i++) {
		const struct msr_gpu_shape *s = &m->gpu_shapes[i];
		const uint64_t fields[] = {s->grid[0],
					   s->grid[1],
					   s->grid[2],
					   s->block[0],
					   s->block[1],
					   s->block[2],
					   s->cluster[0],
					   s->cluster[1],
					   s->cluster[2],
					   s->global[0],
					   s->global[1],
					   s->global[2],
					   s->registers,
					   s->static_shared_bytes,
					   s->dynamic_shared_bytes,
					   s->local_bytes};
		fprintf(out, "gpu-shape\t%u", i);
		for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
			text_all_u64(out, fields[k]);
		putc('\n', out);
	}
}

void text_all_gpu_things(const struct model *m, FILE *out)
{
	static const char *const kinds[] = {[MODEL_METRIC_GPU_TIME] = "time",
					    [MODEL_METRIC_GPU_COUNT] = "count",
					    [MODEL_METRIC_GPU_MEAN] = "mean",
					    [MODEL_METRIC_GPU_SAMPLES] = "samples",
					    [MODEL_METRIC_GPU_ENERGY] = "energy"};
	if (!m->has_gpu)
		return;
	fputs("# gpu-module id (of code that ran on GPUs)\n", out);
	for (uint32_t i = 0; i < m->n_modules; i++)
		if (m->modules[i].is_gpu)
			fprintf(out, "gpu-module\t%u\n", i);
	fputs("# gpu-function id kind (placeholders for operations of this kind)\n", out);
	for (uint32_t i = 0; i < m->n_functions; i++)
		if (view_is_placeholder(m, i))
			fprintf(out, "gpu-function\t%u\t%s\n", i,
				msr_gpu_kind_name((enum msr_gpu_kind)m->functions[i].gpu_kind));
	fputs("# gpu-metric id kind parent divisor apportioned\n", out);
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		if (k->kind >= sizeof kinds / sizeof *kinds || !kinds[k->kind])
			continue;
		fprintf(out, "gpu-metric\t%u\t%s", i, kinds[k->kind]);
		text_all_id(out, k->parent);
		text_all_id(out, k->divisor);
		fprintf(out, "\t%d\n", k->apportioned);
	}
	put_system(m, out);
	put_shapes(m, out);
}

/* ---- ledgers ---- */

static void put_owner(FILE *out, const char *record, const char *whose, uint32_t id,
		      const char *backend)
{
	fprintf(out, "%s\t%s", record, whose);
	text_all_id(out, id);
	text_all_name(out, *backend ? backend : "-");
}

static void put_ledger(FILE *out, const char *whose, uint32_t id, const struct model_gpu_ledger *l)
{
	put_owner(out, "gpu-ledger", whose, id, l->backend);
	const uint64_t fields[] = {l->n_ops,       l->n_orphans,       l->n_no_path,
				   l->n_bad_order, l->n_unknown_calls, l->n_clipped,
				   l->unexplained, l->handler_ns,      l->closes};
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		text_all_u64(out, fields[i]);
	text_all_name(out, l->entrance);
	putc('\n', out);
	if (l->n_lost_definitions || l->n_lost_contents || l->n_lost_values) {
		put_owner(out, "gpu-unwritten", whose, id, l->backend);
		fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n", l->n_lost_definitions,
			l->n_lost_contents, l->n_lost_values);
	}
	for (unsigned k = 1; k < MSR_N_GPU_KINDS; k++)
		if (l->launched[k] || l->joined[k] || l->aggregated[k]) {
			put_owner(out, "gpu-kind", whose, id, l->backend);
			fprintf(out, "\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
				msr_gpu_kind_name((enum msr_gpu_kind)k), l->launched[k],
				l->joined[k], l->aggregated[k]);
		}
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		if (l->losses[i]) {
			put_owner(out, "gpu-loss", whose, id, l->backend);
			fprintf(out, "\t%s\t%d\t%" PRIu64 "\n",
				msr_gpu_loss_name((enum msr_gpu_loss)i),
				msr_gpu_loss_takes_op((enum msr_gpu_loss)i), l->losses[i]);
		}
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		if (l->graph_losses[i]) {
			put_owner(out, "gpu-graph-loss", whose, id, l->backend);
			fprintf(out, "\t%s\t%" PRIu64 "\n", msr_gpu_loss_name((enum msr_gpu_loss)i),
				l->graph_losses[i]);
		}
}

/* New fields come behind the old ones. */
static void put_sampling(FILE *out, const char *whose, uint32_t id,
			 const struct model_gpu_sampling *p)
{
	const uint64_t fields[] = {p->n_ranges,
				   p->total,
				   p->recorded,
				   p->dropped,
				   p->outside,
				   p->in_tree_exact,
				   p->in_tree_apportioned,
				   p->in_tree_not_issued,
				   p->sampled_ns,
				   p->gap_ns,
				   p->n_buffer_full,
				   p->closes,
				   p->in_tree_unattributed,
				   p->not_written,
				   p->cut_off,
				   p->n_open_ranges,
				   p->n_gaps,
				   p->longest_gap_ns,
				   p->n_serialized,
				   p->serialized_ns,
				   p->period_least,
				   p->period_most,
				   p->samplers,
				   p->clock_mhz,
				   p->apportioned_by_calls,
				   p->apportioned_by_launches};
	if (!p->n_ranges && !p->n_gaps)
		return;
	fprintf(out, "gpu-sampling\t%s", whose);
	text_all_id(out, id);
	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		text_all_u64(out, fields[i]);
	fprintf(out, "\t%.17g\t%.17g\t%" PRIu64 "\n", p->promised, p->expected, p->n_cut);
}

/*
 * Averages over kernels, weighted by the samples that they represent; "-" if there is nothing to
 * compare.
 */
static void put_yardstick(FILE *out, const char *whose, uint32_t id,
			  const struct model_gpu_sampling *p)
{
	const double sums[] = {p->yardstick.wrong_context, p->yardstick.chance_context,
			       p->yardstick.wrong_place, p->yardstick.chance_place};
	if (!p->n_serialized)
		return;
	fprintf(out, "gpu-yardstick\t%s", whose);
	text_all_id(out, id);
	fprintf(out, "\t%" PRIu64 "\t%" PRIu64 "\t%.17g", p->yardstick.n_kernels,
		p->yardstick.n_samples, p->yardstick.weight);
	for (unsigned i = 0; i < 4; i++) {
		double weight = i < 2 ? p->yardstick.weight : p->yardstick.place_weight;
		if (weight > 0)
			fprintf(out, "\t%.17g", sums[i] / weight);
		else
			fputs("\t-", out);
	}
	putc('\n', out);
}

static void put_yardstick_kernels(const struct model *m, uint32_t process, FILE *out)
{
	const struct model_gpu_sampling *p = &m->processes[process].gpu_sampling;
	for (uint32_t i = 0; i < p->n_yardsticks; i++) {
		const struct model_gpu_yardstick *y = &p->yardsticks[i];
		fprintf(out, "gpu-yardstick-kernel\t%" PRIu32, process);
		text_all_name(out, m->functions[m->contexts[y->context].function].name);
		fprintf(out,
			"\t%" PRIu32 "\t%" PRIu64 "\t%" PRIu64 "\t%.17g\t%.17g\t%.17g\t%.17g\n",
			y->n_contexts, y->n_samples, y->n_apportioned, y->wrong_context,
			y->chance_context, y->wrong_place, y->chance_place);
	}
}

void text_all_gpu_process(const struct model *m, uint32_t process, FILE *out)
{
	const struct model_process *p = &m->processes[process];
	for (uint32_t i = 0; i < p->n_gpu; i++)
		put_ledger(out, "process", process, &p->gpu[i]);
	put_sampling(out, "process", process, &p->gpu_sampling);
	put_yardstick(out, "process", process, &p->gpu_sampling);
	put_yardstick_kernels(m, process, out);
}

/* ---- operations ---- */

void text_all_gpu_profile(const struct model *m, uint32_t profile, FILE *out)
{
	const struct model_profile *p = &m->profiles[profile];
	struct model_gpu_cursor c = {0};
	struct model_gpu_op ops[CHUNK_OPS];
	if (p->kind != MODEL_PROFILE_QUEUE)
		return;
	fprintf(out,
		"# gpu-profile id queue lane\ngpu-profile\t%u\t%u\t%u\n"
		"# gpu-op profile start end enter queued submitted id kind detail amount context "
		"shape launcher\n",
		profile, p->queue, p->lane);
	for (size_t n; p->n_trace_records && (n = model_gpu_read(m, profile, &c, ops, CHUNK_OPS));)
		for (size_t i = 0; i < n; i++) {
			const struct model_gpu_op *o = &ops[i];
			const char *kind = msr_gpu_kind_name((enum msr_gpu_kind)o->kind);
			fprintf(out,
				"gpu-op\t%u\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
				"\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%" PRIu64 "\t%u",
				profile, o->start_ns, o->end_ns, o->enter_ns, o->queued_ns,
				o->submitted_ns, o->id, kind,
				o->kind == MSR_GPU_COPY
					? msr_gpu_direction_name((enum msr_gpu_direction)o->detail)
					: "-",
				o->amount, o->context);
			text_all_id(out, o->shape);
			text_all_id(out, o->launcher);
			putc('\n', out);
		}
}

/* ---- in words ---- */

static void put_kernels(const struct model *m, const struct view_gpu *g, FILE *out)
{
	fputs("# kernel name place module launches seconds least-ns most-ns shape\n", out);
	for (size_t i = 0; i < g->kernels.n; i++) {
		const struct view_gpu_kernel *k = &g->kernels.at[i];
		const struct model_function *f = &m->functions[k->function];
		char shape[64];
		text_gpu_shape(shape, sizeof shape, m, k->shape, k->more_shapes);
		fputs("kernel", out);
		text_all_name(out, f->name);
		text_all_place(m, f->file, f->line, f->link_addr, out);
		text_all_name(out, text_module_path(m, f->module));
		fprintf(out, "\t%.17g\t%.17g\t%" PRIu64 "\t%" PRIu64, k->n, k->seconds,
			k->n_ops ? k->min_ns : 0, k->max_ns);
		text_all_name(out, shape);
		putc('\n', out);
	}
}

static void put_copies(const struct view_gpu *g, FILE *out)
{
	fputs("# copies direction n bytes ns\n", out);
	for (unsigned i = 0; i <= MSR_N_GPU_DIRECTIONS; i++) {
		const struct view_gpu_sum *c = i < MSR_N_GPU_DIRECTIONS ? &g->copies[i] : &g->sets;
		if (c->n)
			fprintf(out, "copies\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\n",
				i < MSR_N_GPU_DIRECTIONS
					? msr_gpu_direction_name((enum msr_gpu_direction)i)
					: "set",
				c->n, c->bytes, c->ns);
	}
}

static void put_queues(const struct model *m, const struct view_gpu *g, FILE *out)
{
	fputs("# queue rank host pid exec device context queue busy-ns ops flags name\n", out);
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		const struct model_gpu_queue *q = &m->gpu_queues[i];
		const struct model_gpu_context *c = &m->gpu_contexts[q->context];
		const struct model_process *p = &m->processes[c->process];
		fprintf(out, "queue\t%d", p->rank);
		text_all_name(out, p->host);
		fprintf(out, "\t%u\t%u\t%u\t%u\t%u\t%" PRIu64 "\t%" PRIu64 "\t%u", p->pid,
			p->exec_seq, m->gpu_devices[q->device].ordinal, c->ordinal, q->ordinal,
			q->busy_ns, g->queues[i].n, q->flags);
		text_all_name(out, q->name);
		putc('\n', out);
	}
}

static bool has_graph_losses(const struct model_gpu_ledger *l)
{
	unsigned i = 1;
	while (i < MSR_N_GPU_LOSSES && !l->graph_losses[i])
		i++;
	return i < MSR_N_GPU_LOSSES;
}

static void put_blames(const struct model *m, FILE *out)
{
	if (m->n_gpu_blames)
		fputs("# gpu-blame profile waiting cause metric samples kind is-carried is-before "
		      "operation\n",
		      out);
	for (size_t i = 0; i < m->n_gpu_blames; i++) {
		const struct model_gpu_blame *b = &m->gpu_blames[i];
		fprintf(out,
			"gpu-blame\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu32 "\t%" PRIu64
			"\t%u\t%d\t%d\t%s\n",
			b->profile, b->waiting, b->cause, b->metric, b->n, b->kind, b->is_carried,
			b->is_before,
			structure_operation_name((enum structure_operation)b->operation));
	}
}

bool text_all_gpu_words(const struct model *m, FILE *out)
{
	struct view_gpu g;
	if (!m->has_gpu)
		return true;
	if (!view_gpu_open(m, &g))
		return false;
	put_kernels(m, &g, out);
	put_copies(&g, out);
	put_queues(m, &g, out);
	view_gpu_close(&g);
	text_all_gpu_idle(m, out);
	if (m->n_meters)
		text_all_energy(m, out);
	put_blames(m, out);
	fputs("# gpu-ledger of id backend ops orphans no-path bad-order unknown-calls clipped "
	      "unexplained handler-ns closes entrance\n"
	      "# gpu-unwritten of id backend definitions contents values\n"
	      "# gpu-kind of id backend kind launched joined summed-up\n"
	      "# gpu-loss of id backend cause takes-operation n\n"
	      "# gpu-sampling of id ranges total recorded dropped outside exact apportioned "
	      "not-issued sampled-ns gap-ns buffer-full closes unattributed not-written cut-off "
	      "open-ranges gaps longest-gap-ns "
	      "serialized-ranges serialized-ns period-least period-most samplers clock-mhz "
	      "apportioned-by-calls apportioned-by-launches promised expected cut-ends\n"
	      "# gpu-yardstick of id kernels samples weight wrong-context by-chance wrong-place "
	      "by-chance\n"
	      "# gpu-yardstick-kernel process name contexts samples apportioned wrong-context "
	      "by-chance wrong-place by-chance\n",
	      out);
	if (has_graph_losses(&m->gpu_ledger))
		fputs("# gpu-graph-loss of id backend cause n\n", out);
	put_ledger(out, "all", MODEL_NONE, &m->gpu_ledger);
	put_sampling(out, "all", MODEL_NONE, &m->gpu_sampling);
	put_yardstick(out, "all", MODEL_NONE, &m->gpu_sampling);
	return true;
}
