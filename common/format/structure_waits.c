/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What instructions wait for, in an open structure file; see structure.h. structure_open() has
 * validated the file, so nothing is checked here. Test: tests/unit/common/test_structure.c.
 */
#include "common/format/structure_internal.h"

#include "common/base/sorted.h"

static const char *const operation_names[STRUCTURE_N_OPERATIONS] = {
	[STRUCTURE_OTHER_OPERATION] = "other",
	[STRUCTURE_ARITHMETIC] = "arithmetic",
	[STRUCTURE_DOUBLE] = "double arithmetic",
	[STRUCTURE_TENSOR] = "tensor operation",
	[STRUCTURE_MUFU] = "special function",
	[STRUCTURE_CONVERSION] = "conversion",
	[STRUCTURE_SPECIAL] = "special register",
	[STRUCTURE_UNIFORM] = "uniform register",
	[STRUCTURE_SHUFFLE] = "shuffle",
	[STRUCTURE_GLOBAL_LOAD] = "global load",
	[STRUCTURE_GLOBAL_STORE] = "global store",
	[STRUCTURE_GLOBAL_ATOMIC] = "global atomic",
	[STRUCTURE_LOCAL_LOAD] = "local load",
	[STRUCTURE_LOCAL_STORE] = "local store",
	[STRUCTURE_SHARED_LOAD] = "shared load",
	[STRUCTURE_SHARED_STORE] = "shared store",
	[STRUCTURE_SHARED_ATOMIC] = "shared atomic",
	[STRUCTURE_GENERIC_LOAD] = "generic load",
	[STRUCTURE_GENERIC_STORE] = "generic store",
	[STRUCTURE_GENERIC_ATOMIC] = "generic atomic",
	[STRUCTURE_CONSTANT_LOAD] = "constant load",
	[STRUCTURE_TEXTURE] = "texture",
	[STRUCTURE_SURFACE] = "surface",
	[STRUCTURE_ASYNC_COPY] = "asynchronous copy",
	[STRUCTURE_TENSOR_MEMORY] = "tensor memory",
	[STRUCTURE_FENCE] = "fence",
	[STRUCTURE_BARRIER] = "barrier",
	[STRUCTURE_BRANCH] = "branch",
	[STRUCTURE_CALL] = "call",
	[STRUCTURE_STRONG_LOAD] = "volatile load",
	[STRUCTURE_DIVISION] = "integer division",
};

const char *structure_operation_name(enum structure_operation operation)
{
	return operation_names[operation];
}

size_t structure_n_waits(const struct structure *s)
{
	return s->tables[STRUCTURE_WAITS].n;
}

struct structure_wait structure_get_wait(const struct structure *s, size_t i)
{
	size_t first = structure_wait_at(s, i)->first,
	       end = i + 1 < s->tables[STRUCTURE_WAITS].n ? structure_wait_at(s, i + 1)->first
							  : s->tables[STRUCTURE_CAUSES].n;
	return (struct structure_wait){structure_wait_at(s, i)->link_addr, first, end - first};
}

bool structure_find_wait(const struct structure *s, uint64_t link_addr, struct structure_wait *wait)
{
	size_t n = s->tables[STRUCTURE_WAITS].n;
	size_t at = sorted_prefix(n, i, structure_wait_at(s, i)->link_addr < link_addr);
	if (at == n || structure_wait_at(s, at)->link_addr != link_addr)
		return false;
	*wait = structure_get_wait(s, at);
	return true;
}

struct structure_cause structure_get_cause(const struct structure *s, size_t i)
{
	const struct structure_cause_record *c = structure_cause_at(s, i);
	uint32_t kind = c->flags & STRUCTURE_CAUSE_KIND, bytes = c->flags >> STRUCTURE_CAUSE_BYTES,
		 operation = c->operation & ~STRUCTURE_CAUSE_CHAINED;
	return (struct structure_cause){
		.link_addr = c->link_addr,
		.kind = kind < STRUCTURE_N_WAIT_KINDS ? (enum structure_wait_kind)kind
						      : STRUCTURE_N_WAIT_KINDS,
		.operation = operation < STRUCTURE_N_OPERATIONS
				     ? (enum structure_operation)operation
				     : STRUCTURE_OTHER_OPERATION,
		.cycles = c->cycles,
		.is_used = (c->flags & STRUCTURE_CAUSE_USED) != 0,
		.is_carried = (c->flags & STRUCTURE_CAUSE_CARRIED) != 0,
		.is_chained = (c->operation & STRUCTURE_CAUSE_CHAINED) != 0,
		.bytes = bytes ? 1u << (bytes - 1) : 0,
	};
}
