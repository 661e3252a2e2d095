/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections "functions" and "contexts". Test: tests/cli/sink/sink_html.sh. */
#include "hpcprof-lite/sink/html/html.h"

#include "hpcprof-lite/view/names.h"

static uint64_t plus_one(uint32_t id)
{
	return id == MODEL_NONE ? 0 : (uint64_t)id + 1;
}

static enum status write_functions(struct html *h)
{
	const struct model *m = h->m;
	struct html_section *s = &h->section;
	html_section_begin(s, &h->packer, "functions");
	html_put_number(s, m->n_functions);
	for (uint32_t i = 0; i < m->n_functions; i++) {
		const struct model_function *f = &m->functions[i];
		html_put_number(s, html_string(h, names_function(m, i)));
		html_put_number(s, plus_one(f->module));
		html_put_number(s, plus_one(f->file));
		html_put_number(s, f->line);
		html_put_number(s, (uint64_t)f->gpu_kind << 2 | (uint64_t)f->is_node << 1 |
					   f->is_launch);
	}
	html_put_number(s, m->n_files);
	for (uint32_t i = 0; i < m->n_files; i++)
		html_put_number(s, html_string(h, m->files[i].path));
	return html_section_end(s);
}

/* kind, relation, entry, marked and activity in one number: 3 + 2 + 3 + 1 bits, then the last. */
static uint64_t pack_kind(const struct model_context *c)
{
	return c->kind | (uint64_t)c->relation << 3 | (uint64_t)c->entry << 5 |
	       (uint64_t)c->marked << 8 | (uint64_t)c->activity << 9;
}

static void put_context(struct html *h, uint32_t id, uint32_t number)
{
	const struct model_context *c = &h->m->contexts[id];
	struct html_section *s = &h->section;
	html_put_number(s, id ? number - h->tree.kept[c->parent] : 0);
	html_put_number(s, pack_kind(c));
	html_put_number(s, c->function < h->m->n_functions ? plus_one(c->function) : 0);
	html_put_number(s, c->module < h->m->n_modules ? plus_one(c->module) : 0);
	if (c->kind == MODEL_CONTEXT_ENTRY)
		html_put_number(s, html_string(h, names_entry(c)));
	if (c->kind == MODEL_CONTEXT_LOOP || c->kind == MODEL_CONTEXT_LINE) {
		html_put_number(s, plus_one(c->file));
		html_put_number(s, c->line);
	}
	if (c->kind == MODEL_CONTEXT_LOOP || c->kind == MODEL_CONTEXT_INSTRUCTION)
		html_put_number(s, c->link_addr);
}

enum status html_write_contexts(struct html *h)
{
	enum status status = write_functions(h);
	struct html_section *s = &h->section;
	if (status != STATUS_OK)
		return status;
	html_section_begin(s, &h->packer, "contexts");
	html_put_number(s, h->tree.n);
	for (uint32_t i = 0; i < h->m->n_contexts; i++)
		if (h->tree.is_kept[i])
			put_context(h, i, h->tree.kept[i]);
	return html_section_end(s);
}
