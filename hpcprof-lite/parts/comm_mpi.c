/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm_mpi.h. Test: tests/cli/parts/parts_ranks.sh. */
#include "hpcprof-lite/parts/comm_mpi.h"

#include "common/base/library_place.h"
#include "common/base/log.h"
#include "common/safe/launcher.h"
#include "hpcprof-lite/parts/comm_module.h"
#include "hpcprof-lite/parts/parent.h"
#include "hpcprof-lite/parts/start_guard.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
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
 * An MPI that does not know the launcher starts each process as the only rank. One process logs
 * this for all. If the number of ranks is not known, rank 0 may be alone, so rank 1 logs it.
 */
static enum status refuse(const struct launcher *l, int32_t rank, int32_t size, const char *library,
			  int n_ranks)
{
	char number[32] = "several";
	if (size > 0)
		snprintf(number, sizeof number, "%d", size);
	if (rank == (size > 0 ? 0 : 1))
		log_error(NULL,
			  "%s started %s ranks, but %s, which this program was built with, finds "
			  "%d; start it with that MPI, or with --no-mpi",
			  l->name, number, library, n_ranks);
	return STATUS_UNSUPPORTED;
}

/*
 * True if this process is one of several ranks that work together. If a script started it, the
 * other ranks may do other things, so it works alone.
 */
static bool is_one_of_several(const struct launcher *l, int32_t rank, int32_t size,
			      enum comm_mpi_use use)
{
	if (!l || l->has_no_mpi || size == 1 || use == COMM_MPI_NEVER)
		return false;
	if (use == COMM_MPI_ALWAYS || !parent_is_rank(l))
		return true;
	log_note(NULL,
		 "rank %d of %s works alone, as a script or another program started it; if all "
		 "ranks start it, use --mpi",
		 rank, l->name);
	return false;
}

/* Waits for all ranks, at most two minutes: much longer than MPI needs, but not for ever. */
static void begin(const struct launcher *l, int32_t launched_rank, struct comm *c, char *library,
		  size_t bytes)
{
	struct start_guard guard = {
		.launcher = l->name, .rank = launched_rank, .warn_s = 10, .limit_s = 120};
	start_guard_begin(&guard);
	module->begin(c, library, bytes);
	start_guard_end(&guard);
}

/* A rank of another version, or with other arguments, would wait for messages that nobody sends. */
static enum status compare_commands(struct comm *c, uint64_t command)
{
	if (comm_is_same(c, (int64_t)command))
		return STATUS_OK;
	if (c->part == 0)
		log_error(NULL, "the ranks have different versions of this program, or different "
				"arguments");
	comm_mpi_end(c);
	return STATUS_UNSUPPORTED;
}

enum status comm_mpi_begin(struct comm *c, enum comm_mpi_use use, uint64_t command)
{
	char library[256];
	int32_t launched_rank, launched;
	const struct launcher *l = launcher_find(environ, &launched_rank, &launched);
	*c = (struct comm){.n_parts = 1};
	if (!is_one_of_several(l, launched_rank, launched, use))
		return STATUS_OK;
	module = load_module();
	if (!module) {
		log_warn(NULL,
			 "rank %d of %s: this program was built without MPI, so each rank does "
			 "all the work",
			 launched_rank, l->name);
		return STATUS_OK;
	}
	begin(l, launched_rank, c, library, sizeof library);
	if (launched > 0 ? c->n_parts != launched : c->part != launched_rank) {
		const int n_ranks = c->n_parts;
		comm_mpi_end(c);
		return refuse(l, launched_rank, launched, library, n_ranks);
	}
	c->ops = &module->ops;
	log_detail(NULL, "rank %d of %d (%s)", c->part, c->n_parts, library);
	return compare_commands(c, command);
}

void comm_mpi_end(struct comm *c)
{
	if (module)
		module->end();
	module = NULL;
	*c = (struct comm){.n_parts = 1};
}
