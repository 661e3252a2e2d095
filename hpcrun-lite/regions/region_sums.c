/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums over parallel regions; see region_sums.h. The thread adds, outside handlers. The thread that
 * has the lock writes. Must not allocate except by mmap, and must not wait. Test:
 * tests/unit/openmp/test_region_sums.c.
 */
#include "hpcrun-lite/regions/region_sums.h"

#include "common/safe/one_writer.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/store/store.h"

#include <string.h>
#include <sys/mman.h>

enum {
	SLOTS = 2 * REGION_MAX_SUMS, /* of the index; a power of two */
	PROBES = 16,
	FIRST_BYTES = 1024,          /* of the first extent, then NEXT_BYTES */
	NEXT_BYTES = 4096,
};

struct sum {
	uintptr_t call, function; /* as found in the process */
	struct msr_omp_region total;
	struct msr_omp_region *in_file; /* NULL: not yet */
};

struct region_sums {
	trylock writing;
	uint32_t closes;           /* value of region_n_closes() that the index is for */
	_Atomic uint32_t n;        /* sums in use after sum[0], which is for those without room */
	_Atomic uint64_t n_added;
	uint64_t n_written;
	struct msr_extent *extent;
	uint64_t used, end;        /* bytes after its header: used, and available */
	uint32_t sequence;
	uint16_t slot[SLOTS];      /* index of a sum; 0: empty */
	struct sum sum[1 + REGION_MAX_SUMS];
};

static uint64_t (*packed)(uintptr_t runtime_pc);

void region_sums_start(uint64_t (*packed_of)(uintptr_t runtime_pc))
{
	packed = packed_of;
}

static struct region_sums *make(void)
{
	if (!room_take(sizeof(struct region_sums)))
		return NULL;
	const long at = sys_mmap(NULL, sizeof(struct region_sums), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		room_give(sizeof(struct region_sums));
		return NULL;
	}
	return (struct region_sums *)at;
}

/* ---- adding ---- */

static uint32_t hash_of(const struct region_fork *f, uint32_t n_threads)
{
	const uint64_t h = (f->call ^ (uint64_t)f->function << 20 ^ n_threads) *
			   UINT64_C(0x9E3779B97F4A7C15);
	return (uint32_t)(h >> 40);
}

/* Finds a sum from before a dlclose that is of the same code in spite of it. */
static uint32_t find_packed(const struct region_sums *s, const struct msr_omp_region *key)
{
	const uint32_t n = atomic_load_explicit(&s->n, memory_order_relaxed);
	for (uint32_t i = 1; i <= n; i++)
		if (s->sum[i].total.call == key->call &&
		    s->sum[i].total.function == key->function &&
		    s->sum[i].total.n_threads == key->n_threads)
			return i;
	return 0;
}

/* Returns 0, the sum of all others, if there is no room. */
static uint32_t make_sum(struct region_sums *s, const struct region_fork *f, uint32_t n_threads)
{
	const uint32_t n = atomic_load_explicit(&s->n, memory_order_relaxed);
	const struct msr_omp_region key = {.call = packed(f->call),
					   .function = f->function ? packed(f->function) : 0,
					   .n_threads = n_threads};
	uint32_t i = find_packed(s, &key);
	if (!i && n < REGION_MAX_SUMS) {
		i = n + 1;
		s->sum[i].total = key;
		s->sum[i].in_file = NULL;
		/* Release: another thread may write the sums to the file. */
		atomic_store_explicit(&s->n, i, memory_order_release);
	}
	if (i) {
		s->sum[i].call = f->call;
		s->sum[i].function = f->function;
	}
	return i;
}

static struct sum *find(struct region_sums *s, const struct region_fork *f, uint32_t n_threads)
{
	const uint32_t closes = region_n_closes();
	if (closes != s->closes) {
		memset(s->slot, 0, sizeof s->slot);
		s->closes = closes;
	}
	const uint32_t home = hash_of(f, n_threads);
	uint32_t at = home & (SLOTS - 1);
	for (uint32_t i = 0; i < PROBES && s->slot[at]; i++) {
		struct sum *sum = &s->sum[s->slot[at]];
		if (sum->call == f->call && sum->function == f->function &&
		    sum->total.n_threads == n_threads)
			return sum;
		at = (home + i + 1) & (SLOTS - 1);
	}
	/* Another sum may lose its slot. find_packed() finds it again by its packed addresses. */
	s->slot[at] = (uint16_t)make_sum(s, f, n_threads);
	return &s->sum[s->slot[at]];
}

static void set_schedule(struct msr_omp_region *to, uint32_t schedule)
{
	if (atomic_load_explicit(&to->schedule, memory_order_relaxed) != schedule)
		atomic_store_explicit(&to->schedule, schedule, memory_order_relaxed);
}

void region_sums_add(struct region_thread *t, const struct region *r, uint64_t elapsed_ns)
{
	if (!t->sums && !(t->sums = make())) {
		one_writer_add(&t->n_lost, 1);
		return;
	}
	const uint32_t n_threads = atomic_load_explicit(&r->n_threads, memory_order_relaxed);
	const uint64_t generation = atomic_load_explicit(&r->generation, memory_order_relaxed);
	uint64_t n = 0, sum = 0, max = 0, min = UINT64_MAX;
	for (uint32_t i = 0; i < n_threads && i < REGION_MAX_TIMED; i++) {
		const struct region_slot *slot = &r->slot[i];
		if (atomic_load_explicit(&slot->generation, memory_order_relaxed) != generation)
			continue;
		const uint64_t ns = atomic_load_explicit(&slot->ns, memory_order_relaxed);
		n++;
		sum += ns;
		max = ns > max ? ns : max;
		min = ns < min ? ns : min;
	}
	struct msr_omp_region *to = &find(t->sums, &r->origin.fork, n_threads)->total;
	const uint32_t schedule = atomic_load_explicit(&r->schedule, memory_order_relaxed);
	set_schedule(to, msr_omp_schedule_of_both(to->schedule, schedule));
	one_writer_add(&to->elapsed_ns, elapsed_ns);
	one_writer_add(&to->n_timed, n);
	one_writer_add(&to->busy_ns, sum);
	one_writer_add(&to->max_ns, max);
	one_writer_add(&to->min_ns, n ? min : 0);
	one_writer_add(&to->instances, 1);
	one_writer_add(&t->sums->n_added, 1);
}

/* ---- writing ---- */

static bool take_extent(struct region_sums *s, uint32_t thread)
{
	enum msr_loss cause;
	const struct store_request request = {
		.kind = MSR_OMP_REGION,
		.record_bytes = sizeof(struct msr_omp_region),
		.thread = thread,
		.sequence = s->sequence,
		.n_bytes = s->sequence ? NEXT_BYTES : FIRST_BYTES,
		.least_bytes = sizeof(struct msr_extent) + sizeof(struct msr_omp_region),
	};
	struct msr_extent *e = store_extent(&request, &cause);
	if (!e)
		return false;
	s->extent = e;
	s->used = 0;
	s->end = atomic_load_explicit(&e->length, memory_order_relaxed) - sizeof *e;
	s->sequence++;
	return true;
}

/* Returns false if the file has no room; the next call tries again. */
static bool make_record(struct region_sums *s, struct sum *sum, uint32_t thread)
{
	if ((!s->extent || s->end - s->used < sizeof *sum->in_file) && !take_extent(s, thread))
		return false;
	sum->in_file = (struct msr_omp_region *)((uint8_t *)(s->extent + 1) + s->used);
	sum->in_file->call = sum->total.call;
	sum->in_file->function = sum->total.function;
	sum->in_file->n_threads = sum->total.n_threads;
	s->used += sizeof *sum->in_file;
	atomic_store_explicit(&s->extent->used, s->used, memory_order_release);
	return true;
}

static void copy(_Atomic uint64_t *to, const _Atomic uint64_t *from)
{
	atomic_store_explicit(to, atomic_load_explicit(from, memory_order_relaxed),
			      memory_order_relaxed);
}

/* Forks without a descriptor are instances of the first sum. Their thread may still count them. */
static uint64_t instances_of(const struct region_thread *t, const struct sum *sum)
{
	return one_writer_get(&sum->total.instances) +
	       (sum == t->sums->sum ? one_writer_get(&t->n_lost) : 0);
}

static bool write_sum(const struct region_thread *t, struct sum *sum, uint32_t thread)
{
	const struct msr_omp_region *from = &sum->total;
	if (!sum->in_file && !make_record(t->sums, sum, thread))
		return false;
	struct msr_omp_region *to = sum->in_file;
	set_schedule(to, atomic_load_explicit(&from->schedule, memory_order_relaxed));
	copy(&to->elapsed_ns, &from->elapsed_ns);
	copy(&to->n_timed, &from->n_timed);
	copy(&to->busy_ns, &from->busy_ns);
	copy(&to->max_ns, &from->max_ns);
	copy(&to->min_ns, &from->min_ns);
	atomic_store_explicit(&to->instances, instances_of(t, sum), memory_order_relaxed);
	return true;
}

static bool is_changed(const struct region_thread *t, const struct sum *sum)
{
	return instances_of(t, sum) !=
	       (sum->in_file ? one_writer_get(&sum->in_file->instances) : 0);
}

static void write_all(const struct region_thread *t, uint32_t thread)
{
	struct region_sums *s = t->sums;
	const uint64_t n_added = one_writer_get(&s->n_added) + one_writer_get(&t->n_lost);
	const uint32_t n = atomic_load_explicit(&s->n, memory_order_acquire);
	if (n_added == s->n_written)
		return;
	for (uint32_t i = 0; i <= n; i++)
		if (is_changed(t, &s->sum[i]) && !write_sum(t, &s->sum[i], thread))
			return;
	s->n_written = n_added;
}

/* Without memory for sums we know only the number of instances. */
static uint64_t count_missing(const struct region_thread *t)
{
	const struct region_sums *s = t->sums;
	uint64_t missing = 0;
	if (!s)
		return one_writer_get(&t->n_lost);
	if (one_writer_get(&s->n_added) + one_writer_get(&t->n_lost) == s->n_written)
		return 0;
	const uint32_t n = atomic_load_explicit(&s->n, memory_order_acquire);
	for (uint32_t i = 0; i <= n; i++)
		missing += instances_of(t, &s->sum[i]) -
			   (s->sum[i].in_file ? one_writer_get(&s->sum[i].in_file->instances) : 0);
	return missing;
}

static void write_missing(const struct region_thread *t, struct msr_thread *record)
{
	_Atomic uint64_t *loss = &record->losses[MSR_LOSS_OMP_SUMS];
	const uint64_t missing = count_missing(t);
	if (missing != one_writer_get(loss))
		atomic_store_explicit(loss, missing, memory_order_relaxed);
}

void region_sums_write(struct region_thread *t, struct msr_thread *record)
{
	struct region_sums *s = t->sums;
	if (s) {
		if (!trylock_take(&s->writing))
			return;
		write_all(t, record->number);
	}
	write_missing(t, record);
	if (s)
		trylock_give(&s->writing);
}

void region_sums_finish(struct region_thread *t, struct msr_thread *record)
{
	struct region_sums *s = t->sums;
	region_sums_write(t, record);
	if (!s || !trylock_take(&s->writing))
		return;
	if (s->extent)
		store_give_tail(s->extent);
	s->extent = NULL;
	trylock_give(&s->writing);
}

void region_sums_count_open(const struct region_thread *t, struct msr_thread *record)
{
	const uint32_t n = atomic_load_explicit(&t->n_forks, memory_order_relaxed);
	for (uint32_t i = 0; i < n; i++)
		if (t->level[i]->is_counted)
			one_writer_add(&record->losses[MSR_LOSS_OMP_SUMS], 1);
}

void region_sums_reset(struct region_thread *t)
{
	struct region_sums *s = t->sums;
	t->n_lost = 0;
	if (!s)
		return;
	/* sum[0] and those in use; the others are zero */
	memset(s->sum, 0, (1 + (size_t)s->n) * sizeof *s->sum);
	memset(s->slot, 0, sizeof s->slot);
	trylock_give(&s->writing);
	atomic_store_explicit(&s->n, 0, memory_order_relaxed);
	s->n_added = s->n_written = 0;
	s->extent = NULL;
	s->used = s->end = 0;
	s->sequence = 0;
}
