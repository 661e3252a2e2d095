/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An archive that several processes write together: each the files of its locations, in an archive
 * of its own below that of the first one, which takes them and has the definitions. So libotf2 has
 * no collective calls, and one process can fail without the others. Test:
 * tests/cli/parts/parts_otf2.sh.
 */
#include "common/base/log.h"
#include "hpcprof-lite/parts/comm.h"
#include "hpcprof-lite/sink/otf2/otf2.h"
#include "hpcprof-lite/sink/outfile.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool otf2_is_first(const struct otf2_writer *w)
{
	return !w->m->share || w->m->share->comm->part == 0;
}

enum status otf2_agree(const struct otf2_writer *w, enum status s)
{
	return w->m->share ? comm_agree(w->m->share->comm, s) : s;
}

/* Makes the directory of the first archive, then those below it. */
static enum status make_directories(struct otf2_writer *w)
{
	char name[64] = "otf2";
	enum status s = STATUS_OK;
	if (!otf2_is_first(w))
		snprintf(name, sizeof name, "otf2/part-%d", w->m->share->comm->part);
	w->path = outfile_path(w->o->directory, name);
	for (int first = 1; first >= 0 && s == STATUS_OK; first--) {
		if (otf2_is_first(w) == first)
			s = w->path ? outdir_make(w->path) : STATUS_NO_MEMORY;
		w->has_directory |= otf2_is_first(w) == first && s == STATUS_OK;
		s = otf2_agree(w, s);
	}
	return s;
}

enum { LEDGERS = 256 }; /* of a message */

/* The first process has the ledgers of all threads, and sends the others theirs. */
static enum status get_ledgers(struct otf2_writer *w, struct comm *c)
{
	const struct model *m = w->m;
	const uint64_t *first = m->share->first_profile;
	struct model_ledger *some = calloc(LEDGERS, sizeof *some);
	w->ledgers = calloc((size_t)(w->end - w->first) + 1, sizeof *w->ledgers);
	if (!some || !w->ledgers)
		log_error(w->path, "out of memory");
	enum status s = comm_agree(c, some && w->ledgers ? STATUS_OK : STATUS_NO_MEMORY);
	for (int part = 1; part < c->n_parts && s == STATUS_OK; part++)
		for (uint64_t i = first[part], n; i < first[part + 1]; i += n) {
			n = first[part + 1] - i < LEDGERS ? first[part + 1] - i : LEDGERS;
			for (uint64_t k = 0; k < n && c->part == 0; k++)
				some[k] = *m->profiles[i + k].ledger;
			comm_pass(c, 0, part, some, w->ledgers + (i - first[part]),
				  n * sizeof *some);
		}
	free(some);
	for (uint32_t i = w->first; i < w->end && s == STATUS_OK && c->part == 0; i++)
		w->ledgers[i - w->first] = *m->profiles[i].ledger;
	return s;
}

enum status otf2_share_begin(struct otf2_writer *w)
{
	const struct model_share *share = w->m->share;
	w->end = w->m->n_profiles;
	if (share) {
		w->first = (uint32_t)share->first_profile[share->comm->part];
		w->end = (uint32_t)share->first_profile[share->comm->part + 1];
	}
	enum status s = make_directories(w);
	return s == STATUS_OK && share ? get_ledgers(w, share->comm) : s;
}

uint32_t otf2_n_own(const struct otf2_writer *w)
{
	const uint32_t n_others = otf2_n_locations(w->m) - w->m->n_profiles;
	return w->end - w->first + (otf2_is_first(w) ? n_others : 0);
}

uint32_t otf2_own_location(const struct otf2_writer *w, uint32_t i)
{
	return i < w->end - w->first ? w->first + i : w->m->n_profiles + i - (w->end - w->first);
}

static enum status move_file(const struct otf2_writer *w, uint32_t location, const char *type)
{
	char from[PATH_MAX], to[PATH_MAX];
	const int n = snprintf(from, sizeof from, "%s/traces/%" PRIu32 ".%s", w->path, location,
			       type),
		  n_to = snprintf(to, sizeof to, "%s/otf2/traces/%" PRIu32 ".%s", w->o->directory,
				  location, type);
	errno = ENAMETOOLONG;
	if ((size_t)n < sizeof from && (size_t)n_to < sizeof to && rename(from, to) == 0)
		return STATUS_OK;
	log_error(from, "%s", strerror(errno));
	return STATUS_IO;
}

enum status otf2_share_join(struct otf2_writer *w)
{
	enum status s = otf2_agree(w, atomic_load(&w->failed) ? STATUS_IO : STATUS_OK);
	if (!w->m->share || s != STATUS_OK)
		return s;
	for (uint32_t i = 0; i < otf2_n_own(w) && !otf2_is_first(w) && s == STATUS_OK; i++) {
		s = move_file(w, otf2_own_location(w, i), "evt");
		if (s == STATUS_OK)
			s = move_file(w, otf2_own_location(w, i), "def");
	}
	s = otf2_agree(w, s);
	if (s == STATUS_OK)
		comm_fill(w->m->share->comm, w->n_events, sizeof *w->n_events,
			  w->m->share->first_profile);
	return s;
}
