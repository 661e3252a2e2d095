/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The section "code": the instructions of the hottest functions, with their lines and samples.
 * Test: tests/cli/sink/sink_code.sh.
 */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/code/code.h"

#include <math.h>

/* Parts of stalls while nothing was issued are left out: the page shows stalls. */
static bool is_shown(const struct html *h, const struct model_instruction *s)
{
	return h->m->metrics[s->metric].role != MODEL_ROLE_STALL_IDLE;
}

static void put_samples(struct html *h, const struct code_instruction *i)
{
	const struct model_instruction *all = h->m->instructions + i->first_sample;
	uint32_t n = 0;
	for (uint32_t k = 0; k < i->n_samples; k++)
		n += is_shown(h, &all[k]);
	html_put_number(&h->section, n);
	for (uint32_t k = 0; k < i->n_samples; k++) {
		const struct model_instruction *s = &all[k];
		if (!is_shown(h, s))
			continue;
		html_put_number(&h->section, s->metric);
		html_put_number(&h->section, s->n_samples);
		html_put_number(
			&h->section,
			(uint64_t)llround(s->value * html_scale(h, &h->m->metrics[s->metric])));
	}
}

static void put_function(struct html *h, const struct code_function *f)
{
	const struct code *c = h->o->code;
	uint64_t before = 0;
	html_put_number(&h->section, f->function == MODEL_NONE ? 0 : (uint64_t)f->function + 1);
	html_put_number(&h->section, f->module);
	html_put_number(&h->section, html_string(h, strtab_get(&c->strings, f->name)));
	html_put_number(&h->section, f->n);
	for (size_t k = 0; k < f->n; k++) {
		const struct code_instruction *i = &c->instructions.at[f->first + k];
		html_put_number(&h->section, i->link_addr - before);
		before = i->link_addr;
		html_put_number(&h->section, html_string(h, strtab_get(&c->strings, i->text)));
		html_put_number(&h->section, i->file == MODEL_NONE ? 0 : (uint64_t)i->file + 1);
		html_put_number(&h->section, (uint64_t)i->line << 1 | i->is_apart);
		html_put_number(&h->section, html_string(h, strtab_get(&c->strings, i->inlined)));
		put_samples(h, i);
	}
}

enum status html_write_code(struct html *h)
{
	const struct code *c = h->o->code;
	html_section_begin(&h->section, &h->packer, "code");
	html_put_number(&h->section, c ? c->functions.n : 0);
	for (size_t i = 0; c && i < c->functions.n; i++)
		put_function(h, &c->functions.at[i]);
	html_put_number(&h->section, c ? c->missing.n : 0);
	for (size_t i = 0; c && i < c->missing.n; i++)
		html_put_number(&h->section,
				html_string(h, strtab_get(&c->strings, c->missing.at[i])));
	h->is_private |= c && c->is_private;
	return html_section_end(&h->section);
}
