/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Buffers for CUPTI's records: usually at most 160 of 256 KiB, mapped when first needed and reused.
 * CUPTI asks for one in a thread of the program, inside a call, so this must be quick and without
 * locks. It returns buffers in a thread of its own. As long as a kernel runs, CUPTI keeps all
 * buffers that its thread has requested since. Test: tests/unit/cupti/test_cupti_record.c.
 */
#include "hpcrun-lite/gpu/cupti/trace/nv_trace.h"

#include "common/safe/sys.h"

#include <errno.h>
#include <sys/mman.h>

/* Takes a free buffer and returns its number; NV_MOST_BUFFERS: none is free. */
static unsigned take(void)
{
	const unsigned n = nv_version_needs_buffers() ? NV_MOST_BUFFERS : NV_N_BUFFERS;
	for (unsigned i = 0; i < n; i++) {
		_Atomic uint64_t *word = &nv_trace.taken[i / 64];
		uint64_t bit = UINT64_C(1) << (i % 64),
			 old = atomic_load_explicit(word, memory_order_relaxed);
		if (old == UINT64_MAX) {
			i |= 63;
			continue;
		}
		/* Acquire: the last owner has finished reading it. */
		if (!(old & bit) &&
		    !(atomic_fetch_or_explicit(word, bit, memory_order_acquire) & bit))
			return i;
	}
	return NV_MOST_BUFFERS;
}

static void give(unsigned i)
{
	atomic_fetch_and_explicit(&nv_trace.taken[i / 64], ~(UINT64_C(1) << (i % 64)),
				  memory_order_release);
}

static uint8_t *memory_of(unsigned i)
{
	uint8_t *at = atomic_load_explicit(&nv_trace.buffer[i], memory_order_relaxed);
	if (at)
		return at;
	long got = sys_mmap(NULL, NV_BUFFER_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (sys_is_error(got))
		return NULL;
	atomic_store_explicit(&nv_trace.buffer[i], (uint8_t *)got, memory_order_relaxed);
	return (uint8_t *)got;
}

static unsigned number_of(const uint8_t *buffer)
{
	for (unsigned i = 0; buffer && i < NV_MOST_BUFFERS; i++)
		if (atomic_load_explicit(&nv_trace.buffer[i], memory_order_relaxed) == buffer)
			return i;
	return NV_MOST_BUFFERS;
}

/* If there is no buffer, CUPTI drops records and counts them. */
void CUPTIAPI nv_buffer_request(uint8_t **buffer, size_t *bytes, size_t *max_records)
{
	int saved = errno;
	if (nv_yield_request(buffer, bytes, max_records))
		return;
	unsigned i = take();
	uint8_t *at = i < NV_MOST_BUFFERS ? memory_of(i) : NULL;
	if (!at && i < NV_MOST_BUFFERS)
		give(i);
	*buffer = at;
	*bytes = at ? NV_BUFFER_BYTES : 0;
	*max_records = 0; /* as many as fit */
	if (at && atomic_fetch_add_explicit(&nv_shared.n_outstanding, 1, memory_order_relaxed) >=
			  NV_MANY_BUFFERS - 1)
		nv_guard_wake();
	errno = saved;
}

static void count_dropped(CUcontext context, uint32_t stream)
{
	size_t n = 0;
	if (nv.lib.cuptiActivityGetNumDroppedRecords(context, stream, &n) == CUPTI_SUCCESS && n) {
		nv.host->lost_unknown(nv.host, MSR_GPU_LOSS_DROPPED, n);
		nv_open_add(-(int64_t)n);
	}
}

void CUPTIAPI nv_buffer_complete(CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes,
				 size_t valid_bytes)
{
	int saved = errno;
	CUpti_Activity *record = NULL;
	unsigned i = number_of(buffer);
	if (i == NV_MOST_BUFFERS && nv_yield_has_client()) {
		nv_yield_complete(context, stream, buffer, bytes, valid_bytes);
		return;
	}
	/* after the end, launches without a record were already counted as never done */
	if (!buffer || !nv_is_here() || nv_trace_is_over())
		return;
	while (valid_bytes &&
	       nv.lib.cuptiActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
		nv_record(record);
	count_dropped(context, stream);
	if (i < NV_MOST_BUFFERS) {
		give(i);
		/* Release: a thread that sees no outstanding buffer also sees all their records. */
		atomic_fetch_sub_explicit(&nv_shared.n_outstanding, 1, memory_order_release);
	}
	errno = saved;
}
