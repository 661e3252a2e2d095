/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the process; see records.h. Must not wait. Tests: tests/cli/run/run_processes.sh. */
#include "hpcrun-lite/runtime/records.h"

#include "common/safe/forked.h"
#include "common/safe/trylock.h"
#include "hpcrun-lite/runtime/runtime.h"
#include "hpcrun-lite/store/store.h"

#include <string.h>

#define RECORDS_FIRST_BYTES 1024u /* first extent of each kind */
#define RECORDS_EXTENT_BYTES 4096u

static struct writer {
	trylock lock;
	struct msr_extent *extent;
	uint64_t used, end; /* bytes after its header: used, and available */
	uint32_t sequence;
} writer[MSR_TORCH_MODULE + 1] WRITTEN_BY_FORKED;

void records_start(void)
{
	for (unsigned i = 0; i < sizeof writer / sizeof *writer; i++) {
		trylock_give(&writer[i].lock);
		writer[i].extent = NULL;
		writer[i].sequence = 0;
	}
}

void records_trim(void)
{
	for (unsigned i = 0; i < sizeof writer / sizeof *writer; i++)
		if (trylock_take(&writer[i].lock)) {
			if (writer[i].extent)
				store_give_tail(writer[i].extent);
			writer[i].end = writer[i].used;
			trylock_give(&writer[i].lock);
		}
}

/* Uses our own numbers and not those in the file, which another process may have overwritten. */
static bool has_room(const struct writer *w, size_t n)
{
	return w->extent && w->end - w->used >= n;
}

/* Returns 0 if records contain their own length. */
static uint16_t record_bytes(enum msr_kind kind)
{
	return kind == MSR_METRIC   ? sizeof(struct msr_metric)
		: kind == MSR_CHILD ? sizeof(struct msr_child)
		: kind == MSR_PHASE ? sizeof(struct msr_phase)
				    : 0;
}

void *records_begin(enum msr_kind kind, size_t n_bytes, enum msr_loss *cause)
{
	struct writer *w = &writer[kind];
	store_need_room(); /* before the lock: it writes records, too */
	*cause = MSR_LOSS_BUSY;
	if (!trylock_take(&w->lock))
		return NULL;
	if (!has_room(w, n_bytes)) {
		size_t whole = sizeof(struct msr_extent) + n_bytes;
		size_t usual = w->sequence ? RECORDS_EXTENT_BYTES : RECORDS_FIRST_BYTES;
		const struct store_request request = {
			.kind = kind,
			.record_bytes = record_bytes(kind),
			.thread = UINT32_MAX,
			.sequence = w->sequence,
			.n_bytes = (uint32_t)(whole > usual ? whole : usual),
			.least_bytes = (uint32_t)whole,
		};
		struct msr_extent *e = store_extent(&request, cause);
		if (!e) {
			trylock_give(&w->lock);
			return NULL;
		}
		if (w->extent)
			store_give_tail(w->extent);
		w->extent = e;
		w->used = 0;
		w->end = atomic_load_explicit(&e->length, memory_order_relaxed) - sizeof *e;
		w->sequence++;
	}
	return (uint8_t *)(w->extent + 1) + w->used;
}

void records_end(enum msr_kind kind, size_t n_bytes)
{
	struct writer *w = &writer[kind];
	/* The lock allows one writer; release publishes the content of the record. */
	w->used += n_bytes;
	atomic_store_explicit(&w->extent->used, w->used, memory_order_release);
	trylock_give(&w->lock);
}

bool records_info(const char *key, const char *value, size_t value_bytes)
{
	size_t key_bytes = strlen(key) + 1;
	size_t n = (sizeof(struct msr_info) + key_bytes + value_bytes + 1 + 7) & ~(size_t)7;
	enum msr_loss cause;
	struct msr_info *info = records_begin(MSR_INFO, n, &cause);
	if (!info)
		return false;
	info->bytes = (uint32_t)n;
	info->key_bytes = (uint32_t)key_bytes;
	info->value_bytes = (uint32_t)value_bytes + 1;
	memcpy(info + 1, key, key_bytes);
	memcpy((char *)(info + 1) + key_bytes, value,
	       value_bytes); /* extents are zeroed, so the NUL exists already */
	records_end(MSR_INFO, n);
	return true;
}

bool records_info_text(const char *key, const char *value)
{
	return records_info(key, value, strlen(value));
}

bool records_metric(const struct msr_metric *metric)
{
	enum msr_loss cause;
	struct msr_metric *m = records_begin(MSR_METRIC, sizeof *m, &cause);
	if (!m)
		return false;
	*m = *metric;
	records_end(MSR_METRIC, sizeof *m);
	return true;
}

void runtime_note(const char *text)
{
	if (store_header())
		records_info_text("note", text);
}
