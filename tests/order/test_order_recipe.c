/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the table of recipes (hpcrun-lite/unwind/recipe.h): a search finds the recipe
 * and the delta of the pc that it asked for, or nothing, whatever other threads insert, and after a
 * flush nothing from before it. See order.h.
 */
#include "hpcrun-lite/unwind/recipe.c"

enum { A_RECIPE = RECIPE_SP | 16 << 12, OTHER_RECIPE = RECIPE_BP | 32 << 12 };
enum { A_MODULE = 3, OTHER_MODULE = 5, A_BIAS = 0x1000, OTHER_BIAS = 0x2000 };

/* Two addresses of one set, so that entries replace each other; and two of another set. */
static uint64_t a_pc, other_pc, same_pc, before_pc;

static void insert_a(void)
{
	recipe_insert(recipe_tag(0), a_pc, A_MODULE, A_BIAS, A_RECIPE, 0);
}

static void insert_other(void)
{
	recipe_insert(recipe_tag(0), other_pc, OTHER_MODULE, OTHER_BIAS, OTHER_RECIPE, 0);
}

/* Replaces an entry that has the same recipe, so that one word alone changes. */
static void insert_same(void)
{
	recipe_insert(recipe_tag(0), same_pc, A_MODULE, A_BIAS, A_RECIPE, 0);
}

static void find(uint64_t pc, uint64_t expected, uint64_t expected_delta)
{
	uint64_t recipe, delta;
	if (!recipe_find(recipe_tag(0), pc, &recipe, &delta))
		return;
	if (recipe != expected)
		order_fault("a search finds the recipe of another address");
	if (delta != expected_delta)
		order_fault("a search finds a module without its delta");
}

static void find_a(void)
{
	find(a_pc, A_RECIPE, A_BIAS - ((uint64_t)A_MODULE << 48));
}

static void find_same(void)
{
	find(same_pc, A_RECIPE, A_BIAS - ((uint64_t)A_MODULE << 48));
}

static void find_other(void)
{
	find(other_pc, OTHER_RECIPE, OTHER_BIAS - ((uint64_t)OTHER_MODULE << 48));
}

/*
 * A flush: what is behind an address changes between its two ends. `mapping` is the code there; the
 * program changes it while the loader holds its lock, and other threads may read it meanwhile.
 */
static _Atomic int mapping;
static uint64_t now_recipe(void)
{
	return atomic_load_explicit(&mapping, memory_order_relaxed) ? OTHER_RECIPE : A_RECIPE;
}

static void change_mapping(void)
{
	unwind_flush_begin();
	atomic_store_explicit(&mapping, 1, memory_order_relaxed);
	unwind_flush_end();
}

static void walk(void)
{
	uint64_t recipe, delta;
	const uint64_t epoch = recipe_epoch_now();
	if (recipe_epoch_is_open(epoch))
		return;
	if (recipe_find(recipe_tag(epoch), a_pc, &recipe, &delta)) {
		if (epoch >> 16 > 1 && recipe != OTHER_RECIPE)
			order_fault("a recipe from before a flush is used after it");
	} else {
		recipe_insert(recipe_tag(epoch), a_pc, A_MODULE, A_BIAS, now_recipe(), 0);
	}
}

/* Returns the next address whose set is the same. */
static uint64_t next_of_set(uint64_t pc)
{
	uint64_t next = pc + 1;
	while (recipe_set(next) != recipe_set(pc))
		next++;
	return next;
}

/* Fills the set of pc with other entries, so that the next one replaces the first. */
static void fill(uint64_t pc)
{
	for (unsigned i = 0; i < RECIPE_WAYS; i++)
		recipe_insert(recipe_tag(0), pc, OTHER_MODULE, OTHER_BIAS, A_RECIPE, i);
}

int main(void)
{
	a_pc = 0x401000;
	other_pc = next_of_set(a_pc);
	before_pc = 0x402000;
	same_pc = next_of_set(before_pc);
	fill(next_of_set(other_pc));
	fill(before_pc);
	static const struct order_program programs[] = {
		{"found while inserted", {insert_a, find_a}, NULL},
		{"two writers tear an entry", {insert_a, insert_other, find_a}, NULL},
		{"... for the other address", {insert_a, insert_other, find_other}, NULL},
		{"same recipe at another address", {insert_same, find_same}, NULL},
		{"walks beside a flush", {change_mapping, walk, walk}, NULL},
		{.name = NULL}};
	static const struct order_spare spare[] = {
		{"recipe_find", 2, "the load before has acquired the delta"},
		{"recipe_insert", 2, "the store before has released the delta"},
		{"unwind_flush_begin", 1,
		 "a walk from before the window may use what was there, in any order"},
		{.function = NULL}};
	order_test(programs, spare);
	return order_done();
}
