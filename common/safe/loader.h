/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the dynamic loader says about itself, read from its memory without its lock: how many
 * objects it has added and has now, whether it is adding or deleting some, and its lists. So an
 * object that comes or goes is noticed whoever calls the loader. glibc alone. Signal-safe. Test:
 * tests/unit/common/test_find_object.c.
 */
#ifndef COMMON_SAFE_LOADER_H
#define COMMON_SAFE_LOADER_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

enum { LOADER_NAMESPACES_MOST = 16 };

struct loader_state {
	uint64_t n_added, n_loaded; /* objects of all namespaces: ever, now */
	bool is_adding, is_deleting;
};

/*
 * Finds the loader's data. Call once, before threads can load anything. Any number of calls, also
 * at the same time, find the same.
 */
void loader_start(void);

/*
 * Returns true if the counts were found. Otherwise they are always 0, and say nothing.
 */
bool loader_has_counts(void);

/*
 * The present state, in about 2 ns. If nothing is being added or deleted, the counts belong
 * together; two such states with equal counts have the same lists, and so has the time in between.
 */
struct loader_state loader_now(void);

static inline bool loader_is_quiet(const struct loader_state *s)
{
	return !s->is_adding && !s->is_deleting;
}

static inline bool loader_is_same(const struct loader_state *a, const struct loader_state *b)
{
	return a->n_added == b->n_added && a->n_loaded == b->n_loaded;
}

/* The number of objects that were ever unloaded, but for a constant. */
static inline uint64_t loader_n_removed(const struct loader_state *s)
{
	return s->n_added - s->n_loaded;
}

/* The first entry of a namespace's list, to be read with guarded loads; 0: there is none. */
uintptr_t loader_list(unsigned i_namespace);

#endif
