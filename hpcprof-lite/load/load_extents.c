/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * See load_records.h. Scans the extents of a file and keeps their records. Must not change what it
 * reads. Test: tests/unit/prof/test_load.c.
 */
#include "common/base/foreign.h"
#include "common/format/local_data.h"
#include "hpcprof-lite/load/load_phases.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/load/load_regions.h"
#include "hpcprof-lite/load/load_waits.h"

#include <stdlib.h>
#include <string.h>

/* ---- records that belong to the process ---- */

static bool ends_in_nul(const char *s, size_t n)
{
	return n && s[n - 1] == 0;
}

static enum status keep_command(struct load_file *f, const char *value, uint32_t n_bytes)
{
	size_t n = 0;
	free(f->command);
	free(f->command_line);
	f->command_line = NULL;
	f->command = malloc(n_bytes);
	FILE *to = f->command ? open_memstream(&f->command_line, &n) : NULL;
	if (!to)
		return STATUS_NO_MEMORY;
	memcpy(f->command, value, n_bytes);
	for (uint32_t i = 0; i + 1 < n_bytes; i++)
		if (!f->command[i])
			f->command[i] = i + 2 < n_bytes ? ' ' : 0;
	for (const char *at = value; n_bytes > 1 && at < value + n_bytes; at += strlen(at) + 1) {
		if (at > value)
			putc(' ', to);
		foreign_put_argument(to, at);
	}
	return fclose(to) == 0 ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status read_info(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_info *r = (const void *)record;
	if (bytes < sizeof *r || r->key_bytes > bytes - sizeof *r ||
	    r->value_bytes > bytes - sizeof *r - r->key_bytes)
		return STATUS_BAD_INPUT;
	const char *key = (const char *)(r + 1), *value = key + r->key_bytes;
	if (!ends_in_nul(key, r->key_bytes) || !ends_in_nul(value, r->value_bytes))
		return STATUS_BAD_INPUT;
	if (strcmp(key, "executable") == 0)
		f->executable = value;
	else if (strcmp(key, "cwd") == 0)
		f->directory = value;
	else if (strcmp(key, "job") == 0)
		f->job = value;
	else if (strcmp(key, "processors") == 0)
		f->processors = value;
	else if (strcmp(key, "jitdump") == 0)
		f->jitdump = value;
	else if (strcmp(key, "command") == 0) {
		f->called = value;
		return keep_command(f, value, r->value_bytes);
	} else if (strcmp(key, "note") == 0 || strcmp(key, "event") == 0) {
		const char **slot = key[0] == 'n' ? vec_push(&f->notes) : vec_push(&f->events);
		if (!slot)
			return STATUS_NO_MEMORY;
		*slot = value;
	}
	return STATUS_OK;
}

static enum status read_module(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_module *r = (const void *)record;
	if (bytes < sizeof *r || r->path_bytes > bytes - sizeof *r ||
	    r->build_id_bytes > MSR_BUILD_ID_MAX)
		return STATUS_BAD_INPUT;
	const char *path = (const char *)(r + 1);
	if (!ends_in_nul(path, r->path_bytes) || r->id == MSR_MODULE_NONE ||
	    r->id == MSR_MODULE_UNKNOWN)
		return STATUS_BAD_INPUT;
	if (f->modules.n <= r->id && !vec_extend(&f->modules, r->id + 1 - f->modules.n))
		return STATUS_NO_MEMORY;
	struct load_module *m = &f->modules.at[r->id];
	if (m->record)
		return STATUS_BAD_INPUT; /* each id may be defined once */
	m->record = r;
	m->path = path;
	f->has_python = f->has_python || r->flags & MSR_MODULE_PYTHON;
	return STATUS_OK;
}

static enum status read_unmeasured(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_unmeasured *r = (const void *)record;
	if (bytes < sizeof *r || r->path_bytes > bytes - sizeof *r
		|| !ends_in_nul((const char *)(r + 1), r->path_bytes))
		return STATUS_BAD_INPUT;
	if (r->reason == MSR_UNMEASURED_VOID || !r->pid)
		return STATUS_OK;
	struct load_unmeasured *u = vec_push(&f->unmeasured);
	if (!u)
		return STATUS_NO_MEMORY;
	*u = (struct load_unmeasured){r, (const char *)(r + 1)};
	return STATUS_OK;
}

static enum status read_spawn(struct load_file *f, const uint8_t *record, uint32_t bytes)
{
	const struct msr_spawn *r = (const void *)record;
	if (bytes < sizeof *r || r->path_bytes > bytes - sizeof *r || !r->id ||
	    !ends_in_nul((const char *)(r + 1), r->path_bytes))
		return STATUS_BAD_INPUT;
	struct load_spawn *s = vec_push(&f->spawns);
	if (!s)
		return STATUS_NO_MEMORY;
	*s = (struct load_spawn){r, (const char *)(r + 1)};
	return STATUS_OK;
}

static enum status read_children(struct load_file *f, const struct msr_view *v)
{
	uint32_t stride = v->extent->record_bytes;
	if (stride < sizeof(struct msr_child) || stride % 8) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	for (uint64_t at = 0; v->n_bytes - at >= stride; at += stride) {
		const struct msr_child *r = (const void *)(v->content + at);
		if (r->cpu_ns > LOAD_LONGEST_NS) {
			f->bytes_damaged += stride;
			continue;
		}
		struct msr_child *c = vec_push(&f->children);
		if (!c)
			return STATUS_NO_MEMORY;
		*c = *r;
	}
	f->bytes_damaged += v->n_bytes % stride;
	return STATUS_OK;
}

static void read_metrics(struct load_file *f, const struct msr_view *v)
{
	uint32_t stride = v->extent->record_bytes;
	if (stride < sizeof(struct msr_metric) || stride % 8) {
		f->bytes_damaged += v->n_bytes;
		return;
	}
	for (uint64_t at = 0; v->n_bytes - at >= stride; at += stride) {
		const struct msr_metric *r = (const void *)(v->content + at);
		if (r->id < MSR_MAX_METRICS && !f->metrics[r->id] && r->name[0] &&
		    memchr(r->name, 0, sizeof r->name) &&
		    memchr(r->description, 0, sizeof r->description))
			f->metrics[r->id] = r;
		else
			f->bytes_damaged += stride;
	}
	f->bytes_damaged += v->n_bytes % stride;
}

/* ---- extents of threads ---- */

static enum status read_thread(struct load_file *f, const struct msr_view *v)
{
	if (v->extent->thread == UINT32_MAX) { /* no thread */
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	struct load_thread *t = load_get_thread(f, v->extent->thread);
	if (!t)
		return STATUS_NO_MEMORY;
	const struct msr_thread *r = (const void *)v->content;
	const uint64_t n = v->n_bytes < sizeof *r ? v->n_bytes : sizeof *r;
	if (t->copy || n < offsetof(struct msr_thread, losses) ||
	    r->number != v->extent->thread) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	if (!load_make_record(t))
		return STATUS_NO_MEMORY;
	memcpy(t->copy, r, n);
	t->copy->name[sizeof t->copy->name - 1] = 0;
	t->now = r;
	return STATUS_OK;
}

static enum status add_part(struct load_file *f, const struct msr_view *v, size_t record_bytes)
{
	if (v->extent->record_bytes != record_bytes || v->extent->thread == UINT32_MAX) {
		f->bytes_damaged += v->n_bytes;
		return STATUS_OK;
	}
	f->bytes_damaged += v->n_bytes % record_bytes;
	if (v->n_bytes < record_bytes)
		return STATUS_OK;
	struct load_thread *t = load_get_thread(f, v->extent->thread);
	if (!t)
		return STATUS_NO_MEMORY;
	struct load_part part = {v->extent->first, v->extent->sequence, v->content,
				 v->n_bytes / record_bytes * record_bytes};
	struct load_part *at = v->extent->kind == MSR_NODE         ? vec_push(&t->nodes)
			       : v->extent->kind == MSR_CELL       ? vec_push(&t->cells)
			       : v->extent->kind == MSR_NVTX_EVENT ? vec_push(&t->nvtx_events)
			       : v->extent->kind == MSR_MEMORY     ? vec_push(&t->memory)
								   : vec_push(&t->trace);
	if (!at)
		return STATUS_NO_MEMORY;
	*at = part;
	return STATUS_OK;
}

static enum status keep_process(struct load_file *f, const struct msr_view *v)
{
	if (!msr_is_process(v))
		return STATUS_OK;
	struct msr_view *slot = vec_push(&f->inside);
	if (!slot)
		return STATUS_NO_MEMORY;
	*slot = *v;
	return STATUS_OK;
}

static enum status read_extent(struct load_file *f, const struct msr_view *v)
{
	switch (v->extent->kind) {
	case MSR_INFO:
		return load_lengthed(f, v, read_info);
	case MSR_MODULE:
		return load_lengthed(f, v, read_module);
	case MSR_PYTHON_CODE: return load_lengthed(f, v, load_python_code);
	case MSR_TORCH_MODULE: return load_lengthed(f, v, load_torch_module);
	case MSR_WAIT_OBJECT:
		return load_lengthed(f, v, load_wait_object);
	case MSR_UNMEASURED:
		return load_lengthed(f, v, read_unmeasured);
	case MSR_SPAWN: return load_lengthed(f, v, read_spawn);
	case MSR_CHILD:
		return read_children(f, v);
	case MSR_METRIC:
		read_metrics(f, v);
		return STATUS_OK;
	case MSR_THREAD:
		return read_thread(f, v);
	case MSR_NODE:
		return add_part(f, v, sizeof(struct msr_node));
	case MSR_CELL:
		return add_part(f, v, sizeof(struct msr_cell));
	case MSR_TRACE: return f->leaves_lines ? STATUS_OK : add_part(f, v, sizeof(uint64_t));
	case MSR_PROCESS:
		return keep_process(f, v);
	case MSR_OMP_REGION:
		return load_regions(f, v);
	case MSR_PHASE:
		return load_phases(f, v);
	case MSR_NVTX_NAME:
		return load_lengthed(f, v, load_nvtx_name);
	case MSR_NVTX_RANGE:
		return load_nvtx_ranges(f, v);
	case MSR_NVTX_EVENT:
		return add_part(f, v, sizeof(struct msr_nvtx_event));
	case MSR_MEMORY: return add_part(f, v, sizeof(struct msr_memory));
	default: /* kinds of later minor versions may be ignored */
		return load_gpu_is_kind(v->extent->kind)   ? load_gpu_extent(f, v)
		       : load_mpi_is_kind(v->extent->kind) ? load_mpi_extent(f, v)
							   : STATUS_OK;
	}
}

enum status load_extents(struct load_file *f)
{
	uint64_t pos = f->is_inside ? msr_first_extent(&f->header) : MSR_HEADER_BYTES;
	uint64_t skipped = 0, clamped = 0, released = 0;
	struct msr_view v;
	const uint64_t end =
		f->copied_ns ? local_part_end(&f->header, f->map.n_bytes) : f->map.n_bytes;
	for (enum msr_scan s; (s = msr_next_extent(f->map.bytes, end, &pos, &v, &skipped)) !=
			      MSR_SCAN_END;) {
		f->bytes_damaged += skipped;
		load_release(f, pos - released);
		released = pos;
		if (s != MSR_SCAN_EXTENT)
			continue;
		f->kinds |= UINT64_C(1) << (v.extent->kind < 63 ? v.extent->kind : 63);
		f->extents_end = pos;
		if (v.clamped)
			clamped++;
		enum status st = read_extent(f, &v);
		if (st)
			return st;
	}
	/* GPU work counts in threads, so there must be one */
	if (f->gpu.is_present && !f->is_outline && !f->threads.n && !load_get_thread(f, 0))
		return STATUS_NO_MEMORY;
	load_gpu_finish(f);
	uint64_t allocated = f->header.allocated;
	f->truncated = clamped || allocated > f->map.n_bytes;
	if (allocated > f->map.n_bytes && allocated < UINT64_C(1) << 48)
		f->bytes_damaged += allocated - f->map.n_bytes;
	return STATUS_OK;
}
