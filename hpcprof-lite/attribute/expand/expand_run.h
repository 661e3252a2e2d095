/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared by expand.c, expand_intern.c and expand_gpu.c, and private to them: one pass over the
 * input. Each function returns an id and makes a new one if needed. If memory is short, it sets
 * `failed` and returns 0; expand_run_end() reports that to the caller.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_EXPAND_RUN_H
#define HPCPROF_ATTRIBUTE_EXPAND_EXPAND_RUN_H

#include "hpcprof-lite/attribute/expand/expand.h"

/* The ids that the definitions and files of one module already have; UINT32_MAX: none yet. */
struct expand_memo {
	uint32_t *function_of_definition[2]; /* [1]: in guessed frames */
	uint32_t *file_of_file;
	uint32_t unknown_function[2];
};

struct expand_run {
	struct expand *e;
	const struct expand_module *modules;
	uint32_t n_modules;
	uint32_t *python_memo; /* by Python function; NULL: none yet */
	struct expand_memo *memos; /* n_modules + 1: the last for code outside every module */
	struct torch_fold *torch;  /* NULL: nothing of PyTorch is folded */
	bool folds;                /* leave out the internals of libraries */
	const struct merge_tree *tree; /* the tree of expand_tree(); NULL in other passes */
	bool failed;
};

bool expand_run_begin(struct expand_run *r, struct expand *e, const struct expand_module *modules,
	uint32_t n_modules);
bool expand_run_end(struct expand_run *r);

/* ---- files and functions: expand_intern.c ---- */

uint32_t expand_intern_file(struct expand_run *r, const char *path);
/* The string id of a function's name, with MODEL_GUESSED_SUFFIX if `guessed`. */
uint32_t expand_intern_name(struct expand_run *r, const char *name, bool guessed);
/* `file` is a file of the module's structure or STRUCTURE_NONE, which gives MODEL_NONE. */
uint32_t expand_find_file(struct expand_run *r, uint32_t module, uint32_t file);
/* The function of a definition. Called and inlined code share it; guessed frames have their own. */
uint32_t expand_find_function(struct expand_run *r, uint32_t module,
	const struct structure_scope *scope, bool guessed);
uint32_t expand_find_unknown(struct expand_run *r, uint32_t module, bool guessed);
/* The function with f's name in f's module. MODEL_NONE counts as a module. */
uint32_t expand_find_named(struct expand_run *r, struct expand_function f);
uint32_t expand_find_python(struct expand_run *r, uint32_t number);

/* ---- contexts: expand_intern.c ---- */

/* `end` says why the paths of a partial entry end; for others it is 0. */
uint32_t expand_enter_entry(struct expand_run *r, enum model_entry entry, uint8_t end);
uint32_t expand_enter_function(struct expand_run *r, uint32_t parent, uint32_t function,
	enum model_relation relation);
uint32_t expand_enter_line(struct expand_run *r, uint32_t parent, enum model_context_kind kind,
	uint32_t file, uint32_t line);
uint32_t expand_enter_instruction(struct expand_run *r, uint32_t parent, uint64_t link_addr);
uint32_t expand_enter_loop(struct expand_run *r, uint32_t parent, uint32_t module,
	const struct structure_scope *scope);

/* ---- frames: expand.c ---- */

/* The scopes around an address, outermost first. `innermost` is the scope of the address. */
uint32_t expand_enter_scopes(struct expand_run *r, uint32_t at, uint32_t module,
	uint32_t innermost, bool guessed);
/* The line of place `p`, or the instruction at `link_addr` if the line is unknown. */
uint32_t expand_enter_place(struct expand_run *r, uint32_t at, uint32_t module,
	const struct structure_place *p, uint64_t link_addr);
uint32_t expand_enter_frame(struct expand_run *r, uint32_t caller, const struct merge_node *n);

#endif
