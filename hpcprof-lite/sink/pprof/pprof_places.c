/* SPDX-License-Identifier: BSD-3-Clause */
/* See pprof_places.h. One pass over the contexts. Test: tests/cli/sink/sink_pprof.sh. */
#include "hpcprof-lite/sink/pprof/pprof_places.h"

#include <stdlib.h>

/* A place is identified by two pairs, of which the first gets a number. 0 if memory is short. */
static uint32_t get_place(struct pprof_places *p, const struct pprof_place *place)
{
	uint64_t function =
		map_put(&p->functions, (uint64_t)place->inlined_at << 32 | place->function,
			place->module, p->functions.n);
	if (function == MAP_NONE)
		return 0;
	uint64_t at = map_put(&p->lines, function << 32 | place->line, place->address, p->at.n);
	if (at == MAP_NONE)
		return 0;
	if (at == p->at.n) {
		struct pprof_place *new = vec_push(&p->at);
		if (!new)
			return 0;
		*new = *place;
	}
	return (uint32_t)at + 1;
}

/* What a context inside a frame inherits from the frame. */
struct frame {
	uint32_t inlined_at, caller;
};

static struct frame frame_of(const struct model *m, const struct pprof_places *p,
			     const struct frame *frames, uint32_t context)
{
	const struct model_context *c = &m->contexts[context];
	if (c->kind == MODEL_CONTEXT_ROOT || c->kind == MODEL_CONTEXT_ENTRY)
		return (struct frame){0, MODEL_NONE};
	if (c->kind != MODEL_CONTEXT_FUNCTION)
		return frames[c->parent];
	if (c->relation == MODEL_INLINED)
		return (struct frame){p->id[c->parent], frames[c->parent].caller};
	return (struct frame){0, c->parent};
}

static struct pprof_place place_of(const struct model *m, uint32_t inlined_at,
				   const struct model_context *c)
{
	if (c->kind == MODEL_CONTEXT_ENTRY)
		return (struct pprof_place){.function = m->n_functions + pprof_entry_index(c),
					    .module = MODEL_NONE};
	return (struct pprof_place){
		.inlined_at = inlined_at,
		.function = c->function,
		.line = c->line,
		.module = c->module,
		.address = c->kind == MODEL_CONTEXT_INSTRUCTION ? c->link_addr : 0,
	};
}

bool pprof_places_open(const struct model *m, struct pprof_places *p)
{
	*p = (struct pprof_places){.id = calloc(m->n_contexts, sizeof *p->id),
				   .caller = calloc(m->n_contexts, sizeof *p->caller)};
	struct frame *frames = calloc(m->n_contexts, sizeof *frames);
	bool ok = p->id && p->caller && frames;
	for (uint32_t i = 0; ok && i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		frames[i] = frame_of(m, p, frames, i);
		p->caller[i] = frames[i].caller;
		if (c->kind == MODEL_CONTEXT_ROOT)
			continue;
		struct pprof_place place = place_of(m, frames[i].inlined_at, c);
		p->id[i] = get_place(p, &place);
		ok = p->id[i] != 0;
	}
	free(frames);
	return ok;
}

void pprof_places_close(struct pprof_places *p)
{
	vec_free(&p->at);
	map_free(&p->functions);
	map_free(&p->lines);
	free(p->id);
	free(p->caller);
	*p = (struct pprof_places){0};
}
