/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See python_object.h. The offsets are from CPython's headers in Include/cpython (PyTypeObject,
 * PyDictObject) and Include/internal (PyDictKeysObject, PyDictValues, managed dictionaries). Must
 * not fault, nor trust a number that it has read. Test: tests/cli/python/python_modules.sh.
 */
#include "hpcrun-lite/python/python_object.h"

enum {
	TYPE_BASIC_SIZE = 32,
	TYPE_FLAGS = 168,
	TYPE_DICT_OFFSET = 288,
	DICT_SIZE = 16,
	DICT_KEYS = 32,
	DICT_VALUES = 40,
	STRING_LENGTH = 16,
	STRING_HASH = 24,
	NAME_BYTES = 8,
	ENTRIES_MOST = 1 << 16,
	INSTANCE_MOST = 1 << 16 /* bytes from an instance to its values */
};
#define FLAG_INLINE_VALUES (UINT64_C(1) << 2)
#define FLAG_MANAGED_DICT (UINT64_C(1) << 4)
/* Words before an instance with FLAG_MANAGED_DICT. */
#define MANAGED_DICT_AT 24u
#define MANAGED_VALUES_AT 32u

bool object_load(struct object_reader *o, uintptr_t at, uint64_t *word)
{
	uint64_t copy;
	if (!o->n_left)
		return false;
	o->n_left--;
	const uint8_t *bytes = reader_load(o->reader, &copy, at, sizeof copy);
	if (bytes)
		*word = reader_word(bytes, 0);
	return bytes;
}

bool object_keep(struct object_words *w, uintptr_t at, uint64_t value)
{
	w->is_full = w->n == OBJECT_WORDS;
	if (w->is_full)
		return false;
	w->word[w->n].at = at;
	w->word[w->n++].value = value;
	return true;
}

static bool load_and_keep(struct object_reader *o, uintptr_t at, uint64_t *word,
			  struct object_words *w)
{
	return object_load(o, at, word) && object_keep(w, at, *word);
}

/* ---- keys ---- */

/*
 * Opens the keys of a dictionary, or the keys of an instance's values. `values` 0: the values are
 * in the same table as the keys.
 */
static bool open_keys(struct object_reader *o, uintptr_t keys, uintptr_t values,
		      struct object_table *t)
{
	const bool is_old = o->layout->attributes == PYTHON_ATTRIBUTES_DICT;
	uint64_t head, n, index_bytes;
	if (!object_load(o, keys + 8, &head) || !object_load(o, keys + (is_old ? 32 : 24), &n))
		return false;
	if (is_old) /* head: the number of slots */
		index_bytes = head << (head <= 0xff ? 0 : head <= 0xffff ? 1 : 2);
	else /* u8 log2 of the slots, u8 log2 of the bytes of all indices, u8 kind */
		index_bytes = UINT64_C(1) << (head >> 8 & 31);
	if (n > ENTRIES_MOST || (is_old && head > 4 * ENTRIES_MOST))
		return false;
	/* of kind 0 and before 3.11 entries begin with a hash */
	const bool has_hash = is_old || (head >> 16 & 0xff) == 0;
	*t = (struct object_table){.entries = keys + (is_old ? 40 : 32) + index_bytes,
				   .n = (uint32_t)n,
				   .stride = has_hash ? 24 : 16,
				   .key_at = has_hash ? 8 : 0};
	t->values = values ? values : t->entries + t->key_at + 8;
	t->value_stride = values ? 8 : t->stride;
	return true;
}

static bool open_dict(struct object_reader *o, uintptr_t dict, struct object_table *t,
		      struct object_words *w)
{
	uint64_t type, keys, values;
	if (!object_load(o, dict + OBJECT_TYPE_AT, &type) ||
	    (type != o->types->dict && type != o->types->ordered_dict) ||
	    !load_and_keep(o, dict + DICT_KEYS, &keys, w) ||
	    !object_load(o, dict + DICT_VALUES, &values) ||
	    (values && !object_keep(w, dict + DICT_VALUES, values)))
		return false;
	if (values && o->layout->attributes == PYTHON_ATTRIBUTES_BEHIND)
		values += 8; /* 3.13: four numbers of one byte come first */
	if (!open_keys(o, keys, values, t))
		return false;
	t->dict = dict;
	return true;
}

bool object_keep_size(struct object_reader *o, const struct object_table *t, struct object_words *w)
{
	uint64_t size;
	return load_and_keep(o, t->dict + DICT_SIZE, &size, w);
}

bool object_entry(struct object_reader *o, const struct object_table *t, uint32_t i,
		  struct object_entry *e)
{
	uint64_t key, value;
	e->key_slot = t->entries + (uintptr_t)i * t->stride + t->key_at;
	e->value_slot = t->values + (uintptr_t)i * t->value_stride;
	if (!object_load(o, e->value_slot, &value) || !object_load(o, e->key_slot, &key))
		return false;
	e->key = key;
	e->value = value;
	return true;
}

bool object_keep_entry(struct object_reader *o, const struct object_entry *e,
		       struct object_words *w)
{
	uint64_t hash;
	return object_keep(w, e->key_slot, e->key) && object_keep(w, e->value_slot, e->value) &&
	       load_and_keep(o, e->key + STRING_HASH, &hash, w);
}

/* ---- instances ---- */

/* Where an instance has its attributes: values with the keys of its class, or a dictionary. */
struct place {
	uintptr_t values, type, dict;
};

static bool find_managed(struct object_reader *o, uintptr_t instance, uint64_t flags,
			 struct place *p, struct object_words *w)
{
	uint64_t word, size;
	switch (o->layout->attributes) {
	case PYTHON_ATTRIBUTES_BEFORE:
		if (!load_and_keep(o, instance - MANAGED_VALUES_AT, &word, w))
			return false;
		p->values = word;
		break;
	case PYTHON_ATTRIBUTES_TAGGED:
		if (!load_and_keep(o, instance - MANAGED_DICT_AT, &word, w))
			return false;
		p->values = word & 1 ? word + 1 : 0;
		p->dict = p->values ? 0 : word;
		return true;
	case PYTHON_ATTRIBUTES_BEHIND:
		if (!(flags & FLAG_INLINE_VALUES))
			break;
		if (!object_load(o, p->type + TYPE_BASIC_SIZE, &size) || size > INSTANCE_MOST ||
		    !load_and_keep(o, instance + size, &word, w))
			return false;
		if (word >> 24 & 0xff) /* the values are valid */
			p->values = instance + size + 8;
		break;
	default: return false;
	}
	if (p->values)
		return true;
	if (!load_and_keep(o, instance - MANAGED_DICT_AT, &word, w))
		return false;
	p->dict = word;
	return true;
}

/* Keeps the words in the instance itself. */
static bool find_attributes(struct object_reader *o, uintptr_t instance, struct place *p,
			    struct object_words *w)
{
	uint64_t type, flags, offset, dict;
	*p = (struct place){0};
	if (!load_and_keep(o, instance + OBJECT_TYPE_AT, &type, w) ||
	    !object_load(o, type + TYPE_FLAGS, &flags))
		return false;
	p->type = type;
	if (flags & FLAG_MANAGED_DICT && o->layout->attributes != PYTHON_ATTRIBUTES_DICT)
		return find_managed(o, instance, flags, p, w);
	if (!object_load(o, type + TYPE_DICT_OFFSET, &offset) || offset == 0 ||
	    offset > INSTANCE_MOST || !load_and_keep(o, instance + offset, &dict, w))
		return false;
	p->dict = dict;
	return true;
}

uint64_t object_mark(const struct python_layout *l, uintptr_t instance)
{
	const uint64_t type = reader_word((const uint8_t *)instance, OBJECT_TYPE_AT),
		       flags = reader_word((const uint8_t *)(uintptr_t)type, TYPE_FLAGS);
	const bool has_word = flags & FLAG_MANAGED_DICT && l->attributes != PYTHON_ATTRIBUTES_DICT;
	const uint64_t dict =
		has_word ? reader_word((const uint8_t *)instance - MANAGED_DICT_AT, 0) : 0;
	return (type ^ dict << 32 ^ dict >> 32) * UINT64_C(0x9E3779B97F4A7C15);
}

bool object_keep_own(struct object_reader *o, uintptr_t instance, struct object_words *w)
{
	struct place p;
	return find_attributes(o, instance, &p, w);
}

static bool has_name(struct object_reader *o, uintptr_t string, const char name[NAME_BYTES])
{
	uint64_t length, characters, wanted;
	memcpy(&wanted, name, sizeof wanted);
	return object_load(o, string + STRING_LENGTH, &length) && length == NAME_BYTES &&
	       object_load(o, string + o->layout->ascii_bytes, &characters) && characters == wanted;
}

bool object_open(struct object_reader *o, uintptr_t instance, const char name[NAME_BYTES],
		 struct object_table *t, struct object_words *w)
{
	struct object_table attributes;
	struct object_entry e;
	struct place p;
	uint64_t keys;
	if (!find_attributes(o, instance, &p, w))
		return false;
	if (!(p.values ? o->layout->type_keys != PYTHON_NOWHERE &&
				 load_and_keep(o, p.type + o->layout->type_keys, &keys, w) &&
				 open_keys(o, keys, p.values, &attributes)
		       : open_dict(o, p.dict, &attributes, w)))
		return false;
	for (uint32_t i = 0; i < attributes.n; i++) {
		if (!object_entry(o, &attributes, i, &e))
			return false;
		if (e.value && e.key && has_name(o, e.key, name))
			return object_keep(w, e.value_slot, e.value) && open_dict(o, e.value, t, w);
	}
	return false;
}
