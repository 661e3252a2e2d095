/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Private to compare_add.c, which reduces a model to a run, compare_functions.c, which finds its
 * functions, and compare_settle.c, which notes the builds of modules. Test:
 * tests/unit/compare/test_compare.c.
 */
#ifndef HPCPROF_COMPARE_COMPARE_ADDING_H
#define HPCPROF_COMPARE_COMPARE_ADDING_H

#include "hpcprof-lite/compare/compare.h"

/* The operations of a context that have a record. */
struct compare_operations {
	uint64_t n;
	double sum, squares; /* of their times in seconds */
};

struct compare_adding {
	struct compare *c;
	const struct model *m;
	enum compare_side side;
	struct compare_run *run;
	uint32_t *function_of;                 /* by function of the model */
	uint32_t *metric_of;                   /* by metric of the model */
	uint32_t *node_of; /* by context: the parent of the nodes of its calls */
	struct compare_operations *operations; /* by context; NULL: no GPU */
	struct map cell_of;
	uint32_t program; /* the module of the program itself, or MODEL_NONE */
};

/* Finds or adds all functions of the model and sets function_of. False if memory is short. */
bool compare_add_functions(struct compare_adding *a);
/* The function of a context; the index may be out of range. MODEL_NONE if memory is short. */
uint32_t compare_add_function(struct compare_adding *a, uint32_t function);
/* The one function for all code without names of a module. MODEL_NONE if memory is short. */
uint32_t compare_find_unnamed(struct compare *c, uint32_t module);
/* Notes a module of the run under its name in the comparison. False if memory is short. */
bool compare_add_build(struct compare *c, uint32_t module, const struct model_module *m);
/* True if `function` is that of the node `parent` or of a node above it. */
bool compare_is_inside(const struct compare *c, uint32_t parent, uint32_t function);
/* The string of a file of the model; 0: unknown. STRTAB_FAILED if memory is short. */
uint32_t compare_add_file(struct compare_adding *a, uint32_t file);

#endif
