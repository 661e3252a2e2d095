/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section "memory": live bytes of each process over its time. Test:
 * tests/cli/memory/memory_places.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

enum status html_write_memory(struct html *h)
{
	html_section_begin(&h->section, &h->packer, "memory");
	html_put_number(&h->section, h->m->n_memory);
	for (uint32_t i = 0; i < h->m->n_memory; i++) {
		const struct model_memory *x = &h->m->memory[i];
		const struct model_process *p = &h->m->processes[x->process];
		html_put_number(&h->section, x->process);
		html_put_number(&h->section,
				p->start_ns > h->m->start_ns ? p->start_ns - h->m->start_ns : 0);
		html_put_number(&h->section, p->end_ns - p->start_ns);
		html_put_number(&h->section, MODEL_MEMORY_POINTS);
		for (unsigned k = 0; k < MODEL_MEMORY_POINTS; k++)
			html_put_number(&h->section, (uint64_t)x->points[k]);
	}
	return html_section_end(&h->section);
}
