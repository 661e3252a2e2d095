/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The table of loaded objects; see find_object.h. There are two tables: searches use one while we
 * make the other. A search that was overtaken by a new table notices that and begins again. The
 * table is made when the loader's counts have changed, by whoever searches next: we see no dlopen
 * from outside a handler. Must not wait, and must not assume that an object is still loaded.
 */
#include "common/safe/find_object.h"

#include "common/safe/library_symbol.h"
#include "common/safe/load.h"
#include "common/safe/loader.h"
#include "common/safe/patience.h"
#include "common/safe/trylock.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

#define OBJECTS_MAX 2048u
#define HEADERS_MAX 64u
#define NONE UINT16_MAX

/* One entry of the loader's lists. */
struct place {
	uintptr_t lo, hi, eh_frame;
	uintptr_t map, bias, dynamic; /* the loader's entry, and two of its words */
	bool stays;                   /* it will never be unloaded */
};

struct table {
	_Atomic unsigned n, n_sorted;
	struct loader_state made;        /* the loader's state when it was made */
	struct place place[OBJECTS_MAX]; /* in the order of the lists */
	uintptr_t lo[OBJECTS_MAX];       /* sorted */
	uint16_t of_lo[OBJECTS_MAX];     /* which place it is of */
};

/* What we read of a struct link_map. */
struct head {
	uintptr_t bias, name, dynamic, next, previous;
};

static struct {
	_Atomic bool is_started;
	_Atomic(int (*)(void *, struct dl_find_object *)) of_libc;
	trylock lock;          /* for making a table */
	_Atomic unsigned turn; /* number of tables made; search table turn % 2 */
	struct table table[2];
	/* Under the lock, because the stack of a handler is small. */
	ElfW(Phdr) header[HEADERS_MAX];
	struct iovec piece[OBJECTS_MAX];
	struct head head[OBJECTS_MAX]; /* of the old table's places, as they are now */
	uint16_t now_at[OBJECTS_MAX];  /* where a place of the old table is in the new one */
	uint16_t was_at[OBJECTS_MAX];  /* the opposite; NONE: measured anew */
} objects;

static bool load(void *to, uintptr_t from, size_t n)
{
	return from != 0 && load_guarded(to, from, n) == n;
}

/* ---- one object ---- */

/* Reads the program headers. Returns their number, or 0. */
static unsigned read_headers(uintptr_t bias, bool is_program)
{
	uintptr_t at = getauxval(AT_PHDR);
	unsigned n = (unsigned)getauxval(AT_PHNUM);
	ElfW(Ehdr) e;
	if (!is_program || !at) {
		if (!load(&e, bias, sizeof e) || memcmp(e.e_ident, ELFMAG, SELFMAG) != 0 ||
		    e.e_phentsize != sizeof(ElfW(Phdr)))
			return 0;
		at = bias + e.e_phoff;
		n = e.e_phnum;
	}
	return n <= HEADERS_MAX && load(objects.header, at, n * sizeof *objects.header) ? n : 0;
}

static bool measure(uintptr_t bias, bool is_program, struct place *p)
{
	const unsigned n = read_headers(bias, is_program);
	p->lo = UINTPTR_MAX;
	p->hi = p->eh_frame = 0;
	for (unsigned i = 0; i < n; i++) {
		const ElfW(Phdr) *h = &objects.header[i];
		const uintptr_t at = bias + h->p_vaddr;
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

static bool is_same(const struct place *p, const struct head *h)
{
	return p->bias == h->bias && p->dynamic == h->dynamic;
}

/* ---- making a table ---- */

/* Reads the entries of the old table again. Returns how many could be read, from the first on. */
static unsigned read_again(const struct table *old)
{
	const unsigned n = atomic_load_explicit(&old->n, memory_order_relaxed);
	unsigned done = 0;
	for (unsigned i = 0; i < n; i++)
		objects.piece[i] = (struct iovec){(void *)old->place[i].map, sizeof(struct head)};
	while (done < n) {
		const unsigned most = n - done < LOAD_PIECES_MOST ? n - done : LOAD_PIECES_MOST;
		const size_t got = load_gathered(&objects.head[done], &objects.piece[done], most);
		done += (unsigned)(got / sizeof(struct head));
		if (got < most * sizeof(struct head))
			break;
	}
	return done;
}

struct making {
	const struct table *old;
	struct table *t;
	unsigned n_old, n_read;
	unsigned next;  /* of the old table: the place that is expected next */
	unsigned n;     /* of the new table */
	uint64_t n_new; /* at most so many entries are new, at the end of each list */
};

/*
 * Finds the entry in the old table, in which those that are left have the same order. Sets *head.
 * Returns its place, NONE, or UINT32_MAX if the list cannot be read.
 */
static unsigned find_known(struct making *m, uintptr_t at, struct head *head)
{
	unsigned i = m->next;
	while (i < m->n_old && m->old->place[i].map != at)
		i++;
	if (i < m->n_read)
		*head = objects.head[i];
	else if (!load(head, at, sizeof *head))
		return UINT32_MAX;
	if (i == m->n_old)
		return NONE;
	m->next = i + 1;
	return is_same(&m->old->place[i], head) ? i : NONE;
}

static void take_new(struct making *m, unsigned i, bool is_program)
{
	struct place *p = &m->t->place[i];
	objects.was_at[i] = NONE;
	if (!measure(p->bias, is_program, p))
		p->hi = 0; /* in the list, but never found */
}

/*
 * What is at the end of a list may be new, although its entry is at the address of an old one and
 * looks like it.
 */
static void measure_last(struct making *m, unsigned first)
{
	for (unsigned i = m->n; i-- > first && m->n - i <= m->n_new;) {
		const uint16_t known = objects.was_at[i];
		if (known == NONE || m->t->place[i].stays)
			continue;
		objects.now_at[known] = NONE;
		take_new(m, i, false);
	}
}

/* Returns false if the list cannot be read. */
static bool take_list(struct making *m, unsigned i_namespace)
{
	const unsigned first = m->n;
	uintptr_t at = loader_list(i_namespace);
	while (at && m->n < OBJECTS_MAX) {
		struct head head;
		const unsigned known = find_known(m, at, &head);
		if (known == UINT32_MAX)
			return false;
		const unsigned i = m->n++;
		if (known != NONE) {
			m->t->place[i] = m->old->place[known];
			objects.was_at[i] = (uint16_t)known;
			objects.now_at[known] = (uint16_t)i;
		} else {
			m->t->place[i] = (struct place){
				.map = at, .bias = head.bias, .dynamic = head.dynamic};
			take_new(m, i, i == 0);
		}
		at = head.next;
	}
	measure_last(m, first);
	return true;
}

/* The number of starts that are at most `address`. */
static inline unsigned rank(const struct table *t, unsigned n, uintptr_t address)
{
	const uintptr_t *from = t->lo;
	while (n > 1) {
		const unsigned half = n / 2;
		from += from[half - 1] <= address ? half : 0;
		n -= half;
	}
	return (unsigned)(from - t->lo) + (n && *from <= address);
}

/* Other namespaces list the loader once more, as a copy of the first entry. */
static unsigned insert(struct table *t, unsigned n, unsigned i)
{
	const uintptr_t lo = t->place[i].lo;
	const unsigned at = rank(t, n, lo);
	if (!t->place[i].hi || (at && t->lo[at - 1] == lo))
		return n;
	memmove(&t->lo[at + 1], &t->lo[at], (n - at) * sizeof *t->lo);
	memmove(&t->of_lo[at + 1], &t->of_lo[at], (n - at) * sizeof *t->of_lo);
	t->lo[at] = lo;
	t->of_lo[at] = (uint16_t)i;
	return n + 1;
}

/* Places of the old table are in order already. */
static unsigned sort(const struct making *m)
{
	struct table *t = m->t;
	const unsigned n_old = atomic_load_explicit(&m->old->n_sorted, memory_order_relaxed);
	unsigned n = 0;
	for (unsigned k = 0; k < n_old; k++) {
		const uint16_t i = objects.now_at[m->old->of_lo[k]];
		if (i == NONE)
			continue;
		t->lo[n] = m->old->lo[k];
		t->of_lo[n++] = i;
	}
	for (unsigned i = 0; i < m->n; i++)
		if (objects.was_at[i] == NONE)
			n = insert(t, n, i);
	return n;
}

/*
 * Fills the table that nobody searches. Returns false if the loader has changed its lists. An
 * object is complete before it is listed, so this works while one is added.
 */
static bool fill(const struct table *old, struct table *t)
{
	struct making m = {.old = old, .t = t};
	const struct loader_state before = loader_now();
	if (before.is_deleting)
		return false;
	m.n_old = atomic_load_explicit(&old->n, memory_order_relaxed);
	m.n_new = loader_has_counts() ? before.n_added - old->made.n_added : OBJECTS_MAX;
	memset(objects.now_at, 0xff, m.n_old * sizeof *objects.now_at);
	m.n_read = read_again(old);
	for (unsigned i = 0; i < LOADER_NAMESPACES_MOST; i++)
		if (!take_list(&m, i))
			return false;
	const unsigned n = sort(&m);
	const struct loader_state after = loader_now();
	if (after.is_deleting || !loader_is_same(&before, &after))
		return false;
	t->made = before;
	/* Relaxed: the turn publishes them. */
	atomic_store_explicit(&t->n, m.n, memory_order_relaxed);
	atomic_store_explicit(&t->n_sorted, n, memory_order_relaxed);
	return true;
}

/*
 * Returns false if the loader deletes, or another thread or the code that this handler interrupted
 * makes a table.
 */
static bool make_table(void)
{
	if (!trylock_take(&objects.lock))
		return false;
	const unsigned turn = atomic_load_explicit(&objects.turn, memory_order_relaxed);
	/* Release: a search that reads what is written here does not see an older turn. */
	atomic_thread_fence(memory_order_release);
	const bool is_made = fill(&objects.table[turn % 2], &objects.table[(turn + 1) % 2]);
	if (is_made)
		/* Release: a thread that reads the turn sees the complete table. */
		atomic_store_explicit(&objects.turn, turn + 1, memory_order_release);
	trylock_give(&objects.lock);
	return is_made;
}

/* ---- searching ---- */

/* Returns the place that contains the address, or NULL. */
static inline const struct place *find_place(const struct table *t, uintptr_t address)
{
	enum { NESTED = 2 }; /* an object may be in a gap between the segments of another */
	const unsigned n = atomic_load_explicit(&t->n_sorted, memory_order_relaxed);
	const unsigned i = rank(t, n, address);
	for (unsigned k = i; k > 0 && k + NESTED > i; k--) {
		const struct place *p = &t->place[t->of_lo[k - 1] % OBJECTS_MAX];
		if (address < p->hi)
			return p;
	}
	return NULL;
}

/*
 * Sets *p; its hi is 0 if no object is there. Sets *made to the state that the table is of. Returns
 * false if tables were made all the time.
 */
static inline bool search(uintptr_t address, struct place *p, struct loader_state *made)
{
	enum { TRIES = 3 };
	for (int tries = 0; tries < TRIES; tries++) {
		/* Acquire: pairs with the release in make_table. */
		const unsigned turn = atomic_load_explicit(&objects.turn, memory_order_acquire);
		const struct table *t = &objects.table[turn % 2];
		const struct place *found = find_place(t, address);
		*made = t->made;
		if (found)
			*p = *found;
		else
			p->hi = 0;
		/* Acquire: the copy came before this. With a newer turn it may be damaged. */
		atomic_thread_fence(memory_order_acquire);
		if (atomic_load_explicit(&objects.turn, memory_order_relaxed) == turn)
			return true;
	}
	return false;
}

enum answer { ANSWER_SURE, ANSWER_OLD, ANSWER_MOVES };

static enum answer judge(const struct place *p, const struct loader_state *made)
{
	struct head head;
	if (p->hi && p->stays)
		return ANSWER_SURE;
	const struct loader_state now = loader_now();
	if (now.is_deleting)
		return p->hi                        ? ANSWER_MOVES
		       : loader_is_same(&now, made) ? ANSWER_SURE
						    : ANSWER_MOVES;
	if (!loader_has_counts())
		return p->hi && load(&head, p->map, sizeof head) && is_same(p, &head) ? ANSWER_SURE
										      : ANSWER_OLD;
	/* An object that is being added does not move those that are there. */
	if (p->hi ? loader_n_removed(&now) != loader_n_removed(made) : !loader_is_same(&now, made))
		return ANSWER_OLD;
	/* The loader is between two counts, and an object may have been removed before. */
	if (now.is_adding && p->hi && !(load(&head, p->map, sizeof head) && is_same(p, &head)))
		return ANSWER_MOVES;
	return ANSWER_SURE;
}

static void give(const struct place *p, struct dl_find_object *result)
{
	result->dlfo_flags = 0;
	result->dlfo_map_start = (void *)p->lo;
	result->dlfo_map_end = (void *)p->hi;
	result->dlfo_link_map = (struct link_map *)p->map;
	result->dlfo_eh_frame = (void *)p->eh_frame;
}

/* The common case: the object is there, and the loader has done nothing since. */
static inline bool find_at_once(uintptr_t address, struct dl_find_object *result)
{
	/* Acquire, and the fence: as in search(). */
	const unsigned turn = atomic_load_explicit(&objects.turn, memory_order_acquire);
	const struct table *t = &objects.table[turn % 2];
	const struct place *p = find_place(t, address);
	if (!p)
		return false;
	give(p, result);
	if (!p->stays) {
		const struct loader_state now = loader_now();
		if (!loader_is_quiet(&now) || !loader_is_same(&now, &t->made) ||
		    !loader_has_counts())
			return false;
	}
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&objects.turn, memory_order_relaxed) == turn;
}

static __attribute__((noinline)) int find_slowly(uintptr_t address, struct dl_find_object *result)
{
	struct place p;
	struct loader_state made;
	enum answer answer = ANSWER_MOVES;
	if (!atomic_load_explicit(&objects.is_started, memory_order_acquire))
		find_object_start();
	if (search(address, &p, &made))
		answer = judge(&p, &made);
	if (answer == ANSWER_OLD)
		answer = make_table() && search(address, &p, &made) ? judge(&p, &made)
								    : ANSWER_MOVES;
	/* Without counts nothing says that no object has come. */
	if (answer == ANSWER_MOVES || (answer == ANSWER_OLD && (p.hi || loader_has_counts())))
		return FIND_OBJECT_MOVES;
	if (!p.hi)
		return -1;
	give(&p, result);
	return 0;
}

int find_object_in_table(void *address, struct dl_find_object *result)
{
	return find_at_once((uintptr_t)address, result) ? 0
							: find_slowly((uintptr_t)address, result);
}

int find_object(void *address, struct dl_find_object *result)
{
	/* Acquire: pairs with the release in find_object_start. */
	if (__builtin_expect(!atomic_load_explicit(&objects.is_started, memory_order_acquire), 0))
		find_object_start();
	int (*const of_libc)(void *, struct dl_find_object *) =
		atomic_load_explicit(&objects.of_libc, memory_order_relaxed);
	return of_libc ? of_libc(address, result) : find_object_in_table(address, result);
}

int find_object_surely(void *address, struct dl_find_object *result)
{
	struct patience p = {0};
	int found;
	do
		found = find_object(address, result);
	while (found == FIND_OBJECT_MOVES && patience_wait(&p));
	return found;
}

/* ---- life ---- */

void find_object_start(void)
{
	int (*of_libc)(void *, struct dl_find_object *);
	loader_start();
	*(void **)&of_libc = library_of_libc("_dl_find_object");
	/* Relaxed: is_started publishes it. */
	atomic_store_explicit(&objects.of_libc, of_libc, memory_order_relaxed);
	atomic_store_explicit(&objects.is_started, true, memory_order_release);
}

void find_object_use_table(void)
{
	find_object_start();
	atomic_store_explicit(&objects.of_libc, NULL, memory_order_relaxed);
}

void find_object_all_stay(void)
{
	if (atomic_load_explicit(&objects.of_libc, memory_order_relaxed) || !make_table())
		return;
	struct table *t =
		&objects.table[atomic_load_explicit(&objects.turn, memory_order_relaxed) % 2];
	for (unsigned i = 0; i < atomic_load_explicit(&t->n, memory_order_relaxed); i++)
		t->place[i].stays = true;
}

void find_object_forked(void)
{
	trylock_forked(&objects.lock);
}
