/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See nvtx_sums.h. The index is a hash table of fixed size with linear probing. It can never be
 * full, because beyond ALL_MOST sums differ only by kind. Test: tests/cli/nvtx/nvtx_misuse.sh.
 */
#include "hpcrun-lite/runtime/sums/nvtx_sums.h"

#include "common/safe/one_writer.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/cct/cct.h"
#include "hpcrun-lite/cct/table.h"

#include <string.h>
#include <sys/mman.h>

#define ALL_MOST (2 * NVTX_SUMS_MOST) /* includes sums without a path */
#define SLOTS (2 * ALL_MOST)
#define SPARE 8u /* sums beyond both limits: one for each kind */

struct nvtx_sums {
	struct table ranges, events;
	uint32_t last;               /* the sum that was found last; 0: none */
	uint32_t depth, n_beyond;    /* depth of the stack; ranges pushed beyond it */
	uint32_t n_events;
	struct nvtx_pushed stack[NVTX_DEPTH_MOST];
	/* by number: the record */
	struct msr_nvtx_range *at[ALL_MOST + SPARE];
	uint32_t index[SLOTS];       /* 1 + number; 0: free */
	struct table_extent many[2][TABLE_MAX_EXTENTS];
};

static struct nvtx_sums *make(uint32_t thread)
{
	if (!room_take(sizeof(struct nvtx_sums)))
		return NULL;
	long at = sys_mmap(NULL, sizeof(struct nvtx_sums), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		room_give(sizeof(struct nvtx_sums));
		return NULL;
	}
	struct nvtx_sums *s = (void *)at;
	table_init(&s->ranges, MSR_NVTX_RANGE, sizeof(struct msr_nvtx_range), thread, s->many[0]);
	table_init(&s->events, MSR_NVTX_EVENT, sizeof(struct msr_nvtx_event), thread, s->many[1]);
	return s;
}

static bool need(struct nvtx_thread *t, uint32_t thread)
{
	if (__builtin_expect(!t->sums, 0))
		t->sums = make(thread);
	return t->sums != NULL;
}

/* ---- sums ---- */

static inline bool is_of(const struct msr_nvtx_range *r, const struct nvtx_key *k)
{
	return r->node == k->node && r->name == k->name && r->kind == (uint32_t)k->kind;
}

static uint32_t *slot_of(struct nvtx_sums *s, const struct nvtx_key *k)
{
	uint64_t h = ((uint64_t)k->node << 32 | k->name << 2 | (uint32_t)k->kind) *
		     UINT64_C(0x9E3779B97F4A7C15);
	uint32_t at = (uint32_t)(h >> 40) % SLOTS;
	while (s->index[at] && !is_of(s->at[s->index[at] - 1], k))
		at = (at + 1) % SLOTS;
	return &s->index[at];
}

static uint32_t add_sum(struct nvtx_sums *s, const struct nvtx_key *k, enum msr_loss *cause)
{
	struct msr_nvtx_range *new = table_reserve_patiently(&s->ranges, cause);
	if (!new)
		return 0;
	*new = (struct msr_nvtx_range){.node = k->node,
				       .name = k->name,
				       .kind = (uint32_t)k->kind,
				       .least_ns = UINT64_MAX};
	const uint32_t number = table_commit(&s->ranges);
	s->at[number] = new;
	return number + 1;
}

uint32_t nvtx_sums_find(struct nvtx_thread *t, uint32_t thread, struct nvtx_key key,
			enum msr_loss *cause)
{
	*cause = MSR_LOSS_NO_MEMORY;
	if (!need(t, thread))
		return 0;
	struct nvtx_sums *s = t->sums;
	if (s->last && is_of(s->at[s->last - 1], &key))
		return s->last;
	uint32_t *slot = slot_of(s, &key);
	if (!*slot && s->ranges.n >= NVTX_SUMS_MOST) {
		key.node = 0;
		slot = slot_of(s, &key);
	}
	if (!*slot && s->ranges.n >= ALL_MOST) {
		key.name = 0;
		slot = slot_of(s, &key);
	}
	if (!*slot)
		*slot = add_sum(s, &key, cause);
	return s->last = *slot;
}

void nvtx_sums_begin(struct nvtx_thread *t, uint32_t id)
{
	if (id)
		one_writer_add(&t->sums->at[id - 1]->n_begun, 1);
}

static bool write_event(struct nvtx_sums *s, uint32_t id, uint64_t enter_ns, uint64_t leave_ns,
			uint32_t flags, enum msr_loss *cause)
{
	struct msr_nvtx_event *e = table_reserve_patiently(&s->events, cause);
	if (!e)
		return false;
	*e = (struct msr_nvtx_event){
		.enter_ns = enter_ns, .leave_ns = leave_ns, .range = id - 1, .flags = flags};
	table_commit(&s->events);
	s->n_events++;
	return true;
}

static double double_of(const _Atomic uint64_t *word)
{
	const uint64_t bits = one_writer_get(word);
	double d;
	memcpy(&d, &bits, sizeof d);
	return d;
}

static void set_double(_Atomic uint64_t *word, double d)
{
	uint64_t bits;
	memcpy(&bits, &d, sizeof bits);
	one_writer_set(word, bits);
}

static void add_value(struct msr_nvtx_range *r, double value)
{
	const bool is_first = one_writer_get(&r->n_values) == 0;
	set_double(&r->value_sum, double_of(&r->value_sum) + value);
	if (is_first || value < double_of(&r->value_least))
		set_double(&r->value_least, value);
	if (is_first || value > double_of(&r->value_most))
		set_double(&r->value_most, value);
	one_writer_add(&r->n_values, 1);
}

bool nvtx_sums_add(struct nvtx_thread *t, uint32_t id, const struct nvtx_event *e,
		   uint32_t n_events_most, enum msr_loss *cause)
{
	struct nvtx_sums *s = t->sums;
	struct msr_nvtx_range *r = s->at[id - 1];
	const uint64_t ns = e->leave_ns - e->enter_ns;
	one_writer_add(&r->n, 1);
	one_writer_add(&r->ns, ns);
	if (ns < one_writer_get(&r->least_ns))
		one_writer_set(&r->least_ns, ns);
	if (ns > one_writer_get(&r->most_ns))
		one_writer_set(&r->most_ns, ns);
	if (e->value)
		add_value(r, *e->value);
	/* Keep room for outermost ranges, which become phases and end after thousands of others. */
	if (s->depth || r->kind != MSR_NVTX_PUSHED)
		n_events_most -= n_events_most / 4;
	if (s->n_events >= n_events_most)
		return true;
	if (!write_event(s, id, e->enter_ns, e->leave_ns, 0, cause))
		return false;
	one_writer_add(&r->n_events, 1);
	return true;
}

/* ---- the stack ---- */

static void set_current(struct nvtx_thread *t)
{
	const struct nvtx_sums *s = t->sums;
	uint32_t id = 0;
	for (uint32_t i = s->depth; i-- > 0 && !id;)
		id = s->stack[i].id;
	/* Release, because the handler of this thread reads the record that it names. */
	atomic_store_explicit(&t->current, id, memory_order_release);
}

bool nvtx_sums_is_full(const struct nvtx_thread *t)
{
	return t->sums && t->sums->depth == NVTX_DEPTH_MOST;
}

void nvtx_sums_push(struct nvtx_thread *t, uint32_t thread, const struct nvtx_pushed *p)
{
	if (!need(t, thread))
		return;
	struct nvtx_sums *s = t->sums;
	if (nvtx_sums_is_full(t)) {
		s->n_beyond++;
		return;
	}
	s->stack[s->depth++] = *p;
	if (p->id)
		atomic_store_explicit(&t->current, p->id, memory_order_release);
}

/* A range pushed beyond the stack has no domain, so we assume that it is popped first. */
bool nvtx_sums_pop(struct nvtx_thread *t, uint32_t domain, struct nvtx_pushed *p)
{
	struct nvtx_sums *s = t->sums;
	if (s && s->n_beyond) {
		s->n_beyond--;
		return false;
	}
	uint32_t i = s ? s->depth : 0;
	while (i > 0 && s->stack[i - 1].domain != domain)
		i--;
	if (i == 0)
		return false;
	*p = s->stack[i - 1];
	for (; i < s->depth; i++)
		s->stack[i - 1] = s->stack[i];
	s->depth--;
	set_current(t);
	return true;
}

/* ---- the end ---- */

void nvtx_sums_close(struct nvtx_thread *t, uint64_t now_ns, uint32_t n_events_most)
{
	struct nvtx_sums *s = t->sums;
	enum msr_loss cause;
	for (uint32_t i = 0; s && i < s->depth; i++)
		if (s->stack[i].id && s->n_events < n_events_most)
			write_event(s, s->stack[i].id, s->stack[i].enter_ns, now_ns,
				    MSR_NVTX_EVENT_OPEN, &cause);
}

void nvtx_sums_trim(struct nvtx_thread *t)
{
	if (!t->sums)
		return;
	table_trim(&t->sums->ranges);
	table_trim(&t->sums->events);
}

void nvtx_sums_free(struct nvtx_thread *t, bool keeps_file)
{
	atomic_store_explicit(&t->current, 0, memory_order_relaxed);
	if (t->sums && keeps_file)
		nvtx_sums_trim(t);
	if (t->sums) {
		sys_munmap(t->sums, sizeof *t->sums);
		room_give(sizeof *t->sums);
	}
	t->sums = NULL;
}

bool nvtx_sums_enter(const struct nvtx_thread *t, struct cct *tree, uint32_t *node,
		     enum msr_loss *cause)
{
	/* acquire: the record of the range was written before */
	const uint32_t id = atomic_load_explicit(&t->current, memory_order_acquire);
	return !id || cct_child(tree, *node, msr_addr_make(MSR_MODULE_NONE, MSR_NVTX + id, false),
				node, cause);
}
