/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section "meta": JSON of everything that is small. Strings are numbers of the section
 * "strings", so nothing here needs quoting. Then that section itself. Test:
 * tests/cli/sink/sink_html.sh.
 */
#include "config.h"

#include "hpcprof-lite/sink/html/html.h"

#include "common/base/log.h"
#include "hpcprof-lite/view/parallel/view_processors.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/view/parallel/view_balance.h"
#include "hpcprof-lite/view/view_gpu_idle.h"

#include <inttypes.h>

#define NUMBER(h, name, value) \
	html_put_text(&(h)->section, ",\"" name "\":%" PRIu64, (uint64_t)(value))
#define SIGNED(h, name, value) \
	html_put_text(&(h)->section, ",\"" name "\":%" PRId64, (int64_t)(value))
#define STRING(h, name, value) NUMBER(h, name, html_string(h, value))
#define TEXT(h, ...) html_put_text(&(h)->section, __VA_ARGS__)

/* MODEL_NONE becomes -1. */
static int64_t or_none(uint32_t id)
{
	return id == MODEL_NONE ? -1 : (int64_t)id;
}

static uint64_t us_since(const struct html *h, uint64_t time_ns)
{
	return time_ns > h->m->start_ns ? (time_ns - h->m->start_ns) / 1000 : 0;
}

/* How the metric is spread over threads, for the view "Threads", in units of the page's values. */
static void put_balance(struct html *h, uint32_t metric)
{
	struct view_balance b;
	if (html_is_comparison(h))
		return;
	if (!view_balance_make(h->m, metric, &b)) {
		h->failed = true;
		return;
	}
	const double scale = html_scale(h, &h->m->metrics[metric]);
	TEXT(h, ",\"mean\":%.12g,\"most\":%.12g", b.threads.mean * scale, b.threads.most * scale);
	view_balance_free(&b);
}

static void put_metrics(struct html *h)
{
	TEXT(h, ",\"metrics\":[");
	for (uint32_t i = 0; i < h->m->n_metrics; i++) {
		const struct model_metric *metric = &h->m->metrics[i];
		TEXT(h, "%s{\"kind\":%u", i ? "," : "", metric->kind);
		NUMBER(h, "role", metric->role);
		STRING(h, "name", metric->name);
		STRING(h, "unit", model_unit_name(metric->unit));
		STRING(h, "description", metric->description);
		STRING(h, "reason", metric->reason);
		STRING(h, "meaning", metric->meaning);
		STRING(h, "hint", metric->hint);
		SIGNED(h, "parent", or_none(metric->parent));
		SIGNED(h, "divisor", or_none(metric->divisor));
		NUMBER(h, "period", metric->period);
		NUMBER(h, "apportioned", metric->apportioned);
		NUMBER(h, "scale", html_scale(h, metric));
		NUMBER(h, "time", view_balance_is_time(h->m, i));
		put_balance(h, i);
		TEXT(h, "}");
	}
	TEXT(h, "]");
}

static void put_hex(struct html *h, const char *name, const uint8_t *bytes, uint32_t n)
{
	TEXT(h, ",\"%s\":\"", name);
	for (uint32_t i = 0; i < n; i++)
		TEXT(h, "%02x", bytes[i]);
	TEXT(h, "\"");
}

static void put_modules(struct html *h)
{
	TEXT(h, ",\"modules\":[");
	for (uint32_t i = 0; i < h->m->n_modules; i++) {
		const struct model_module *module = &h->m->modules[i];
		TEXT(h, "%s{\"role\":%u", i ? "," : "", module->role);
		STRING(h, "path", module->path);
		NUMBER(h, "gpu", module->is_gpu);
		NUMBER(h, "python", module->is_python);
		NUMBER(h, "structure", module->structure);
		if (module->build_id_bytes && !module->is_gpu)
			put_hex(h, "build", module->build_id, module->build_id_bytes);
		TEXT(h, "}");
	}
	TEXT(h, "]");
}

static void put_strings(struct html *h, const char *name, const char *const *at, uint32_t n)
{
	TEXT(h, ",\"%s\":[", name);
	for (uint32_t i = 0; i < n; i++)
		TEXT(h, "%s%" PRIu32, i ? "," : "", html_string(h, at[i]));
	TEXT(h, "]");
}

static void put_processes(struct html *h)
{
	char end[128];
	TEXT(h, ",\"processes\":[");
	for (uint32_t i = 0; i < h->m->n_processes; i++) {
		const struct model_process *p = &h->m->processes[i];
		TEXT(h, "%s{\"rank\":%" PRId32, i ? "," : "", p->rank);
		STRING(h, "role", p->role ? p->role : "");
		STRING(h, "host", p->host);
		NUMBER(h, "pid", p->pid);
		NUMBER(h, "side", p->exec_seq);
		STRING(h, "executable", p->executable);
		STRING(h, "command", p->command_line);
		NUMBER(h, "start", us_since(h, p->start_ns));
		NUMBER(h, "stop", us_since(h, p->end_ns));
		NUMBER(h, "live", p->is_live);
		NUMBER(h, "blank", p->is_blank);
		NUMBER(h, "ok",
		       p->exit_kind == MSR_EXIT_EXEC || p->exit_kind == MSR_EXIT_DETACHED ||
			       ((p->exit_kind == MSR_EXIT_RETURN ||
				 p->exit_kind == MSR_EXIT_QUICK) &&
				!p->exit_code));
		STRING(h, "end", ends_text(p->exit_kind, p->exit_code, end, sizeof end));
		put_strings(h, "notes", p->notes, p->n_notes);
		put_strings(h, "events", p->events, p->n_events);
		TEXT(h, "}");
	}
	TEXT(h, "]");
}

static void put_profiles(struct html *h)
{
	TEXT(h, ",\"profiles\":[");
	for (uint32_t i = 0; i < h->m->n_profiles; i++) {
		const struct model_profile *p = &h->m->profiles[i];
		TEXT(h, "%s{\"kind\":%u", i ? "," : "", p->kind);
		NUMBER(h, "process", p->process);
		SIGNED(h, "thread", or_none(p->thread));
		NUMBER(h, "tid", p->tid);
		STRING(h, "name", p->name);
		SIGNED(h, "queue", or_none(p->queue));
		NUMBER(h, "lane", p->lane);
		NUMBER(h, "start", us_since(h, p->start_ns));
		NUMBER(h, "stop", us_since(h, p->end_ns));
		NUMBER(h, "cpu", p->cpu_ns / 1000);
		NUMBER(h, "counts", view_is_used_thread(h->m, p));
		NUMBER(h, "records", p->n_trace_records);
		TEXT(h, "}");
	}
	TEXT(h, "]");
}

/* Over how many threads the page takes means of their times. */
static void put_threads(struct html *h)
{
	uint32_t most, all;
	if (view_count_threads(h->m, 0, h->m->n_profiles, &most, &all))
		NUMBER(h, "threads", most);
	else
		h->failed = true;
}

/* How the time of a device was spent; nothing if that is not known. */
static void put_idle(struct html *h, uint32_t device)
{
	const struct model_gpu_idle *idle = view_gpu_idle_of(h->m, device);
	if (!idle)
		return;
	NUMBER(h, "watched", idle->watched_ns);
	TEXT(h, ",\"parts\":[");
	for (unsigned p = 0; p < VIEW_GPU_PARTS; p++) {
		TEXT(h, "%s{\"ns\":%" PRIu64, p ? "," : "", view_gpu_part_ns(idle, p));
		STRING(h, "words", view_gpu_part_words(p));
		NUMBER(h, "idle", p >= VIEW_GPU_IDLE);
		TEXT(h, "}");
	}
	TEXT(h, "]");
	NUMBER(h, "launches", idle->n_latencies);
	NUMBER(h, "latency", idle->latency_median_ns);
	NUMBER(h, "latency95", idle->latency_95_ns);
	NUMBER(h, "inFlight", idle->queue_most);
	NUMBER(h, "waiting", idle->waiting_ns);
	NUMBER(h, "unsampled", idle->unsampled_ns);
}

/* The energy by the device's meter; nothing if it was not read. */
static void put_energy(struct html *h, uint32_t device)
{
	for (uint32_t i = 0; i < h->m->n_meters; i++) {
		const struct model_meter *meter = &h->m->meters[i];
		if (meter->device != device || !meter->sum.covered_ns)
			continue;
		NUMBER(h, "energy", meter->sum.total_uj);
		NUMBER(h, "energyUsed", meter->sum.operations_uj);
		NUMBER(h, "energyError", meter->sum.error_uj);
		NUMBER(h, "energyTime", meter->sum.covered_ns);
		return;
	}
}

static void put_gpus(struct html *h)
{
	const struct model *m = h->m;
	TEXT(h, ",\"devices\":[");
	for (uint32_t i = 0; i < m->n_gpu_devices; i++) {
		const struct model_gpu_device *d = &m->gpu_devices[i];
		TEXT(h, "%s{\"ordinal\":%" PRIu32, i ? "," : "", d->ordinal);
		STRING(h, "name", d->name);
		STRING(h, "type", names_device_type(d));
		NUMBER(h, "units", d->definition ? d->definition->n_units : 0);
		put_idle(h, i);
		put_energy(h, i);
		TEXT(h, "}");
	}
	TEXT(h, "],\"queues\":[");
	for (uint32_t i = 0; i < m->n_gpu_queues; i++) {
		const struct model_gpu_queue *q = &m->gpu_queues[i];
		TEXT(h, "%s{\"device\":%" PRId64, i ? "," : "", or_none(q->device));
		STRING(h, "name", q->name);
		NUMBER(h, "lanes", q->n_lanes);
		NUMBER(h, "busy", q->busy_ns);
		TEXT(h, "}");
	}
	TEXT(h, "],\"shapes\":[");
	for (uint32_t i = 0; i < m->n_gpu_shapes; i++) {
		const struct msr_gpu_shape *s = &m->gpu_shapes[i];
		const struct model_gpu_occupancy *o =
			m->gpu_occupancies ? &m->gpu_occupancies[i] : NULL;
		TEXT(h, "%s{\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u]", i ? "," : "", s->grid[0],
		     s->grid[1], s->grid[2], s->block[0], s->block[1], s->block[2]);
		NUMBER(h, "registers", s->registers);
		NUMBER(h, "shared",
		       (uint64_t)s->static_shared_bytes + s->dynamic_shared_bytes);
		NUMBER(h, "local", s->local_bytes);
		NUMBER(h, "warps", o ? o->warps : 0);
		NUMBER(h, "most", o ? o->warps_most : 0);
		STRING(h, "limit", o && o->warps ? model_gpu_limit_name(o->limit) : NULL);
		TEXT(h, "}");
	}
	TEXT(h, "]");
}

/* ---- ledger ---- */

static void put_ledger(struct html *h)
{
	const struct model *m = h->m;
	const struct model_ledger *l = &m->ledger;
	uint64_t n_cut = 0;
	for (unsigned i = 0; i < MSR_N_PATH_ENDS; i++)
		n_cut += l->n_cut[i];
	TEXT(h, ",\"ledger\":{\"closes\":%d", m->ledger_closes);
	NUMBER(h, "overflow", m->sums_overflow);
	NUMBER(h, "delivered", l->delivered);
	NUMBER(h, "inTree", l->in_tree);
	NUMBER(h, "lost", view_count_lost(l));
	NUMBER(h, "complete", l->n_complete);
	NUMBER(h, "guessed", l->n_guessed);
	NUMBER(h, "cut", n_cut);
	NUMBER(h, "damaged", l->bytes_damaged);
	NUMBER(h, "cpuClock", l->cpu_clock_ns);
	NUMBER(h, "cpuSampled", l->cpu_sampled_ns);
	NUMBER(h, "cpuUnseen", l->cpu_unseen_ns);
	NUMBER(h, "cpuStrange", l->cpu_strange_ns);
	TEXT(h, ",\"losses\":[");
	const char *comma = "";
	for (unsigned i = 0; i < MSR_LOSS_ROOM; i++)
		if (l->losses[i]) {
			TEXT(h, "%s{\"n\":%" PRIu64, comma, l->losses[i]);
			STRING(h, "name", msr_loss_name((enum msr_loss)i));
			STRING(h, "why", msr_loss_description((enum msr_loss)i));
			NUMBER(h, "sample", msr_loss_takes_sample((enum msr_loss)i));
			TEXT(h, "}");
			comma = ",";
		}
	TEXT(h, "]}");
}

static void put_gpu_ledger(struct html *h)
{
	const struct model_gpu_ledger *l = &h->m->gpu_ledger;
	const struct model_gpu_sampling *s = &h->m->gpu_sampling;
	uint64_t launched = 0, joined = 0, aggregated = 0;
	if (!h->m->has_gpu)
		return;
	for (unsigned i = 0; i < 16; i++) {
		launched += l->launched[i];
		joined += l->joined[i];
		aggregated += l->aggregated[i];
	}
	TEXT(h, ",\"gpuLedger\":{\"closes\":%d", l->closes);
	NUMBER(h, "launched", launched);
	NUMBER(h, "joined", joined);
	NUMBER(h, "aggregated", aggregated);
	NUMBER(h, "unexplained", l->unexplained);
	NUMBER(h, "orphans", l->n_orphans);
	NUMBER(h, "noPath", l->n_no_path);
	NUMBER(h, "sampled", s->n_ranges > 0);
	NUMBER(h, "samplesClose", s->closes);
	NUMBER(h, "samples", s->total);
	NUMBER(h, "recorded", s->recorded);
	NUMBER(h, "dropped", s->dropped);
	NUMBER(h, "outside", s->outside);
	NUMBER(h, "exact", s->in_tree_exact);
	NUMBER(h, "apportioned", s->in_tree_apportioned);
	TEXT(h, ",\"losses\":[");
	const char *comma = "";
	for (unsigned i = 0; i < MSR_GPU_LOSS_ROOM; i++)
		if (l->losses[i]) {
			TEXT(h, "%s{\"n\":%" PRIu64, comma, l->losses[i]);
			STRING(h, "name", msr_gpu_loss_name((enum msr_gpu_loss)i));
			STRING(h, "why", msr_gpu_loss_description((enum msr_gpu_loss)i));
			TEXT(h, "}");
			comma = ",";
		}
	TEXT(h, "]}");
}

static void put_unmeasured(struct html *h)
{
	TEXT(h, ",\"unmeasured\":[");
	for (uint32_t i = 0; i < h->m->n_unmeasured; i++) {
		const struct model_unmeasured *u = &h->m->unmeasured[i];
		TEXT(h, "%s{\"n\":%" PRIu64, i ? "," : "", u->n);
		STRING(h, "path", u->path);
		STRING(h, "why", u->why);
		NUMBER(h, "starter", u->is_starter);
		NUMBER(h, "cpu", u->cpu_ns / 1000);
		TEXT(h, "}");
	}
	TEXT(h, "]");
}

/* Says what the page does not carry. */
static void put_reductions(struct html *h)
{
	TEXT(h, ",\"reduced\":{\"contexts\":%" PRIu32 ",\"ofContexts\":%" PRIu32
		",\"least\":%.3g,\"sampleStride\":%" PRIu32 ",\"opStride\":%" PRIu32,
	     h->tree.n, h->m->n_contexts, h->tree.least, h->sample_stride, h->op_stride);
	if (h->threads_left_out)
		NUMBER(h, "threadsLeftOut", h->threads_left_out);
	NUMBER(h, "sourceFiles", h->n_source_files);
	NUMBER(h, "sourceMissing", h->n_source_missing);
	NUMBER(h, "sourceLeftOut", h->n_source_left_out);
	NUMBER(h, "noSources", h->o->no_sources);
	TEXT(h, "}");
}

static enum status write_strings(struct html *h)
{
	html_section_begin(&h->section, &h->packer, "strings");
	html_put(&h->section, h->strings.bytes.at, h->strings.bytes.n);
	return html_section_end(&h->section);
}

enum status html_write_meta(struct html *h)
{
	const struct model *m = h->m;
	html_section_begin(&h->section, &h->packer, "meta");
	TEXT(h, "{\"version\":1");
	STRING(h, "tool", PACKAGE_VERSION);
	STRING(h, "title", m->title);
	NUMBER(h, "startMs", m->start_ns / 1000000);
	NUMBER(h, "span", (m->end_ns - m->start_ns) / 1000);
	NUMBER(h, "elapsed", m->elapsed_ns / 1000);
	NUMBER(h, "runs", m->n_runs);
	NUMBER(h, "hasTraces", m->has_traces);
	html_put_comparison(h);
	put_threads(h);
	STRING(h, "part", m->part);
	put_strings(h, "partNotes", m->part_notes, m->n_part_notes);
	put_metrics(h);
	put_modules(h);
	put_processes(h);
	put_profiles(h);
	put_gpus(h);
	put_ledger(h);
	put_gpu_ledger(h);
	put_unmeasured(h);
	put_reductions(h);
	html_put_waiting(h);
	html_put_blames(h);
	html_put_advice(h);
	html_put_findings(h);
	html_put_counters(h);
	html_put_nccl(h);
	html_put_nvtx(h);
	TEXT(h, "}");
	enum status status = html_section_end(&h->section);
	return status == STATUS_OK ? write_strings(h) : status;
}
