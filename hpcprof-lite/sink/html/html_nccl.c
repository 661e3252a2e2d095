/* SPDX-License-Identifier: BSD-3-Clause */
/* The member "nccl" of the section "meta". Test: tests/cli/nccl/nccl_ranks.sh. */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/view_nccl.h"

#include <inttypes.h>

enum { MOST_SITES = 200, MOST_LATE = 16, NAME = 64 };

static const char *comma(size_t i)
{
	return i ? "," : "";
}

static uint32_t put_name(struct html *h, uint32_t process, uint32_t device)
{
	char name[NAME];
	view_nccl_name(h->m, process, device, name, sizeof name);
	return html_string(h, name);
}

static void put_devices(struct html *h)
{
	const struct model_nccl *x = h->m->nccl;
	html_put_text(&h->section, "\"devices\":[");
	for (uint32_t i = 0; i < x->n_devices; i++) {
		const struct model_nccl_device *d = &x->devices[i];
		html_put_text(&h->section,
			      "%s{\"name\":%" PRIu32 ",\"process\":%" PRIu32 ",\"elapsed\":%" PRIu64
			      ",\"nccl\":%" PRIu64 ",\"compute\":%" PRIu64 ",\"overlap\":%" PRIu64
			      ",\"copy\":%" PRIu64 ",\"idle\":%" PRIu64 ",\"n\":%" PRIu64
			      ",\"waited\":%" PRIu64 ",\"last\":%" PRIu64 "}",
			      comma(i), put_name(h, d->process, d->device), d->process,
			      d->elapsed_ns, d->nccl_ns, d->compute_ns, d->overlap_ns, d->copy_ns,
			      d->idle_ns, d->n_kernels, d->waited_ns, d->n_last);
	}
	html_put_text(&h->section, "]");
}

static void put_late(struct html *h, const struct model_mpi_late *l)
{
	const struct model_profile *p = &h->m->profiles[l->profile];
	html_put_text(&h->section,
		      "{\"name\":%" PRIu32 ",\"process\":%" PRIu32 ",\"context\":%" PRIu32
		      ",\"n\":%" PRIu64 ",\"waited\":%" PRIu64 ",\"behind\":%" PRIu64
		      ",\"most\":%" PRIu64 "}",
		      put_name(h, p->process, h->m->gpu_queues[p->queue].device), p->process,
		      h->tree.kept[l->context], l->n_calls, l->waited_ns, l->behind_ns,
		      l->most_behind_ns);
}

static void put_sites(struct html *h)
{
	const struct model_nccl *x = h->m->nccl;
	html_put_text(&h->section, ",\"sites\":[");
	for (uint32_t i = 0; i < x->n_sites && i < MOST_SITES && x->sites[i].waited_ns; i++) {
		const struct model_mpi_site *s = &x->sites[i];
		html_put_text(&h->section,
			      "%s{\"operation\":%" PRIu32 ",\"context\":%" PRIu32 ",\"n\":%" PRIu64
			      ",\"waited\":%" PRIu64 ",\"late\":[",
			      comma(i), html_string(h, view_nccl_operation(s->call)),
			      h->tree.kept[s->context], s->n_calls, s->waited_ns);
		for (uint32_t k = 0; k < s->n_late && k < MOST_LATE; k++) {
			html_put_text(&h->section, "%s", comma(k));
			put_late(h, &x->late[s->first_late + k]);
		}
		html_put_text(&h->section, "]}");
	}
	html_put_text(&h->section, "]");
}

void html_put_nccl(struct html *h)
{
	if (!h->m->nccl)
		return;
	html_put_text(&h->section, ",\"nccl\":{");
	put_devices(h);
	put_sites(h);
	html_put_text(&h->section, ",\"alone\":%" PRIu64 ",\"clockError\":%" PRIu64 "}",
		      h->m->nccl->n_alone, h->m->nccl->clock_error_ns);
}
