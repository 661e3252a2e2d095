/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the jump tables of a function: which of its instructions each indirect jump leads to; see
 * code_decoder.h. Where they are is known to the isa room. Tests: tests/cli/struct/struct_loops.sh,
 * tests/cli/struct/struct_golden.sh.
 */
#include "hpcstruct-lite/scope/code_decoder.h"

#include "common/base/sorted.h"

#include <elf.h>
#include <string.h>

#define MAX_ENTRIES 4096u /* of a table without bound */

static bool is_instruction(const struct decoder *d, uint32_t position)
{
	size_t offset;
	return decoder_offset(d, position, &offset) && d->starts.at[offset];
}

static void mark_leader(struct decoder *d, uint32_t position)
{
	size_t offset;
	if (position != FLOW_NONE && decoder_offset(d, position, &offset) && d->starts.at[offset])
		d->starts.at[offset] |= STARTS_BLOCK;
}

/* Returns true if a block may start at an instruction, as far as the direct jumps say. */
static bool is_leader(struct decoder *d, uint32_t position)
{
	size_t offset;
	for (size_t i = d->function->first_transfer; i < d->batch->transfers.n && !d->has_leaders;
	     i++) {
		const struct flow_transfer *t = &d->batch->transfers.at[i];
		mark_leader(d, t->end);
		mark_leader(d, t->kind == ISA_JUMP ? t->target : FLOW_NONE);
	}
	d->has_leaders = true;
	return decoder_offset(d, position, &offset) && d->starts.at[offset] & STARTS_BLOCK;
}

/* Reads `n_bytes` of the memory image, little-endian. */
static bool read_memory(const struct image *image, uint64_t link_addr, unsigned n_bytes,
			uint64_t *value)
{
	for (size_t i = 0; i < image->sections.n; i++) {
		const struct image_section *s = &image->sections.at[i];
		uint64_t offset = link_addr - s->link_addr;
		if (!(s->flags & SHF_ALLOC) || !s->bytes || s->packed != IMAGE_PLAIN ||
		    offset >= s->n_bytes || s->n_bytes - offset < n_bytes)
			continue;
		*value = 0;
		memcpy(value, s->bytes + offset, n_bytes);
		return true;
	}
	return false;
}

static uint64_t distance_target(const struct isa_table *t, uint64_t entry)
{
	uint64_t sign = t->is_signed ? UINT64_C(1) << (8 * t->entry_bytes - 1) : 0;
	return t->origin + (((entry ^ sign) - sign) << t->shift);
}

/*
 * Reads entry i of a table. *target is FLOW_NONE if it leads to no instruction of the function.
 * Returns false if there is no memory there.
 */
static bool read_entry(const struct decoder *d, const struct isa_table *from, uint32_t i,
		       uint32_t *target)
{
	const struct image *image = d->code->map->image;
	uint64_t value, at = from->base + (uint64_t)i * from->entry_bytes;
	if (!read_memory(image, at, from->entry_bytes, &value))
		return false;
	if (from->entry_bytes < 8)
		value = distance_target(from, value);
	if (!image_position(image, value, target) || !is_instruction(d, *target))
		*target = FLOW_NONE;
	return true;
}

/*
 * Adds the targets of a table. Without a bound, it ends at an entry that leads to no instruction.
 * But nearly any byte is the distance to some instruction, so a table of small entries also ends
 * where too many lead to instructions that start no block as far as the direct jumps say. Some do:
 * cases that only the one before them leads to.
 */
static bool add_table(void *arg, const struct isa_table *from)
{
	struct decoder *d = arg;
	uint32_t n = from->n_entries ? from->n_entries : MAX_ENTRIES, n_odd = 0, n_sure = 0;
	struct code_table t = {.base = from->base,
			       .entry_bytes = from->entry_bytes,
			       .is_bounded = from->n_entries != 0,
			       .first_target = d->batch->targets.n};
	if (!image_position(d->code->map->image, from->jump, &t.jump))
		return true;
	for (uint32_t i = 0, target, last = FLOW_NONE; i < n && d->ok; i++, last = target) {
		if (!read_entry(d, from, i, &target) || (target == FLOW_NONE && !t.is_bounded))
			break;
		if (target == FLOW_NONE)
			continue; /* cases that the compiler knows to be impossible */
		bool is_sure = t.is_bounded || from->entry_bytes > 2 || is_leader(d, target);
		n_odd += !is_sure && target != last;
		if (n_odd > 1 + t.n_targets / 8)
			break;
		uint32_t *slot = vec_push(&d->batch->targets);
		d->ok = slot != NULL;
		if (slot)
			*slot = target;
		t.n_targets++;
		n_sure = is_sure ? t.n_targets : n_sure;
	}
	t.n_targets = n_sure;
	d->batch->targets.n = d->ok ? t.first_target + n_sure : d->batch->targets.n;
	struct code_table *slot = d->ok && n_sure ? vec_push(&d->batch->tables) : NULL;
	if (slot)
		*slot = t;
	d->ok = d->ok && (slot || !n_sure);
	return d->ok;
}

/*
 * Returns true if the jump has a table. A function's tables are sorted by jump, because they were
 * found in that order.
 */
bool decoder_has_table(const struct decoder *d, uint32_t jump)
{
	size_t first = d->function->first_table, n = d->batch->tables.n;
	size_t at = first + sorted_prefix(n - first, i, d->batch->tables.at[first + i].jump < jump);
	return at < n && d->batch->tables.at[at].jump == jump;
}

/* Adds the branches that the compiler lists, as tables. */
static void take_listed(struct decoder *d, const struct flow_range *r)
{
	const struct branches *all = &d->code->branches;
	for (size_t i = branches_from(all, r->start);
	     i < all->n && all->at[i].jump < r->end && d->ok;) {
		struct code_table t = {.jump = all->at[i].jump,
				       .is_bounded = true,
				       .first_target = d->batch->targets.n};
		for (; i < all->n && all->at[i].jump == t.jump && d->ok; i++) {
			uint32_t *slot = is_instruction(d, all->at[i].target)
						 ? vec_push(&d->batch->targets)
						 : NULL;
			d->ok = slot || !is_instruction(d, all->at[i].target);
			if (slot)
				*slot = all->at[i].target;
			t.n_targets += slot != NULL;
		}
		struct code_table *table =
			t.n_targets && d->ok ? vec_push(&d->batch->tables) : NULL;
		d->ok = d->ok && (table || !t.n_targets);
		if (table)
			*table = t;
	}
}

void decoder_find_tables(struct decoder *d)
{
	bool wanted = false;
	for (size_t i = d->function->first_transfer; i < d->batch->transfers.n && !wanted; i++)
		wanted = d->batch->transfers.at[i].kind == ISA_INDIRECT;
	for (size_t i = 0; i < d->function->n_ranges && wanted && d->code->branches.n; i++)
		take_listed(d, &d->code->ranges.at[d->function->first_range + i]);
	for (size_t i = 0; i < d->function->n_ranges && wanted && d->code->isa->find_tables; i++) {
		const struct flow_range *r = &d->code->ranges.at[d->function->first_range + i];
		const struct code_piece *p =
			&d->code->pieces.at[code_piece_before(d->code, r->start)];
		d->code->isa->find_tables(p->bytes + (r->start - p->start), r->end - r->start,
					  p->link_addr + (r->start - p->start), add_table, d);
	}
}
