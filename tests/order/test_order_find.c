/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the table of loaded objects (common/safe/find_object.c): a search finds an
 * object as one table has it, or nothing, while others make tables; and whoever finds it started
 * finds the loader's data. The loader below has one object, which each dlopen replaces. See
 * order.h.
 */
#include <stdio.h>
#include <sys/auxv.h>

static unsigned long program_header(void);
#define getauxval(type) ((type) == AT_PHDR ? program_header() : 1)
#include "common/safe/find_object.c"

enum { BIAS = 0x10000, PAGE = 0x1000, VERSIONS = 3 };

/* ---- the loader ---- */

static struct head heads[VERSIONS];
static const ElfW(Phdr) header = {.p_type = PT_LOAD, .p_memsz = VERSIONS * PAGE};
static _Atomic unsigned version; /* of the object that is loaded now */
static _Atomic bool is_known;

static unsigned long program_header(void)
{
	return (unsigned long)&header;
}

/* The next one begins a page lower, so all have the page at BIAS. */
static void replace(void)
{
	atomic_fetch_add_explicit(&version, 1, memory_order_relaxed);
}

void loader_start(void)
{
	atomic_store_explicit(&is_known, true, memory_order_relaxed);
}
bool loader_has_counts(void)
{
	if (!atomic_load_explicit(&is_known, memory_order_relaxed))
		order_fault("the loader is asked before its data is found");
	return true;
}
struct loader_state loader_now(void)
{
	const unsigned v = atomic_load_explicit(&version, memory_order_relaxed);
	return (struct loader_state){.n_added = v + 1, .n_loaded = 1};
}
uintptr_t loader_list(unsigned i)
{
	return i == 0 ? (uintptr_t)&heads[atomic_load_explicit(&version, memory_order_relaxed)] : 0;
}
size_t load_guarded(void *to, uintptr_t from, size_t n)
{
	memcpy(to, (const void *)from, n);
	return n;
}
size_t load_gathered(void *to, const struct iovec *piece, size_t n)
{
	size_t at = 0;
	for (size_t i = 0; i < n; at += piece[i++].iov_len)
		memcpy((char *)to + at, piece[i].iov_base, piece[i].iov_len);
	return at;
}
void *library_of_libc(const char *name)
{
	(void)name;
	return NULL;
}
bool patience_wait(struct patience *p)
{
	(void)p;
	return false;
}

/* ---- programs ---- */

static void make_one(void)
{
	replace();
	make_table();
}

static void make_two(void)
{
	make_one();
	make_one();
}

static void look(void)
{
	struct place p;
	struct loader_state made;
	if (!search(BIAS, &p, &made))
		return;
	const unsigned v = (unsigned)made.n_added - 1;
	if (p.map != (uintptr_t)&heads[v] || p.lo != heads[v].bias)
		order_fault("a search gets parts of two tables");
}

static void check(const struct dl_find_object *found)
{
	const size_t v = (size_t)((const struct head *)(const void *)found->dlfo_link_map - heads);
	if (v >= VERSIONS || (uintptr_t)found->dlfo_map_start != heads[v].bias)
		order_fault("an object is found where another one is");
}

static void find_once(void)
{
	struct dl_find_object found;
	if (find_at_once(BIAS, &found))
		check(&found);
}

/* As from a handler, which may come before the start. */
static void find_first(void)
{
	struct dl_find_object found;
	if (find_object((void *)BIAS, &found) == 0)
		check(&found);
}

int main(void)
{
#if defined __clang__ && __clang_major__ < 15
	puts("1..0 # SKIP this compiler copies structures past the checker");
	return 0;
#endif
	for (unsigned i = 0; i < VERSIONS; i++)
		heads[i].bias = BIAS - i * PAGE;
	is_known = true;
	make_table();
	is_known = false;
	order_may_race(&objects.table[objects.turn % 2], sizeof objects.table[0]);
	static const struct order_program start[] = {
		{"two threads begin", {find_first, find_first}, NULL}, {.name = NULL}};
	static const struct order_spare spare[] = {
		{"find_at_once", 1, "no table is made here; see below"},
		{"find_at_once", 2, "no table is made here; see below"},
		{.function = NULL}};
	order_test(start, spare);
	find_object_start();
	static const struct order_program tables[] = {
		{"two threads make tables", {make_one, make_one}, NULL},
		{"an object is found beside new tables", {make_two, find_once}, NULL},
		{"... and searched", {make_two, look}, NULL},
		{.name = NULL}};
	order_test(tables, NULL);
	return order_done();
}
