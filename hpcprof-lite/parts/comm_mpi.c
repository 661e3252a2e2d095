/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm_mpi.h. Test: tests/cli/parts/parts_ranks.sh. */
#include "hpcprof-lite/parts/comm_mpi.h"

#include "common/base/library_place.h"
#include "common/base/log.h"
#include "common/safe/launcher.h"
#include "hpcprof-lite/parts/comm_module.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

static const struct comm_module *module; /* NULL: not begun */

static const struct comm_module *load_module(void)
{
	char path[PATH_MAX];
	if (!library_place_find(COMM_MODULE, BINDIR, PKGLIBDIR, path, sizeof path))
		return NULL;
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct comm_module *m = library ? dlsym(library, COMM_MODULE_SYMBOL) : NULL;
	if (!library)
		log_warn(path, "cannot be loaded: %s", dlerror());
	return m && m->n_bytes == sizeof *m ? m : NULL;
}

/*
 * An MPI that does not know the launcher starts as one rank. Only one of them says so: the others
 * have the same to say.
 */
static enum status refuse(const struct launcher *l, int32_t rank, int32_t size, const char *library,
			  int n_ranks)
{
	if (rank == 0)
		log_error(NULL,
			  "%s started %d ranks, but %s, which this program was built with, finds "
			  "%d; start it with that MPI, or with --no-mpi",
			  l->name, size, library, n_ranks);
	return STATUS_UNSUPPORTED;
}

enum status comm_mpi_begin(struct comm *c)
{
	char library[256];
	int rank = 0, n_ranks = 1;
	int32_t launched_rank, launched;
	const struct launcher *l = launcher_find(environ, &launched_rank, &launched);
	*c = (struct comm){.n_parts = 1};
	if (!l || l->has_no_mpi || launched == 1 || (launched < 0 && launched_rank < 0))
		return STATUS_OK;
	module = load_module();
	if (!module) {
		log_warn(NULL,
			 "rank %d of %s: this program was built without MPI, so each rank does "
			 "all the work",
			 launched_rank, l->name);
		return STATUS_OK;
	}
	module->begin(&rank, &n_ranks, library, sizeof library);
	if (launched > 0 ? n_ranks != launched : rank != launched_rank) {
		comm_mpi_end(c);
		return refuse(l, launched_rank, launched, library, n_ranks);
	}
	*c = (struct comm){.ops = &module->ops, .part = rank, .n_parts = n_ranks};
	log_detail(NULL, "rank %d of %d (%s)", rank, n_ranks, library);
	return STATUS_OK;
}

void comm_mpi_end(struct comm *c)
{
	if (module)
		module->end();
	module = NULL;
	*c = (struct comm){.n_parts = 1};
}
