/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Parts of the model: modules, files, functions, and the calling contexts made of them. Include
 * model.h.
 */
#ifndef HPCPROF_MODEL_MODEL_CODE_H
#define HPCPROF_MODEL_MODEL_CODE_H

#include <stdbool.h>
#include <stdint.h>

#define MODEL_NONE UINT32_MAX

struct msr_module;
struct structure;

/* ---- modules, files and functions ---- */

enum model_structure { /* what is known about the code of a module */
	MODEL_STRUCTURE_NONE,    /* nothing: binary missing or unreadable */
	/* the binary on disk is not the one that ran (build ids differ); it is not used */
	MODEL_STRUCTURE_CHANGED,
	MODEL_STRUCTURE_SYMBOLS, /* functions, no lines */
	MODEL_STRUCTURE_LINES    /* functions, inlined calls, lines */
};

/* The role of a module in the call paths that lead through it. */
enum model_module_role {
	MODEL_MODULE_PROGRAM,     /* none of the roles below */
	MODEL_MODULE_INTERPRETER, /* runs lines of Python source */
	/* between the program and a GPU: runtimes and libraries of GPU vendors, libffi */
	MODEL_MODULE_LAUNCH,
	MODEL_MODULE_START        /* libc: processes and threads start there */
};

struct model_module {
	const char *path;              /* as the loader named it */
	const uint8_t *build_id;
	uint32_t build_id_bytes;
	enum model_structure structure;
	/*
	 * A code object that ran on a GPU. `path` says where it is kept; "": it is named by its
	 * hash. `build_id` is the hash of its content.
	 */
	bool is_gpu;
	uint8_t role;                  /* enum model_module_role */
	/* a file of Python source, or "<string>" and the like; it has no build id */
	bool is_python;
	bool is_outside; /* code outside every module: generated code or a wild address */
	/* NULL: unknown, or attribute_run() was not asked for instructions; borrowed */
	const struct structure *code;
	const struct msr_module *record; /* the binary that `code` describes */
};

/*
 * The samples at one instruction, of all threads and call paths. Only of native code whose module
 * has `code`.
 */
struct model_instruction {
	uint64_t link_addr;
	uint32_t module, metric;
	uint64_t n_samples;
	double value; /* in the unit of the metric */
};

struct model_file {
	const char *path; /* from the debug information; absolute if that gives the directory */
};

#define MODEL_WAIT_UNKNOWN UINT8_MAX /* a wait of a kind that this version does not know */

struct model_function {
	/* demangled; "<unknown function> [libx.so]" and the like if there is no name */
	const char *name;
	uint32_t module;
	uint32_t file, line;           /* of the definition; MODEL_NONE and 0 if unknown */
	uint64_t link_addr;            /* entry; 0 if unknown */
	bool is_unnamed;               /* code without a symbol: the name is made up */
	/*
	 * The function launches GPU work. It belongs to an API, or a compiler made it for a launch.
	 */
	bool is_launch;
	bool is_nccl; /* a kernel of NCCL: it moves data, and waits for other ranks */
	/*
	 * The function is an operator of PyTorch ("aten::addmm"), a node of its graph or its
	 * engine. It replaces frames that have no context of their own.
	 */
	bool is_operator;
	/*
	 * The function is the placeholder of a range of NVTX, "<range solve>". It connects the line
	 * that began the range, or the function around it, with what ran inside. Its module is
	 * MODEL_NONE.
	 */
	bool is_range;
	/*
	 * A module of PyTorch: "layer3.2.conv1 (Conv2d)". In the tree it is between the line that
	 * called it and its functions. Its own load module is a Python module that is not a file.
	 */
	bool is_torch_module;
	/*
	 * Not MSR_GPU_NO_KIND: the function is a placeholder: "<gpu kernel>", "<gpu copy>" and so
	 * on. It connects the CPU context that asked for operations of this kind with the
	 * operations. Its module is MODEL_NONE, and operations other than kernels count at it.
	 *
	 * Kernels are ordinary functions of modules with is_gpu. The placeholder calls them
	 * directly, without a line between. A graph kernel has a second placeholder of kind KERNEL
	 * between, "<graph node of FILE:LINE, FUNCTION>", if we saw the call that made its node.
	 * Values of a whole kernel count at its FUNCTION context. PC samples count at the lines,
	 * instructions and inlined calls below it. A kernel without a known code object also has
	 * module MODEL_NONE, but gpu_kind MSR_GPU_NO_KIND.
	 */
	uint8_t gpu_kind;
	/*
	 * Not 0: the function is the placeholder of a wait: "<blocked: futex>" and so on; 1 + its
	 * enum msr_wait, or MODEL_WAIT_UNKNOWN. It connects the context that waited with the frames
	 * that it waited in, without a line between. Its module is MODEL_NONE.
	 */
	uint8_t wait;
	/* The placeholder of a graph node. This line of this function made the node. */
	bool is_node;
	uint32_t node_function, node_file, node_line;
};

/* ---- contexts ---- */

enum model_context_kind {
	MODEL_CONTEXT_ROOT,        /* only id 0 */
	MODEL_CONTEXT_ENTRY, /* child of the root: where call paths start, see enum model_entry */
	MODEL_CONTEXT_FUNCTION,    /* a called or inlined function (see relation) */
	MODEL_CONTEXT_LOOP,
	MODEL_CONTEXT_LINE,        /* a source line; the parent of the calls made there */
	MODEL_CONTEXT_INSTRUCTION  /* takes the place of a LINE if the line is unknown */
};

enum model_relation { /* of a context to its parent */
	MODEL_LEXICAL, /* inside the parent in the source: a loop or line of a function */
	MODEL_CALL,                /* called by it */
	MODEL_INLINED              /* called by it and inlined by the compiler */
};

enum model_entry {
	MODEL_ENTRY_MAIN,          /* main thread, complete call paths */
	MODEL_ENTRY_THREAD,        /* other threads, complete call paths */
	/* call paths that the unwinder could not follow to the root; `end` gives the reason */
	MODEL_ENTRY_PARTIAL,
	/* GPU operations from threads that are not measured, or without a call path */
	MODEL_ENTRY_GPU_NO_PATH,
	/*
	 * GPU operations and samples with an unknown launch: its record was lost or never existed
	 */
	MODEL_ENTRY_GPU_NO_LAUNCH,
	MODEL_ENTRY_OMP_IDLE,      /* workers of OpenMP outside of any parallel region */
	MODEL_N_ENTRIES
};

struct model_context {
	uint32_t parent;           /* MODEL_NONE for the root */
	uint32_t subtree_n;        /* contexts in the subtree, including this one */
	uint8_t kind;              /* enum model_context_kind */
	uint8_t relation;          /* enum model_relation */
	uint8_t entry;             /* ENTRY: enum model_entry */
	uint8_t end;               /* partial ENTRY: enum msr_path_end */
	uint8_t activity;          /* enum model_activity */
	/*
	 * A heuristic found this frame. The flag is set in all contexts of the frame: its FUNCTION,
	 * inlined calls, LOOPs, and LINE or INSTRUCTION. They are separate from the contexts of the
	 * same function in frames that unwind rules found. Frames further out (parents) depend on
	 * the guess for the values that passed through it. Frames further in (children) are
	 * certain, but their place below this frame is not.
	 */
	bool marked;
	/* FUNCTION: the function; LINE, LOOP, INSTRUCTION: the enclosing function */
	uint32_t function;
	uint32_t module;           /* MODEL_NONE for root and entries */
	/* LINE, LOOP: the source line; FUNCTION: its definition; others: MODEL_NONE, 0 */
	uint32_t file, line;
	/*
	 * INSTRUCTION: its address; FUNCTION: its entry; LOOP without a line: its first
	 * instruction; others: 0
	 */
	uint64_t link_addr;
};

/*
 * The suffix of the name of a function in guessed frames. It keeps the function separate from the
 * one that unwind rules found.
 */
#define MODEL_GUESSED_SUFFIX " [guessed]"

#endif
