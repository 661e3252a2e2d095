/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See nvtx_names.h. The table only grows. Readers take no lock, because an entry does not change
 * once a slot has its id. Test: tests/cli/nvtx/nvtx_limits.sh.
 */
#include "hpcrun-lite/runtime/nvtx/nvtx_names.h"

#include "common/safe/clock.h"
#include "common/safe/fnv.h"
#include "common/safe/patience.h"
#include "common/safe/quiet.h"
#include "common/safe/sys.h"
#include "hpcrun-lite/runtime/process.h"
#include "hpcrun-lite/runtime/records.h"
#include "hpcrun-lite/store/store.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define SLOTS (2 * MSR_NVTX_NAMES_MOST)
#define THREAD_NAMES_MOST 65536u
#define NUMBERED_MOST 16u       /* names of ranges that differ by a number at the end */
#define KNOWN_BITS 8u
#define ID_BITS 13u             /* of MSR_NVTX_NAMES_MOST */

struct entry {
	uint64_t hash;
	struct nvtx_name name;
	uint32_t n;
	_Atomic uint32_t written_in; /* the generation whose file has its record */
	char text[MSR_NVTX_TEXT_MOST];
	char source[MSR_NVTX_TEXT_MOST]; /* "": not known */
};

/* The common part of range names that differ only by a number at the end. */
struct stem {
	uint64_t hash; /* 0: free */
	uint32_t n;    /* names */
};

_Static_assert(MSR_NVTX_NAMES_MOST == 1u << ID_BITS, "ids have as many bits");

struct names {
	_Atomic uint32_t n;          /* number of ids in use */
	uint32_t n_threads;          /* records of threads' names */
	_Atomic uint32_t slot[SLOTS]; /* id; 0: free */
	struct entry entry[MSR_NVTX_NAMES_MOST];
	struct stem stem[SLOTS];     /* under the lock; at most one for each name */
	/* by address of the text: address << ID_BITS | id */
	_Atomic uint64_t known[1u << KNOWN_BITS];
};

/* Our handler does not take it, so a thread may wait for it. */
static trylock lock;
static _Atomic(struct names *) table;
static _Atomic uint32_t generation = 1;

/* ---- text ---- */

void nvtx_text_set(struct nvtx_text *to, const char *from)
{
	to->n = from ? strnlen(from, sizeof to->bytes - 1) : 0;
	memcpy(to->bytes, from ? from : "", to->n);
	to->bytes[to->n] = '\0';
}

static size_t put_utf8(char *to, uint32_t c)
{
	if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000))
		c = 0xFFFD;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	const size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	static const unsigned char head[] = {0, 0, 0xC0, 0xE0, 0xF0};
	for (size_t i = n - 1; i > 0; i--, c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3F));
	to[0] = (char)(head[n] | c);
	return n;
}

void nvtx_text_set_wide(struct nvtx_text *to, const wchar_t *from)
{
	to->n = 0;
	for (; from && *from && to->n + 4 < sizeof to->bytes; from++)
		to->n += put_utf8(to->bytes + to->n, (uint32_t)*from);
	to->bytes[to->n] = '\0';
}

/* ---- names ---- */

bool nvtx_names_start(void)
{
	if (atomic_load_explicit(&table, memory_order_acquire))
		return true;
	long at = sys_mmap(NULL, sizeof(struct names), PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at))
		return false;
	struct names *none = NULL;
	/* Two copies of NVTX in a program may start at the same time. */
	if (!atomic_compare_exchange_strong(&table, &none, (struct names *)(void *)at))
		sys_munmap((void *)at, sizeof(struct names));
	return true;
}

void nvtx_names_forked(void)
{
	struct names *t = atomic_load_explicit(&table, memory_order_relaxed);
	trylock_give(&lock);
	atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
	if (t)
		t->n_threads = 0;
}

static bool is_recording(void)
{
	return process_is_alive() && !atomic_load_explicit(&process.ending, memory_order_relaxed);
}

static void count_lost(void)
{
	if (is_recording())
		store_count_loss(MSR_LOSS_NVTX_DETAIL);
}

/* Waits a moment. Returns false if it has waited too long, or if nothing is recorded any more. */
static bool is_waiting(struct patience *patience)
{
	return is_recording() && patience_wait(patience);
}

bool nvtx_names_take(trylock *l, uint64_t *mask)
{
	struct patience patience = {0};
	if (!is_recording()) /* then the program may forbid system calls (seccomp) */
		return false;
	*mask = quiet_begin();
	while (!trylock_take(l))
		if (!is_waiting(&patience)) {
			count_lost();
			quiet_end(*mask);
			return false;
		}
	return true;
}

void nvtx_names_give(trylock *l, uint64_t mask)
{
	trylock_give(l);
	quiet_end(mask);
}

/* The lock is held. The store may be busy with another record. */
static bool write_record(uint32_t id, const struct nvtx_name *name, const char *text,
			 uint32_t text_n)
{
	enum msr_loss cause;
	struct patience patience = {0};
	const size_t source_n = name->source ? strnlen(name->source, MSR_NVTX_TEXT_MOST - 1) : 0,
		     source_bytes = source_n ? source_n + 1 : 0,
		     n = (sizeof(struct msr_nvtx_name) + text_n + 1 + source_bytes + 7) &
			 ~(size_t)7;
	struct msr_nvtx_name *r = records_begin(MSR_NVTX_NAME, n, &cause);
	while (!r && cause == MSR_LOSS_BUSY && is_waiting(&patience))
		r = records_begin(MSR_NVTX_NAME, n, &cause);
	if (!r) {
		count_lost();
		return false;
	}
	*r = (struct msr_nvtx_name){.bytes = (uint32_t)n,
				    .id = id,
				    .kind = (uint32_t)name->kind,
				    .domain = name->domain,
				    .category = name->category,
				    .thread = name->thread,
				    .text_bytes = text_n + 1,
				    .source_bytes = (uint32_t)source_bytes};
	char *to = (char *)(r + 1); /* extents are zeroed, so NULs exist already */
	memcpy(to, text, text_n);
	if (source_n)
		memcpy(to + text_n + 1, name->source, source_n);
	records_end(MSR_NVTX_NAME, n);
	return true;
}

static bool is_written(const struct entry *e)
{
	return atomic_load_explicit(&e->written_in, memory_order_relaxed) ==
	       atomic_load_explicit(&generation, memory_order_relaxed);
}

/* The name may have been recorded in the file of a parent. */
static uint32_t need_record(struct entry *e, uint32_t id)
{
	if (__builtin_expect(is_written(e), 1))
		return id;
	uint64_t mask;
	if (!nvtx_names_take(&lock, &mask))
		return 0;
	bool ok = is_written(e);
	if (!ok && write_record(id, &e->name, e->text, e->n)) {
		ok = true;
		atomic_store_explicit(&e->written_in,
				      atomic_load_explicit(&generation, memory_order_relaxed),
				      memory_order_relaxed);
	}
	nvtx_names_give(&lock, mask);
	return ok ? id : 0;
}

static bool is_same(const struct entry *e, uint64_t hash, const struct nvtx_name *name,
		    const struct nvtx_text *text)
{
	return e->hash == hash && e->name.kind == name->kind && e->name.domain == name->domain &&
	       e->name.category == name->category && e->n == text->n &&
	       !memcmp(e->text, text->bytes, text->n);
}

/* Returns the slot of this name, or a free one for it; half of them are always free. */
static _Atomic uint32_t *slot_of(struct names *t, uint64_t hash, const struct nvtx_name *name,
				 const struct nvtx_text *text, uint32_t *id)
{
	for (uint32_t i = (uint32_t)(hash >> 32) % SLOTS;; i = (i + 1) % SLOTS) {
		/* acquire: the entry was written before */
		*id = atomic_load_explicit(&t->slot[i], memory_order_acquire);
		if (!*id || is_same(&t->entry[*id], hash, name, text))
			return &t->slot[i];
	}
}

/* If it is full, only known names have ids. */
static bool is_full(const struct names *t)
{
	return atomic_load_explicit(&t->n, memory_order_relaxed) + 1 == MSR_NVTX_NAMES_MOST;
}

/* The lock is held. */
static uint32_t add(struct names *t, uint64_t hash, const struct nvtx_name *name,
		    const struct nvtx_text *text)
{
	uint32_t id;
	_Atomic uint32_t *slot = slot_of(t, hash, name, text, &id);
	if (id || is_full(t))
		return id;
	id = atomic_load_explicit(&t->n, memory_order_relaxed) + 1;
	struct entry *e = &t->entry[id];
	*e = (struct entry){.hash = hash, .name = *name, .n = (uint32_t)text->n};
	memcpy(e->text, text->bytes, text->n);
	if (name->source)
		memcpy(e->source, name->source,
		       strnlen(name->source, sizeof e->source - 1));
	e->name.source = e->source;
	if (!write_record(id, &e->name, text->bytes, (uint32_t)text->n))
		return 0;
	atomic_store_explicit(&e->written_in,
			      atomic_load_explicit(&generation, memory_order_relaxed),
			      memory_order_relaxed);
	atomic_store_explicit(&t->n, id, memory_order_relaxed);
	atomic_store_explicit(slot, id, memory_order_release);
	return id;
}

static uint32_t name_thread(struct names *t, const struct nvtx_name *name,
			    const struct nvtx_text *text)
{
	uint64_t mask;
	if (!nvtx_names_take(&lock, &mask))
		return 0;
	const bool has_room = t->n_threads < THREAD_NAMES_MOST,
		   ok = has_room && write_record(0, name, text->bytes, (uint32_t)text->n);
	if (!has_room)
		count_lost();
	t->n_threads += ok;
	nvtx_names_give(&lock, mask);
	return ok;
}

static uint64_t hash_of(const struct nvtx_name *name, const struct nvtx_text *text)
{
	const uint32_t key[] = {(uint32_t)name->kind, name->domain, name->category};
	return fnv64(fnv64(FNV64_START, key, sizeof key), text->bytes, text->n);
}

/* ---- names with a number ---- */

/* "iteration17" becomes "iteration*". False: no number is at the end. */
static bool replace_number(struct nvtx_text *to, const struct nvtx_text *from)
{
	size_t n = from->n;
	while (n > 0 && from->bytes[n - 1] >= '0' && from->bytes[n - 1] <= '9')
		n--;
	if (n == from->n)
		return false;
	memcpy(to->bytes, from->bytes, n);
	to->bytes[n] = '*';
	to->bytes[n + 1] = '\0';
	to->n = n + 1;
	return true;
}

/* The lock is held. A slot is always free, because there are fewer names than slots. */
static struct stem *stem_of(struct names *t, uint64_t hash)
{
	for (uint32_t i = (uint32_t)(hash >> 32) % SLOTS;; i = (i + 1) % SLOTS)
		if (!t->stem[i].hash || t->stem[i].hash == hash)
			return &t->stem[i];
}

/*
 * The lock is held. Limits names that differ only by a number. Everything inside a range with a new
 * name needs new sums, so a name that counts steps would use up all sums.
 */
static uint32_t add_numbered(struct names *t, const struct nvtx_name *name,
			     const struct nvtx_text *text, const struct nvtx_text *shared)
{
	const uint64_t hash = hash_of(name, shared) | 1;
	struct stem *stem = stem_of(t, hash);
	const uint32_t n = atomic_load_explicit(&t->n, memory_order_relaxed);
	if (stem->n >= NUMBERED_MOST)
		return add(t, hash_of(name, shared), name, shared);
	const uint32_t id = add(t, hash_of(name, text), name, text);
	/* else another thread has added it meanwhile */
	if (id > n)
		*stem = (struct stem){hash, stem->n + 1};
	return id;
}

uint32_t nvtx_names_find(const struct nvtx_name *name, const struct nvtx_text *text)
{
	struct names *t = atomic_load_explicit(&table, memory_order_acquire);
	struct nvtx_text shared;
	uint64_t mask;
	uint32_t id;
	if (!t)
		return 0;
	if (name->kind == MSR_NVTX_NAME_THREAD)
		return name_thread(t, name, text);
	const uint64_t hash = hash_of(name, text);
	slot_of(t, hash, name, text, &id);
	const bool is_numbered =
		!id && name->kind == MSR_NVTX_NAME_RANGE && replace_number(&shared, text);
	if (is_numbered)
		slot_of(t, hash_of(name, &shared), name, &shared, &id);
	if (id)
		return need_record(&t->entry[id], id);
	if (is_full(t) || !nvtx_names_take(&lock, &mask))
		return 0;
	id = is_numbered ? add_numbered(t, name, text, &shared) : add(t, hash, name, text);
	nvtx_names_give(&lock, mask);
	return id ? need_record(&t->entry[id], id) : 0;
}

/* ---- constants of the program ---- */

static _Atomic uint64_t *known_of(struct names *t, uint32_t domain, uint32_t category,
				  const char *text)
{
	const uint64_t key =
		(uintptr_t)text ^ (uint64_t)domain << 40 ^ (uint64_t)category << 20;
	return &t->known[key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - KNOWN_BITS)];
}

static bool is_equal(const char *a, const char *b)
{
	while (*a == *b && *a)
		a++, b++;
	return *a == *b;
}

uint32_t nvtx_names_known(uint32_t domain, uint32_t category, const char *text)
{
	struct names *t = atomic_load_explicit(&table, memory_order_acquire);
	if (!t || !text)
		return 0;
	/* acquire: the entry was written before */
	const uint64_t word =
		atomic_load_explicit(known_of(t, domain, category, text), memory_order_acquire);
	const uint32_t id = word & (MSR_NVTX_NAMES_MOST - 1);
	struct entry *e = &t->entry[id];
	/* The address has lost its upper bits, which does no harm because the text is compared. */
	if (!id || (word ^ (uint64_t)(uintptr_t)text << ID_BITS) >> ID_BITS ||
	    e->name.kind != MSR_NVTX_NAME_RANGE || e->name.domain != domain ||
	    e->name.category != category || !is_equal(e->text, text))
		return 0;
	return need_record(e, id);
}

void nvtx_names_remember(uint32_t domain, uint32_t category, const char *text, uint32_t id)
{
	struct names *t = atomic_load_explicit(&table, memory_order_acquire);
	if (t && id)
		atomic_store_explicit(known_of(t, domain, category, text),
				      (uint64_t)(uintptr_t)text << ID_BITS | id,
				      memory_order_release);
}

/* ---- by id ---- */

static struct entry *entry_of(enum msr_nvtx_name_kind kind, uint32_t id)
{
	struct names *t = atomic_load_explicit(&table, memory_order_acquire);
	return t && id && id < MSR_NVTX_NAMES_MOST && t->entry[id].name.kind == kind
		       ? &t->entry[id]
		       : NULL;
}

uint32_t nvtx_names_again(enum msr_nvtx_name_kind kind, uint32_t id)
{
	struct entry *e = entry_of(kind, id);
	return e ? need_record(e, id) : 0;
}
