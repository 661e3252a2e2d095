/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expand turns the tree of call paths by address into the tree of contexts. Each frame becomes its
 * function, the calls inlined there, and its line, below the line (or instruction) of its caller.
 * Frames that mean the same are merged. GPU operations go below the frames that launched them:
 * first a placeholder for the kind of operation, below it the kernel if it is one, and below that
 * the places of its PC samples. Waits are placeholders too. The result is in order of discovery;
 * order.h sorts it. Tests: tests/unit/prof/test_expand.c, tests/unit/prof_gpu/test_gpu_calls.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_EXPAND_H
#define HPCPROF_ATTRIBUTE_EXPAND_EXPAND_H

#include "common/base/map.h"
#include "common/base/strtab.h"
#include "common/format/structure.h"
#include "hpcprof-lite/attribute/expand/omp_regions.h"
#include "hpcprof-lite/attribute/merge/merge.h"
#include "hpcprof-lite/model/model.h"

/* What expand needs to know about a module. */
struct expand_module {
	const char *path;
	/* NULL: none; borrowed, and needed only during expand_tree() */
	const struct structure *structure;
	bool is_python;                    /* link addresses are those of python_frames.h */
	bool is_jit;                       /* link addresses are those of jit_names.h */
};

struct expand_function {
	uint32_t name, linkage_name; /* strings */
	/*
	 * The module's number in the input. A value equal to the number of modules means code
	 * outside all modules. MODEL_NONE: no module (GPU placeholders, kernels of unknown code).
	 */
	uint32_t module;
	uint32_t file, line;
	uint64_t link_addr;          /* smallest known entry; 0: unknown */
	uint32_t definition; /* in the structure of the module; MODEL_NONE: not from a structure */
	uint8_t gpu_kind;            /* set for placeholders of GPU operations */
	uint8_t wait;                /* set for placeholders of waits */
	/* as in struct model_function; if several nodes share a name, the first one's */
	bool is_node;
	uint32_t node_function, node_file, node_line;
	bool is_operator, is_range, is_torch_module; /* as in struct model_function */
	bool is_unnamed;                             /* as in struct model_function */
	bool guessed; /* a heuristic found its frames; the name ends in MODEL_GUESSED_SUFFIX */
};

/*
 * Zero-initialise, then set `strings`. If there is Python or JIT code, also set its functions and
 * places. Ids are indices into the lists.
 */
struct expand {
	struct strtab *strings;
	const struct python_function *python;  /* borrowed */
	size_t n_python;
	const struct jit_place *jit;           /* the places of JIT code; borrowed */
	size_t n_jit;
	VEC(uint32_t) files;                   /* ids of the paths in `strings` */
	VEC(struct expand_function) functions;
	/* 0 is the root; parents come before children; subtree_n is not set */
	VEC(struct model_context) contexts;
	VEC(struct omp_region) regions;        /* see omp_regions.h */
	/* by node of the merged tree: the context that gets its values; owned */
	uint32_t *context_of;
	uint32_t *final_of; /* by context: its final id, set by order_contexts(); owned */
	/*
	 * by module of the input: its final id, MODEL_NONE if no function is in it; set by
	 * order_contexts(); owned
	 */
	uint32_t *module_of;
	struct map file_index, context_index, function_index;
};

/*
 * folds: leave out the internals of OpenMP, MPI and PyTorch (expand_fold.h, torch_fold.h), and of
 * Python's import. False if memory is short.
 */
bool expand_tree(struct expand *e, const struct merge_tree *t, const struct expand_module *modules,
	uint32_t n_modules, bool folds);

/*
 * Contexts of GPU operations. Start one session after expand_tree(). Each call returns the id of a
 * context in e->contexts and makes the context if it is new. Modules of GPU code have no frames in
 * the CPU tree. If memory is short, ids are 0 and expand_gpu_end() returns false.
 */
struct expand_run;
/* NULL if memory is short. */
struct expand_run *expand_gpu_begin(struct expand *e, const struct expand_module *modules,
	uint32_t n_modules);
/* MODEL_ENTRY_GPU_NO_PATH or MODEL_ENTRY_GPU_NO_LAUNCH. */
uint32_t expand_gpu_entry(struct expand_run *r, enum model_entry entry);
/* For operations of this kind that CUDA's driver refused with this error. */
uint32_t expand_gpu_refused(struct expand_run *r, uint32_t parent, enum msr_gpu_kind kind,
			    uint32_t error);
/* Makes "<gpu kernel>" or another placeholder below `parent`. detail: the direction of copies. */
uint32_t expand_gpu_placeholder(struct expand_run *r, uint32_t parent, enum msr_gpu_kind kind,
	unsigned detail);
/*
 * Makes "<graph node of solve.cu:57, step>" below the placeholder of kernels. Graph kernels need
 * it, because the launch of a graph does not say which call added this kernel. `site` is the
 * context of the call that made the node. The name gives the innermost known line above that call.
 */
uint32_t expand_gpu_graph_node(struct expand_run *r, uint32_t placeholder, uint32_t site);
/* A GPU function as the measurement knows it. */
struct expand_kernel {
	uint32_t module;           /* MODEL_NONE if unknown */
	const char *name;          /* linkage name */
	const char *source_name;   /* "" if equal to `name` */
};
/* Makes the kernel below its placeholder. */
uint32_t expand_gpu_kernel(struct expand_run *r, uint32_t placeholder,
	const struct expand_kernel *k);
/*
 * Makes the line or instruction `offset` bytes into function `f`. The kernel at context `kernel` is
 * `f` itself, or calls `f`.
 */
uint32_t expand_gpu_place(struct expand_run *r, uint32_t kernel, const struct expand_kernel *f,
	uint64_t offset);
/*
 * Makes a frame below `above`, like a CPU frame: the function at an address of a module with a
 * structure, the calls inlined there, and the line. Returns the line.
 */
uint32_t expand_gpu_frame(struct expand_run *r, uint32_t above, uint32_t module,
	uint64_t link_addr);
uint32_t expand_gpu_parent(const struct expand_run *r, uint32_t context);
/* Compares contexts by content, because their numbers depend on what earlier files made. */
int expand_gpu_compare(const struct expand_run *r, uint32_t a, uint32_t b);
/* NULL: the module has no structure. */
const struct structure *expand_gpu_structure(const struct expand_run *r, uint32_t module);
bool expand_gpu_end(struct expand_run *r);
/* Frees everything except context_of and final_of. */
void expand_shrink(struct expand *e);
void expand_free(struct expand *e);

#endif
