/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory orders of the table of PyTorch's modules (hpcrun-lite/python/torch_table.c): a reader gets
 * a slot as one writer wrote it, for the pair that it asked for, or nothing. Found content may
 * race: the sequence number tells. See order.h.
 */
#include "hpcrun-lite/python/torch_table.c"

enum { MODULE = 16, OLD_OUTER = 1, NEW_OUTER = 9 };

static struct torch_found found_of(uint32_t number)
{
	struct torch_found f = {.number = number, .parent_number = number, .words = {.n = 1}};
	f.words.word[0].value = number;
	return f;
}

static void write_pair(uintptr_t outer, uint32_t number)
{
	const struct torch_found f = found_of(number);
	torch_slot_write(MODULE, outer, &f);
}

static void write_other_pair(void)
{
	write_pair(NEW_OUTER, 9);
}
static void write_2(void)
{
	write_pair(OLD_OUTER, 2);
}
static void write_3(void)
{
	write_pair(OLD_OUTER, 3);
}

static void read_pair(uintptr_t outer, uint32_t first, uint32_t last)
{
	struct torch_found f;
	struct torch_slot *s = torch_slot_find(MODULE, outer);
	if (!s || !torch_slot_read(s, MODULE, outer, &f))
		return;
	if (f.number < first || f.number > last)
		order_fault("a reader gets what was written for another pair");
	if (f.parent_number != f.number || f.words.n != 1 || f.words.word[0].value != f.number)
		order_fault("a reader gets a mixture");
}

static void read_old(void)
{
	read_pair(OLD_OUTER, 1, 3);
}
static void read_new(void)
{
	read_pair(NEW_OUTER, 9, 9);
}

/* After two writers: the content is of one of them. */
static void look(void)
{
	const struct torch_found *f = &table.slot[set_of(MODULE)][0].found;
	if (f->parent_number != f->number || f->words.word[0].value != f->number)
		order_fault("two writers leave a mixture");
}

int main(void)
{
	/* All ways of the set are taken. The next pair replaces the first one. */
	for (uint32_t i = 1; i <= WAYS; i++)
		write_pair(i, i);
	for (unsigned i = 0; i < WAYS; i++)
		order_may_race(&table.slot[set_of(MODULE)][i].found, sizeof(struct torch_found));
	static const struct order_program programs[] = {
		{"slot replaced", {write_other_pair, read_old}, NULL},
		{"slot filled", {write_other_pair, read_new}, NULL},
		{"slot written twice", {write_2, write_3}, look},
		{.name = NULL}};
	order_test(programs, NULL);
	return order_done();
}
