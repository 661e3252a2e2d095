/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loader's state; see loader.h. glibc keeps it in _rtld_global (struct rtld_global), whose
 * layout differs between versions. These parts have kept their order: sixteen namespaces that begin
 * with their list and its length, the number of namespaces in use, two or three recursive locks,
 * the number of objects that were ever added. We look for a size of a namespace with which all of
 * this is there. Test: tests/unit/common/test_find_object.c.
 */
#include "common/safe/loader.h"

#include "common/safe/library_symbol.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

enum {
	LOCK_BYTES = sizeof(pthread_mutex_t),
	LOCK_KIND = 16,     /* where its kind is */
	LOCK_RECURSIVE = 1, /* PTHREAD_MUTEX_RECURSIVE_NP */
	DEBUG_BYTES = sizeof(struct r_debug),
};

/* Also names the list of the first namespace where nothing else is found. */
extern struct r_debug _r_debug;

static struct {
	uintptr_t first;           /* the first namespace; 0: not found */
	uintptr_t size;            /* of a namespace */
	uintptr_t n_used, n_added; /* where these numbers are */
} loader;

/* The loader changes these words at any time. */
static uintptr_t word(uintptr_t at)
{
	return __atomic_load_n((const uintptr_t *)at, __ATOMIC_ACQUIRE);
}

static unsigned half(uintptr_t at)
{
	return __atomic_load_n((const unsigned *)at, __ATOMIC_ACQUIRE);
}

static bool is_recursive_lock(uintptr_t at)
{
	return half(at + LOCK_KIND) == LOCK_RECURSIVE;
}

static unsigned length_of_list(const struct link_map *map)
{
	unsigned n = 0;
	for (; map; map = map->l_next)
		n++;
	return n;
}

/* Looks for the size of a namespace. */
static void find_layout(uintptr_t global, size_t n_bytes)
{
	enum { LEAST = 64, MOST = 512, ADDED_MOST = 1 << 20 };
	const unsigned n_loaded = length_of_list(_r_debug.r_map);
	if (word(global) != (uintptr_t)_r_debug.r_map || half(global + 8) != n_loaded)
		return;
	for (uintptr_t size = LEAST; size <= MOST; size += 8) {
		const uintptr_t n_used = global + LOADER_NAMESPACES_MOST * size, lock = n_used + 8;
		if (lock + 3 * LOCK_BYTES + 8 > global + n_bytes)
			return;
		if (word(n_used) - 1 >= LOADER_NAMESPACES_MOST || !is_recursive_lock(lock) ||
		    !is_recursive_lock(lock + LOCK_BYTES))
			continue;
		const unsigned n_locks = is_recursive_lock(lock + 2 * LOCK_BYTES) ? 3 : 2;
		const uintptr_t n_added = lock + n_locks * LOCK_BYTES;
		if (word(n_added) < n_loaded || word(n_added) > ADDED_MOST)
			continue;
		loader.size = size;
		loader.n_used = n_used;
		loader.n_added = n_added;
		/* Release: whoever sees it sees the rest. */
		__atomic_store_n(&loader.first, global, __ATOMIC_RELEASE);
		return;
	}
}

void loader_start(void)
{
	struct library l;
	size_t n_bytes = 0;
	for (const struct link_map *map = _r_debug.r_map; map; map = map->l_next) {
		if (!library_read(map, &l) || strncmp(l.soname, "ld-linux", 8) != 0)
			continue;
		const uintptr_t global = (uintptr_t)library_symbol(&l, "_rtld_global", &n_bytes);
		if (global)
			find_layout(global, n_bytes);
	}
}

bool loader_has_counts(void)
{
	return __atomic_load_n(&loader.first, __ATOMIC_ACQUIRE) != 0;
}

/*
 * A further namespace has its struct r_debug, or from glibc 2.35 on the longer one with a pointer
 * to the next, at its end.
 */
static unsigned state_of(uintptr_t name_space)
{
	for (uintptr_t more = 0; more <= 8; more += 8) {
		const uintptr_t debug = name_space + loader.size - DEBUG_BYTES - more;
		if (word(debug + offsetof(struct r_debug, r_brk)) == _r_debug.r_brk)
			return half(debug + offsetof(struct r_debug, r_state));
	}
	return RT_ADD;
}

static void take_state(struct loader_state *now, unsigned state)
{
	now->is_adding |= state == RT_ADD;
	now->is_deleting |= state == RT_DELETE;
}

struct loader_state loader_now(void)
{
	const uintptr_t first = __atomic_load_n(&loader.first, __ATOMIC_ACQUIRE);
	struct loader_state now = {0};
	if (first) {
		now.n_added = word(loader.n_added);
		now.n_loaded = half(first + sizeof(void *));
		for (uintptr_t i = 1, n = word(loader.n_used); i < n; i++) {
			const unsigned n_here = half(first + i * loader.size + sizeof(void *));
			now.n_loaded += n_here;
			if (n_here)
				take_state(&now, state_of(first + i * loader.size));
		}
	}
	/* After the counts: if all is quiet now, they were not in the middle of a change. */
	take_state(&now, half((uintptr_t)&_r_debug.r_state));
	return now;
}

uintptr_t loader_list(unsigned i)
{
	if (i == 0)
		return word((uintptr_t)&_r_debug.r_map);
	return loader_has_counts() && i < word(loader.n_used) ? word(loader.first + i * loader.size)
							      : 0;
}
