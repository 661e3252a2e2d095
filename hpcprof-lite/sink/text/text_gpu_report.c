/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the report for people that are about GPUs. Test: tests/cli/sink/sink_gpu.sh. */
#include "common/base/foreign.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/text/text_print.h"
#include "hpcprof-lite/sink/text/text_report.h"
#include "hpcprof-lite/view/view_waits.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDE = 116,   /* room for least and most */
	SHAPE = 18,
	MOST_ROWS = 40
};

/* ---- head ---- */

/* The name has the unit, too. In a narrow report only the name has it. */
static void put_description(const char *description, const struct text_style *s)
{
	static const char unit[] = " (seconds)";
	const char *at = text_is_narrow(s) ? strstr(description, unit) : NULL;
	if (at)
		foreign_printf(s->out, " %.*s%s", (int)(at - description), description,
			       at + sizeof unit - 1);
	else
		foreign_printf(s->out, " %s", description);
}

void text_report_gpu_times(const struct model *m, const struct text_style *s)
{
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		double sum = view_total(m, i), whole = view_total(m, k->parent);
		char a[TEXT_CELL], b[TEXT_CELL], name[64];
		if (k->kind != MODEL_METRIC_GPU_TIME || sum <= 0)
			continue;
		snprintf(name, sizeof name, k->parent == MODEL_NONE ? "%s" : "  %s", k->name);
		foreign_printf(s->out, "  %-22s %15s", name, text_value(a, k->unit, sum));
		if (whole > 0)
			fprintf(s->out, " %6s", text_share(b, sum, whole));
		if (k->description && *k->description)
			put_description(k->description, s);
		putc('\n', s->out);
	}
	double samples = view_total(m, view_find_metric(m, MODEL_ROLE_SAMPLES)),
	       apportioned = view_total(m, view_find_metric(m, MODEL_ROLE_APPORTIONED));
	char n[TEXT_CELL], exact[TEXT_CELL];
	if (samples > 0)
		fprintf(s->out, "  %-22s %15s PC samples, %s exact\n", "GINS",
			text_count(n, (uint64_t)samples),
			apportioned < samples ? text_share(exact, samples - apportioned, samples)
					      : "none");
}

/* ---- kernels ---- */

/* "name [file.cl:12]" */
static void name_kernel(const struct model *m, uint32_t function, char *to, size_t n_bytes)
{
	const struct model_function *f = &m->functions[function];
	char file[TEXT_FILE];
	text_function_name(to, n_bytes, m, function);
	if (f->file != MODEL_NONE)
		snprintf(to + strlen(to), n_bytes - strlen(to), " [%s:%" PRIu32 "]",
			 text_file(file, m->files[f->file].path), f->line);
}

static void put_kernel(const struct model *m, const struct view_gpu_kernel *k, double whole,
		       const struct text_style *s)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], shape[64], name[TEXT_NAME];
	bool wide = s->width >= WIDE;
	size_t taken = 42 + (wide ? 22 : 0) + SHAPE + 4,
	       room = s->width > taken + 16 ? s->width - taken : 16;
	text_emphasise(s, whole > 0 ? k->seconds / whole : 0);
	fprintf(s->out, "%7s %10s %9s %10s", text_share(a, k->seconds, whole),
		text_seconds(b, k->seconds), text_value(c, MODEL_COUNT, k->n),
		k->n > 0 ? text_seconds(d, k->seconds / k->n) : "");
	text_plain(s);
	if (wide)
		fprintf(s->out, " %10s %10s", k->n_ops ? text_ns(a, k->min_ns) : "",
			k->n_ops ? text_ns(b, k->max_ns) : "");
	text_gpu_shape(shape, sizeof shape, m, k->shape, k->more_shapes);
	fputs("  ", s->out);
	text_cell(s->out, shape, SHAPE);
	fputs("  ", s->out);
	name_kernel(m, k->function, name, sizeof name);
	text_shorten(name, room);
	size_t n = text_columns(name);
	text_cell(s->out, name, n < room ? n : room);
	putc('\n', s->out);
}

static void put_kernels(const struct model *m, const struct view_gpu *g, const struct text_style *s)
{
	double whole = view_total(m, view_find_metric(m, MODEL_ROLE_KERNEL_TIME)),
	       n = view_total(m, view_find_metric(m, MODEL_ROLE_KERNELS));
	char a[TEXT_CELL], b[TEXT_CELL];
	size_t n_hidden = 0;
	if (!g->kernels.n)
		return;
	text_heading(s, "GPU kernels: %s in %s", text_seconds(a, whole),
		     text_value(b, MODEL_COUNT, n));
	fprintf(s->out,
		s->width >= WIDE ? "%7s %10s %9s %10s %10s %10s  %-*s  %s\n"
				 : "%7s %10s %9s %10s%.0s%.0s  %-*s  %s\n",
		"share", "total", "launches", "mean", "least", "most", SHAPE, "groups x items",
		"kernel");
	for (size_t i = 0; i < g->kernels.n; i++) {
		const struct view_gpu_kernel *k = &g->kernels.at[i];
		if (i >= MOST_ROWS || (k->seconds < s->threshold * whole && i >= 10))
			n_hidden++;
		else
			put_kernel(m, k, whole, s);
	}
	if (n_hidden)
		fprintf(s->out, "%7s %10s  %zu more\n", "", "", n_hidden);
	putc('\n', s->out);
}

/* ---- copies ---- */

static const char *rate_of(char cell[TEXT_CELL], double bytes, double seconds)
{
	double gbps = seconds > 0 ? bytes / seconds / 1e9 : 0; /* 10^9 bytes, as links are rated */
	cell[0] = 0;
	if (gbps > 0)
		snprintf(cell, TEXT_CELL, gbps >= 0.1 ? "%.2f GB/s" : "%.2f MB/s",
			 gbps >= 0.1 ? gbps : gbps * 1e3);
	return cell;
}

/* Prints a row. Negative values are unknown. */
static void put_copy(const struct text_style *s, const char *what, double n, double bytes,
		     double seconds)
{
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL], e[TEXT_CELL];
	foreign_printf(s->out, "%10s %9s %12s %12s %12s  %s\n",
		       seconds < 0 ? "" : text_seconds(a, seconds),
		       n < 0 ? "" : text_value(b, MODEL_COUNT, n),
		       text_value(c, MODEL_BYTES, bytes),
		       n > 0 ? text_value(d, MODEL_BYTES, bytes / n) : "",
		       n > 0 ? rate_of(e, bytes, seconds) : "", what);
}

static void put_sum(const struct text_style *s, const char *what, const struct view_gpu_sum *c)
{
	if (c->n)
		put_copy(s, what, (double)c->n, (double)c->bytes, (double)c->ns / 1e9);
}

/* The sum of the metrics of bytes of one role. If `s` is not NULL, prints a row for each. */
static double sum_bytes(const struct model *m, enum model_metric_role role,
			const struct text_style *s)
{
	double bytes = 0;
	for (uint32_t i = 0; i < m->n_metrics; i++) {
		const struct model_metric *k = &m->metrics[i];
		double sum = k->role == role ? view_total(m, i) : 0;
		bytes += sum;
		if (s && sum > 0)
			put_copy(s, k->description && *k->description ? k->description : k->name,
				 -1, sum, -1);
	}
	return bytes;
}

/*
 * Copies by direction, from the operations with a record. If some have none (aggregated, or no time
 * lines), from the metrics, which have no time by direction.
 */
static void put_copies(const struct model *m, const struct view_gpu *g, const struct text_style *s)
{
	double n_copies = view_total(m, view_find_metric(m, MODEL_ROLE_COPIES)),
	       n_sets = view_total(m, view_find_metric(m, MODEL_ROLE_SETS));
	uint64_t n = 0;
	for (unsigned i = 0; i < MSR_N_GPU_DIRECTIONS; i++)
		n += g->copies[i].n;
	if (n_copies + n_sets <= 0 && !n)
		return;
	text_heading(s, "GPU copies");
	fprintf(s->out, "%10s %9s %12s %12s %12s  %s\n", "time", "count", "bytes", "mean", "rate",
		"direction");
	if ((double)n >= n_copies) {
		for (unsigned i = 1; i <= MSR_N_GPU_DIRECTIONS; i++) /* the unknown ones last */
			put_sum(s,
				text_gpu_direction(
					(enum msr_gpu_direction)(i % MSR_N_GPU_DIRECTIONS)),
				&g->copies[i % MSR_N_GPU_DIRECTIONS]);
	} else {
		put_copy(s, "all directions:", n_copies, sum_bytes(m, MODEL_ROLE_COPY_BYTES, NULL),
			 view_total(m, view_find_metric(m, MODEL_ROLE_COPY_TIME)));
		sum_bytes(m, MODEL_ROLE_COPY_BYTES, s);
	}
	if ((double)g->sets.n >= n_sets)
		put_sum(s, "set", &g->sets);
	else
		put_copy(s, "set", n_sets, sum_bytes(m, MODEL_ROLE_SET_BYTES, NULL),
			 view_total(m, view_find_metric(m, MODEL_ROLE_SET_TIME)));
	putc('\n', s->out);
}

/* ---- waits ---- */

/* "clFinish at main.c:12 in step" */
static void name_wait(const struct model *m, const struct view_wait *w, char *to, size_t n_bytes)
{
	char place[TEXT_FILE + 16] = "";
	text_name(to, n_bytes, m, &m->contexts[w->api]);
	if (w->call == MODEL_NONE)
		return;
	text_place(place, sizeof place, m, &m->contexts[w->call]);
	if (*place)
		snprintf(to + strlen(to), n_bytes - strlen(to), " at %s", place);
	if (m->contexts[w->call].function != MODEL_NONE)
		snprintf(to + strlen(to), n_bytes - strlen(to), " in %s",
			 m->functions[m->contexts[w->call].function].name);
}

static void put_wait_rows(const struct model *m, const struct view_wait *waits, size_t n,
			  double whole, const struct text_style *s)
{
	size_t room = s->width > 36 ? s->width - 20 : 16, n_hidden = 0;
	char a[TEXT_CELL], b[TEXT_CELL], name[TEXT_NAME];
	for (size_t i = 0; i < n; i++) {
		if (waits[i].seconds < s->threshold * whole || i >= MOST_ROWS) {
			n_hidden++;
			continue;
		}
		name_wait(m, &waits[i], name, sizeof name);
		text_shorten(name, room);
		size_t columns = text_columns(name);
		fprintf(s->out, "%7s %10s  ", text_share(a, waits[i].seconds, whole),
			text_seconds(b, waits[i].seconds));
		text_cell(s->out, name, columns < room ? columns : room);
		putc('\n', s->out);
	}
	if (n_hidden)
		fprintf(s->out, "%7s %10s  %zu more\n", "", "", n_hidden);
}

/*
 * The calls in which threads waited. Waiting uses no CPU time, so samples do not show it. False if
 * memory is short.
 */
static bool put_waits(const struct model *m, const struct text_style *s)
{
	double whole = view_total(m, view_find_metric(m, MODEL_ROLE_SYNC_TIME)),
	       n = view_total(m, view_find_metric(m, MODEL_ROLE_SYNCS));
	char a[TEXT_CELL], b[TEXT_CELL];
	struct view_waits waits;
	if (whole <= 0)
		return true;
	if (!view_waits_make(m, &waits))
		return false;
	text_heading(s, "Waiting for GPUs: threads waited %s%s%s%s", text_seconds(a, whole),
		     n > 0 ? ", in " : "", n > 0 ? text_value(b, MODEL_COUNT, n) : "",
		     n > 0 ? " calls" : "");
	put_wait_rows(m, waits.at, waits.n, whole, s);
	putc('\n', s->out);
	view_waits_free(&waits);
	return true;
}

/* ---- queues ---- */

static double elapsed_ns(const struct model *m, uint32_t process)
{
	const struct model_process *p = &m->processes[process];
	return p->end_ns > p->start_ns ? (double)(p->end_ns - p->start_ns) : 0;
}

/* Appends ", rank 3" or ", node0 pid 17", if there are several processes. */
static void add_process(const struct model *m, uint32_t process, char *to, size_t n_bytes)
{
	const struct model_process *p = &m->processes[process];
	if (m->n_processes < 2)
		return;
	if (p->rank >= 0)
		snprintf(to + strlen(to), n_bytes - strlen(to), ", rank %" PRId32, p->rank);
	else
		snprintf(to + strlen(to), n_bytes - strlen(to), ", %s pid %" PRIu32, p->host,
			 p->pid);
}

static void put_device(const struct model *m, const struct view_gpu *g, uint32_t d,
		       const struct text_style *s)
{
	const struct model_gpu_device *device = &m->gpu_devices[d];
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], name[512], process[256] = "";
	size_t room = s->width > 70 ? s->width - 30 : 40;
	double whole = device->process != MODEL_NONE ? elapsed_ns(m, device->process)
						     : (double)m->elapsed_ns;
	uint64_t n = 0;
	for (uint32_t i = 0; i < m->n_gpu_queues; i++)
		n += m->gpu_queues[i].device == d ? g->queues[i].n : 0;
	fprintf(s->out, "%7s %10s %9s  ", text_share(a, (double)g->device_busy_ns[d], whole),
		g->device_busy_ns[d] ? text_ns(b, g->device_busy_ns[d]) : "",
		n ? text_count(c, n) : "");
	snprintf(name, sizeof name, "%s %" PRIu32, names_device_type(device), device->ordinal);
	if (device->definition &&
	    device->definition->n_units) /* distinguishes the parts of a divided device */
		snprintf(name + strlen(name), sizeof name - strlen(name), " (%" PRIu32 " units)",
			 device->definition->n_units);
	snprintf(name + strlen(name), sizeof name - strlen(name), ": %s", device->name);
	if (device->driver && *device->driver)
		snprintf(name + strlen(name), sizeof name - strlen(name), "; %s", device->driver);
	if (device->process != MODEL_NONE)
		add_process(m, device->process, process, sizeof process);
	if (text_is_narrow(s))
		room = room > text_columns(process) + 20 ? room - text_columns(process) : 20;
	size_t columns = text_columns(name);
	text_cell(s->out, name, columns < room ? columns : room);
	text_cell(s->out, process, 0);
	putc('\n', s->out);
}

/* In a narrow report, what distinguishes rows comes first. */
static void name_queue(const struct model *m, const struct model_gpu_queue *q, bool is_narrow,
		       char *to, size_t n_bytes)
{
	const uint32_t process = m->gpu_contexts[q->context].process;
	snprintf(to, n_bytes, "%s", q->name);
	if (is_narrow)
		add_process(m, process, to, n_bytes);
	if (q->flags & MSR_GPU_QUEUE_OUT_OF_ORDER)
		snprintf(to + strlen(to), n_bytes - strlen(to), ", out of order");
	if (q->n_lanes > 1)
		snprintf(to + strlen(to), n_bytes - strlen(to),
			 is_narrow ? ", %" PRIu32 " at once"
				   : ", up to %" PRIu32 " operations at a time",
			 q->n_lanes);
	if (!is_narrow)
		add_process(m, process, to, n_bytes);
}

static void put_queue(const struct model *m, const struct view_gpu *g, uint32_t i,
		      const struct text_style *s)
{
	enum { TAKEN = 32 };
	const struct model_gpu_queue *q = &m->gpu_queues[i];
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], name[1024];
	uint32_t process = m->gpu_contexts[q->context].process;
	fprintf(s->out, "%7s %10s %9s    ",
		text_share(a, (double)q->busy_ns, elapsed_ns(m, process)),
		q->busy_ns ? text_ns(b, q->busy_ns) : "",
		g->queues[i].n ? text_count(c, g->queues[i].n) : "");
	name_queue(m, q, text_is_narrow(s), name, sizeof name);
	if (text_is_narrow(s)) {
		text_wrap(s->out, name, s->width > TAKEN + 20 ? s->width - TAKEN : 20, TAKEN + 2);
		return;
	}
	text_cell(s->out, name, 0);
	putc('\n', s->out);
}

static void put_queues(const struct model *m, const struct view_gpu *g, const struct text_style *s)
{
	uint32_t n_queues = 0, n_hidden = 0, n_unused = 0;
	char a[TEXT_CELL];
	if (!m->n_gpu_devices)
		return;
	text_heading(s, "GPU devices and queues, busy time as a share of the elapsed time");
	fprintf(s->out, "%7s %10s %9s  %s\n", "busy", "busy", "ops", "device, queue");
	for (uint32_t d = 0; d < m->n_gpu_devices; d++) {
		put_device(m, g, d, s);
		for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
			if (m->gpu_queues[i].device != d)
				continue;
			if (!g->queues[i].n)
				n_unused++;
			else if (n_queues++ < MOST_ROWS)
				put_queue(m, g, i, s);
			else
				n_hidden++;
		}
	}
	if (n_hidden)
		fprintf(s->out, "%7s %10s %9s    %" PRIu32 " more\n", "", "", "", n_hidden);
	if (n_unused)
		fprintf(s->out, "%7s %10s %9s    %s without an operation on a time line\n", "", "",
			"", text_count(a, n_unused));
	putc('\n', s->out);
}

/* ---- what the driver refused ---- */

static const char *function_name(const struct model *m, uint32_t context)
{
	const uint32_t function = m->contexts[context].function;
	return function < m->n_functions ? m->functions[function].name : "?";
}

/* The next line outside of the function of `from`. */
static uint32_t line_outside(const struct model *m, uint32_t from)
{
	const uint32_t function = m->contexts[from].function;
	uint32_t at = from;
	while (at && at != MODEL_NONE &&
	       (m->contexts[at].kind != MODEL_CONTEXT_LINE || m->contexts[at].function == function))
		at = m->contexts[at].parent;
	return at == MODEL_NONE ? 0 : at;
}

void text_gpu_call(const struct model *m, uint32_t context, unsigned n_callers, char *to,
		   size_t n_bytes)
{
	char place[TEXT_NAME] = "";
	uint32_t at = m->contexts[context].parent;
	snprintf(to, n_bytes, "%s", function_name(m, at));
	for (unsigned i = 0; i < n_callers && (at = line_outside(m, at)); i++) {
		const size_t n = strlen(to);
		text_place(place, sizeof place, m, &m->contexts[at]);
		snprintf(to + n, n_bytes - n, "%s at %s in %s", i ? "," : "", place,
			 function_name(m, at));
	}
}

/* Programs often do not check whether a launch succeeded. */
static void put_refused(const struct model *m, const struct text_style *s)
{
	enum { MOST = 10 };
	const uint32_t metric = view_find_metric(m, MODEL_ROLE_REFUSED);
	char a[TEXT_CELL], call[TEXT_NAME];
	unsigned n_rows = 0, n_more = 0;
	if (metric == MODEL_NONE || view_total(m, metric) <= 0)
		return;
	text_heading(s, "The driver refused %s operations, which never ran",
		     text_count(a, (uint64_t)view_total(m, metric)));
	for (size_t i = 0; i < m->n_totals; i++) {
		const struct model_total *t = &m->totals[i];
		if (t->metric != metric || t->sum[MODEL_POINT] <= 0)
			continue;
		n_more += n_rows == MOST && s->threshold > 0;
		if (n_rows == MOST && s->threshold > 0)
			continue;
		n_rows++;
		foreign_printf(s->out, "%9s  %s\n", text_count(a, (uint64_t)t->sum[MODEL_POINT]),
			       function_name(m, t->context));
		text_gpu_call(m, t->context, 1, call, sizeof call);
		foreign_printf(s->out, "%9s    %s\n", "", call);
	}
	if (n_more)
		fprintf(s->out, "%9s  ... at %u more places: --all\n", "", n_more);
	putc('\n', s->out);
}

bool text_report_gpu(const struct model *m, const struct view_gpu *g, const struct text_style *s)
{
	put_refused(m, s);
	put_kernels(m, g, s);
	if (!text_report_counters(m, s) || !text_report_gpu_hot(m, g, s))
		return false;
	put_copies(m, g, s);
	if (!text_report_gpu_memory(m, s))
		return false;
	if (!put_waits(m, s))
		return false;
	put_queues(m, g, s);
	return text_report_gpu_idle(m, s) && text_report_energy(m, s);
}

/* ---- ledger ---- */

static uint64_t sum_kinds(const uint64_t by_kind[16])
{
	uint64_t n = 0;
	for (unsigned k = 0; k < 16; k++)
		n += by_kind[k];
	return n;
}

static void put_kinds(const struct model_gpu_ledger *l, FILE *out)
{
	char n[TEXT_CELL];
	const char *before = "  launched: ";
	for (unsigned k = 1; k < MSR_N_GPU_KINDS; k++)
		if (l->launched[k]) {
			fprintf(out, "%s%s %s", before, text_count(n, l->launched[k]),
				msr_gpu_kind_name((enum msr_gpu_kind)k));
			before = ", ";
		}
	if (*before == ',')
		putc('\n', out);
}

static void put_also(FILE *out, uint64_t n, const char *what)
{
	char a[TEXT_CELL];
	if (n)
		fprintf(out, "  also %s %s\n", text_count(a, n), what);
}

/* How the back ends entered the processes, each way once. */
static void put_entrances(const struct model *m, FILE *out)
{
	enum { MOST = 8 };
	const struct model_gpu_ledger *said[MOST];
	unsigned n_said = 0;
	for (uint32_t i = 0; i < m->n_processes; i++)
		for (uint32_t k = 0; k < m->processes[i].n_gpu; k++) {
			const struct model_gpu_ledger *l = &m->processes[i].gpu[k];
			unsigned at = 0;
			while (at < n_said && (strcmp(said[at]->backend, l->backend) != 0 ||
					       strcmp(said[at]->entrance, l->entrance) != 0))
				at++;
			if (at < n_said || n_said == MOST)
				continue;
			said[n_said++] = l;
			foreign_printf(out, "  %s, by way of: %s\n", l->backend,
				       *l->entrance ? l->entrance : "not told");
		}
}

void text_report_gpu_ledger(const struct model *m, const struct text_style *s)
{
	const struct model_gpu_ledger *l = &m->gpu_ledger;
	char a[TEXT_CELL], b[TEXT_CELL], c[TEXT_CELL], d[TEXT_CELL];
	uint64_t lost = 0;
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		lost += msr_gpu_loss_takes_op((enum msr_gpu_loss)i) ? l->losses[i] : 0;
	text_heading(s,
		     "GPU ledger%s: %s operations launched = %s joined + %s summed up in the run + "
		     "%s lost; %s",
		     m->part ? " of the whole run" : "", text_count(a, sum_kinds(l->launched)),
		     text_count(b, sum_kinds(l->joined)),
		     text_count(c, sum_kinds(l->aggregated)), text_count(d, lost),
		     l->closes ? "it closes for every process"
			       : "IT DOES NOT CLOSE: something is missing");
	put_entrances(m, s->out);
	put_kinds(l, s->out);
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		if (l->losses[i] && msr_gpu_loss_takes_op((enum msr_gpu_loss)i))
			fprintf(s->out, "  lost %s %s: %s\n", text_count(a, l->losses[i]),
				msr_gpu_loss_name((enum msr_gpu_loss)i),
				msr_gpu_loss_description((enum msr_gpu_loss)i));
	for (unsigned i = 1; i < MSR_N_GPU_LOSSES; i++)
		if (l->graph_losses[i])
			fprintf(s->out, "  also lost %s operations of graphs, %s: %s\n",
				text_count(a, l->graph_losses[i]),
				msr_gpu_loss_name((enum msr_gpu_loss)i),
				msr_gpu_loss_description((enum msr_gpu_loss)i));
	put_also(s->out, l->unexplained, "neither joined nor lost, or not launched: unexplained");
	put_also(s->out, l->n_no_path,
		 "launched by threads that are not measured: under an entry of their own");
	put_also(s->out, l->n_orphans, "without a known launch: under an entry of their own");
	put_also(s->out, l->n_bad_order, "with times that are not enqueue <= start <= end");
	put_also(s->out, l->n_unknown_calls, "calls of the API that are not known");
	put_also(s->out, l->n_clipped, "shortened on the time line");
	put_also(s->out, l->n_lost_definitions,
		 "names, queues or shapes that could not be written: what refers to them is "
		 "without");
	put_also(s->out, l->n_lost_contents,
		 "code objects that could not be kept: no lines of theirs");
	put_also(s->out, l->n_lost_values,
		 "values of counters, ranges of PC sampling, clock pairs or nodes of graphs that "
		 "could not be written");
	if (l->handler_ns)
		fprintf(s->out, "  time in the profiler's launch callbacks: %s\n",
			text_ns(a, l->handler_ns));
	text_report_gpu_sampling(m, s);
	putc('\n', s->out);
}
