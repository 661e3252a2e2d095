/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See gpu_join.h. Makes two passes over the operations: the first counts those of each queue, the
 * second joins. Test: tests/unit/prof_gpu/test_gpu_join.c.
 */
#include "hpcprof-lite/attribute/gpu/join/gpu_join.h"

#include "common/base/capped.h"
#include "common/base/sorted.h"
#include "hpcprof-lite/attribute/gpu/join/gpu_clock.h"
#include "hpcprof-lite/attribute/gpu/join/gpu_line.h"
#include "hpcprof-lite/load/load_records.h"

#include <stdlib.h>
#include <string.h>

/* recently used cells: programs launch the same few operations again and again */
enum { N_RECENT = 8 };

struct queue_state {
	struct gpu_clock clock;
	uint64_t n;                   /* operations with a time line */
	struct model_gpu_item *items; /* where the next item goes */
};

struct recent {
	uint64_t a, b;
	uint32_t cell;
};

struct run {
	struct gpu_join *j;
	const struct load_gpu *g;
	struct queue_state *queues;   /* by id */
	struct map index;             /* of cells */
	struct recent recent[N_RECENT];
	uint64_t latest_ns;           /* a later time is damage */
	uint8_t *is_wanted;           /* one bit for each launch: samples or values refer to it */
	bool wants_lines;
};

uint32_t gpu_join_function(const struct load_gpu *g, uint32_t shape)
{
	const struct msr_gpu_shape *s = load_gpu_shape(g, shape);
	return s ? s->function : 0;
}

uint64_t gpu_join_groups(const struct load_gpu *g, uint32_t shape)
{
	const struct msr_gpu_shape *s = load_gpu_shape(g, shape);
	uint64_t n = s && s->grid[0] ? s->grid[0] : 0;
	for (unsigned i = 1; n && i < 3; i++)
		if (s->grid[i] && __builtin_mul_overflow(n, s->grid[i], &n))
			return UINT64_MAX;
	return n;
}

/* ---- cells ---- */

static uint64_t key_a(const struct gpu_cell *c)
{
	return (uint64_t)c->thread << 32 | c->node;
}

/* Only kernels have a shape and a site; only other kinds have a detail. */
static uint64_t key_b(const struct gpu_cell *c)
{
	uint64_t low = c->kind == MSR_GPU_KERNEL ? (uint64_t)c->site << 32 | c->shape
		       : c->kind == GPU_CELL_REFUSED
			       ? (uint64_t)c->site << 8 | c->detail
			       : c->detail;
	return (uint64_t)c->kind << 60 | (uint64_t)c->place << 58 | (uint64_t)c->is_measured << 57 |
	       low;
}

static uint32_t add_cell(struct gpu_join *j, struct map *index, const struct gpu_cell *key)
{
	uint64_t id = map_put(index, key_a(key), key_b(key), j->cells.n);
	if (id != j->cells.n)
		return id == MAP_NONE ? UINT32_MAX : (uint32_t)id;
	struct gpu_cell *c = vec_push(&j->cells);
	if (!c)
		return UINT32_MAX;
	*c = *key;
	c->n_ops = c->busy_ns = c->bytes = 0;
	c->cover = (struct gpu_cover){0};
	return (uint32_t)id;
}

static uint32_t find_cell(struct run *r, const struct gpu_cell *key)
{
	uint64_t a = key_a(key), b = key_b(key);
	struct recent *at = &r->recent[hash_u64(a ^ b * 3) % N_RECENT];
	if (at->cell && at->a == a && at->b == b)
		return at->cell - 1;
	uint32_t cell = add_cell(r->j, &r->index, key);
	if (cell != UINT32_MAX)
		*at = (struct recent){a, b, cell + 1};
	return cell;
}

static uint32_t thread_index(struct gpu_join *j, uint32_t number)
{
	const struct load_file *f = j->file;
	if (number == j->last_thread_number && j->last_thread < f->threads.n &&
	    f->threads.at[j->last_thread].number == number)
		return j->last_thread;
	size_t n = sorted_up_to(f->threads.at, f->threads.n, number, number);
	j->last_thread_number = number;
	return j->last_thread = n ? (uint32_t)n - 1 : 0;
}

void gpu_join_place(struct gpu_join *j, uint32_t number, uint32_t node, struct gpu_cell *key)
{
	const struct load_file *f = j->file;
	key->place = GPU_NO_PATH;
	if (number == UINT32_MAX || !f->threads.n)
		return;
	uint32_t index = thread_index(j, number);
	const struct load_thread *t = &f->threads.at[index];
	if (t->number != number)
		return;
	key->thread = index;
	key->is_measured = true;
	if (node && node < t->n_nodes && t->node_to[node] != LOAD_DAMAGED) {
		key->place = GPU_ON_PATH;
		key->node = node;
	}
}

/* ---- times ---- */

struct times {
	uint64_t enter_ns, start_ns, end_ns, error_ns; /* CLOCK_MONOTONIC */
	uint64_t busy_ns; /* by the device's own clock */
	bool is_bad;
};

static bool is_on_cpu(unsigned kind)
{
	return kind == MSR_GPU_SYNC || kind == MSR_GPU_ALLOC || kind == MSR_GPU_FREE;
}

static struct queue_state *queue_of(const struct run *r, const struct msr_gpu_op *op)
{
	const struct load_gpu_queue *q = load_gpu_find(&r->g->queues, op->queue);
	return q ? &r->queues[op->queue] : NULL;
}

/*
 * Converts the times of an operation, and counts operations whose times cannot be converted. On the
 * time line, such an operation starts at its call. Without a valid end it has length 0.
 */
static struct times convert(struct run *r, const struct msr_gpu_op *op, unsigned kind,
			    uint64_t enter_ns)
{
	struct queue_state *q = is_on_cpu(kind) ? NULL : queue_of(r, op);
	struct times t = {.enter_ns = enter_ns, .start_ns = op->start_ns, .end_ns = op->end_ns};
	uint64_t process_ns = r->j->file->header.start_mono_ns, end_error_ns, length;
	if (q && q->clock.n) {
		t.start_ns = gpu_clock_convert(&q->clock, op->start_ns, &t.error_ns);
		t.end_ns = gpu_clock_convert(&q->clock, op->end_ns, &end_error_ns);
	}
	bool has_length =
		op->end_ns >= op->start_ns && t.end_ns >= t.start_ns && t.end_ns <= r->latest_ns;
	t.is_bad = !has_length || (enter_ns && t.start_ns + t.error_ns < enter_ns);
	length = has_length ? t.end_ns - t.start_ns : 0;
	t.busy_ns = has_length ? op->end_ns - op->start_ns : 0;
	if (t.start_ns < process_ns || t.start_ns > r->latest_ns) {
		t.is_bad = true;
		t.start_ns =
			enter_ns > process_ns && enter_ns <= r->latest_ns ? enter_ns : process_ns;
	}
	t.end_ns = t.start_ns + length;
	if (t.end_ns > r->j->last_ns)
		r->j->last_ns = t.end_ns;
	return t;
}

/* ---- operations ---- */

/* Counts a loss. In a graph, either one of several operations is lost, or the launch itself. */
static void lose(struct run *r, uint64_t id, uint32_t launch, unsigned kind, unsigned cause)
{
	const struct load_gpu_part *from;
	cause = cause < MSR_GPU_LOSS_ROOM && cause != MSR_GPU_LOSS_NONE ? cause
									: MSR_GPU_LOSS_FAILED;
	if (launch == GPU_LAUNCH_NONE)
		return;
	if (!r->j->launches.state[launch])
		r->j->launches.state[launch] = (uint8_t)cause;
	if (kind != MSR_GPU_GRAPH &&
	    msr_gpu_launch_kind(gpu_launches_get(&r->j->launches, launch, &from)) == MSR_GPU_GRAPH)
		r->j->counts[load_gpu_backend(id)].graph_losses[cause]++;
}

static void put_wait(struct run *r, const struct times *t, uint32_t cell)
{
	const struct gpu_cell *c = &r->j->cells.at[cell];
	uint64_t to_real = r->j->file->header.start_real_ns - r->j->file->header.start_mono_ns;
	if (!r->j->waits)
		return;
	r->j->waits[r->j->n_waits++] =
		(struct model_gpu_wait){.start_ns = t->start_ns + to_real,
					.end_ns = t->start_ns + to_real + t->busy_ns,
					.cell = cell,
					.launcher = c->is_measured ? c->thread : MODEL_NONE};
}

static void put_item(struct run *r, const struct load_gpu_part *p, const struct msr_gpu_op *op,
		     const struct times *t, uint32_t cell)
{
	struct queue_state *q = queue_of(r, op);
	uint64_t to_real = r->j->file->header.start_real_ns - r->j->file->header.start_mono_ns;
	if (!q || !q->items) {
		r->j->n_untimed++;
		return;
	}
	uint64_t start_ns = t->start_ns + to_real, end_ns = t->end_ns + to_real;
	*q->items++ = (struct model_gpu_item){
		.start_ns = start_ns,
		.end_ns = end_ns > start_ns ? end_ns
					    : start_ns /* a damaged header makes them wrap */,
		.enter_ns = t->enter_ns ? t->enter_ns + to_real : 0,
		.record = op,
		.cell = cell,
		.has_waits = p->stride >= MSR_GPU_OP_LONG};
}

static bool has_line(unsigned kind)
{
	return kind == MSR_GPU_KERNEL || kind == MSR_GPU_COPY || kind == MSR_GPU_SET;
}

/* Finds how the time of a kernel was sampled. */
static void cover(struct run *r, const struct msr_gpu_op *op, const struct times *t,
		  struct gpu_cover *c)
{
	const struct load_gpu_queue *q = load_gpu_find(&r->g->queues, op->queue);
	gpu_ranges_cover(&r->j->ranges, q ? q->record->context : 0, t->start_ns, t->end_ns,
			 gpu_join_groups(r->g, op->shape), c);
}

/*
 * Adds operations that never ran, below their call. Before version 1.7 of the format, the error is
 * unknown.
 */
static bool add_refused(struct run *r, uint32_t thread, uint32_t node, unsigned kind,
			uint64_t error, uint64_t n)
{
	struct gpu_cell key = {.kind = GPU_CELL_REFUSED,
			       .detail = (uint8_t)kind,
			       .site = error < UINT32_MAX ? (uint32_t)error : UINT32_MAX,
			       .place = GPU_NO_LAUNCH};
	gpu_join_place(r->j, thread, node, &key);
	uint32_t cell = find_cell(r, &key);
	if (cell != UINT32_MAX)
		capped_grow(&r->j->cells.at[cell].n_ops, n);
	return cell != UINT32_MAX;
}

static bool add_refused_launch(struct run *r, uint32_t launch, unsigned kind, uint64_t error)
{
	const struct load_gpu_part *from;
	const struct msr_gpu_launch *l = gpu_launches_get(&r->j->launches, launch, &from);
	return add_refused(r, from->thread, msr_gpu_launch_node(l), kind, error, 1);
}

/* A context that is not defined is 0. */
static uint32_t context_of(const struct load_gpu *g, const struct msr_gpu_op *op)
{
	const struct load_gpu_context *c = load_gpu_find(&g->contexts, op->shape);
	return c ? op->shape : 0;
}

static bool join_op(struct run *r, const struct load_gpu_part *p, const struct msr_gpu_op *op)
{
	struct gpu_join *j = r->j;
	uint64_t id = msr_gpu_op_id(op);
	unsigned kind = msr_gpu_op_kind(op), detail = msr_gpu_op_detail(op),
		 backend = load_gpu_backend(id);
	if (!load_gpu_kind_is_sound(kind))
		return true;
	uint32_t launch = gpu_launches_find(&j->launches, id);
	if (msr_gpu_op_is_lost(op)) {
		lose(r, id, launch, kind, detail);
		if (kind == MSR_GPU_ALLOC && detail == MSR_GPU_LOSS_REFUSED &&
		    !gpu_memory_refused(&j->memory, context_of(r->g, op), op->end_ns))
			return false;
		return launch == GPU_LAUNCH_NONE || detail != MSR_GPU_LOSS_REFUSED ||
		       !op->amount || add_refused_launch(r, launch, kind, op->amount);
	}
	struct gpu_cell key = {
		.kind = (uint8_t)kind,
		.detail = kind == MSR_GPU_KERNEL ? 0 : (uint8_t)detail,
		.shape = kind == MSR_GPU_KERNEL && load_gpu_shape(r->g, op->shape) ? op->shape : 0,
		.place = GPU_NO_LAUNCH};
	uint64_t enter_ns = 0;
	if (launch != GPU_LAUNCH_NONE) {
		const struct load_gpu_part *from;
		const struct msr_gpu_launch *l = gpu_launches_get(&j->launches, launch, &from);
		j->launches.state[launch] = GPU_LAUNCH_JOINED;
		enter_ns = l->enter_ns;
		gpu_join_place(j, from->thread, msr_gpu_launch_node(l), &key);
	}
	if (kind == MSR_GPU_KERNEL && op->amount)
		key.site = gpu_graph_site(&j->graph, backend, op->amount);
	uint32_t cell = find_cell(r, &key);
	if (cell == UINT32_MAX)
		return false;
	struct times t = convert(r, op, kind, enter_ns);
	struct gpu_cell *c = &j->cells.at[cell];
	c->n_ops++;
	capped_grow(&c->busy_ns, t.busy_ns);
	capped_grow(&c->bytes, kind == MSR_GPU_KERNEL ? 0 : op->amount);
	if (kind == MSR_GPU_KERNEL && j->ranges.list.n)
		cover(r, op, &t, &c->cover);
	j->counts[backend].ops++;
	j->counts[backend].orphans += key.place == GPU_NO_LAUNCH;
	j->counts[backend].no_path += key.place == GPU_NO_PATH;
	j->counts[backend].bad_order += t.is_bad;
	if ((kind == MSR_GPU_ALLOC || kind == MSR_GPU_FREE) && op->shape &&
	    !(kind == MSR_GPU_FREE
		      ? gpu_memory_free(&j->memory, op->shape, t.start_ns)
		      : gpu_memory_allocate(&j->memory, &(struct gpu_allocation){
								.alloc_ns = t.end_ns,
								.free_ns = UINT64_MAX,
								.bytes = op->amount,
								.id_low = (uint32_t)id,
								.cell = cell,
								.context = context_of(r->g, op),
								.memory = (uint8_t)detail})))
		return false;
	if (has_line(kind))
		put_item(r, p, op, &t, cell);
	else if (kind == MSR_GPU_SYNC)
		put_wait(r, &t, cell);
	/* if the launch has several operations, the first counts */
	return launch == GPU_LAUNCH_NONE || !(r->is_wanted[launch / 8] >> launch % 8 & 1) ||
	       (map_put(&j->wanted, id, 0, cell) != MAP_NONE &&
		(!r->g->values.n || map_put(&j->wanted_ns, id, 0, t.busy_ns) != MAP_NONE));
}

/* Aggregates have no times, so they count only in the tree. */
static bool join_aggregates(struct run *r)
{
	for (size_t k = 0; k < r->g->aggregates.n; k++) {
		const struct load_gpu_part *p = &r->g->aggregates.at[k];
		for (uint64_t i = 0; i < p->n; i++) {
			const struct msr_gpu_aggregate *a = load_gpu_at(p, i);
			if (!load_gpu_kind_is_sound(a->kind)) {
				r->j->file->bytes_damaged += p->stride;
				continue;
			}
			if (a->detail && a->n_lost[0] &&
			    !add_refused(r, a->thread, a->node, a->kind, a->detail, a->n_lost[0]))
				return false;
			if (!a->n_ops)
				continue;
			struct gpu_cell key = {
				.kind = (uint8_t)a->kind,
				.detail = a->kind == MSR_GPU_KERNEL ? 0 : (uint8_t)a->detail,
				.shape = a->kind == MSR_GPU_KERNEL && load_gpu_shape(r->g, a->shape)
						 ? a->shape
						 : 0};
			gpu_join_place(r->j, a->thread, a->node, &key);
			uint32_t cell = find_cell(r, &key);
			if (cell == UINT32_MAX)
				return false;
			struct gpu_cell *c = &r->j->cells.at[cell];
			capped_grow(&c->n_ops, a->n_ops);
			capped_grow(&c->busy_ns, a->busy_ns);
			if (a->kind == MSR_GPU_SYNC)
				capped_grow(&r->j->summed_wait_ns, a->busy_ns);
			capped_grow(&c->bytes, a->kind == MSR_GPU_KERNEL ? 0 : a->amount);
			capped_grow(&r->j->counts[p->first % LOAD_GPU_BACKENDS].ops, a->n_ops);
			capped_grow(&r->j->counts[p->first % LOAD_GPU_BACKENDS].no_path,
				    key.place == GPU_NO_PATH ? a->n_ops : 0);
		}
	}
	return true;
}

/* ---- the passes ---- */

static bool prepare_queues(struct run *r)
{
	const struct load_gpu *g = r->g;
	uint64_t n = 0, n_waits = 0;
	r->queues = calloc(g->queues.n + 1, sizeof *r->queues);
	if (!r->queues)
		return false;
	for (uint32_t i = 0; i < g->queues.n; i++)
		if (g->queues.at[i].record)
			r->queues[i].clock = gpu_clock_find(g, g->queues.at[i].record->clock);
	for (size_t k = 0; r->wants_lines && k < g->ops.n; k++) {
		const struct load_gpu_part *p = &g->ops.at[k];
		for (uint64_t i = 0; i < p->n; i++) {
			const struct msr_gpu_op *op = load_gpu_at(p, i);
			struct queue_state *q =
				!msr_gpu_op_is_lost(op) && has_line(msr_gpu_op_kind(op))
					? queue_of(r, op)
					: NULL;
			if (q)
				q->n++;
			n_waits += msr_gpu_op_kind(op) == MSR_GPU_SYNC && !msr_gpu_op_is_lost(op);
		}
		load_release(r->j->file, p->n * p->stride);
	}
	for (size_t i = 0; i < g->queues.n; i++)
		n += r->queues[i].n;
	if (n && !space_get(&r->j->space, n * sizeof(struct model_gpu_item)))
		return false;
	if (n_waits && !space_get(&r->j->wait_space, n_waits * sizeof *r->j->waits))
		return false;
	r->j->waits = r->j->wait_space.at;
	struct model_gpu_item *at = r->j->space.at;
	for (size_t i = 0; i < g->queues.n; i++) {
		r->queues[i].items = r->queues[i].n ? at : NULL;
		at += r->queues[i].n;
	}
	return true;
}

static void want(struct run *r, uint64_t id)
{
	uint32_t launch =
		id ? gpu_launches_find(&r->j->launches, id & MSR_GPU_ID_MAX) : GPU_LAUNCH_NONE;
	if (launch != GPU_LAUNCH_NONE)
		r->is_wanted[launch / 8] |= (uint8_t)(1u << launch % 8);
}

/* Lists the launches that PC samples and values refer to. */
static bool list_wanted(struct run *r)
{
	r->is_wanted = calloc(r->j->launches.n / 8 + 1, 1);
	if (!r->is_wanted)
		return false;
	for (size_t k = 0; k < r->g->pcs.n; k++) {
		for (uint64_t i = 0; i < r->g->pcs.at[k].n; i++)
			want(r, ((const struct msr_gpu_pc *)load_gpu_at(&r->g->pcs.at[k], i))->id);
		load_release(r->j->file, r->g->pcs.at[k].n * r->g->pcs.at[k].stride);
	}
	for (size_t k = 0; k < r->g->values.n; k++)
		for (uint64_t i = 0; i < r->g->values.at[k].n; i++)
			want(r, ((const struct msr_gpu_value *)load_gpu_at(&r->g->values.at[k], i))
					->id);
	return true;
}

static bool join_all(struct run *r)
{
	for (size_t k = 0; k < r->g->ops.n; k++) {
		const struct load_gpu_part *p = &r->g->ops.at[k];
		for (uint64_t i = 0; i < p->n; i++)
			if (!join_op(r, p, load_gpu_at(p, i)))
				return false;
		load_release(r->j->file, p->n * p->stride);
	}
	return join_aggregates(r);
}

static bool finish_lines(struct run *r)
{
	for (uint32_t i = 0; i < r->g->queues.n; i++) {
		struct queue_state *q = &r->queues[i];
		if (!q->n)
			continue;
		struct gpu_line *line = vec_push(&r->j->lines);
		if (!line)
			return false;
		*line = (struct gpu_line){.queue = i, .items = q->items - q->n, .n = q->n};
		if (!gpu_line_finish(line))
			return false;
	}
	return true;
}

static int compare_waits(const void *pa, const void *pb)
{
	const struct model_gpu_wait *a = pa, *b = pb;
	if (a->launcher != b->launcher)
		return a->launcher < b->launcher ? -1 : 1;
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->end_ns > b->end_ns) - (a->end_ns < b->end_ns);
}

/* The records of each thread are in order, so there is seldom anything to sort. */
static void sort_waits(struct gpu_join *j)
{
	uint64_t i = 1;
	while (i < j->n_waits && compare_waits(&j->waits[i - 1], &j->waits[i]) <= 0)
		i++;
	if (i < j->n_waits)
		qsort(j->waits, j->n_waits, sizeof *j->waits, compare_waits);
}

static void find_last_launch(struct run *r)
{
	for (size_t k = 0; k < r->g->launches.n; k++) {
		const struct load_gpu_part *p = &r->g->launches.at[k];
		const struct msr_gpu_launch *l = load_gpu_at(p, p->n - 1);
		if (l->enter_ns > r->j->last_ns && l->enter_ns <= r->latest_ns)
			r->j->last_ns = l->enter_ns;
	}
}

bool gpu_join_run(struct gpu_join *j, struct load_file *f)
{
	struct run r = {.j = j,
			.g = &f->gpu,
			.latest_ns = f->header.start_mono_ns + LOAD_LONGEST_NS,
			.wants_lines = f->header.flags & MSR_FLAG_TRACE};
	j->file = f;
	gpu_clock_thin(&f->gpu);
	bool ok = gpu_launches_index(&j->launches, r.g) && gpu_graph_index(&j->graph, f) &&
		  gpu_ranges_read(&j->ranges, r.g) && list_wanted(&r) && prepare_queues(&r) &&
		  join_all(&r) && finish_lines(&r) && gpu_memory_match(&j->memory);
	if (ok) {
		find_last_launch(&r);
		sort_waits(j);
	}
	map_free(&r.index);
	free(r.queues);
	free(r.is_wanted);
	return ok;
}

void gpu_join_free(struct gpu_join *j)
{
	gpu_launches_free(&j->launches);
	gpu_graph_free(&j->graph);
	gpu_ranges_free(&j->ranges);
	gpu_memory_close(&j->memory);
	vec_free(&j->cells);
	for (size_t i = 0; i < j->lines.n; i++)
		free(j->lines.at[i].lane_n);
	vec_free(&j->lines);
	map_free(&j->wanted);
	map_free(&j->wanted_ns);
	space_free(&j->space);
	space_free(&j->wait_space);
}
