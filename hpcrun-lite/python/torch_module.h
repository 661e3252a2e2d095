/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the modules of PyTorch that are on a stack ("layer3", "2", "conv1"). A frame of
 * Module._call_impl has the module as its first argument. The module's name is its key in the
 * dictionary `_modules` of the next module further out on the stack, or of a module inside that
 * one. Both are read from memory, so no Python code runs, and the name is the current one.
 *
 * A module on the stack has its own frame in the path, with the number of a record
 * MSR_TORCH_MODULE. Equal names below equal modules have one number, even if the objects differ.
 * Signal-safe. Test: tests/cli/python/python_modules.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_TORCH_MODULE_H
#define HPCRUN_LITE_PYTHON_TORCH_MODULE_H

#include "hpcrun-lite/python/python_code.h"
#include "hpcrun-lite/python/torch_table.h"

enum { TORCH_CALLS = 128 }; /* calls of modules in a path; calls further out get no frame */

/* A call of a module. */
struct torch_call {
	uintptr_t module; /* the module, or the cell that contains it */
	uint32_t frame;   /* among struct frames, of the outermost of its frames */
	uint32_t at;      /* where its frame is in the path */
	uint32_t number;  /* of its record; 0: it could not be named */
	uintptr_t code;   /* the code object of its only frame; 0: it has two frames */
};

struct torch_calls {
	uint32_t n;
	struct torch_call call[TORCH_CALLS]; /* innermost first */
};

/* The result for a call of a module the last time. */
struct torch_last {
	uint32_t n_words, number, parent_number;
	bool is_known, is_below, is_due; /* is_due: it is time for another search */
	bool is_same;                    /* the words have not changed */
};

/* Memory of the thread. */
enum { TORCH_WORDS = 512 };
struct torch_scratch {
	struct torch_found found, found_class; /* results of torch_search() */
	uintptr_t class;                       /* the class that found_class describes; 0: none */
	struct torch_last last[TORCH_CALLS];
	uint32_t n_words, n_unchecked;
	uint32_t n_loads_left; /* for searches in containers, of this walk */
	struct iovec piece[TORCH_WORDS];
	uint64_t value[TORCH_WORDS], now[TORCH_WORDS];
};

struct torch_context {
	const struct code_context *code;
	const struct object_types *types;
	struct torch_scratch *scratch;
};

/*
 * Adds the module that frame i calls. Its frame in the path is before `at`. _wrapped_call_impl()
 * calls _call_impl(), and both together are one call. Does nothing if the frame has no module.
 * Returns false if there is no room.
 */
bool torch_add(struct torch_calls *calls, const struct python_layout *l,
	       const struct frames_frame *frame, uint32_t i, uint32_t at, bool direct);
/*
 * Returns false if the call has no number, or if it is inside a call of the same module:
 * torch.compile has frames between the two.
 */
bool torch_has_frame(const struct torch_calls *calls, uint32_t k);
/*
 * Finds the numbers of all calls. Returns false if a call has none. Uses guarded loads. If the
 * reader may read directly, and the modules were often unchanged, it mostly looks only at the
 * modules themselves, as torch_tag() does.
 */
bool torch_name(const struct torch_context *c, struct torch_calls *calls);
/*
 * Sets *tag to a hash that distinguishes these calls from others. Returns false if the outermost
 * one has no number yet. The modules must be alive, as modules on the calling thread's stack are.
 * Looks only at the modules, their classes and where their dictionaries are. So a module with a new
 * name keeps the old tag until torch_name() finds that name. The same is true for a module that
 * replaces a freed one of its class and has its dictionary at the same address.
 */
bool torch_tag(const struct python_layout *l, const struct object_types *types,
	       struct torch_scratch *scratch, struct torch_calls *calls, uint64_t *tag);
/*
 * Returns true about every 509th time. Then call torch_name(), which compares all words, even if
 * the tag is known.
 */
bool torch_is_due(struct torch_scratch *scratch);
#endif
