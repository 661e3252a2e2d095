/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See mpi_library.h. An ABI is recognised by a symbol that its mpi.h refers to, which programs
 * therefore need at run time: it cannot disappear. Tests: tests/cli/mpi/mpi_truth.sh,
 * tests/cli/mpi/mpi_python.sh.
 */
#include "hpcrun-lite/mpi/mpi_library.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>

/* A handle of the library that contains `address`, for dlsym and dlclose; NULL: the program. */
static void *open_library_of(const void *address)
{
	struct dl_find_object object;
	if (!address || _dl_find_object((void *)(uintptr_t)address, &object) != 0 ||
	    !object.dlfo_link_map->l_name[0])
		return NULL;
	return dlopen(object.dlfo_link_map->l_name, RTLD_LAZY | RTLD_NOLOAD);
}

static void *find_from(void *library, const char *name)
{
	return library ? dlsym(library, name) : NULL;
}

void *mpi_library_find(const char *name, const void *caller)
{
	int saved = errno;
	void *function = dlsym(RTLD_NEXT, name);
	if (!function) {
		void *library = open_library_of(caller);
		function = find_from(library, name);
		if (library)
			dlclose(library);
	}
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

/* Programs have copies of the data that they refer to; the first definition is the one in use. */
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
	/* acquire: with the state comes what was found */
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
