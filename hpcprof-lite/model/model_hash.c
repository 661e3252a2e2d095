/* SPDX-License-Identifier: BSD-3-Clause */
/* See model_hash.h. Test: tests/unit/prof_parts/test_parts.c. */
#include "hpcprof-lite/model/model_hash.h"

#include "common/safe/fnv.h"

static uint64_t hash_more(uint64_t h, uint64_t v)
{
	return fnv64(h, &v, sizeof v);
}

uint64_t model_hash_contexts(const struct model *m)
{
	uint64_t h = hash_more(FNV64_START, m->n_contexts);
	for (uint32_t i = 0; i < m->n_contexts; i++) {
		const struct model_context *c = &m->contexts[i];
		h = hash_more(h, (uint64_t)c->parent << 32 | c->kind);
		h = hash_more(h, (uint64_t)c->function << 32 | c->line);
	}
	return h;
}

uint64_t model_hash(const struct model *m)
{
	uint64_t h = hash_more(model_hash_contexts(m), m->n_metrics);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		h = hash_more(h, (uint64_t)p->process << 32 | p->thread);
		h = hash_more(h, p->n_trace_records);
	}
	return h;
}
