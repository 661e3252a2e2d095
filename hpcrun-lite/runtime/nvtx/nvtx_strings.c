/* SPDX-License-Identifier: BSD-3-Clause */
/* See nvtx_strings.h. Nothing is ever removed. */
#include "hpcrun-lite/runtime/nvtx/nvtx_strings.h"

#include "common/safe/fnv.h"
#include "common/safe/room.h"
#include "common/safe/sys.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#define SLOTS (2 * NVTX_STRINGS_MOST)

struct strings {
	uint32_t n;
	size_t n_bytes;        /* used of `bytes` */
	uint32_t slot[SLOTS];  /* number; 0: free */
	_Atomic(struct nvtx_string *) at[NVTX_STRINGS_MOST]; /* by number */
	_Alignas(struct nvtx_string) char bytes[NVTX_STRINGS_BYTES];
};

/* Taken by writers. */
static trylock lock;
static _Atomic(struct strings *) table;

static struct strings *make(void)
{
	if (!room_take(sizeof(struct strings)))
		return NULL;
	const long at = sys_mmap(NULL, sizeof(struct strings), PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (sys_is_error(at)) {
		room_give(sizeof(struct strings));
		return NULL;
	}
	return (struct strings *)at;
}

static bool is_same(const struct nvtx_string *s, uint64_t hash, uint32_t domain,
		    const struct nvtx_text *text)
{
	return s->hash == hash && s->domain == domain && s->n == text->n &&
	       !memcmp(s->text, text->bytes, text->n);
}

/* The lock is held. */
static uint32_t add(struct strings *t, uint32_t domain, const struct nvtx_text *text)
{
	const uint64_t hash = fnv64(fnv64(FNV64_START, &domain, sizeof domain), text->bytes,
				    text->n);
	const size_t n_bytes = (sizeof(struct nvtx_string) + text->n + 1 + 7) & ~(size_t)7;
	uint32_t i = (uint32_t)(hash >> 32) % SLOTS;
	for (; t->slot[i]; i = (i + 1) % SLOTS)
		if (is_same(atomic_load_explicit(&t->at[t->slot[i]], memory_order_relaxed), hash,
			    domain, text))
			return t->slot[i];
	if (t->n + 1 == NVTX_STRINGS_MOST || n_bytes > sizeof t->bytes - t->n_bytes)
		return 0;
	struct nvtx_string *new = (void *)(t->bytes + t->n_bytes);
	new->hash = hash;
	new->domain = domain;
	new->n = (uint32_t)text->n;
	memcpy(new->text, text->bytes, text->n); /* the memory is zero, so the NUL exists */
	t->n_bytes += n_bytes;
	t->slot[i] = ++t->n;
	/* release: publishes the string */
	atomic_store_explicit(&t->at[t->n], new, memory_order_release);
	return t->n;
}

uint32_t nvtx_strings_add(uint32_t domain, const struct nvtx_text *text)
{
	uint32_t number = 0;
	uint64_t mask;
	if (!nvtx_names_take(&lock, &mask))
		return 0;
	struct strings *t = atomic_load_explicit(&table, memory_order_relaxed);
	if (!t) {
		t = make();
		/* release: publishes its zeros to readers, which take no lock */
		atomic_store_explicit(&table, t, memory_order_release);
	}
	if (t)
		number = add(t, domain, text);
	nvtx_names_give(&lock, mask);
	return number;
}

struct nvtx_string *nvtx_strings_get(uint32_t number)
{
	struct strings *t = atomic_load_explicit(&table, memory_order_acquire);
	return t && number < NVTX_STRINGS_MOST
		       ? atomic_load_explicit(&t->at[number], memory_order_acquire)
		       : NULL;
}

void nvtx_strings_forked(void)
{
	trylock_give(&lock);
}
