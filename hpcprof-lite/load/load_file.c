/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opens a measurement file: load_extents.c scans it, load_check.c validates its contents.
 * load_file.h says what holds afterwards, and doc/formats/measurement.md how readers treat damage.
 * Must not change what it reads. Tests: tests/unit/prof/test_load.c.
 */
#include "hpcprof-lite/load/load_file.h"

#include "common/base/log.h"
#include "common/base/now.h"
#include "common/format/local_data.h"
#include "common/rights/inside.h"
#include "hpcprof-lite/load/load_phases.h"
#include "hpcprof-lite/load/load_records.h"
#include "hpcprof-lite/load/load_regions.h"
#include "hpcprof-lite/load/load_running.h"
#include "hpcprof-lite/load/load_waits.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

bool load_is_live(const struct load_file *f, const struct load_thread *t)
{
	if (f->header.end_mono_ns || !t->now)
		return false;
	if (f->copied_ns)
		return true;
	/* relaxed: only a change matters; `delivered` is counted before the sample is stored */
	uint64_t delivered = atomic_load_explicit(&t->now->delivered, memory_order_relaxed);
	uint64_t recorded = atomic_load_explicit(&t->now->recorded, memory_order_relaxed);
	return delivered != t->record->delivered || recorded != t->record->recorded;
}

/*
 * Finds out whether the process still runs. If so, names whose data is not in the file yet are not
 * damage.
 */
static void note_live(struct load_file *f)
{
	const bool is_copy = f->copied_ns && !f->header.end_mono_ns;
	f->running = (uint8_t)(is_copy ? LOAD_UNKNOWN : load_is_running(&f->header));
	const bool runs = f->running == LOAD_RUNS;
	f->is_live = runs || is_copy;
	f->live_ns = runs ? now_mono_ns() : 0;
	for (size_t i = 0; i < f->threads.n; i++)
		f->is_live = f->is_live || load_is_live(f, &f->threads.at[i]);
	if (f->is_live) {
		f->bytes_damaged = 0;
		f->truncated = false;
	}
}

static enum status check_header(const char *name, struct load_file *f)
{
	unsigned major = 0;
	const struct local_part *part = local_data_part(f->map.bytes, f->map.n_bytes);
	const uint8_t *page = part ? (const uint8_t *)&part->header : f->map.bytes;
	switch (msr_check_header(page, f->map.n_bytes, &major)) {
	case MSR_HEADER_SHORT:
		log_warn(name, "holds nothing: %zu bytes, less than a header", f->map.n_bytes);
		return STATUS_NOT_FOUND;
	case MSR_HEADER_UNWRITTEN:
		log_warn(name, "holds nothing: its header was never written (the process was "
			       "killed, or its node went down, while it started)");
		return STATUS_NOT_FOUND;
	case MSR_HEADER_NOT_OURS:
		log_error(name, "not a measurement file of hpcrun-lite");
		return STATUS_BAD_INPUT;
	case MSR_HEADER_OTHER_VERSION:
		log_error(name,
			  "measurement format version %u is not supported; this program reads "
			  "version %d",
			  major, MSR_VERSION_MAJOR);
		return STATUS_UNSUPPORTED;
	case MSR_HEADER_SOUND:
		break;
	}
	memcpy(&f->header, page, sizeof f->header);
	f->header.host[sizeof f->header.host - 1] = 0;
	f->rank = f->header.rank;
	if (part)
		f->copied_ns = part->copied_mono_ns ? part->copied_mono_ns : 1;
	return STATUS_OK;
}

static enum status read_all(const char *name, struct load_file *f)
{
	f->executable = f->directory = "";
	enum status s = check_header(name, f);
	if (s == STATUS_OK)
		s = load_extents(f);
	load_check_regions(f);
	for (size_t i = 0; s == STATUS_OK && i < f->threads.n; i++) {
		s = load_check_nodes(f, &f->threads.at[i]);
		if (s)
			break;
		load_order_values(f, &f->threads.at[i]);
		s = load_unsampled_wait(f, &f->threads.at[i]);
	}
	if (s == STATUS_OK && !f->leaves_values)
		load_check_values(f);
	if (s == STATUS_OK) {
		load_mpi_finish(f);
		load_memory_finish(f);
		load_check_phases(f);
		load_nvtx_finish(f);
	}
	if (s == STATUS_NO_MEMORY)
		log_error(name, "out of memory");
	return s;
}

enum status load_file_bytes(const char *name, const uint8_t *bytes, size_t n_bytes,
			    struct load_file *f)
{
	f->map.bytes = bytes;
	f->map.n_bytes = n_bytes;
	return read_all(name, f);
}

static enum status keep_path(const char *path, struct load_file *f)
{
	f->path = strdup(path);
	if (f->path)
		return STATUS_OK;
	log_error(path, "out of memory");
	return STATUS_NO_MEMORY;
}

void load_warn_of_damage(const struct load_file *f)
{
	if (f->truncated)
		log_warn(f->path,
			 "truncated: read as far as it goes (%" PRIu64 " bytes missing or damaged)",
			 f->bytes_damaged);
	else if (f->bytes_damaged)
		log_warn(f->path, "damaged: %" PRIu64 " bytes skipped", f->bytes_damaged);
}

static enum status read_path(const char *path, struct load_file *f)
{
	enum status s = read_all(path, f);
	note_live(f);
	load_release(f, LOAD_ALL);
	return s;
}

enum status load_file_open(const char *path, struct load_file *f)
{
	enum status s = keep_path(path, f);
	if (s)
		return s;
	s = inside_map(path, 1, &f->map);
	if (s == STATUS_NOT_FOUND) {
		log_error(path, "no such file");
		return STATUS_IO;
	}
	if (s == STATUS_OK)
		s = load_from_node(path, f);
	return s ? s : read_path(path, f);
}

/* Copies what a brief child leaves out because it is the same as in the parent's file. */
static enum status inherit(struct load_file *f, const struct load_file *parent)
{
	const char **events = parent->events.n ? vec_extend(&f->events, parent->events.n) : NULL;
	memcpy(f->metrics, parent->metrics, sizeof f->metrics);
	f->executable = parent->executable;
	f->directory = parent->directory;
	f->job = parent->job;
	f->processors = parent->processors;
	f->called = parent->called;
	if (parent->command)
		f->command = strdup(parent->command);
	if (parent->command_line)
		f->command_line = strdup(parent->command_line);
	if (events)
		memcpy(events, parent->events.at, parent->events.n * sizeof *events);
	const bool is_whole = (!parent->command || f->command) &&
			      (!parent->command_line || f->command_line) &&
			      (!parent->events.n || events);
	if (!is_whole)
		log_error(parent->path, "out of memory");
	return is_whole ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status load_file_inside(const struct load_file *parent, size_t i, struct load_file *f)
{
	const struct msr_view *v = &parent->inside.at[i];
	enum status s = parent->path ? keep_path(parent->path, f) : STATUS_OK;
	if (s)
		return s;
	f->is_inside = true;
	f->copied_ns = parent->copied_ns;
	f->leaves_lines = parent->leaves_lines;
	f->leaves_values = parent->leaves_values;
	f->map = (struct mapfile){.bytes = v->content,
				  .n_bytes = v->n_bytes,
				  .mtime_ns = parent->map.mtime_ns,
				  .owner = parent->map.owner};
	s = f->path ? read_path(f->path, f) : read_all("", f);
	return s == STATUS_OK && msr_is_brief(&f->header) ? inherit(f, parent) : s;
}

void load_free_thread(struct load_thread *t)
{
	free(t->copy);
	vec_free(&t->nodes);
	vec_free(&t->cells);
	vec_free(&t->trace);
	vec_free(&t->ranges);
	vec_free(&t->nvtx_events);
	vec_free(&t->memory);
	free(t->node_to);
	free(t->shown_to);
}

void load_file_close(struct load_file *f)
{
	for (size_t i = 0; i < f->threads.n; i++) {
		if (f->is_outline) /* has no trees, cells or time lines */
			free(f->threads.at[i].copy);
		else
			load_free_thread(&f->threads.at[i]);
	}
	load_gpu_free(&f->gpu);
	load_mpi_free(&f->mpi);
	load_nvtx_free(&f->nvtx);
	vec_free(&f->threads);
	vec_free(&f->modules);
	vec_free(&f->python);
	vec_free(&f->torch_modules);
	vec_free(&f->wait_objects);
	vec_free(&f->notes);
	vec_free(&f->events);
	vec_free(&f->children);
	vec_free(&f->unmeasured);
	vec_free(&f->spawns);
	vec_free(&f->regions);
	vec_free(&f->phases);
	free(f->command);
	free(f->command_line);
	for (size_t i = 0; i < f->owned.n; i++)
		free(f->owned.at[i]);
	vec_free(&f->owned);
	vec_free(&f->inside);
	if (f->path && !f->is_inside)
		mapfile_close(&f->map);
	free(f->path);
	memset(f, 0, sizeof *f);
}
