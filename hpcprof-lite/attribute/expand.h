/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expand: the tree of call paths by address becomes the tree of contexts. Each frame turns into its function, the calls that were inlined there, and its
 * line, below the line (or instruction) of its caller; frames that mean the same merge. What GPUs did hangs below the frames that asked for it: a placeholder for the kind
 * of operation, below that of kernels the kernel, below that the places of its PC samples. The result is still in order of discovery; order.h sorts it.
 * Tests: tests/unit/test_expand.c, tests/unit/test_gpu_calls.c.
 */
#ifndef HPCPROF_ATTRIBUTE_EXPAND_H
#define HPCPROF_ATTRIBUTE_EXPAND_H

#include "common/base/map.h"
#include "common/base/strtab.h"
#include "common/format/structure.h"
#include "hpcprof-lite/attribute/merge.h"
#include "hpcprof-lite/model/model.h"

/* What expand is told of a module. */
struct expand_module {
	const char *path;
	const struct structure *structure; /* NULL: none; borrowed, needed during expand_tree() only */
	bool is_python;                    /* link addresses are those of python_frames.h */
	bool is_jit;                       /* and of jit_names.h */
};

struct expand_function {
	uint32_t name, linkage_name; /* strings */
	uint32_t module;             /* as in the input; the number of modules stands for code outside every module, MODEL_NONE for what has none (GPU placeholders, kernels of unknown code) */
	uint32_t file, line;
	uint64_t link_addr;          /* smallest known entry, 0: none */
	uint32_t definition;         /* in the module's structure; MODEL_NONE: not from there */
	uint8_t gpu_kind;            /* of a placeholder */
	bool is_node;                /* as in struct model_function; of several with one name the first */
	uint32_t node_function, node_file, node_line;
	bool guessed;                /* stands for frames that a heuristic found; its name ends in
					MODEL_GUESSED_SUFFIX */
};

/* Zero-initialise but for `strings` and, where there is Python or JIT code, their functions and places. Ids are indices into the lists. */
struct expand {
	struct strtab *strings;
	const struct python_function *python;  /* borrowed */
	size_t n_python;
	const struct jit_place *jit;           /* the places of JIT code; borrowed */
	size_t n_jit;
	VEC(uint32_t) files;                   /* string of the path */
	VEC(struct expand_function) functions;
	VEC(struct model_context) contexts;    /* 0 is the root; parents before children; subtree_n not set */
	uint32_t *context_of;                  /* by node of the merged tree: where its values go; owned */
	uint32_t *final_of;                    /* by context, set by order_contexts(): its final id; owned */
	struct map file_index, context_index, function_index;
};

/* False when memory is short. */
bool expand_tree(struct expand *e, const struct merge_tree *t, const struct expand_module *modules, uint32_t n_modules);

/*
 * The contexts of GPU operations, after expand_tree(): one session. Each call gives the id of a context in e->contexts, made when new. Modules of GPU code
 * have no frames in the tree of CPUs. When memory is short ids are 0 and expand_gpu_end() is false.
 */
struct expand_run;
struct expand_run *expand_gpu_begin(struct expand *e, const struct expand_module *modules, uint32_t n_modules); /* NULL: no memory */
/* MODEL_ENTRY_GPU_NO_PATH or MODEL_ENTRY_GPU_NO_LAUNCH. */
uint32_t expand_gpu_entry(struct expand_run *r, enum model_entry entry);
/* "<gpu kernel>" and its like below `parent`; detail: the direction of copies. */
uint32_t expand_gpu_placeholder(struct expand_run *r, uint32_t parent, enum msr_gpu_kind kind, unsigned detail);
/*
 * "<graph node of solve.cu:57, step>" below the placeholder of kernels: for kernels of graphs, whose launch says nothing of who asked for this very kernel. `site` is the context at
 * the call that made the node; the line named is the innermost one above that call that is known.
 */
uint32_t expand_gpu_graph_node(struct expand_run *r, uint32_t placeholder, uint32_t site);
/* A function of a GPU as it is known in the measurement. */
struct expand_kernel {
	uint32_t module;           /* MODEL_NONE: unknown */
	const char *name;          /* linkage name */
	const char *source_name;   /* "": the same */
};
/* The kernel below its placeholder. */
uint32_t expand_gpu_kernel(struct expand_run *r, uint32_t placeholder, const struct expand_kernel *k);
/* The line or instruction `offset` bytes into function `f`, which ran as the kernel at context `kernel` or was called by it. */
uint32_t expand_gpu_place(struct expand_run *r, uint32_t kernel, const struct expand_kernel *f, uint64_t offset);
/* A frame below `above`, as frames of CPUs are: the function at an address of a module with a structure, what was inlined there, and the line, which is returned. */
uint32_t expand_gpu_frame(struct expand_run *r, uint32_t above, uint32_t module, uint64_t link_addr);
uint32_t expand_gpu_parent(const struct expand_run *r, uint32_t context);
/* NULL: the module has none. */
const struct structure *expand_gpu_structure(const struct expand_run *r, uint32_t module);
bool expand_gpu_end(struct expand_run *r);
/* Frees all but context_of and final_of. */
void expand_shrink(struct expand *e);
void expand_free(struct expand *e);

#endif
