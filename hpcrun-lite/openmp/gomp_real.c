/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the real functions; see gomp_real.h. If a library that the program is linked with has them,
 * every caller reaches those, because the dynamic loader searches there first. Otherwise each
 * object finds the functions of the group of libraries that it was loaded with. Must not call
 * malloc. Test: tests/cli/openmp/gomp_two.sh.
 */
#include "hpcrun-lite/openmp/gomp_real.h"

#include "common/safe/find_object.h"
#include "hpcrun-lite/regions/region.h"
#include "hpcrun-lite/runtime/next.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

enum { OBJECTS_MAX = 64 };

static const char *const names[GOMP_N_FUNCTIONS] = {
	[GOMP_PARALLEL] = "GOMP_parallel",
	[GOMP_PARALLEL_REDUCTIONS] = "GOMP_parallel_reductions",
	[GOMP_PARALLEL_SECTIONS] = "GOMP_parallel_sections",
	[GOMP_PARALLEL_LOOP_STATIC] = "GOMP_parallel_loop_static",
	[GOMP_PARALLEL_LOOP_DYNAMIC] = "GOMP_parallel_loop_dynamic",
	[GOMP_PARALLEL_LOOP_GUIDED] = "GOMP_parallel_loop_guided",
	[GOMP_PARALLEL_LOOP_RUNTIME] = "GOMP_parallel_loop_runtime",
	[GOMP_PARALLEL_LOOP_NONMONOTONIC_DYNAMIC] = "GOMP_parallel_loop_nonmonotonic_dynamic",
	[GOMP_PARALLEL_LOOP_NONMONOTONIC_GUIDED] = "GOMP_parallel_loop_nonmonotonic_guided",
	[GOMP_PARALLEL_LOOP_NONMONOTONIC_RUNTIME] = "GOMP_parallel_loop_nonmonotonic_runtime",
	[GOMP_PARALLEL_LOOP_MAYBE_NONMONOTONIC_RUNTIME] =
		"GOMP_parallel_loop_maybe_nonmonotonic_runtime",
	[GOMP_LOOP_STATIC_START] = "GOMP_loop_static_start",
	[GOMP_LOOP_DYNAMIC_START] = "GOMP_loop_dynamic_start",
	[GOMP_LOOP_GUIDED_START] = "GOMP_loop_guided_start",
	[GOMP_LOOP_NONMONOTONIC_DYNAMIC_START] = "GOMP_loop_nonmonotonic_dynamic_start",
	[GOMP_LOOP_NONMONOTONIC_GUIDED_START] = "GOMP_loop_nonmonotonic_guided_start",
	[GOMP_LOOP_RUNTIME_START] = "GOMP_loop_runtime_start",
	[GOMP_LOOP_NONMONOTONIC_RUNTIME_START] = "GOMP_loop_nonmonotonic_runtime_start",
	[GOMP_LOOP_MAYBE_NONMONOTONIC_RUNTIME_START] =
		"GOMP_loop_maybe_nonmonotonic_runtime_start",
	[GOMP_LOOP_ULL_STATIC_START] = "GOMP_loop_ull_static_start",
	[GOMP_LOOP_ULL_DYNAMIC_START] = "GOMP_loop_ull_dynamic_start",
	[GOMP_LOOP_ULL_GUIDED_START] = "GOMP_loop_ull_guided_start",
	[GOMP_LOOP_ULL_NONMONOTONIC_DYNAMIC_START] = "GOMP_loop_ull_nonmonotonic_dynamic_start",
	[GOMP_LOOP_ULL_NONMONOTONIC_GUIDED_START] = "GOMP_loop_ull_nonmonotonic_guided_start",
	[GOMP_LOOP_ULL_RUNTIME_START] = "GOMP_loop_ull_runtime_start",
	[GOMP_LOOP_ULL_NONMONOTONIC_RUNTIME_START] =
		"GOMP_loop_ull_nonmonotonic_runtime_start",
	[GOMP_LOOP_ULL_MAYBE_NONMONOTONIC_RUNTIME_START] =
		"GOMP_loop_ull_maybe_nonmonotonic_runtime_start",
};

HOOK_NEXT(dlclose);

struct library {
	void *function[GOMP_N_FUNCTIONS];
	int (*thread_number)(void), (*team_size)(void);
};

/* The functions that one object reaches. Constant once `map` is set, except for n_closes. */
struct object {
	_Atomic(const struct link_map *) map; /* NULL: not ready */
	_Atomic uint32_t n_closes; /* value of region_n_closes() when this was right */
	struct library library;
};

static struct {
	struct library program;    /* function[0] NULL: none */
	_Atomic uint32_t n_taken;
	struct object object[OBJECTS_MAX];
} gomp;

static void fill(struct library *l, void *handle)
{
	for (unsigned i = 0; i < GOMP_N_FUNCTIONS; i++)
		l->function[i] = dlsym(handle, names[i]);
	*(void **)&l->thread_number = dlsym(handle, "omp_get_thread_num");
	*(void **)&l->team_size = dlsym(handle, "omp_get_num_threads");
	if (!l->thread_number || !l->team_size)
		l->function[GOMP_PARALLEL] = NULL;
}

void gomp_start(void)
{
	const int saved_errno = errno;
	if (dlsym(RTLD_NEXT, names[GOMP_PARALLEL]))
		fill(&gomp.program, RTLD_NEXT);
	else
		dlerror(); /* or the program would find our error */
	errno = saved_errno;
}

/* ---- objects that were loaded later ---- */

/* Represents code that is in no object: a compiler made it at run time. */
static const struct link_map no_object;

static const struct link_map *map_of(const void *address)
{
	struct dl_find_object found;
	return find_object_surely((void *)address, &found) == 0 ? found.dlfo_link_map : NULL;
}

/* The loader's list is in the order in which objects were loaded. */
static bool was_loaded_before(const struct link_map *a, const struct link_map *b)
{
	while (b && b != a)
		b = b->l_prev;
	return b != NULL;
}

/*
 * Returns a handle for the group of libraries that was loaded with the object. Only dlopen gives
 * one: for an object that others needed, dlsym would follow a NULL pointer in its map. Closing the
 * handle unloads nothing, because the caller's code is in the object.
 */
static void *open_handle(const struct link_map *map)
{
	if (map == &no_object)
		return NULL;
	return dlopen(map->l_name[0] ? map->l_name : NULL, RTLD_LAZY | RTLD_NOLOAD);
}

/*
 * The global libraries come first if they were there when the object was loaded. In the group of
 * the program, the functions are our hooks. `group` may be NULL.
 */
static void *handle_for(const struct link_map *map, void *group)
{
	void *const global = dlsym(RTLD_NEXT, names[GOMP_PARALLEL]),
	     *const local = group ? dlsym(group, names[GOMP_PARALLEL]) : NULL;
	const bool has_local = local && map_of(local) != map_of(&gomp);
	if (global && (!has_local || was_loaded_before(map_of(global), map)))
		return RTLD_NEXT;
	return has_local ? group : NULL;
}

static void look_up(const struct link_map *map, struct library *l)
{
	const int saved_errno = errno;
	void *const group = open_handle(map), *const handle = handle_for(map, group);
	*l = (struct library){0};
	if (handle)
		fill(l, handle);
	if (group)
		NEXT(dlclose)(group); /* our dlclose hook would make us look everything up again */
	dlerror();
	errno = saved_errno;
}

static bool is_same(const struct library *a, const struct library *b)
{
	return a->function[GOMP_PARALLEL] == b->function[GOMP_PARALLEL] &&
	       a->thread_number == b->thread_number;
}

/* If the table is full, the next call looks the function up again. */
static void keep(const struct link_map *map, const struct library *l, uint32_t n_closes)
{
	const uint32_t i = atomic_fetch_add_explicit(&gomp.n_taken, 1, memory_order_relaxed);
	if (i >= OBJECTS_MAX) {
		atomic_store_explicit(&gomp.n_taken, OBJECTS_MAX, memory_order_relaxed);
		return;
	}
	gomp.object[i].library = *l;
	atomic_store_explicit(&gomp.object[i].n_closes, n_closes, memory_order_relaxed);
	atomic_store_explicit(&gomp.object[i].map, map, memory_order_release);
}

static struct gomp_real real_of(const struct library *l, enum gomp_function which)
{
	return (struct gomp_real){l->function[GOMP_PARALLEL] ? l->function[which] : NULL,
				  l->thread_number, l->team_size};
}

/*
 * After a dlclose we look each object up again once, because another object may have its address.
 * An object that reached nothing is looked up again, too, because a library may have been loaded.
 */
static struct gomp_real find_for(const struct link_map *map, enum gomp_function which)
{
	const uint32_t n_closes = region_n_closes(),
		       n = atomic_load_explicit(&gomp.n_taken, memory_order_relaxed);
	struct object *known = NULL;
	struct library library;
	for (uint32_t i = 0; i < n && i < OBJECTS_MAX; i++) {
		struct object *o = &gomp.object[i];
		if (atomic_load_explicit(&o->map, memory_order_acquire) != map)
			continue;
		if (atomic_load_explicit(&o->n_closes, memory_order_relaxed) == n_closes &&
		    o->library.function[GOMP_PARALLEL])
			return real_of(&o->library, which);
		known = o;
	}
	look_up(map, &library);
	if (known && is_same(&known->library, &library))
		atomic_store_explicit(&known->n_closes, n_closes, memory_order_relaxed);
	else
		keep(map, &library, n_closes);
	return real_of(&library, which);
}

struct gomp_real gomp_find(enum gomp_function which, uintptr_t code)
{
	if (gomp.program.function[GOMP_PARALLEL])
		return real_of(&gomp.program, which);
	const struct link_map *map = map_of((const void *)code);
	return find_for(map ? map : &no_object, which);
}
