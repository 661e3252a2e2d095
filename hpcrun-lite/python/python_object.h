/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Attributes of Python objects, read from memory: a dictionary among the attributes of an instance,
 * and its entries. Nothing is called and nothing is changed. All loads are guarded, because another
 * thread may change the objects. The words that a result depends on are kept in a list. As long as
 * they are unchanged, the result is too. Signal-safe. Test: tests/cli/python/python_modules.sh.
 */
#ifndef HPCRUN_LITE_PYTHON_PYTHON_OBJECT_H
#define HPCRUN_LITE_PYTHON_PYTHON_OBJECT_H

#include "hpcrun-lite/python/layout.h"
#include "hpcrun-lite/python/reader.h"

enum { OBJECT_WORDS = 44, OBJECT_TYPE_AT = 8 };

/* Words of memory that a result depends on. */
struct object_words {
	uint32_t n;
	bool is_full; /* a word was left out */
	struct {
		uintptr_t at;
		uint64_t value;
	} word[OBJECT_WORDS];
};

/* The types that objects must have to be accepted. */
struct object_types {
	uintptr_t dict, ordered_dict, cell;
};

struct object_reader {
	const struct python_layout *layout;
	const struct object_types *types;
	struct reader *reader;
	uint32_t n_left; /* number of loads that may still be made */
};

/* The entries of a dictionary. Some may be empty. */
struct object_table {
	uintptr_t dict; /* 0: none, values of an instance */
	uintptr_t entries;
	uint32_t n, stride, key_at;
	uintptr_t values; /* where the first value is */
	uint32_t value_stride;
};

struct object_entry {
	uintptr_t key_slot, value_slot;
	uintptr_t key, value; /* objects; value 0: empty */
};

bool object_load(struct object_reader *o, uintptr_t at, uint64_t *word);
/* Adds a word to `w`. False if there is no room. */
bool object_keep(struct object_words *w, uintptr_t at, uint64_t value);

/* Adds the words in the instance itself: its class, and where it keeps its attributes. */
bool object_keep_own(struct object_reader *o, uintptr_t instance, struct object_words *w);
/*
 * A hash of the class of an instance and, where it has a word for that, of its dictionary's place.
 * Reads in place: the calling thread must keep the instance alive.
 */
uint64_t object_mark(const struct python_layout *l, uintptr_t instance);
/*
 * Opens the dictionary in the attribute `name` of an instance; `name` has 8 characters. Adds the
 * words in the instance itself first.
 */
bool object_open(struct object_reader *o, uintptr_t instance, const char name[8],
		 struct object_table *t, struct object_words *w);
/* False if the entry cannot be read. */
bool object_entry(struct object_reader *o, const struct object_table *t, uint32_t i,
		  struct object_entry *e);
/* Adds the words of an entry, and the hash of its key, which is a string. */
bool object_keep_entry(struct object_reader *o, const struct object_entry *e,
		       struct object_words *w);
/* Adds the number of entries of an opened dictionary. */
bool object_keep_size(struct object_reader *o, const struct object_table *t,
		      struct object_words *w);

#endif
