/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See mpi_library.h. We recognise an ABI by a symbol that its mpi.h refers to. Programs need it at
 * run time, so it cannot disappear. Tests: tests/cli/mpi/mpi_truth.sh, tests/cli/mpi/mpi_python.sh.
 */
#include "hpcrun-lite/mpi/mpi_library.h"

#include "common/safe/find_object.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

/* Returns a handle of the library that contains `address`, for dlsym and dlclose; NULL: program. */
static void *open_library_of(const void *address)
{
	struct dl_find_object object;
	if (!address || find_object_surely((void *)(uintptr_t)address, &object) != 0 ||
	    !object.dlfo_link_map->l_name[0])
		return NULL;
	return dlopen(object.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

static void *find_from(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

static void *find_beside(const void *address, const char *name)
{
	void *library = open_library_of(address), *function = find_from(library, name);
	if (library)
		dlclose(library);
	return function;
}

/* ---- libraries that neither we nor the caller can see ---- */

struct nth_object {
	unsigned left;
	char name[PATH_MAX]; /* "": cannot be opened */
};

static int take_name(struct dl_phdr_info *object, size_t size, void *to)
{
	struct nth_object *nth = to;
	(void)size;
	if (nth->left--)
		return 0;
	const size_t length = strnlen(object->dlpi_name, sizeof nth->name);
	if (length < sizeof nth->name)
		memcpy(nth->name, object->dlpi_name, length + 1);
	return 1;
}

static bool is_in(const struct link_map *map, const void *address)
{
	struct dl_find_object object;
	return find_object_surely((void *)(uintptr_t)address, &object) == 0 &&
	       object.dlfo_link_map == map;
}

/* Copies the library's name, because the loader's lock must be free when we open it. */
static void *find_in_nth(unsigned n, const char *name, bool *is_there)
{
	struct nth_object nth = {.left = n};
	struct dl_find_object us;
	*is_there = dl_iterate_phdr(take_name, &nth) == 1;
	void *library = nth.name[0] ? dlopen(nth.name, RTLD_LAZY | RTLD_NOLOAD) : NULL,
	     *function = find_from(library, name);
	if (library)
		dlclose(library);
	return find_object_surely((void *)find_in_nth, &us) == 0 &&
			       is_in(us.dlfo_link_map, function)
		       ? NULL
		       : function;
}

static void *find_anywhere(const char *name)
{
	void *function = NULL;
	bool is_there = true;
	for (unsigned i = 0; is_there && !function; i++)
		function = find_in_nth(i, name, &is_there);
	return function;
}

/* The last two searches are for an unknown caller, which made a tail call. */
void *mpi_library_find(const char *name, const void *caller)
{
	static _Atomic(const void *) last; /* another function of MPI */
	int saved = errno;
	void *function = dlsym(RTLD_NEXT, name);
	if (!function)
		function = find_beside(caller, name);
	if (!function)
		function = find_beside(atomic_load_explicit(&last, memory_order_relaxed), name);
	if (!function)
		function = find_anywhere(name);
	if (function)
		atomic_store_explicit(&last, function, memory_order_relaxed);
	errno = saved;
	return function;
}

/* ---- the library ---- */

enum { NOT_EXAMINED, EXAMINING, EXAMINED };

static struct mpi_library known;
static const struct mpi_library unknown;
static _Atomic int state = NOT_EXAMINED;

static void *look_up(void *library, const char *name)
{
	void *at = find_from(library, name);
	return at ? at : dlsym(RTLD_NEXT, name);
}

/* A program has copies of the data that it refers to; the first definition is the one in use. */
static void *look_up_data(void *library, const char *name)
{
	void *at = dlsym(RTLD_DEFAULT, name);
	return at ? at : find_from(library, name);
}

static const struct {
	const char *name;
	size_t at;
} functions[] = {
	{"PMPI_Type_size_x", offsetof(struct mpi_library, type_size)},
	{"PMPI_Comm_size", offsetof(struct mpi_library, comm_size)},
	{"PMPI_Comm_rank", offsetof(struct mpi_library, comm_rank)},
	{"PMPI_Comm_test_inter", offsetof(struct mpi_library, comm_test_inter)},
	{"PMPI_Comm_group", offsetof(struct mpi_library, comm_group)},
	{"PMPI_Group_free", offsetof(struct mpi_library, group_free)},
	{"PMPI_Group_translate_ranks", offsetof(struct mpi_library, translate)},
	{"PMPI_Cartdim_get", offsetof(struct mpi_library, cart_dimensions)},
	{"PMPI_Graph_neighbors_count", offsetof(struct mpi_library, graph_degree)},
	{"PMPI_Dist_graph_neighbors_count", offsetof(struct mpi_library, dist_graph_degrees)},
};

static void examine_open(struct mpi_library *l, void *library, void *world)
{
	l->world = (uintptr_t)world;
	l->self = (uintptr_t)look_up_data(library, "ompi_mpi_comm_self");
	l->null = (uintptr_t)look_up_data(library, "ompi_mpi_comm_null");
	l->null_request = (uintptr_t)look_up_data(library, "ompi_request_null");
	l->in_place = 1;
	l->any_source = -1;
	l->proc_null = -2;
	l->abi = MPI_ABI_OPEN;
}

static void examine_mpich(struct mpi_library *l)
{
	l->world = 0x44000000;
	l->self = 0x44000001;
	l->null = 0x04000000;
	l->null_request = 0x2c000000;
	l->in_place = (uintptr_t)-1;
	l->proc_null = -1;
	l->any_source = -2;
	l->abi = MPI_ABI_MPICH;
}

static void examine(struct mpi_library *l, void *library)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		void *at = look_up(library, functions[i].name);
		if (!at)
			return; /* older than MPI 3 */
		*(void **)((char *)l + functions[i].at) = at;
	}
	void *world = look_up_data(library, "ompi_mpi_comm_world");
	if (world)
		examine_open(l, library, world);
	else if (look_up(library, "MPIR_Dup_fn"))
		examine_mpich(l);
}

const struct mpi_library *mpi_library(const void *function)
{
	int expected = NOT_EXAMINED;
	/* acquire: a thread that sees the state sees the results */
	if (atomic_load_explicit(&state, memory_order_acquire) == EXAMINED)
		return &known;
	if (!atomic_compare_exchange_strong_explicit(&state, &expected, EXAMINING,
						     memory_order_relaxed, memory_order_relaxed))
		return &unknown;
	int saved = errno;
	void *library = open_library_of(function);
	examine(&known, library);
	if (library)
		dlclose(library);
	errno = saved;
	atomic_store_explicit(&state, EXAMINED, memory_order_release);
	return &known;
}
