/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A table of modules of PyTorch. The key is a module and the next module further out on the stack.
 * The value is the number that the module got, and the words of memory that this result depends on.
 * If no module further out contains the module, its class gets an entry, too: a module that
 * forward() makes is a new object each time. All threads share the table, without a lock.
 * Signal-safe. Test: tests/cli/python/python_modules.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_TORCH_TABLE_H
#define HPCRUN_LITE_PYTHON_TORCH_TABLE_H

#include "hpcrun-lite/python/python_object.h"

/* The name of a module, and the reason for it. */
struct torch_found {
	uint32_t number;        /* of its record; 0: it got none */
	uint32_t parent_number; /* of the next module further out if that one contains it; else 0 */
	uint32_t n_own;         /* the first words are in objects on the stack, or their classes */
	bool is_below;          /* a module further out contains it */
	uint32_t n_same;        /* uses since it was written; torch_slot_write() ignores it */
	struct object_words words;
};

enum { TORCH_SLOT_WAYS = 4 };
struct torch_slot;

/*
 * NULL: the pair is not known. `outer` 0: there is no module further out. To find a class, pass the
 * next module further out as `module`, and the class as `outer`, because a set is for one module.
 */
struct torch_slot *torch_slot_find(uintptr_t module, uintptr_t outer);
/* Copies a slot. Returns false if it is for another pair, or is being written. */
bool torch_slot_read(struct torch_slot *s, uintptr_t module, uintptr_t outer,
		     struct torch_found *f);
/* Copies only its own words, as the others are in other lines of the cache. */
bool torch_slot_read_own(struct torch_slot *s, uintptr_t module, uintptr_t outer,
			 struct torch_found *f);
/* Counts a use. Returns the number of uses so far, with this one. */
uint32_t torch_slot_use(struct torch_slot *s);
/* Does nothing if the slot is being written, maybe by the code that a handler interrupted. */
void torch_slot_write(uintptr_t module, uintptr_t outer, const struct torch_found *f);
/*
 * Returns a module further out with which this one may be in the table: the i-th of
 * TORCH_SLOT_WAYS.
 */
uintptr_t torch_slot_outer(uintptr_t module, uint32_t i);
/* Changes when a pair gets another number. */
uint32_t torch_slot_epoch(void);
/* Call in the child of fork. */
void torch_forget(void);

#endif
