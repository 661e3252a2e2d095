/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a measurement file: scans its extents, validates their records, counts what is not sound.
 * See load_file.h here for what holds afterwards and doc/formats/measurement.md for what a reader
 * does with damage. Must not change what it reads. Tests: tests/unit/prof/test_load.c.
 */
#include "hpcprof-lite/load/load_file.h"

#include "common/base/foreign.h"
#include "common/base/log.h"
#include "common/format/local_data.h"
#include "common/rights/inside.h"
#include "hpcprof-lite/load/load_phases.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/load/load_regions.h"
#include "hpcprof-lite/load/load_waits.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* No file can hold more nodes than this; bounds what a damaged `first` may make us allocate. */
static uint64_t node_bound(const struct load_file *f)
{
	uint64_t bound = f->map.n_bytes / sizeof(struct msr_node) + 1;
	return bound < MSR_TRACE_NODE_MAX ? bound : MSR_TRACE_NODE_MAX;
}

/* ---- records that belong to the process ---- */

static bool ends_in_nul(const char *s, size_t n)
{
	return n && s[n - 1] == 0;
}

static enum status keep_command(struct load_file *f, const char *value, uint32_t n_bytes)
{
	size_t n = 0;
	free(f->command);
	free(f->command_line);
	f->command_line = NULL;
	f->command = malloc(n_bytes);
	FILE *to = f->command ? open_memstream(&f->command_line, &n) : NULL;
	if (!to)
		return STATUS_NO_MEMORY;
	memcpy(f->command, value, n_bytes);
	for (uint32_t i = 0; i + 1 < n_bytes; i++)
		if (!f->command[i])
			f->command[i] = i + 2 < n_bytes ? ' ' : 0;
	for (const char *at = value; n_bytes > 1 && at < value + n_bytes; at += strlen(at) + 1) {
		if (at > value)
			putc(' ', to);
		foreign_put_argument(to, at);
	}
	return fclose(to) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status read_info(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_info *r = (const void *)record;
	if (bytes < sizeof *r || r->key_bytes > bytes - sizeof *r ||
	    r->value_bytes > bytes - sizeof *r - r->key_bytes)
		return STATUS_BAD_INPUT;
	const char *key = (const char *)(r + 1), *value = key + r->key_bytes;
	if (!ends_in_nul(key, r->key_bytes) || !ends_in_nul(value, r->value_bytes))
		return STATUS_BAD_INPUT;
	if (strcmp(key, "executable") == 0)
		f->executable = value;
	else if (strcmp(key, "cwd") == 0)
		f->directory = value;
	else if (strcmp(key, "job") == 0)
		f->job = value;
	else if (strcmp(key, "processors") == 0)
		f->processors = value;
	else if (strcmp(key, "jitdump") == 0)
		f->jitdump = value;
	else if (strcmp(key, "command") == 0) {
		f->called = value;
		return keep_command(f, value, r->value_bytes);
	} else if (strcmp(key, "note") == 0 || strcmp(key, "event") == 0) {
		const char **slot = key[0] == 'n' ? vec_push(&f->notes) : vec_push(&f->events);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = value;
	}
	return STATUS_OK;
}

static enum status read_module(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_module *r = (const void *)record;
	if (bytes < sizeof *r || r->path_bytes > bytes - sizeof *r ||
	    r->build_id_bytes > MSR_BUILD_ID_MAX)
		return STATUS_BAD_INPUT;
	const char *path = (const char *)(r + 1);
	if (!ends_in_nul(path, r->path_bytes) || r->id == MSR_MODULE_NONE ||
	    r->id == MSR_MODULE_UNKNOWN)
		return STATUS_BAD_INPUT;
	if (f->modules.n <= r->id && !vec_extend(&f->modules, r->id + 1 - f->modules.n))
		return STATUS_NO_MEMORY;
	struct load_module *m = &f->modules.at[r->id];
	if (m->record)
		return STATUS_BAD_INPUT; /* an id is given once */
	m->record = r;
	m->path = path;
	f->has_python = f->has_python || r->flags & MSR_MODULE_PYTHON;
	return STATUS_OK;
}

static enum status read_unmeasured(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_unmeasured *r = (const void *)record;
	if (bytes < sizeof *r || r->path_bytes > bytes - sizeof *r
		|| !ends_in_nul((const char *)(r + 1), r->path_bytes))
		return STATUS_BAD_INPUT;
	if (r->reason == MSR_UNMEASURED_VOID || !r->pid)
		return STATUS_OK;
	struct load_unmeasured *u = vec_push(&f->unmeasured);
	if (!u)
		return STATUS_NO_MEMORY;
	*u = (struct load_unmeasured){r, (const char *)(r + 1)};
	return STATUS_OK;
}

static enum status read_spawn(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_spawn *r = (const void *)record;
	if (bytes < sizeof *r || r->path_bytes > bytes - sizeof *r || !r->id ||
	    !ends_in_nul((const char *)(r + 1), r->path_bytes))
		return STATUS_BAD_INPUT;
	struct load_spawn *s = vec_push(&f->spawns);
	if (!s)
		return STATUS_NO_MEMORY;
	*s = (struct load_spawn){r, (const char *)(r + 1)};
	return STATUS_OK;
}

static enum status read_children(struct load_file *f, const struct msr_view *v)
{
	uint32_t stride = v->extent->record_bytes;
	if (stride < sizeof(struct msr_child) || stride % 8) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	for (uint64_t at = 0; v->n_bytes - at >= stride; at += stride) {
		const struct msr_child *r = (const void *)(v->content + at);
		if (r->cpu_ns > LOAD_LONGEST_NS) {
			f->bytes_damaged += stride;
			continue;
		}
		struct msr_child *c = vec_push(&f->children);
		if (!c)
			return STATUS_NO_MEMORY;
		*c = *r;
	}
	f->bytes_damaged += v->n_bytes % stride;
	return STATUS_OK;
}

static void read_metrics(struct load_file *f, const struct msr_view *v)
{
	uint32_t stride = v->extent->record_bytes;
	if (stride < sizeof(struct msr_metric) || stride % 8) {
		f->bytes_damaged += v->n_bytes;
		return;
	}
	for (uint64_t at = 0; v->n_bytes - at >= stride; at += stride) {
		const struct msr_metric *r = (const void *)(v->content + at);
		if (r->id < MSR_MAX_METRICS && !f->metrics[r->id] && r->name[0] &&
		    memchr(r->name, 0, sizeof r->name) &&
		    memchr(r->description, 0, sizeof r->description))
			f->metrics[r->id] = r;
		else
			f->bytes_damaged += stride;
	}
	f->bytes_damaged += v->n_bytes % stride;
}

/* ---- extents of threads ---- */

static enum status read_thread(struct load_file *f, const struct msr_view *v)
{
	if (v->extent->thread == UINT32_MAX) { /* none */
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	struct load_thread *t = load_get_thread(f, v->extent->thread);
	if (!t)
		return STATUS_NO_MEMORY;
	const struct msr_thread *r = (const void *)v->content;
	const uint64_t n = v->n_bytes < sizeof *r ? v->n_bytes : sizeof *r;
	if (t->copy || n < offsetof(struct msr_thread, losses) ||
	    r->number != v->extent->thread) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	if (!load_make_record(t))
		return STATUS_NO_MEMORY;
	memcpy(t->copy, r, n);
	t->copy->name[sizeof t->copy->name - 1] = 0;
	t->now = r;
	return STATUS_OK;
}

static enum status add_part(struct load_file *f, const struct msr_view *v, size_t record_bytes)
{
	if (v->extent->record_bytes != record_bytes || v->extent->thread == UINT32_MAX) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	f->bytes_damaged += v->n_bytes % record_bytes;
	if (v->n_bytes < record_bytes)
		return STATUS_OK;
	struct load_thread *t = load_get_thread(f, v->extent->thread);
	if (!t)
		return STATUS_NO_MEMORY;
	struct load_part part = {v->extent->first, v->extent->sequence, v->content,
				 v->n_bytes / record_bytes * record_bytes};
	struct load_part *at = v->extent->kind == MSR_NODE         ? vec_push(&t->nodes)
			       : v->extent->kind == MSR_CELL       ? vec_push(&t->cells)
			       : v->extent->kind == MSR_NVTX_EVENT ? vec_push(&t->nvtx_events)
								   : vec_push(&t->trace);
	if (!at)
		return STATUS_NO_MEMORY;
	*at = part;
	return STATUS_OK;
}

static enum status keep_process(struct load_file *f, const struct msr_view *v)
{
	if (!msr_is_process(v))
		return STATUS_OK;
	struct msr_view *slot = vec_push(&f->inside);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = *v;
	return STATUS_OK;
}

static enum status read_extent(struct load_file *f, const struct msr_view *v)
{
	switch (v->extent->kind) {
	case MSR_INFO:
		return load_lengthed(f, v, read_info);
	case MSR_MODULE:
		return load_lengthed(f, v, read_module);
	case MSR_PYTHON_CODE: return load_lengthed(f, v, load_python_code);
	case MSR_TORCH_MODULE: return load_lengthed(f, v, load_torch_module);
	case MSR_WAIT_OBJECT:
		return load_lengthed(f, v, load_wait_object);
	case MSR_UNMEASURED:
		return load_lengthed(f, v, read_unmeasured);
	case MSR_SPAWN: return load_lengthed(f, v, read_spawn);
	case MSR_CHILD:
		return read_children(f, v);
	case MSR_METRIC:
		read_metrics(f, v);
		return STATUS_OK;
	case MSR_THREAD:
		return read_thread(f, v);
	case MSR_NODE:
		return add_part(f, v, sizeof(struct msr_node));
	case MSR_CELL:
		return add_part(f, v, sizeof(struct msr_cell));
	case MSR_TRACE:
		return add_part(f, v, sizeof(uint64_t));
	case MSR_PROCESS:
		return keep_process(f, v);
	case MSR_OMP_REGION:
		return load_regions(f, v);
	case MSR_PHASE:
		return load_phases(f, v);
	case MSR_NVTX_NAME:
		return load_lengthed(f, v, load_nvtx_name);
	case MSR_NVTX_RANGE:
		return load_nvtx_ranges(f, v);
	case MSR_NVTX_EVENT:
		return add_part(f, v, sizeof(struct msr_nvtx_event));
	default: /* a later minor version's may be ignored */
		return load_gpu_is_kind(v->extent->kind)   ? load_gpu_extent(f, v)
		       : load_mpi_is_kind(v->extent->kind) ? load_mpi_extent(f, v)
							   : STATUS_OK;
	}
}

static enum status scan(struct load_file *f)
{
	uint64_t pos = f->is_inside ? msr_first_extent(&f->header) : MSR_HEADER_BYTES;
	uint64_t skipped = 0, clamped = 0, released = 0;
	struct msr_view v;
	const uint64_t end =
		f->copied_ns ? local_part_end(&f->header, f->map.n_bytes) : f->map.n_bytes;
	for (enum msr_scan s; (s = msr_next_extent(f->map.bytes, end, &pos, &v, &skipped)) !=
			      MSR_SCAN_END;) {
		f->bytes_damaged += skipped;
		load_release(f, pos - released);
		released = pos;
		if (s != MSR_SCAN_EXTENT)
			continue;
		f->kinds |= UINT64_C(1) << (v.extent->kind < 63 ? v.extent->kind : 63);
		f->extents_end = pos;
		if (v.clamped)
			clamped++;
		enum status st = read_extent(f, &v);
		if (st)
			return st;
	}
	/* what GPUs did counts in threads: there must be one */
	if (f->gpu.is_present && !f->is_outline && !f->threads.n && !load_get_thread(f, 0))
		return STATUS_NO_MEMORY;
	load_gpu_finish(f);
	uint64_t allocated = f->header.allocated;
	f->truncated = clamped || allocated > f->map.n_bytes;
	if (allocated > f->map.n_bytes && allocated < UINT64_C(1) << 48)
		f->bytes_damaged += allocated - f->map.n_bytes;
	return STATUS_OK;
}

/* ---- validation of a thread's tree, cells and time line ---- */

static int compare_first(const void *a, const void *b)
{
	const struct load_part *x = a, *y = b;
	return (x->first > y->first) - (x->first < y->first);
}

static int compare_sequence(const void *a, const void *b)
{
	const struct load_part *x = a, *y = b;
	return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/*
 * Sorts parts by index and drops parts that overlap the one before or exceed `bound`. Returns the
 * number of records in the rest.
 */
static uint64_t order_parts(struct load_file *f, struct load_part *parts, size_t *n,
			    size_t record_bytes, uint64_t bound)
{
	uint64_t end = 0;
	size_t kept = 0;
	if (*n)
		qsort(parts, *n, sizeof *parts, compare_first);
	for (size_t i = 0; i < *n; i++) {
		uint64_t count = parts[i].n_bytes / record_bytes;
		if (parts[i].first < end || parts[i].first > bound ||
		    count > bound - parts[i].first) {
			f->bytes_damaged += parts[i].n_bytes;
			continue;
		}
		end = parts[i].first + count;
		parts[kept++] = parts[i];
	}
	*n = kept;
	return end;
}

bool load_knows_module(const struct load_file *f, uint16_t id)
{
	return id == MSR_MODULE_UNKNOWN || (id < f->modules.n && f->modules.at[id].record);
}

static bool node_is_sound(const struct load_file *f, const struct load_thread *t, uint32_t id,
			  const struct msr_node *n)
{
	if (n->parent >= id || t->node_to[n->parent] == LOAD_DAMAGED)
		return false;
	if (load_is_entry(n->addr))
		return n->parent == 0 && msr_addr_link(n->addr) != 0;
	return n->parent != 0 &&
	       (load_is_wait(n->addr) || load_is_nvtx(n->addr) || load_is_forward(n->addr) ||
		load_knows_module(f, msr_addr_module(n->addr)));
}

static enum status check_nodes(struct load_file *f, struct load_thread *t)
{
	uint64_t n =
		order_parts(f, t->nodes.at, &t->nodes.n, sizeof(struct msr_node), node_bound(f));
	t->n_nodes = n ? (uint32_t)n : 1;
	t->node_to = malloc(t->n_nodes * sizeof *t->node_to);
	if (!t->node_to)
		return STATUS_NO_MEMORY;
	memset(t->node_to, 0xff, t->n_nodes * sizeof *t->node_to);
	t->node_to[0] = 0; /* the root is sound whatever was stored for it */
	for (size_t p = 0; p < t->nodes.n; p++) {
		const struct msr_node *nodes = (const void *)t->nodes.at[p].content;
		size_t count = t->nodes.at[p].n_bytes / sizeof *nodes;
		for (size_t i = 0; i < count; i++) {
			uint32_t id = (uint32_t)(t->nodes.at[p].first + i);
			if (!id)
				continue;
			if (!node_is_sound(f, t, id, &nodes[i])) {
				f->bytes_damaged += sizeof *nodes;
				continue;
			}
			t->node_to[id] = 0;
			f->has_unknown_code |= msr_addr_module(nodes[i].addr) == MSR_MODULE_UNKNOWN;
			f->has_forward |= load_is_forward(nodes[i].addr);
		}
	}
	return STATUS_OK;
}

static bool target_is_sound(const struct load_file *f, const struct load_thread *t, uint32_t node,
			    unsigned metric)
{
	return node < t->n_nodes && t->node_to[node] != LOAD_DAMAGED && metric < MSR_MAX_METRICS &&
	       f->metrics[metric];
}

static void order_values(struct load_file *f, struct load_thread *t)
{
	order_parts(f, t->cells.at, &t->cells.n, sizeof(struct msr_cell), UINT32_MAX);
	if (t->trace.n)
		qsort(t->trace.at, t->trace.n, sizeof *t->trace.at, compare_sequence);
}

/* Counts damaged cells. The sums skip the same cells, by load_cell_is_sound(). */
static void check_cells(struct load_file *f, struct load_thread *t)
{
	for (size_t p = 0; p < t->cells.n; p++) {
		const struct msr_cell *cells = (const void *)t->cells.at[p].content;
		for (size_t i = 0; i < t->cells.at[p].n_bytes / sizeof *cells; i++)
			if (!load_cell_is_sound(f, t, &cells[i]))
				f->bytes_damaged += sizeof *cells;
	}
}

/* False: a part claims a time that cannot be, and has got another. */
static bool check_trace(struct load_file *f, struct load_thread *t)
{
	bool ok = true;
	uint64_t latest_ns = f->header.start_mono_ns + LOAD_LONGEST_NS, now_ns = 0;
	for (size_t p = 0; p < t->trace.n; p++) {
		if (t->trace.at[p].first > latest_ns) {
			t->trace.at[p].first =
				t->last_trace_ns; /* the deltas are all that can be believed */
			ok = false;
		}
		/* as model_trace_read() reads it: time never runs back */
		struct load_trace_step s = {
			.time_ns = t->trace.at[p].first > now_ns ? t->trace.at[p].first : now_ns,
			.latest_ns = latest_ns};
		while (load_trace_next(&t->trace.at[p], &s)) {
			if (!target_is_sound(f, t, s.node, s.metric)) {
				f->bytes_damaged += sizeof(uint64_t);
				continue;
			}
			if (!t->n_trace_records++ || s.time_ns < t->first_trace_ns)
				t->first_trace_ns = s.time_ns;
			if (s.time_ns > t->last_trace_ns)
				t->last_trace_ns = s.time_ns;
		}
		now_ns = s.time_ns;
		load_release(f, t->trace.at[p].n_bytes);
	}
	return ok;
}

bool load_check_values(struct load_file *f)
{
	const uint64_t damaged = f->bytes_damaged;
	bool ok = true;
	f->leaves_values = false;
	for (size_t i = 0; i < f->threads.n; i++) {
		check_cells(f, &f->threads.at[i]);
		ok &= check_trace(f, &f->threads.at[i]);
	}
	ok &= f->bytes_damaged == damaged;
	if (f->is_live) /* see note_live() */
		f->bytes_damaged = damaged;
	return ok;
}

bool load_cell_is_sound(const struct load_file *f, const struct load_thread *t,
			const struct msr_cell *c)
{
	return target_is_sound(f, t, c->node, c->metric) && load_cell_is_plausible(c);
}

bool load_is_live(const struct load_file *f, const struct load_thread *t)
{
	if (f->header.end_mono_ns || !t->now)
		return false;
	if (f->copied_ns)
		return true;
	/* relaxed: only whether they changed; `delivered` is counted before the sample is stored */
	uint64_t delivered = atomic_load_explicit(&t->now->delivered, memory_order_relaxed);
	uint64_t recorded = atomic_load_explicit(&t->now->recorded, memory_order_relaxed);
	return delivered != t->record->delivered || recorded != t->record->recorded;
}

/* What such a file names and does not hold yet is no damage. */
static void note_live(struct load_file *f)
{
	f->is_live = f->copied_ns && !f->header.end_mono_ns;
	for (size_t i = 0; i < f->threads.n; i++)
		f->is_live = f->is_live || load_is_live(f, &f->threads.at[i]);
	if (f->is_live) {
		f->bytes_damaged = 0;
		f->truncated = false;
	}
}

static enum status check_header(const char *name, struct load_file *f)
{
	unsigned major = 0;
	const struct local_part *part = local_data_part(f->map.bytes, f->map.n_bytes);
	const uint8_t *page = part ? (const uint8_t *)&part->header : f->map.bytes;
	switch (msr_check_header(page, f->map.n_bytes, &major)) {
	case MSR_HEADER_SHORT:
		log_warn(name, "holds nothing: %zu bytes, less than a header", f->map.n_bytes);
		return STATUS_NOT_FOUND;
	case MSR_HEADER_UNWRITTEN:
		log_warn(name, "holds nothing: its header was never written (the process was "
			       "killed, or its node went down, while it started)");
		return STATUS_NOT_FOUND;
	case MSR_HEADER_NOT_OURS:
		log_error(name, "not a measurement file of hpcrun-lite");
		return STATUS_BAD_INPUT;
	case MSR_HEADER_OTHER_VERSION:
		log_error(name,
			  "measurement format version %u is not supported; this program reads "
			  "version %d",
			  major, MSR_VERSION_MAJOR);
		return STATUS_UNSUPPORTED;
	case MSR_HEADER_SOUND:
		break;
	}
	memcpy(&f->header, page, sizeof f->header);
	f->header.host[sizeof f->header.host - 1] = 0;
	f->rank = f->header.rank;
	if (part)
		f->copied_ns = part->copied_mono_ns ? part->copied_mono_ns : 1;
	return STATUS_OK;
}

static enum status read_all(const char *name, struct load_file *f)
{
	f->executable = f->directory = "";
	enum status s = check_header(name, f);
	if (s == STATUS_OK)
		s = scan(f);
	load_check_regions(f);
	for (size_t i = 0; s == STATUS_OK && i < f->threads.n; i++) {
		s = check_nodes(f, &f->threads.at[i]);
		if (s)
			break;
		order_values(f, &f->threads.at[i]);
		s = load_unsampled_wait(f, &f->threads.at[i]);
	}
	if (s == STATUS_OK && !f->leaves_values)
		load_check_values(f);
	if (s == STATUS_OK) {
		load_mpi_finish(f);
		load_check_phases(f);
		load_nvtx_finish(f);
	}
	if (s == STATUS_NO_MEMORY)
		log_error(name, "out of memory");
	return s;
}

enum status load_file_bytes(const char *name, const uint8_t *bytes, size_t n_bytes,
			    struct load_file *f)
{
	f->map.bytes = bytes;
	f->map.n_bytes = n_bytes;
	return read_all(name, f);
}

static enum status keep_path(const char *path, struct load_file *f)
{
	f->path = strdup(path);
	if (f->path)
		return STATUS_OK;
	log_error(path, "out of memory");
	return STATUS_NO_MEMORY;
}

void load_warn_of_damage(const struct load_file *f)
{
	if (f->truncated)
		log_warn(f->path,
			 "truncated: read as far as it goes (%" PRIu64 " bytes missing or damaged)",
			 f->bytes_damaged);
	else if (f->bytes_damaged)
		log_warn(f->path, "damaged: %" PRIu64 " bytes skipped", f->bytes_damaged);
}

static enum status read_path(const char *path, struct load_file *f)
{
	enum status s = read_all(path, f);
	note_live(f);
	load_release(f, LOAD_ALL);
	return s;
}

enum status load_file_open(const char *path, struct load_file *f)
{
	enum status s = keep_path(path, f);
	if (s)
		return s;
	s = inside_map(path, 1, &f->map);
	if (s == STATUS_NOT_FOUND) {
		log_error(path, "no such file");
		return STATUS_IO;
	}
	if (s == STATUS_OK)
		s = load_from_node(path, f);
	return s ? s : read_path(path, f);
}

/* What a brief child leaves out, because it is as in the file's own process. */
static enum status inherit(struct load_file *f, const struct load_file *parent)
{
	const char **events = parent->events.n ? vec_extend(&f->events, parent->events.n) : NULL;
	memcpy(f->metrics, parent->metrics, sizeof f->metrics);
	f->executable = parent->executable;
	f->directory = parent->directory;
	f->job = parent->job;
	f->processors = parent->processors;
	f->called = parent->called;
	if (parent->command)
		f->command = strdup(parent->command);
	if (parent->command_line)
		f->command_line = strdup(parent->command_line);
	if (events)
		memcpy(events, parent->events.at, parent->events.n * sizeof *events);
	const bool is_whole = (!parent->command || f->command) &&
			      (!parent->command_line || f->command_line) &&
			      (!parent->events.n || events);
	if (!is_whole)
		log_error(parent->path, "out of memory");
	return is_whole ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status load_file_inside(const struct load_file *parent, size_t i, struct load_file *f)
{
	const struct msr_view *v = &parent->inside.at[i];
	enum status s = parent->path ? keep_path(parent->path, f) : STATUS_OK;
	if (s)
		return s;
	f->is_inside = true;
	f->copied_ns = parent->copied_ns;
	f->leaves_values = parent->leaves_values;
	f->map = (struct mapfile){.bytes = v->content,
				  .n_bytes = v->n_bytes,
				  .mtime_ns = parent->map.mtime_ns,
				  .owner = parent->map.owner};
	s = f->path ? read_path(f->path, f) : read_all("", f);
	return s == STATUS_OK && msr_is_brief(&f->header) ? inherit(f, parent) : s;
}

void load_file_close(struct load_file *f)
{
	for (size_t i = 0; i < f->threads.n; i++) {
		struct load_thread *t = &f->threads.at[i];
		free(t->copy);
		if (f->is_outline) /* has no trees, cells and time lines */
			continue;
		vec_free(&t->nodes);
		vec_free(&t->cells);
		vec_free(&t->trace);
		vec_free(&t->ranges);
		vec_free(&t->nvtx_events);
		free(t->node_to);
		free(t->shown_to);
	}
	load_gpu_free(&f->gpu);
	load_mpi_free(&f->mpi);
	load_nvtx_free(&f->nvtx);
	vec_free(&f->threads);
	vec_free(&f->modules);
	vec_free(&f->python);
	vec_free(&f->torch_modules);
	vec_free(&f->wait_objects);
	vec_free(&f->notes);
	vec_free(&f->events);
	vec_free(&f->children);
	vec_free(&f->unmeasured);
	vec_free(&f->spawns);
	vec_free(&f->regions);
	vec_free(&f->phases);
	free(f->command);
	free(f->command_line);
	for (size_t i = 0; i < f->owned.n; i++)
		free(f->owned.at[i]);
	vec_free(&f->owned);
	vec_free(&f->inside);
	if (f->path && !f->is_inside)
		mapfile_close(&f->map);
	free(f->path);
	memset(f, 0, sizeof *f);
}
