/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Writes the measurement of a replay; see output.h. It does not trust the original: every extent is
 * checked. Test: tests/cli/gpu/replay.sh.
 */
#include "hpcrun-lite/replay/output.h"

#include "common/base/log.h"
#include "common/base/mapfile.h"
#include "hpcrun-lite/store/store.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_GPU_KIND MSR_GPU_DEFINITION
#define NOTE_BYTES 1024u

static struct {
	struct mapfile original;
	struct msr_extent *notes; /* from the replay */
	uint32_t n_infos;
} output;

/* ---- the original ---- */

static const struct msr_header *header(void)
{
	return (const void *)output.original.bytes;
}

/*
 * Returns the first valid extent at or after *at, and in *used the size of its readable content.
 * NULL at the end.
 */
static const struct msr_extent *next_extent(uint64_t *at, uint64_t *used)
{
	for (; *at + sizeof(struct msr_extent) <= output.original.n_bytes;
	     *at += MSR_EXTENT_ALIGN) {
		const struct msr_extent *e = (const void *)(output.original.bytes + *at);
		uint64_t room = output.original.n_bytes - *at,
			 length = atomic_load_explicit(&e->length, memory_order_relaxed);
		if (e->magic != MSR_EXTENT_MAGIC || e->check != msr_extent_check(e) ||
		    length < sizeof *e)
			continue;
		*used = atomic_load_explicit(&e->used, memory_order_relaxed);
		length = length < room ? length : room;
		*used = *used < length - sizeof *e ? *used : length - sizeof *e;
		*at += (length + MSR_EXTENT_ALIGN - 1) & ~(uint64_t)(MSR_EXTENT_ALIGN - 1);
		return e;
	}
	return NULL;
}

static enum status copy_extent(const struct msr_extent *e, uint64_t used)
{
	enum msr_loss cause;
	const struct store_request request = {.kind = (enum msr_kind)e->kind,
					      .record_bytes = e->record_bytes,
					      .thread = e->thread,
					      .sequence = e->sequence,
					      .first = e->first,
					      .n_bytes = (uint32_t)(sizeof *e + used)};
	struct msr_extent *to = used < (UINT64_C(8) << 20) ? store_extent(&request, &cause) : NULL;
	if (!to) {
		log_error(store_path(),
			  "there is no space for the threads and call paths of the original");
		return STATUS_IO;
	}
	memcpy(to + 1, e + 1, used);
	atomic_store_explicit(&to->used, used, memory_order_release);
	return STATUS_OK;
}

static void look_at_tally(const struct msr_extent *e, uint64_t used, unsigned backend,
			  struct output_facts *facts)
{
	const struct msr_gpu_tally *t = (const void *)(e + 1);
	if (e->sequence != backend)
		facts->has_others = true;
	else if (used >= offsetof(struct msr_gpu_tally, handler_ns) + sizeof t->handler_ns)
		facts->handler_ns += atomic_load_explicit(&t->handler_ns, memory_order_relaxed);
}

static enum status copy_extents(unsigned backend, struct output_facts *facts)
{
	enum status status = STATUS_OK;
	uint64_t at = MSR_HEADER_BYTES, used;
	const struct msr_extent *e;
	while (status == STATUS_OK && (e = next_extent(&at, &used))) {
		if (e->kind == MSR_GPU_TALLY)
			look_at_tally(e, used, backend, facts);
		if (e->kind == MSR_INFO && e->sequence >= output.n_infos)
			output.n_infos = e->sequence + 1;
		if (e->kind > MSR_FREE && e->kind < FIRST_GPU_KIND)
			status = copy_extent(e, used);
	}
	return status;
}

/* ---- opening ---- */

static enum status check_original(const char *path)
{
	const struct msr_header *h = header();
	bool good = output.original.n_bytes >= MSR_HEADER_BYTES &&
		    !memcmp(h->magic, MSR_MAGIC, sizeof h->magic) &&
		    h->version_major == MSR_VERSION_MAJOR && h->header_bytes == MSR_HEADER_BYTES &&
		    memchr(h->host, 0, sizeof h->host);
	if (!good)
		log_error(path, "this is no measurement of this version, and the recording needs "
				"it for threads and call paths");
	return good ? STATUS_OK : STATUS_BAD_INPUT;
}

static void copy_header(void)
{
	const struct msr_header *from = header();
	struct msr_header *to = store_header();
	to->host_id = from->host_id;
	to->start_mono_ns = from->start_mono_ns;
	to->start_real_ns = from->start_real_ns;
	to->process_start_ns = from->process_start_ns;
	to->usage = from->usage;
	for (unsigned i = 0; i < sizeof to->losses / sizeof *to->losses; i++)
		atomic_store_explicit(&to->losses[i],
				      atomic_load_explicit(&from->losses[i], memory_order_relaxed),
				      memory_order_relaxed);
}

enum status output_open(const char *original, const char *directory, const char *name,
			unsigned backend, struct output_facts *facts)
{
	const char *cause;
	*facts = (struct output_facts){.handler_ns = 0};
	enum status status = mapfile_open(original, &output.original);
	if (status == STATUS_NOT_FOUND)
		log_error(original, "the measurement that the recording belongs to is not here");
	if (status == STATUS_OK)
		status = check_original(original);
	if (status != STATUS_OK)
		return status;
	const struct msr_header *h = header();
	const struct store_options options = {.directory = directory,
					      .name = name,
					      .host = h->host,
					      .rank = h->rank,
					      .n_ranks = h->n_ranks,
					      .pid = h->pid,
					      .parent_pid = h->parent_pid,
					      .exec_seq = h->exec_seq,
					      .process_start_ns = h->process_start_ns,
					      .flags = h->flags};
	if (!store_open(&options, &cause)) {
		log_error(directory, "%s", cause);
		return STATUS_IO;
	}
	copy_header();
	return copy_extents(backend, facts);
}

/* ---- notes ---- */

static bool is_in_original(const char *text)
{
	uint64_t at = MSR_HEADER_BYTES, used;
	const struct msr_extent *e;
	size_t n = strlen(text) + 1;
	while ((e = next_extent(&at, &used)))
		if (e->kind == MSR_INFO && memmem(e + 1, used, text, n))
			return true;
	return false;
}

void output_note(const char *text)
{
	static const char key[] = "note";
	enum msr_loss cause;
	size_t n_text = strnlen(text, NOTE_BYTES - 1) + 1,
	       n = (sizeof(struct msr_info) + sizeof key + n_text + 7) & ~(size_t)7;
	if (is_in_original(text))
		return;
	const struct store_request request = {.kind = MSR_INFO,
					      .thread = UINT32_MAX,
					      .sequence = output.n_infos++,
					      .n_bytes = (uint32_t)(sizeof(struct msr_extent) + n)};
	struct msr_extent *e = store_extent(&request, &cause);
	if (!e)
		return;
	struct msr_info *i = (struct msr_info *)(e + 1);
	*i = (struct msr_info){
		.bytes = (uint32_t)n, .key_bytes = sizeof key, .value_bytes = (uint32_t)n_text};
	memcpy(i + 1, key, sizeof key);
	memcpy((char *)(i + 1) + sizeof key, text, n_text - 1);
	atomic_store_explicit(&e->used, n, memory_order_release);
}

/* ---- closing ---- */

void output_close(void)
{
	const struct msr_header *from = header();
	struct msr_header *to = store_header();
	to->end_mono_ns = from->end_mono_ns;
	to->end_real_ns = from->end_real_ns;
	to->exit_kind = from->exit_kind;
	to->exit_code = from->exit_code;
	to->off_ns = from->off_ns;
	to->off_since_ns = from->off_since_ns;
	to->n_starts = from->n_starts;
	to->n_stops = from->n_stops;
	store_finish(true);
	mapfile_close(&output.original);
}

/* ---- files ---- */

enum status output_copy_file(const char *from, const char *to)
{
	struct mapfile f;
	enum status status = mapfile_open(from, &f);
	FILE *out = status == STATUS_OK ? fopen(to, "wxe") : NULL;
	if (status != STATUS_OK)
		return status;
	bool good =
		out && fwrite(f.bytes ? (const void *)f.bytes : "", 1, f.n_bytes, out) == f.n_bytes;
	good = (!out || fclose(out) == 0) && good;
	if (!good)
		log_error(to, "it cannot be written");
	mapfile_close(&f);
	return good ? STATUS_OK : STATUS_IO;
}
