/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of loaded objects; see find_object.h. There are two tables: searches use one while we
 * make the other. We make a new table when the loader's list has become longer or one of its
 * entries has changed. We read the list with guarded loads, because the loader may change it at the
 * same time.
 */
#include "common/safe/find_object.h"

#include "common/safe/load.h"
#include "common/safe/trylock.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define OBJECTS_MAX 2048u
#define HEADERS_MAX 64u

/* What one search reads of an object. */
struct place {
	uintptr_t lo, hi, eh_frame;
	uintptr_t map, bias, dynamic; /* the loader's entry, and two of its words */
};

struct table {
	_Atomic unsigned n;
	struct place place[OBJECTS_MAX];
	uintptr_t last; /* the last entry of the loader's list when the table was made */
};

static struct {
	trylock lock;           /* for making a table */
	_Atomic unsigned turn;  /* number of tables made; search table turn % 2 */
	struct table table[2];
	const struct r_debug *loader;
	uintptr_t program;      /* its program headers */
	unsigned n_program;
	ElfW(Phdr) header[HEADERS_MAX]; /* under the lock: too large for a handler's stack */
} objects;

static bool load(void *to, uintptr_t from, size_t n)
{
	return from != 0 && load_guarded(to, from, n) == n;
}

/* Reads the program headers. Returns their number, or 0. */
static unsigned read_headers(const struct link_map *map, bool is_program)
{
	uintptr_t at = objects.program;
	unsigned n = objects.n_program;
	ElfW(Ehdr) e;
	if (!is_program || !at) {
		if (!load(&e, map->l_addr, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
		    e.e_phentsize != sizeof(ElfW(Phdr)))
			return 0;
		at = map->l_addr + e.e_phoff;
		n = e.e_phnum;
	}
	return n <= HEADERS_MAX && load(objects.header, at, n * sizeof *objects.header) ? n : 0;
}

static bool measure(const struct link_map *map, bool is_program, struct place *p)
{
	const unsigned n = read_headers(map, is_program);
	p->lo = UINTPTR_MAX;
	p->hi = p->eh_frame = 0;
	for (unsigned i = 0; i < n; i++) {
		const ElfW(Phdr) *h = &objects.header[i];
		const uintptr_t at = map->l_addr + h->p_vaddr;
		if (h->p_type == PT_GNU_EH_FRAME)
			p->eh_frame = at;
		if (h->p_type != PT_LOAD)
			continue;
		p->lo = at < p->lo ? at : p->lo;
		p->hi = at + h->p_memsz > p->hi ? at + h->p_memsz : p->hi;
	}
	p->lo &= ~(uintptr_t)4095;
	p->hi = (p->hi + 4095) & ~(uintptr_t)4095;
	return p->lo < p->hi;
}

static bool is_same(const struct place *p, const struct link_map *map)
{
	return p->bias == map->l_addr && p->dynamic == (uintptr_t)map->l_ld;
}

/* Objects seldom change, so most are copied from the previous table. */
static const struct place *find_known(const struct table *t, unsigned i, uintptr_t at,
				      const struct link_map *map)
{
	const unsigned n = atomic_load_explicit(&t->n, memory_order_relaxed);
	for (unsigned k = 0; k < n; k++) {
		const struct place *p = &t->place[(i + k) % n];
		if (p->map == at && is_same(p, map))
			return p;
	}
	return NULL;
}

/* Returns false if another thread, or the code that this handler interrupted, is making a table. */
static bool make_table(void)
{
	struct link_map map;
	uintptr_t at;
	unsigned n = 0;
	if (!trylock_take(&objects.lock))
		return false;
	const unsigned turn = atomic_load_explicit(&objects.turn, memory_order_relaxed);
	const struct table *old = &objects.table[turn % 2];
	struct table *t = &objects.table[(turn + 1) % 2];
	t->last = 0;
	if (!load(&at, (uintptr_t)&objects.loader->r_map, sizeof at))
		at = 0;
	for (unsigned i = 0; i < 2 * OBJECTS_MAX && n < OBJECTS_MAX && load(&map, at, sizeof map);
	     i++) {
		struct place *p = &t->place[n];
		const struct place *known = find_known(old, n, at, &map);
		if (known)
			*p = *known;
		if (known || measure(&map, i == 0, p)) {
			p->map = at;
			p->bias = map.l_addr;
			p->dynamic = (uintptr_t)map.l_ld;
			n++;
		}
		t->last = at;
		at = (uintptr_t)map.l_next;
	}
	atomic_store_explicit(&t->n, n, memory_order_relaxed);
	/* Release: a thread that reads the turn sees the complete table. */
	atomic_store_explicit(&objects.turn, turn + 1, memory_order_release);
	trylock_give(&objects.lock);
	return true;
}

/* Sets *p. Sets *is_old if the loader's list has changed. Returns false if no object is there. */
static bool search(uintptr_t address, struct place *p, bool *is_old)
{
	struct link_map map;
	for (int tries = 0; tries < 3; tries++) {
		/* Acquire: pairs with the release in make_table. */
		const unsigned turn = atomic_load_explicit(&objects.turn, memory_order_acquire);
		const struct table *t = &objects.table[turn % 2];
		const unsigned n = atomic_load_explicit(&t->n, memory_order_relaxed);
		const uintptr_t last = t->last;
		bool found = false;
		for (unsigned i = 0; i < n && !found; i++) {
			*p = t->place[i];
			found = address >= p->lo && address < p->hi;
		}
		/* Acquire: the copy came before this. With a newer turn it may be damaged. */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&objects.turn, memory_order_relaxed) != turn)
			continue;
		*is_old = found ? !load(&map, p->map, sizeof map) || !is_same(p, &map)
				: !load(&map, last, sizeof map) || map.l_next != NULL;
		return found;
	}
	*is_old = true;
	return false;
}

int find_object(void *address, struct dl_find_object *result)
{
	struct place p;
	bool is_old;
	if (!objects.loader)
		return -1;
	bool found = search((uintptr_t)address, &p, &is_old);
	if (is_old)
		found = make_table() && search((uintptr_t)address, &p, &is_old) && !is_old;
	if (!found)
		return -1;
	memset(result, 0, sizeof *result);
	result->dlfo_map_start = (void *)p.lo;
	result->dlfo_map_end = (void *)p.hi;
	result->dlfo_link_map = (struct link_map *)p.map;
	result->dlfo_eh_frame = (void *)p.eh_frame;
	return 0;
}

void find_object_start(const struct r_debug *loader, const ElfW(Phdr) *program,
		       unsigned n_headers)
{
	objects.program = (uintptr_t)program;
	objects.n_program = n_headers;
	objects.loader = loader;
}
