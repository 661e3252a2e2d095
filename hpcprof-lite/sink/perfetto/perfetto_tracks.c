/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tracks: processes, their threads, and queues of GPUs below their process. Test:
 * tests/cli/sink/sink_perfetto.sh.
 */
#include "common/base/map.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/perfetto/perfetto.h"
#include "hpcprof-lite/sink/perfetto/perfetto_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---- */

/* Linux has no larger pid (PID_MAX_LIMIT). Ids beyond it are ours. */
enum { LARGEST_PID = 4194304 };

/*
 * Returns `wanted` if it is the first with this number, else the next of ours. 0 if memory is
 * short.
 */
static uint32_t unique(struct map *used, uint32_t wanted, uint32_t *n_own)
{
	if (wanted && wanted <= LARGEST_PID) {
		size_t n = used->n;
		if (map_put(used, wanted, 0, 0) == MAP_NONE)
			return 0;
		if (used->n > n)
			return wanted;
	}
	return LARGEST_PID + ++*n_own;
}

/*
 * Readers identify processes and threads only by their numbers, and merge equal ones. Ranks on
 * different hosts, programs after exec, and threads that follow each other may have the same
 * number.
 */
bool perfetto_number_threads(struct perfetto_writer *w)
{
	const struct model *m = w->m;
	struct map pids = {0}, tids = {0};
	uint32_t n_own = 0;
	w->pids = calloc((size_t)m->n_processes + 1, sizeof *w->pids);
	w->tids = calloc((size_t)m->n_profiles + 1, sizeof *w->tids);
	bool ok = w->pids && w->tids;
	for (uint32_t i = 0; ok && i < m->n_processes; i++) {
		w->pids[i] = unique(&pids, m->processes[i].pid, &n_own);
		ok = w->pids[i] && map_put(&tids, w->pids[i], 0, 0) != MAP_NONE;
	}
	for (uint32_t i = 0; ok && i < m->n_profiles; i++) {
		const struct model_profile *p = &m->profiles[i];
		if (p->kind != MODEL_PROFILE_THREAD)
			continue;
		/* readers recognise the main thread by its number */
		w->tids[i] = p->thread == 0 ? w->pids[p->process] : unique(&tids, p->tid, &n_own);
		ok = w->tids[i] != 0;
	}
	map_free(&pids);
	map_free(&tids);
	return ok;
}

/* ---- descriptors ---- */

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash && slash[1] ? slash + 1 : path ? path : "";
}

static void put_process_name(struct perfetto_writer *w, const struct model_process *p)
{
	const char *program = p->role ? p->role : base_name(p->executable);
	size_t n = strlen(program) + sizeof "rank 4294967295: ";
	char *name = malloc(n);
	if (name && p->rank >= 0)
		snprintf(name, n, "rank %" PRId32 ": %s", p->rank, program);
	else if (name)
		snprintf(name, n, "%s", program);
	if (name)
		protobuf_put_text(&w->sub, PROCESS_NAME, name);
	w->sub.failed |= !name;
	free(name);
}

/* Notes about the whole trace: readers show none, so each process has them. */
static void put_part(struct perfetto_writer *w)
{
	const struct model *m = w->m;
	static const char about[] = "part of the run: ";
	if (!m->part)
		return;
	size_t n = strlen(m->part) + sizeof about;
	char *label = malloc(n);
	if (label) {
		snprintf(label, n, "%s%s", about, m->part);
		protobuf_put_text(&w->sub, PROCESS_LABELS, label);
	}
	w->sub.failed |= !label;
	free(label);
	for (uint32_t i = 0; i < m->n_part_notes; i++)
		protobuf_put_text(&w->sub, PROCESS_LABELS, m->part_notes[i]);
}

/* Readers show labels beside the name. */
static void put_labels(struct perfetto_writer *w, const struct model_process *p, bool is_renumbered)
{
	char label[256];
	snprintf(label, sizeof label, "host %s", p->host ? p->host : "");
	protobuf_put_text(&w->sub, PROCESS_LABELS, label);
	snprintf(label, sizeof label, "pid %" PRIu32, p->pid);
	if (is_renumbered)
		protobuf_put_text(&w->sub, PROCESS_LABELS, label);
	put_part(w);
}

static void write_process(struct perfetto_writer *w, uint32_t i)
{
	const struct model_process *p = &w->m->processes[i];
	protobuf_clear(&w->sub);
	protobuf_put(&w->sub, PROCESS_PID, w->pids[i]);
	if (p->command && *p->command)
		protobuf_put_text(&w->sub, PROCESS_COMMAND, p->command);
	put_process_name(w, p);
	put_labels(w, p, p->pid != w->pids[i]);
	struct protobuf_message process = w->sub;
	w->sub = (struct protobuf_message){0};
	perfetto_begin(w, PERFETTO_EVENTS);
	protobuf_put(&w->body, TRACK_UUID, perfetto_process_track(i));
	protobuf_put_message(&w->body, TRACK_PROCESS, &process);
	protobuf_free(&process);
	perfetto_end(w, PACKET_TRACK_DESCRIPTOR, 0);
}

static void write_thread(struct perfetto_writer *w, uint32_t i)
{
	const struct model_profile *p = &w->m->profiles[i];
	char number[32];
	snprintf(number, sizeof number, "thread %" PRIu32, p->thread);
	perfetto_begin(w, PERFETTO_EVENTS);
	protobuf_clear(&w->sub);
	protobuf_put(&w->sub, THREAD_PID, w->pids[p->process]);
	protobuf_put(&w->sub, THREAD_TID, w->tids[i]);
	protobuf_put_text(&w->sub, THREAD_NAME, p->name && *p->name ? p->name
						: p->thread == 0    ? "main thread"
								    : number);
	protobuf_put(&w->body, TRACK_UUID, perfetto_profile_track(w, i));
	protobuf_put(&w->body, TRACK_PARENT_UUID, perfetto_process_track(p->process));
	protobuf_put_message(&w->body, TRACK_THREAD, &w->sub);
	perfetto_end(w, PACKET_TRACK_DESCRIPTOR, 0);
}

static void write_queue(struct perfetto_writer *w, uint32_t i)
{
	const struct model_profile *p = &w->m->profiles[i];
	const struct model_gpu_queue *q = &w->m->gpu_queues[p->queue];
	const struct model_gpu_device *d = &w->m->gpu_devices[q->device];
	char name[256], device[256];
	snprintf(name, sizeof name, p->lane ? "%s lane %" PRIu32 : "%s", q->name, p->lane);
	snprintf(device, sizeof device, "%s %" PRIu32 ": %s", names_device_type(d), d->ordinal,
		 d->name);
	perfetto_begin(w, PERFETTO_EVENTS);
	protobuf_put(&w->body, TRACK_UUID, perfetto_profile_track(w, i));
	protobuf_put(&w->body, TRACK_PARENT_UUID, perfetto_process_track(p->process));
	protobuf_put_text(&w->body, TRACK_NAME, name);
	protobuf_put_text(&w->body, TRACK_DESCRIPTION, device);
	protobuf_put(&w->body, TRACK_SIBLING_RANK, i);
	perfetto_end(w, PACKET_TRACK_DESCRIPTOR, 0);
}

void perfetto_write_tracks(struct perfetto_writer *w)
{
	const struct model *m = w->m;
	for (uint32_t i = 0; i < m->n_processes; i++)
		write_process(w, i);
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (m->profiles[i].kind == MODEL_PROFILE_QUEUE)
			write_queue(w, i);
		else
			write_thread(w, i);
}
