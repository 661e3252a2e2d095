/* SPDX-License-Identifier: BSD-3-Clause */
/* The writer behind gen.h. Must not share code with the readers it tests, apart from the layout in
 * measurement.h. */
#include "tests/gen/gen.h"

#include "common/base/map.h"
#include "common/base/vec.h"
#include "tests/gen/gen_extent.h"
#include "tests/gen/gen_gpu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct trace_extent {
	uint64_t first_ns;
	size_t start, n; /* in the thread's trace words */
};

struct gen_thread {
	struct msr_thread record;
	VEC(struct msr_node) nodes;
	VEC(struct msr_cell) cells;
	VEC(uint64_t) trace;
	VEC(struct trace_extent) trace_extents;
	struct map node_of; /* (parent, address) -> node */
	uint64_t last_ns;
};

struct gen_region {
	uint32_t thread;
	struct msr_omp_region record;
};

struct gen {
	char *path;
	struct msr_header header;
	uint32_t extent_bytes;
	bool no_trace;
	uint64_t last_ns;
	VEC(uint8_t) info, metrics, modules, waits, unmeasured, spawns, wait_objects;
	VEC(struct msr_phase) phases;
	VEC(struct gen_region) regions;
	uint32_t n_metrics;
	uint16_t n_modules;
	VEC(struct gen_thread *) threads;
	struct gen_gpu *gpu;
	int fd;
	uint64_t offset;
};

static void *check(void *p)
{
	if (!p) {
		fprintf(stderr, "gen: out of memory\n");
		exit(99);
	}
	return p;
}

static void must(bool ok, const char *what)
{
	if (!ok) {
		fprintf(stderr, "gen: %s: %s\n", what, strerror(errno));
		exit(99);
	}
}

struct gen *gen_open(const char *directory, const struct gen_process *p)
{
	struct gen *g = check(calloc(1, sizeof *g));
	const char *host = p->host ? p->host : "node0";
	char rank[16] = "", exec[16] = "";
	if (p->rank >= 0)
		snprintf(rank, sizeof rank, "%d-", p->rank);
	if (p->exec_seq)
		snprintf(exec, sizeof exec, ".%u", p->exec_seq);
	must(mkdir(directory, 0777) == 0 || errno == EEXIST, directory);
	must(asprintf(&g->path, "%s/%s%s-%u%s" MSR_SUFFIX, directory, rank, host, p->pid, exec) > 0,
	     directory);
	struct msr_header *h = &g->header;
	memcpy(h->magic, MSR_MAGIC, sizeof h->magic);
	h->version_major = MSR_VERSION_MAJOR;
	h->version_minor = MSR_VERSION_MINOR;
	h->header_bytes = MSR_HEADER_BYTES;
	h->pid = p->pid;
	h->parent_pid = 1;
	h->rank = p->rank;
	h->n_ranks = p->rank >= 0 ? p->n_ranks : -1;
	h->host_id = hash_bytes(host, strlen(host));
	h->start_mono_ns = p->start_mono_ns;
	h->start_real_ns = p->start_real_ns;
	h->process_start_ns = p->start_mono_ns;
	h->exec_seq = p->exec_seq;
	h->flags = (p->no_trace ? 0 : MSR_FLAG_TRACE) | (p->exec_seq ? 0 : MSR_FLAG_ROOT);
	snprintf(h->host, sizeof h->host, "%s", host);
	g->extent_bytes = p->extent_bytes ? p->extent_bytes : 65536;
	g->no_trace = p->no_trace;
	g->last_ns = p->start_mono_ns;
	return g;
}

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

void gen_info(struct gen *g, const char *key, const char *value)
{
	struct msr_info r = {0};
	r.key_bytes = (uint32_t)strlen(key) + 1;
	r.value_bytes = (uint32_t)strlen(value) + 1;
	r.bytes = (uint32_t)round_up(sizeof r + r.key_bytes + r.value_bytes, 8);
	uint8_t *at = check(vec_extend(&g->info, r.bytes));
	memcpy(at, &r, sizeof r);
	memcpy(at + sizeof r, key, r.key_bytes);
	memcpy(at + sizeof r + r.key_bytes, value, r.value_bytes);
	if (strcmp(key, "command") == 0)
		for (size_t i = 0; i + 1 < r.value_bytes; i++)
			if (at[sizeof r + r.key_bytes + i] == ' ')
				at[sizeof r + r.key_bytes + i] = 0;
}

void gen_wait(struct gen *g, uint32_t pid, int32_t status, uint64_t end_ns, uint64_t cpu_ns)
{
	const struct msr_child r = {
		.pid = pid, .status = status, .end_ns = end_ns, .cpu_ns = cpu_ns};
	memcpy(check(vec_extend(&g->waits, sizeof r)), &r, sizeof r);
}

void gen_region(struct gen *g, uint32_t thread, const struct msr_omp_region *record)
{
	struct gen_region *r = check(vec_push(&g->regions));
	r->thread = thread;
	r->record = *record;
}

void gen_unmeasured(struct gen *g, uint32_t pid, uint32_t reason, const char *path,
	uint64_t start_ns, uint64_t cpu_before_ns)
{
	struct msr_unmeasured r = {.pid = pid,
		.reason = reason,
		.path_bytes = (uint32_t)strlen(path) + 1,
		.start_ns = start_ns,
		.cpu_before_ns = cpu_before_ns};
	r.bytes = (uint32_t)round_up(sizeof r + r.path_bytes, 8);
	uint8_t *at = check(vec_extend(&g->unmeasured, r.bytes));
	memcpy(at, &r, sizeof r);
	memcpy(at + sizeof r, path, r.path_bytes);
}

void gen_spawn(struct gen *g, uint64_t id, uint32_t n, uint32_t reason, const char *path)
{
	struct msr_spawn r = {.path_bytes = (uint32_t)strlen(path) + 1,
			      .id = id,
			      .n_processes = n,
			      .reason = reason};
	r.bytes = (uint32_t)round_up(sizeof r + r.path_bytes, 8);
	uint8_t *at = check(vec_extend(&g->spawns, r.bytes));
	memcpy(at, &r, sizeof r);
	memcpy(at + sizeof r, path, r.path_bytes);
}

void gen_phase(struct gen *g, const struct msr_phase *record)
{
	*(struct msr_phase *)check(vec_push(&g->phases)) = *record;
}

void gen_wait_object(struct gen *g, uint32_t id, enum msr_wait_object_kind kind, msr_addr addr,
	const char *text)
{
	struct msr_wait_object r = {.id = id,
		.kind = (uint32_t)kind,
		.text_bytes = (uint32_t)strlen(text) + 1,
		.addr = addr};
	r.bytes = (uint32_t)round_up(sizeof r + r.text_bytes, 8);
	uint8_t *at = check(vec_extend(&g->wait_objects, r.bytes));
	memcpy(at, &r, sizeof r);
	memcpy(at + sizeof r, text, r.text_bytes);
}

uint16_t gen_module(struct gen *g, const char *path, const uint8_t *build_id,
		    uint32_t build_id_bytes, uint16_t flags)
{
	struct msr_module r = {.id = ++g->n_modules,
			       .flags = flags,
			       .build_id_bytes = build_id_bytes,
			       .file_bytes = 4096};
	r.path_bytes = (uint32_t)strlen(path) + 1;
	r.bytes = (uint32_t)round_up(sizeof r + r.path_bytes, 8);
	r.bias = UINT64_C(0x7f0000000000) + r.id * UINT64_C(0x10000000);
	r.map_start = r.bias;
	r.map_end = r.bias + 0x8000000;
	if (build_id_bytes)
		memcpy(r.build_id, build_id, build_id_bytes);
	uint8_t *at = check(vec_extend(&g->modules, r.bytes));
	memcpy(at, &r, sizeof r);
	memcpy(at + sizeof r, path, r.path_bytes);
	return r.id;
}

uint32_t gen_metric(struct gen *g, const char *name, enum msr_unit unit, uint64_t period,
		    enum msr_source source)
{
	struct msr_metric r = {
		.id = g->n_metrics++, .unit = unit, .period = period, .source = source};
	snprintf(r.name, sizeof r.name, "%s", name);
	snprintf(r.description, sizeof r.description, "synthetic %s", name);
	memcpy(check(vec_extend(&g->metrics, sizeof r)), &r, sizeof r);
	return r.id;
}

uint32_t gen_thread(struct gen *g, const char *name)
{
	struct gen_thread *t = check(calloc(1, sizeof *t));
	t->record.number = (uint32_t)g->threads.n;
	t->record.tid = g->header.pid + t->record.number;
	t->record.start_ns = g->header.start_mono_ns;
	t->last_ns = g->header.start_mono_ns;
	snprintf(t->record.name, sizeof t->record.name, "%s", name);
	check(vec_push(&t->nodes)); /* the root */
	*(struct gen_thread **)check(vec_push(&g->threads)) = t;
	return t->record.number;
}

struct msr_thread *gen_thread_record(struct gen *g, uint32_t thread)
{
	return &g->threads.at[thread]->record;
}

struct msr_header *gen_header(struct gen *g)
{
	return &g->header;
}

uint32_t gen_child(struct gen *g, uint32_t thread, uint32_t parent, msr_addr addr)
{
	struct gen_thread *t = g->threads.at[thread];
	uint64_t id = map_put(&t->node_of, parent, addr, t->nodes.n);
	must(id != MAP_NONE, "map");
	if (id == t->nodes.n) {
		struct msr_node *n = check(vec_push(&t->nodes));
		n->addr = addr;
		n->parent = parent;
	}
	return (uint32_t)id;
}

uint32_t gen_entry(struct gen *g, uint32_t thread, uint32_t synthetic)
{
	return gen_child(g, thread, 0, msr_addr_make(MSR_MODULE_NONE, synthetic, false));
}

static struct msr_cell *find_cell(struct gen_thread *t, uint32_t node, uint32_t metric)
{
	for (uint32_t c = t->nodes.at[node].first_cell; c; c = t->cells.at[c - 1].next)
		if (t->cells.at[c - 1].metric == metric)
			return &t->cells.at[c - 1];
	struct msr_cell *cell = check(vec_push(&t->cells));
	cell->node = node;
	cell->metric = (uint16_t)metric;
	cell->next = t->nodes.at[node].first_cell;
	t->nodes.at[node].first_cell = (uint32_t)t->cells.n;
	return cell;
}

static void add_trace(struct gen *g, struct gen_thread *t, uint32_t node, uint32_t metric,
		      uint64_t time_ns)
{
	struct trace_extent *e =
		t->trace_extents.n ? &t->trace_extents.at[t->trace_extents.n - 1] : NULL;
	if (!e || (e->n + 3) * sizeof(uint64_t) > g->extent_bytes) {
		e = check(vec_push(&t->trace_extents));
		e->first_ns = time_ns;
		e->start = t->trace.n;
		t->last_ns = time_ns;
	}
	uint64_t dt = time_ns - t->last_ns;
	uint64_t *at = check(vec_extend(&t->trace, dt > UINT32_MAX ? 3 : 1));
	if (dt > UINT32_MAX) {
		*at++ = msr_trace_make(0, MSR_TRACE_TAG_ESCAPE, MSR_TRACE_ABSOLUTE);
		*at++ = time_ns;
		dt = 0;
	}
	*at = msr_trace_make((uint32_t)dt, metric, node);
	e->n = t->trace.n - e->start;
	t->last_ns = time_ns;
}

void gen_sample(struct gen *g, uint32_t thread, uint32_t node, uint32_t metric, uint64_t time_ns,
		uint64_t weight)
{
	struct gen_thread *t = g->threads.at[thread];
	struct msr_cell *cell = find_cell(t, node, metric);
	cell->count++;
	cell->sum += weight;
	t->record.delivered++;
	t->record.recorded++;
	uint32_t top = node, depth = 0;
	for (; t->nodes.at[top].parent; top = t->nodes.at[top].parent)
		depth++;
	uint64_t entry = msr_addr_link(t->nodes.at[top].addr);
	t->record.n_frames += depth;
	uint64_t end = entry >= MSR_ENTRY_PARTIAL ? entry - MSR_ENTRY_PARTIAL : MSR_END_ROOT;
	t->record.path_ends[end < 16 ? end : 15]++;
	if (!g->no_trace && time_ns)
		add_trace(g, t, node, metric, time_ns);
	if (time_ns > g->last_ns)
		g->last_ns = time_ns;
}

void gen_weight(struct gen *g, uint32_t thread, uint32_t node, uint32_t metric, uint64_t n,
		uint64_t weight)
{
	struct gen_thread *t = g->threads.at[thread];
	struct msr_cell *cell = find_cell(t, node, metric);
	cell->count += n;
	cell->sum += weight;
	t->record.delivered += n;
	t->record.recorded += n;
}

void gen_loss(struct gen *g, uint32_t thread, enum msr_loss cause, uint64_t n)
{
	struct gen_thread *t = g->threads.at[thread];
	t->record.losses[cause] += n;
	if (msr_loss_takes_sample(cause))
		t->record.delivered += n;
}

void gen_process_loss(struct gen *g, enum msr_loss cause, uint64_t n)
{
	g->header.losses[cause] += n;
}

void gen_in_flight(struct gen *g, uint32_t thread)
{
	g->threads.at[thread]->record.delivered++;
}

static void put(struct gen *g, const void *bytes, size_t n)
{
	for (const char *at = bytes; n;) {
		ssize_t done = write(g->fd, at, n);
		must(done > 0, g->path);
		at += done;
		n -= (size_t)done;
		g->offset += (uint64_t)done;
	}
}

void gen_put_extent(struct gen *g, const struct gen_extent *s, const void *content, size_t n_bytes)
{
	static const char zeros[8192];
	struct msr_extent e = {.magic = MSR_EXTENT_MAGIC,
			       .kind = (uint16_t)s->kind,
			       .record_bytes = s->record_bytes,
			       .thread = s->thread,
			       .sequence = s->sequence,
			       .first = s->first,
			       .used = n_bytes};
	e.length = round_up(sizeof e + n_bytes + s->slack, MSR_EXTENT_ALIGN);
	e.check = msr_extent_check(&e);
	put(g, &e, sizeof e);
	put(g, content, n_bytes);
	for (size_t pad = e.length - sizeof e - n_bytes; pad;) {
		size_t n = pad < sizeof zeros ? pad : sizeof zeros;
		put(g, zeros, n);
		pad -= n;
	}
}

/* Part `sequence` of an array of records; false when there is none. */
static bool put_part(struct gen *g, struct gen_extent s, const void *records, size_t n)
{
	size_t per_extent = g->extent_bytes / s.record_bytes;
	s.first = s.sequence * per_extent;
	if (s.first >= n)
		return false;
	size_t count = n - s.first < per_extent ? n - s.first : per_extent;
	s.slack = (per_extent - count) * s.record_bytes % 512;
	gen_put_extent(g, &s, (const char *)records + s.first * s.record_bytes,
		       count * s.record_bytes);
	return true;
}

static bool put_trace_part(struct gen *g, const struct gen_thread *t, uint32_t sequence)
{
	if (sequence >= t->trace_extents.n)
		return false;
	const struct trace_extent *e = &t->trace_extents.at[sequence];
	struct gen_extent s = {MSR_TRACE, 8, t->record.number, sequence, e->first_ns, 64};
	gen_put_extent(g, &s, t->trace.at + e->start, e->n * 8);
	return true;
}

/* Extents of the threads take turns, as they do when threads run side by side. */
static void put_threads(struct gen *g)
{
	for (size_t i = 0; i < g->threads.n; i++) {
		struct gen_extent s = {MSR_THREAD, sizeof(struct msr_thread), (uint32_t)i, 0, 0, 0};
		gen_put_extent(g, &s, &g->threads.at[i]->record, sizeof(struct msr_thread));
	}
	bool more = true;
	for (uint32_t sequence = 0; more; sequence++) {
		more = false;
		for (uint32_t i = 0; i < g->threads.n; i++) {
			const struct gen_thread *t = g->threads.at[i];
			more |= put_part(g,
					 (struct gen_extent){MSR_NODE, sizeof(struct msr_node), i,
							     sequence, 0, 0},
					 t->nodes.at, t->nodes.n);
			more |= put_part(g,
					 (struct gen_extent){MSR_CELL, sizeof(struct msr_cell), i,
							     sequence, 0, 0},
					 t->cells.at, t->cells.n);
			more |= put_trace_part(g, t, sequence);
		}
	}
}

uint32_t gen_extent_bytes(const struct gen *g)
{
	return g->extent_bytes;
}

void gen_moment(struct gen *g, uint64_t mono_ns)
{
	g->last_ns = mono_ns > g->last_ns ? mono_ns : g->last_ns;
}

struct gen_gpu *gen_gpu_of(struct gen *g)
{
	return g->gpu ? g->gpu : (g->gpu = gen_gpu_new());
}

static void set_ends(struct gen *g, enum msr_exit_kind exit_kind, int32_t exit_code)
{
	g->header.exit_kind = exit_kind;
	g->header.exit_code = exit_code;
	if (exit_kind == MSR_EXIT_NONE)
		return;
	g->header.end_mono_ns = g->last_ns + 1000;
	g->header.end_real_ns =
		g->header.end_mono_ns - g->header.start_mono_ns + g->header.start_real_ns;
	for (size_t i = 0; i < g->threads.n; i++)
		if (!g->threads.at[i]->record.end_ns)
			g->threads.at[i]->record.end_ns = g->header.end_mono_ns;
}

static void gen_free(struct gen *g)
{
	for (size_t i = 0; i < g->threads.n; i++) {
		struct gen_thread *t = g->threads.at[i];
		vec_free(&t->nodes);
		vec_free(&t->cells);
		vec_free(&t->trace);
		vec_free(&t->trace_extents);
		map_free(&t->node_of);
		free(t);
	}
	vec_free(&g->threads);
	gen_gpu_free(g->gpu);
	vec_free(&g->info);
	vec_free(&g->waits);
	vec_free(&g->regions);
	vec_free(&g->unmeasured);
	vec_free(&g->spawns);
	vec_free(&g->phases);
	vec_free(&g->wait_objects);
	vec_free(&g->metrics);
	vec_free(&g->modules);
	free(g);
}

char *gen_close(struct gen *g, enum msr_exit_kind exit_kind, int32_t exit_code)
{
	static const char zeros[MSR_HEADER_BYTES];
	set_ends(g, exit_kind, exit_code);
	g->fd = open(g->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	must(g->fd >= 0, g->path);
	put(g, &g->header, sizeof g->header);
	put(g, zeros, MSR_HEADER_BYTES - sizeof g->header);
	if (g->waits.n)
		gen_put_extent(g,
			&(struct gen_extent){
				MSR_CHILD, sizeof(struct msr_child), UINT32_MAX, 0, 0, 0},
			g->waits.at, g->waits.n);
	for (uint32_t i = 0; i < g->regions.n; i++) {
		const struct gen_region *r = &g->regions.at[i];
		gen_put_extent(g,
			       &(struct gen_extent){.kind = MSR_OMP_REGION,
						    .record_bytes = sizeof r->record,
						    .thread = r->thread,
						    .sequence = i},
			       &r->record, sizeof r->record);
	}
	if (g->phases.n)
		gen_put_extent(g,
			       &(struct gen_extent){.kind = MSR_PHASE,
						    .record_bytes = sizeof *g->phases.at,
						    .thread = UINT32_MAX},
			       g->phases.at, g->phases.n * sizeof *g->phases.at);
	if (g->unmeasured.n)
		gen_put_extent(g, &(struct gen_extent){MSR_UNMEASURED, 0, UINT32_MAX, 0, 0, 0},
			g->unmeasured.at, g->unmeasured.n);
	if (g->spawns.n)
		gen_put_extent(g, &(struct gen_extent){MSR_SPAWN, 0, UINT32_MAX, 0, 0, 0},
			g->spawns.at, g->spawns.n);
	if (g->wait_objects.n)
		gen_put_extent(g, &(struct gen_extent){MSR_WAIT_OBJECT, 0, UINT32_MAX, 0, 0, 0},
			g->wait_objects.at, g->wait_objects.n);
	if (g->info.n)
		gen_put_extent(g, &(struct gen_extent){MSR_INFO, 0, UINT32_MAX, 0, 0, 0},
			       g->info.at, g->info.n);
	if (g->metrics.n)
		gen_put_extent(g,
			       &(struct gen_extent){MSR_METRIC, sizeof(struct msr_metric),
						    UINT32_MAX, 0, 0, 0},
			       g->metrics.at, g->metrics.n);
	if (g->modules.n)
		gen_put_extent(g, &(struct gen_extent){MSR_MODULE, 0, UINT32_MAX, 0, 0, 256},
			       g->modules.at, g->modules.n);
	put_threads(g);
	gen_gpu_write(g, g->gpu);
	uint64_t allocated = g->offset;
	must(pwrite(g->fd, &allocated, sizeof allocated, offsetof(struct msr_header, allocated)) ==
		     sizeof allocated,
	     g->path);
	must(close(g->fd) == 0, g->path);
	char *path = g->path;
	gen_free(g);
	return path;
}
