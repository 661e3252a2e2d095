/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of NCCL, and who came last. Test: tests/cli/nccl/nccl_ranks.sh. */
#include "hpcprof-lite/sink/sqlite/sqlite_write.h"
#include "hpcprof-lite/view/view_nccl.h"

static void put_devices(struct sqlite_writer *w, const struct model_nccl *x)
{
	sqlite_begin(w, "nccl_device", 12);
	for (uint32_t i = 0; i < x->n_devices && w->status == STATUS_OK; i++) {
		const struct model_nccl_device *d = &x->devices[i];
		const uint64_t fields[] = {d->elapsed_ns, d->nccl_ns, d->compute_ns, d->overlap_ns,
					   d->copy_ns,    d->idle_ns, d->n_kernels,  d->n_calls,
					   d->waited_ns,  d->n_last};
		sqlite_id(w, d->process);
		sqlite_id(w, d->device);
		for (size_t k = 0; k < sizeof fields / sizeof *fields; k++)
			sqlite_int(w, fields[k]);
		sqlite_row(w);
	}
	sqlite_end(w);
}

static void put_queues(struct sqlite_writer *w, const struct model_nccl *x)
{
	sqlite_begin(w, "nccl_queue", 4);
	for (uint32_t i = 0; i < x->n_comms; i++)
		for (uint32_t k = 0; k < x->comms[i].n_members && w->status == STATUS_OK; k++) {
			sqlite_int(w, i);
			sqlite_id(w, x->members[x->comms[i].first_member + k]);
			sqlite_int(w, x->comms[i].n_calls);
			sqlite_int(w, x->comms[i].n_judged);
			sqlite_row(w);
		}
	sqlite_end(w);
}

static void put_sites(struct sqlite_writer *w, const struct model_nccl *x)
{
	sqlite_begin(w, "nccl_site", 5);
	for (uint32_t i = 0; i < x->n_sites && w->status == STATUS_OK; i++) {
		const struct model_mpi_site *s = &x->sites[i];
		sqlite_int(w, i);
		sqlite_word(w, view_nccl_operation(s->call));
		sqlite_id(w, s->context);
		sqlite_int(w, s->n_calls);
		sqlite_int(w, s->waited_ns);
		sqlite_row(w);
	}
	sqlite_end(w);
}

static void put_late(struct sqlite_writer *w, const struct model_nccl *x)
{
	sqlite_begin(w, "nccl_late", 7);
	for (uint32_t i = 0; i < x->n_late && w->status == STATUS_OK; i++) {
		const struct model_mpi_late *l = &x->late[i];
		sqlite_id(w, l->site);
		sqlite_id(w, l->profile);
		sqlite_id(w, l->context);
		sqlite_int(w, l->n_calls);
		sqlite_int(w, l->waited_ns);
		sqlite_int(w, l->behind_ns);
		sqlite_int(w, l->most_behind_ns);
		sqlite_row(w);
	}
	sqlite_end(w);
}

void sqlite_put_nccl(struct sqlite_writer *w)
{
	const struct model_nccl *x = w->m->nccl;
	if (!x)
		return;
	put_devices(w, x);
	put_queues(w, x);
	put_sites(w, x);
	put_late(w, x);
}
