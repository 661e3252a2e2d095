/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers of code objects; see python_code.h. There are two tables. A cache maps the key of a code
 * object, which includes its address, to its number. A second table maps the contents of a record
 * to its number, so that equal code objects (created again by exec, or in a loop) have one. An
 * entry is 16 bytes, (number xor key, key), so a torn read is a miss. Must not wait, nor trust an
 * unchecked pointer. Tests: tests/cli/python/python_frames.sh, tests/cli/python/python_launches.sh.
 */
#include "hpcrun-lite/python/python_code.h"

#include "hpcrun-lite/python/torch_code.h"

#include <stdatomic.h>

#define CODE_SETS 4096u
#define CODE_WAYS 4u
#define CODE_SLOTS (1u << 17)
#define CODE_MOST (CODE_SLOTS / 4 * 3)
#define CODE_UNRECORDED (CODE_MOST + 1) /* in the cache: no number was left */
_Static_assert(CODE_UNRECORDED <= MSR_PYTHON_CODE_MAX, "numbers fit into addresses");
/*
 * Most processes have few code objects. The tables start small, because the first touch of a page
 * costs.
 */
#define CODE_FEW 1024u
#define CODE_FEW_SETS (CODE_FEW / CODE_WAYS)
#define CODE_FEW_SLOTS (2 * CODE_FEW)
enum {
	CODE_BYTES = 200,
	OBJECT_COUNT = 0,
	OBJECT_TYPE = 8,
	OBJECT_SIZE = 16,
	BYTES_CONTENT = 32,
	STRING_LENGTH = 16,
	STRING_STATE = 32,
	STRING_BYTES = 40,
	UNIT_BYTES = 2
};

struct entry {
	_Atomic uint64_t mixed, key;
};

static struct {
	_Atomic uint32_t n_numbers; /* numbers in use */
	_Atomic uint32_t n_cached;  /* ever; selects the entry to replace */
	struct entry cache[CODE_SETS][CODE_WAYS];
	struct entry first_slot[CODE_FEW_SLOTS]; /* for the first CODE_FEW numbers */
	struct entry slot[CODE_SLOTS];           /* for all others */
} table;

/* ---- tables ---- */

/* Returns the entry's number. 0: the entry has another key, or is being written. */
static uint32_t number_in(struct entry *e, uint64_t key)
{
	if (atomic_load_explicit(&e->key, memory_order_acquire) != key)
		return 0;
	uint64_t number = atomic_load_explicit(&e->mixed, memory_order_relaxed) ^ key;
	return number <= CODE_UNRECORDED ? (uint32_t)number : 0;
}

/* Once there are many numbers, entries of the first sets move when they are met again. */
static struct entry *set_of(uint64_t key)
{
	uint32_t n_sets = atomic_load_explicit(&table.n_cached, memory_order_relaxed) < CODE_FEW
				  ? CODE_FEW_SETS
				  : CODE_SETS;
	return table.cache[(key >> 40) % n_sets];
}

static uint32_t find_cached(uint64_t key)
{
	struct entry *set = set_of(key);
	uint32_t number = 0;
	for (uint32_t i = 0; i < CODE_WAYS && !number; i++)
		number = number_in(&set[i], key);
	return number;
}

static void cache(uint64_t key, uint32_t number)
{
	uint32_t way =
		atomic_fetch_add_explicit(&table.n_cached, 1, memory_order_relaxed) % CODE_WAYS;
	struct entry *e = &set_of(key)[way];
	atomic_store_explicit(&e->mixed, number ^ key, memory_order_release);
	atomic_store_explicit(&e->key, key, memory_order_release);
}

/* There are always empty slots, because there are more slots than numbers. */
static uint32_t find_in(struct entry *slots, uint32_t n_slots, uint64_t key)
{
	for (uint32_t i = (uint32_t)(key >> 40);; i++) {
		struct entry *e = &slots[i % n_slots];
		uint64_t at = atomic_load_explicit(&e->key, memory_order_acquire);
		if (!at || at == key)
			return at ? number_in(e, key) : 0;
	}
}

uint32_t code_find_given(uint64_t key)
{
	uint32_t number = find_in(table.first_slot, CODE_FEW_SLOTS, key);
	return number || atomic_load_explicit(&table.n_numbers, memory_order_relaxed) < CODE_FEW
		       ? number
		       : find_in(table.slot, CODE_SLOTS, key);
}

void code_give(uint64_t key, uint32_t number)
{
	bool is_first = number <= CODE_FEW;
	struct entry *slots = is_first ? table.first_slot : table.slot;
	uint32_t n_slots = is_first ? CODE_FEW_SLOTS : CODE_SLOTS;
	for (uint32_t i = (uint32_t)(key >> 40);; i++) {
		struct entry *e = &slots[i % n_slots];
		uint64_t none = 0;
		if (!atomic_compare_exchange_strong_explicit(
			    &e->key, &none, key, memory_order_acq_rel, memory_order_acquire) &&
		    none != key)
			continue;
		atomic_store_explicit(&e->mixed, number ^ key, memory_order_release);
		return;
	}
}

bool code_has_numbers(void)
{
	return atomic_load_explicit(&table.n_numbers, memory_order_relaxed) < CODE_MOST - CODE_SETS;
}

uint32_t code_take_number(void)
{
	return 1 + atomic_fetch_add_explicit(&table.n_numbers, 1, memory_order_relaxed);
}

/*
 * Clears only the entries that are in use, because the child must copy each page that it writes to.
 */
void code_forget(void)
{
	uint32_t n_numbers = atomic_load_explicit(&table.n_numbers, memory_order_relaxed),
		 n_cached = atomic_load_explicit(&table.n_cached, memory_order_relaxed);
	if (n_cached)
		memset(table.cache, 0,
		       (n_cached < CODE_FEW ? CODE_FEW_SETS : CODE_SETS) * sizeof *table.cache);
	if (n_numbers)
		memset(table.first_slot, 0, sizeof table.first_slot);
	if (n_numbers > CODE_FEW)
		memset(table.slot, 0, sizeof table.slot);
	torch_code_forget();
	atomic_store_explicit(&table.n_numbers, 0, memory_order_relaxed);
	atomic_store_explicit(&table.n_cached, 0, memory_order_relaxed);
}

/* ---- hashes ---- */

static uint64_t mix(uint64_t h, uint64_t word)
{
	h = (h ^ word) * UINT64_C(0x9E3779B97F4A7C15);
	return h ^ h >> 29;
}

/*
 * Hashes two words and their place: a 64 by 64 bit product, folded (Wang Yi's wyhash). In a sum of
 * these hashes, no term depends on another.
 */
static uint64_t fold(uint64_t a, uint64_t b, uint64_t at)
{
	unsigned __int128 product = (unsigned __int128)(a ^ (UINT64_C(0xa0761d6478bd642f) +
							     at * UINT64_C(0xe7037ed1a0b428db))) *
				    (b ^ UINT64_C(0x8ebc6af09c88c6e3));
	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static uint64_t sum_of(const uint8_t *bytes, size_t n, uint64_t at)
{
	uint64_t sum = 0, word[2];
	for (; n >= sizeof word; bytes += sizeof word, n -= sizeof word, at++) {
		memcpy(word, bytes, sizeof word);
		sum += fold(word[0], word[1], at);
	}
	if (n) {
		word[0] = word[1] = 0;
		memcpy(word, bytes, n);
		sum += fold(word[0], word[1], at);
	}
	return sum;
}

/* Hashes n bytes of the interpreter's memory. */
static bool hash_at(const struct code_context *c, uintptr_t address, size_t n, uint64_t *hash)
{
	enum { PART = 256 };
	uint8_t copy[PART];
	const uint8_t *bytes = c->reader->direct ? (const uint8_t *)address
						 : reader_fetched(c->reader, address, n);
	*hash = n;
	if (bytes) {
		*hash += sum_of(bytes, n, 0);
		return true;
	}
	for (size_t done = 0; done < n; done += PART) {
		size_t part = n - done < PART ? n - done : PART;
		if (!(bytes = reader_load(c->reader, copy, address + done, part)))
			return false;
		*hash += sum_of(bytes, part, done / 16);
	}
	return true;
}

/* ---- strings ---- */

struct string {
	uintptr_t characters;
	uint64_t length;
	uint32_t kind; /* bytes per character */
};

/* Opens a str object whose characters follow its header. */
static bool open_string(const struct code_context *c, uintptr_t object, struct string *s)
{
	enum { LONGEST = 1 << 20 };
	uint8_t copy[STRING_BYTES];
	const uint8_t *head = reader_load(c->reader, copy, object, sizeof copy);
	if (!head || reader_word(head, OBJECT_TYPE) != c->types->string)
		return false;
	uint32_t state = reader_half(head, STRING_STATE);
	bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
	*s = (struct string){object + (ascii ? c->layout->ascii_bytes : c->layout->compact_bytes),
			     reader_word(head, STRING_LENGTH), state >> 2 & 7};
	return compact && (s->kind == 1 || s->kind == 2 || s->kind == 4) && s->length <= LONGEST;
}

/* Hashes a str object. *n_bytes: the bytes of the object that were read. */
static bool hash_string(const struct code_context *c, uintptr_t object, uint64_t *hash,
			uint32_t *n_bytes)
{
	enum { MOST = 4096 };
	struct string s;
	if (!open_string(c, object, &s))
		return false;
	size_t n = s.length * s.kind < MOST ? s.length * s.kind : MOST;
	if (!hash_at(c, s.characters, n, hash))
		return false;
	*hash += s.kind;
	*n_bytes = (uint32_t)(s.characters - object + n);
	return true;
}

/*
 * U+DC80 to U+DCFF represent bytes of a name that is not UTF-8 (PEP 383). Other surrogates are
 * invalid.
 */
static size_t put_utf8(char *to, uint32_t c)
{
	enum { REPLACEMENT = 0xfffd };
	if (c < 0x80 || (c >= 0xdc80 && c <= 0xdcff)) {
		to[0] = (char)c;
		return 1;
	}
	c = (c >= 0xd800 && c <= 0xdfff) || c > 0x10ffff ? REPLACEMENT : c;
	unsigned n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
	for (unsigned i = n; --i; c >>= 6)
		to[i] = (char)(0x80 | (c & 0x3f));
	to[0] = (char)(0xf00 >> n | c);
	return n;
}

static bool load_all(const struct code_context *c, void *to, uintptr_t address, size_t n)
{
	const uint8_t *from = c->reader->direct ? (const uint8_t *)address
						: reader_fetched(c->reader, address, n);
	if (from)
		memcpy(to, from, n);
	return from || reader_copy(c->reader, to, address, n);
}

/* Copies a string as UTF-8, NUL-terminated and cut to `room`. *n_bytes excludes the NUL. */
bool code_load_string(const struct code_context *c, uintptr_t object, char *to, size_t room,
		      size_t *n_bytes)
{
	struct string s;
	if (!open_string(c, object, &s))
		return false;
	uint64_t most = sizeof c->scratch->characters / s.kind,
		 length = s.length < most ? s.length : most;
	if (!load_all(c, c->scratch->characters, s.characters, length * s.kind))
		return false;
	size_t n = 0;
	for (uint64_t i = 0; i < length && n + 5 <= room; i++) {
		uint32_t character = 0;
		memcpy(&character, c->scratch->characters + i * s.kind, s.kind);
		if (!character)
			break;
		n += put_utf8(to + n, character);
	}
	to[n] = '\0';
	*n_bytes = n;
	return true;
}

/* ---- records ---- */

static bool open_bytes(const struct code_context *c, uintptr_t object, size_t *n)
{
	uint8_t copy[OBJECT_SIZE + sizeof(uint64_t)];
	const uint8_t *head = reader_load(c->reader, copy, object, sizeof copy);
	if (!head || reader_word(head, OBJECT_TYPE) != c->types->bytes)
		return false;
	*n = reader_word(head, OBJECT_SIZE) < MSR_PYTHON_LINES_MAX ? reader_word(head, OBJECT_SIZE)
								   : MSR_PYTHON_LINES_MAX;
	return true;
}

/* Loads as much of the line table as fits. Code after that has no lines. */
static bool load_lines(const struct code_context *c, uintptr_t object, size_t *n)
{
	return open_bytes(c, object, n) &&
	       load_all(c, c->scratch->lines, object + BYTES_CONTENT, *n);
}

static uint16_t name_offset(const struct python_layout *l)
{
	return l->code.qualname != PYTHON_NOWHERE ? l->code.qualname : l->code.name;
}

struct contents {
	size_t file, name, lines; /* bytes in the scratch memory */
	uint32_t first_line;
};

static bool load_contents(const struct code_context *c, const uint8_t *code, struct contents *k)
{
	const struct python_layout *l = c->layout;
	struct code_scratch *s = c->scratch;
	k->first_line = reader_half(code, l->code.first_line);
	return k->first_line <= INT32_MAX &&
	       code_load_string(c, reader_word(code, l->code.filename), s->file, sizeof s->file,
				&k->file) &&
	       code_load_string(c, reader_word(code, name_offset(l)), s->name, sizeof s->name,
				&k->name) &&
	       load_lines(c, reader_word(code, l->code.line_table), &k->lines);
}

/* Returns the number of the new record; 0: there is no room now. */
static uint32_t write_record(const struct code_context *c, const struct contents *k)
{
	size_t n = (sizeof(struct msr_python_code) + k->file + 1 + k->name + 1 + k->lines + 7) &
		   ~(size_t)7;
	struct msr_python_code *r = c->host->begin_record(MSR_PYTHON_CODE, n);
	if (!r)
		return 0;
	const uint32_t number = code_take_number();
	r->bytes = (uint32_t)n;
	r->id = number;
	r->first_line = k->first_line;
	r->lines = c->layout->lines;
	r->file_bytes = (uint16_t)(k->file + 1);
	r->name_bytes = (uint16_t)(k->name + 1);
	r->line_bytes = (uint32_t)k->lines;
	char *at = (char *)(r + 1);
	memcpy(at, c->scratch->file, k->file + 1);
	memcpy(at + k->file + 1, c->scratch->name, k->name + 1);
	memcpy(at + k->file + 1 + k->name + 1, c->scratch->lines, k->lines);
	c->host->end_record(MSR_PYTHON_CODE, n);
	return number;
}

/*
 * Adds a code object and returns its number; 0: not possible now. If two threads add the same
 * object at the same time, it has two records.
 */
static uint32_t add(const struct code_context *c, const uint8_t *code, uint64_t key)
{
	struct contents k;
	if (!load_contents(c, code, &k))
		return 0;
	uint64_t same =
		mix(mix(mix(mix(k.first_line, sum_of((const uint8_t *)c->scratch->file, k.file, 0)),
			    k.file),
			sum_of((const uint8_t *)c->scratch->name, k.name, 0)),
		    k.name);
	same = mix(mix(same, sum_of(c->scratch->lines, k.lines, 0)), k.lines) | 1;
	uint32_t number = code_find_given(same);
	if (!number && !code_has_numbers()) {
		number = CODE_UNRECORDED;
	} else if (!number) {
		if (!(number = write_record(c, &k)))
			return 0;
		code_give(same, number);
		if (c->host->names_modules &&
		    torch_code_calls_modules(c->scratch->file, c->scratch->name))
			torch_code_add_number(number);
	}
	cache(key, number);
	return number;
}

/* ---- addresses of frames ---- */

static uint64_t numbers_of(const struct python_layout *l, const uint8_t *head)
{
	return reader_half(head, l->code.first_line) |
	       (uint64_t)(l->code.version != PYTHON_NOWHERE ? reader_half(head, l->code.version)
							    : 0)
		       << 32;
}

static struct code_met *met_at(const struct code_context *c, uintptr_t code)
{
	return &c->met[code * UINT64_C(0x9E3779B97F4A7C15) >> (64 - CODE_MET_BITS)];
}

static bool hash_file(const struct code_context *c, uintptr_t file, uint64_t *hash,
		      uint32_t *n_bytes)
{
	struct code_last *last = c->last;
	if (file != last->file && !hash_string(c, file, &last->file_hash, &last->file_bytes)) {
		last->file = 0;
		return false;
	}
	last->file = file;
	*hash = last->file_hash;
	*n_bytes = last->file_bytes;
	return true;
}

/*
 * Since 3.12 each code object of an interpreter has a unique number. Returns 0 if this one has
 * none.
 */
static uint64_t key_by_number(const struct code_context *c, uintptr_t at, const uint8_t *head)
{
	const struct python_layout *l = c->layout;
	uint64_t numbers = numbers_of(l, head);
	return numbers >> 32 ? mix(mix(mix(mix(at, numbers), reader_word(head, l->code.filename)),
				       reader_word(head, l->code.name)),
				   c->epoch) |
				       1
			     : 0;
}

bool code_tag(const struct python_layout *l, const struct code_types *types,
	      const struct frames_frame *f, uint64_t at, uint64_t *sum)
{
	const uint8_t *head = (const uint8_t *)f->code;
	if (reader_word(head, OBJECT_TYPE) != types->code)
		return false;
	uint64_t numbers = numbers_of(l, head);
	*sum += fold(f->code + f->is_generator, f->instruction, 2 * at) +
		fold(numbers ^ reader_word(head, l->code.filename), reader_word(head, l->code.name),
		     2 * at + 1);
	return numbers >> 32;
}

uint64_t code_tag_run(const struct frames_run *run, uint64_t at)
{
	return fold(run->place, run->end, ~at);
}

/*
 * Without a unique number, a new code object may have the address of a dead one, and so may its
 * strings and its line table. So the key covers everything that the record contains. Remembers
 * which parts were read, to fetch them the next time.
 */
static bool key_of(const struct code_context *c, uintptr_t at, const uint8_t *head, uint64_t *key)
{
	const struct python_layout *l = c->layout;
	struct code_met *m = met_at(c, at);
	uint64_t file, name, lines;
	uint32_t n_bytes[CODE_N_PARTS];
	uintptr_t file_at = reader_word(head, l->code.filename),
		  name_at = reader_word(head, name_offset(l)),
		  table_at = reader_word(head, l->code.line_table);
	size_t n_lines;
	if ((*key = key_by_number(c, at, head))) {
		if (!c->reader->direct) {
			m->part[CODE_FILE] = m->part[CODE_NAME] = 0;
			m->part[CODE_LINES] = 1;
		}
		return true;
	}
	if (!hash_file(c, file_at, &file, &n_bytes[CODE_FILE]) ||
	    !hash_string(c, name_at, &name, &n_bytes[CODE_NAME]) ||
	    !open_bytes(c, table_at, &n_lines) ||
	    !hash_at(c, table_at + BYTES_CONTENT, n_lines, &lines))
		return false;
	*key = mix(mix(mix(mix(mix(at, numbers_of(l, head)), file), name), lines), n_lines) | 1;
	if (c->reader->direct) /* direct loads need no fetching */
		return true;
	n_bytes[CODE_LINES] = (uint32_t)(BYTES_CONTENT + n_lines);
	memcpy(m->part_bytes, n_bytes, sizeof n_bytes);
	m->part[CODE_FILE] = file_at;
	m->part[CODE_NAME] = name_at;
	m->part[CODE_LINES] = table_at;
	return true;
}

/* CPython 3.11 may free the code object of a returning function before its frame. */
static bool is_code(const struct code_context *c, const uint8_t *head)
{
	return reader_word(head, OBJECT_TYPE) == c->types->code && reader_half(head, OBJECT_COUNT);
}

/* Loads the head of a code object. Returns NULL if it is none, or if its reference count is 0. */
static const uint8_t *load_head(const struct code_context *c, uint8_t *copy, uintptr_t code)
{
	const uint8_t *head = reader_load(c->reader, copy, code, c->layout->code.bytes);
	return head && is_code(c, head) ? head : NULL;
}

static bool is_known(const struct code_context *c, const struct code_known *k, uintptr_t code,
		     const uint8_t *head)
{
	const struct python_layout *l = c->layout;
	uint64_t key;
	if (k->code != code || k->numbers != numbers_of(l, head) ||
	    k->file != reader_word(head, l->code.filename) ||
	    k->name != reader_word(head, l->code.name))
		return false;
	return k->numbers >> 32 || (key_of(c, code, head, &key) && key == k->key);
}

bool code_is_known(const struct code_context *c, const struct code_known *known, uintptr_t code)
{
	uint8_t copy[CODE_BYTES];
	const uint8_t *head = known->code == code ? load_head(c, copy, code) : NULL;
	return head && is_known(c, known, code, head);
}

static bool get_number(const struct code_context *c, struct code_known *k, uintptr_t code)
{
	const struct python_layout *l = c->layout;
	uint8_t copy[CODE_BYTES];
	const uint8_t *head = load_head(c, copy, code);
	if (!head)
		return false;
	if (is_known(c, k, code, head))
		return true;
	struct code_known new = {.code = code,
				 .file = reader_word(head, l->code.filename),
				 .name = reader_word(head, l->code.name),
				 .numbers = numbers_of(l, head)};
	if (!key_of(c, code, head, &new.key))
		return false;
	new.first_traceable = l->code.first_traceable != PYTHON_NOWHERE
				      ? reader_half(head, l->code.first_traceable)
				      : 0;
	new.number = find_cached(new.key);
	if (!new.number && !(new.number = add(c, head, new.key)))
		new.code = 0; /* it may be recorded later */
	new.number = new.number == CODE_UNRECORDED ? 0 : new.number;
	new.is_torch_call = torch_code_has_number(new.number);
	if (new.is_torch_call)
		torch_code_add_place(code, new.numbers >> 32);
	*k = new;
	return true;
}

static void want_object(struct reader_batch *b, uintptr_t address, size_t n)
{
	if (reader_is_plausible(address))
		reader_want(b, address, n);
}

/* Requests the contents of code objects that were not met before or that have no number. */
static void want_contents(const struct code_context *c, const uint32_t *unmet, uint32_t n_unmet)
{
	enum { FIRST_BYTES = 320 };
	const struct python_layout *l = c->layout;
	struct reader_batch *heads = &c->batch[0], *contents = &c->batch[1];
	uintptr_t last_file = c->last->file;
	for (uint32_t i = 0; i < n_unmet; i++) {
		const uint32_t k = unmet[i];
		const uint8_t *head = heads->bytes + heads->offset[k];
		if (k >= heads->n || !heads->piece[k].iov_len || !is_code(c, head) ||
		    !reader_has_room(contents, CODE_N_PARTS, CODE_N_PARTS * FIRST_BYTES))
			continue;
		uint64_t key = key_by_number(c, (uintptr_t)heads->piece[k].iov_base, head);
		if (key && find_cached(key))
			continue;
		uintptr_t file = reader_word(head, l->code.filename);
		if (key || file != last_file)
			want_object(contents, file, FIRST_BYTES);
		last_file = file;
		want_object(contents, reader_word(head, name_offset(l)), FIRST_BYTES);
		want_object(contents, reader_word(head, l->code.line_table), FIRST_BYTES);
	}
}

/*
 * Requests the parts of a known object that are probably needed. Returns false if the object is
 * unknown or too long.
 */
static bool want_parts(const struct code_context *c, const struct code_met *m, uintptr_t *last_file)
{
	struct reader_batch *b = &c->batch[0];
	if (m->part[CODE_LINES] <= 1)
		return m->part[CODE_LINES];
	if (!reader_has_room(b, CODE_N_PARTS,
			     (size_t)m->part_bytes[CODE_FILE] + m->part_bytes[CODE_NAME] +
				     m->part_bytes[CODE_LINES]))
		return false;
	for (unsigned k = m->part[CODE_FILE] == *last_file ? CODE_NAME : CODE_FILE;
	     k < CODE_N_PARTS; k++)
		reader_want(b, m->part[k], m->part_bytes[k]);
	*last_file = m->part[CODE_FILE];
	return true;
}

uint32_t code_fetch(const struct code_context *c, const struct frames_frame *frame, uint32_t n)
{
	enum { MOST_UNMET = 64 };
	struct reader_batch *heads = &c->batch[0], *contents = &c->batch[1];
	uint32_t unmet[MOST_UNMET], n_unmet = 0, i = 0;
	uintptr_t last_file = c->last->file;
	reader_clear(heads);
	reader_clear(contents);
	for (;
	     i < n && n_unmet < MOST_UNMET && reader_has_room(heads, 1 + CODE_N_PARTS, CODE_BYTES);
	     i++) {
		struct code_met *m = met_at(c, frame[i].code);
		if (m->code != frame[i].code)
			*m = (struct code_met){.code = frame[i].code};
		else if (m->fetched == (uint32_t)c->walk)
			continue;
		m->fetched = (uint32_t)c->walk;
		uint32_t at = heads->n;
		reader_want(heads, frame[i].code, c->layout->code.bytes);
		if (!want_parts(c, m, &last_file))
			unmet[n_unmet++] = at;
	}
	reader_fetch(heads);
	want_contents(c, unmet, n_unmet);
	reader_fetch(contents);
	c->reader->batch[0] = heads;
	c->reader->batch[1] = contents;
	return i;
}

/*
 * Returns the number of the code unit. *hidden: it is before the first one that CPython shows, as
 * in its _PyFrame_IsIncomplete.
 */
static uint64_t unit_of(const struct python_layout *l, const struct frames_frame *f,
			uint32_t first_traceable, bool *hidden)
{
	*hidden = false;
	if (l->code.bytecode == PYTHON_NOWHERE)
		return (int32_t)f->instruction < 0 ? 0 : (uint32_t)f->instruction;
	int64_t offset = (int64_t)(f->instruction - f->code - l->code.bytecode);
	*hidden = !f->is_generator && offset < (int64_t)first_traceable * UNIT_BYTES;
	return offset < 0 ? 0 : (uint64_t)offset / UNIT_BYTES;
}

enum code_verdict code_address(const struct code_context *c, struct code_known *known,
			       const struct frames_frame *f, uint64_t *link_addr)
{
	struct code_met *m = met_at(c, f->code);
	bool hidden;
	if (m->code != f->code || m->walk != c->walk) {
		if (m->code != f->code)
			*m = (struct code_met){.code = f->code};
		m->walk = 0;
		if (!get_number(c, known, f->code))
			return CODE_BAD;
		m->walk = c->walk;
		m->known = known;
	} else if (known != m->known) {
		*known = *m->known;
	}
	uint64_t unit = unit_of(c->layout, f, known->first_traceable, &hidden);
	*link_addr = (uint64_t)known->number << MSR_PYTHON_UNIT_BITS |
		     (unit < MSR_PYTHON_UNIT_NONE ? unit : MSR_PYTHON_UNIT_NONE);
	return hidden ? CODE_HIDDEN : CODE_FOUND;
}
