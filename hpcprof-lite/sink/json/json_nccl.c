/* SPDX-License-Identifier: BSD-3-Clause */
/* Times of NCCL, and who came last, if a kernel of it ran. Test: tests/cli/nccl/nccl_ranks.sh. */
#include "hpcprof-lite/sink/json/json.h"
#include "hpcprof-lite/view/view_nccl.h"

static void put_devices(struct json *j, const struct model_nccl *x)
{
	json_begin(j, "devices", '[');
	for (uint32_t i = 0; i < x->n_devices; i++) {
		const struct model_nccl_device *d = &x->devices[i];
		json_begin(j, NULL, '{');
		json_u64(j, "process", d->process);
		json_u64(j, "device", d->device);
		json_u64(j, "elapsed_ns", d->elapsed_ns);
		json_u64(j, "nccl_ns", d->nccl_ns);
		json_u64(j, "compute_ns", d->compute_ns);
		json_u64(j, "overlap_ns", d->overlap_ns);
		json_u64(j, "copy_ns", d->copy_ns);
		json_u64(j, "idle_ns", d->idle_ns);
		json_u64(j, "kernels", d->n_kernels);
		json_u64(j, "operations", d->n_calls);
		json_u64(j, "waited_ns", d->waited_ns);
		json_u64(j, "last", d->n_last);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_comms(struct json *j, const struct model_nccl *x)
{
	json_begin(j, "communicators", '[');
	for (uint32_t i = 0; i < x->n_comms; i++) {
		const struct model_nccl_comm *c = &x->comms[i];
		json_begin(j, NULL, '{');
		json_begin(j, "queues", '[');
		for (uint32_t k = 0; k < c->n_members; k++)
			json_u64(j, NULL, x->members[c->first_member + k]);
		json_end(j, ']');
		json_u64(j, "kernels", c->n_calls);
		json_u64(j, "operations", c->n_judged);
		json_end(j, '}');
	}
	json_end(j, ']');
}

static void put_late(struct json *j, const struct model_mpi_late *l)
{
	json_begin(j, NULL, '{');
	json_u64(j, "profile", l->profile);
	json_u64(j, "context", l->context);
	json_u64(j, "operations", l->n_calls);
	json_u64(j, "waited_ns", l->waited_ns);
	json_u64(j, "behind_ns", l->behind_ns);
	json_u64(j, "most_behind_ns", l->most_behind_ns);
	json_end(j, '}');
}

static void put_sites(struct json *j, const struct model_nccl *x)
{
	json_begin(j, "sites", '[');
	for (uint32_t i = 0; i < x->n_sites; i++) {
		const struct model_mpi_site *s = &x->sites[i];
		json_begin(j, NULL, '{');
		json_text(j, "operation", view_nccl_operation(s->call));
		json_u64(j, "context", s->context);
		json_u64(j, "operations", s->n_calls);
		json_u64(j, "waited_ns", s->waited_ns);
		json_begin(j, "last", '[');
		for (uint32_t k = 0; k < s->n_late; k++)
			put_late(j, &x->late[s->first_late + k]);
		json_end(j, ']');
		json_end(j, '}');
	}
	json_end(j, ']');
}

void json_put_nccl(struct json *j, const struct model *m)
{
	if (!m->nccl)
		return;
	json_begin(j, "nccl", '{');
	put_devices(j, m->nccl);
	put_comms(j, m->nccl);
	put_sites(j, m->nccl);
	json_u64(j, "alone", m->nccl->n_alone);
	json_u64(j, "clock_error_ns", m->nccl->clock_error_ns);
	json_end(j, '}');
}
