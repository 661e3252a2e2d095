/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Order gives contexts, functions, files and modules their final ids and moves them into the model.
 * The ids do not depend on the order of the input. Contexts are in depth-first preorder (see
 * model.h). Test: tests/unit/prof/test_order.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_ORDER_H
#define HPCPROF_ATTRIBUTE_EXPAND_ORDER_H

#include "hpcprof-lite/attribute/expand/expand.h"
#include "hpcprof-lite/model/private.h"

/* A module of the input, as the model will describe it. */
struct order_module {
	const char *path;
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	uint64_t file_bytes; /* 0: unknown */
	enum model_structure structure;
	bool is_gpu, is_python;
	const struct structure *code; /* as in struct model_module */
	const struct msr_module *record;
};

/*
 * Sets the modules, files, functions and contexts of `m`; keeps only what contexts name. Rewrites
 * the n_nodes entries of e->context_of to the final ids and sets e->final_of and e->module_of. The
 * strings of `e` must be m->private_->strings. Do not add strings after the call. False if memory
 * is short.
 */
bool order_contexts(struct model *m, struct expand *e, size_t n_nodes,
	const struct order_module *modules, uint32_t n_modules);

#endif
