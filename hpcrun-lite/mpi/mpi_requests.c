/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See mpi_requests.h. An entry is two words. The first is mixed with the second, so that a reader
 * that sees one word of each of two writers finds nothing.
 */
#include "hpcrun-lite/mpi/mpi_requests.h"

#include "common/format/measurement_mpi.h"

#include <stdatomic.h>
#include <string.h>

#define MOST_LOOKED_AT 16 /* requests of a call */

/* Relaxed: the mixing says whether the two words belong together. */
static struct {
	_Atomic uint64_t key, value;
} slots[MPI_REQUESTS];

static uint64_t mix(uint64_t word)
{
	word *= UINT64_C(0x9E3779B97F4A7C15);
	return word ^ word >> 32;
}

static uint32_t slot_of(uintptr_t handle)
{
	return (uint32_t)(mix(handle) >> 20) % MPI_REQUESTS;
}

void mpi_requests_add(uintptr_t handle, const struct mpi_other_side *to)
{
	const uint32_t i = slot_of(handle);
	const uint64_t value = (uint64_t)to->way << 60 | (uint64_t)(to->comm & 0xFFFFFFFu) << 32 |
			       (uint32_t)to->peer;
	atomic_store_explicit(&slots[i].value, value, memory_order_relaxed);
	atomic_store_explicit(&slots[i].key, handle ^ mix(value), memory_order_relaxed);
}

bool mpi_requests_find(uintptr_t handle, struct mpi_other_side *to)
{
	const uint32_t i = slot_of(handle);
	const uint64_t value = atomic_load_explicit(&slots[i].value, memory_order_relaxed),
		       key = atomic_load_explicit(&slots[i].key, memory_order_relaxed);
	if (!handle || !value || (key ^ mix(value)) != handle)
		return false;
	*to = (struct mpi_other_side){.comm = (uint32_t)(value >> 32) & 0xFFFFFFFu,
				      .peer = (int32_t)(uint32_t)value,
				      .way = (uint32_t)(value >> 60)};
	return true;
}

void mpi_requests_remove(uintptr_t handle)
{
	struct mpi_other_side none;
	if (mpi_requests_find(handle, &none))
		atomic_store_explicit(&slots[slot_of(handle)].key, 0, memory_order_relaxed);
}

static uintptr_t handle_of(const struct mpi_request_array *r, int i)
{
	const uintptr_t bytes =
		r->library->abi == MPI_ABI_MPICH ? sizeof(uint32_t) : sizeof(uintptr_t);
	return mpi_handle_at(r->library, false, r->at + (uintptr_t)i * bytes);
}

bool mpi_requests_agree(const struct mpi_request_array *r, struct mpi_other_side *on)
{
	bool is_known = false;
	if (!r->at || r->n > MOST_LOOKED_AT || r->library->abi == MPI_ABI_UNKNOWN)
		return false;
	for (int i = 0; i < r->n; i++) {
		struct mpi_other_side one;
		const uintptr_t handle = handle_of(r, i);
		if (handle == r->library->null_request)
			continue;
		if (!mpi_requests_find(handle, &one) ||
		    (is_known && (one.comm != on->comm || one.peer != on->peer)))
			return false;
		if (is_known)
			one.way |= on->way;
		*on = one;
		is_known = true;
	}
	return is_known;
}

void mpi_requests_remove_all(const struct mpi_request_array *r)
{
	for (int i = 0; r->at && i < r->n && r->library->abi != MPI_ABI_UNKNOWN; i++)
		mpi_requests_remove(handle_of(r, i));
}

void mpi_requests_reset(void)
{
	memset(slots, 0, sizeof slots);
}
