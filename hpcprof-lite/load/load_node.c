/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the data of a measurement file that is on the node of its process, because the measurement
 * directory is on a file server. Test: tests/cli/storage/storage_follow.sh.
 */
#include "hpcprof-lite/load/load_records.h"

#include "common/base/log.h"
#include "common/format/local_data.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct rest {
	char copied[64];
	bool is_lost; /* it was on this node and is gone */
	struct local_data where;
};

static bool add_note(struct load_file *f, const struct local_part *part, const struct rest *r)
{
	char *text = NULL;
	const int n = asprintf(
		&text,
		r->is_lost ? "the copy of process %u ends at %s; the rest was on %s (%s)"
			   : "the copy of process %u ends at %s; the rest is on %s (%s)",
		part->header.pid, r->copied, r->where.host, r->where.path);
	void **owned = n < 0 ? NULL : vec_push(&f->owned);
	if (!owned) {
		if (n >= 0)
			free(text);
		return false;
	}
	*owned = text;
	const char **note = vec_push(&f->notes);
	if (note)
		*note = text;
	return note;
}

/*
 * Uses the part that was copied. The rest of the data is on another node, or was lost when that
 * node went down, or was on this node and is gone.
 */
static enum status take_part(const char *path, const struct local_part *part, struct rest *r,
			     struct load_file *f)
{
	const time_t t = (time_t)(part->copied_real_ns / 1000000000u);
	struct tm utc = {0};
	gmtime_r(&t, &utc);
	strftime(r->copied, sizeof r->copied, "%Y-%m-%d %H:%M:%S UTC", &utc);
	if (r->is_lost)
		log_warn(path,
			 "copied at %s while the process ran; what it recorded later is not on "
			 "this node any more (%s)",
			 r->copied, r->where.path);
	else
		log_warn(path,
			 "copied at %s while the process ran; what it recorded later is on %s "
			 "(%s); run hpcrun-lite --collect there",
			 r->copied, r->where.host, r->where.path);
	if (add_note(f, part, r))
		return STATUS_OK;
	log_error(path, "out of memory");
	return STATUS_NO_MEMORY;
}

enum status load_from_node(const char *path, struct load_file *f)
{
	struct rest r;
	struct mapfile there = {0};
	if (!local_data_read(f->map.bytes, f->map.n_bytes, &r.where))
		return STATUS_OK;
	const struct local_part *part = local_data_part(f->map.bytes, f->map.n_bytes);
	const bool is_here =
		local_data_is_here(&r.where) &&
		mapfile_take(local_data_open(&r.where, f->map.owner), r.where.path, &there) ==
			STATUS_OK;
	r.is_lost = local_data_is_gone(&r.where);
	if (part && !is_here)
		return take_part(path, part, &r, f);
	mapfile_close(&f->map);
	f->map = there;
	if (is_here)
		return STATUS_OK;
	if (local_data_is_here(&r.where))
		return STATUS_NOT_FOUND; /* already logged */
	if (r.is_lost)
		log_warn(path, "its data are not on this node any more (%s)", r.where.path);
	else
		log_warn(path, "its data are still on %s (%s); run hpcrun-lite --collect there",
			 r.where.host, r.where.path);
	return STATUS_NOT_FOUND;
}
