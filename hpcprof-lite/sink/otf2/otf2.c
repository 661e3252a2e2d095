/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sink otf2: an archive otf2/traces.otf2 with the tree as calling contexts, the samples as
 * events, totals and losses as metrics. This file opens and closes the archive; one that could not
 * be written whole is removed. Tests: tests/unit/sink/test_sink_otf2.c,
 * tests/cli/sink/sink_otf2.sh.
 */
#include "config.h"

#include "common/base/log.h"
#include "common/safe/fnv.h"
#include "hpcprof-lite/view/names.h"
#include "hpcprof-lite/sink/otf2/otf2.h"
#include "hpcprof-lite/sink/otf2/otf2_sink.h"
#include "hpcprof-lite/sink/outfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { EVENT_CHUNK_BYTES = 256 << 10, DEFINITION_CHUNK_BYTES = 1 << 20 };

/*
 * Replaces libc's function, which asks the name service for this host's address. That takes 20 s
 * and more in a container or on a node that has no name server. The library calls it when it closes
 * an archive, for a number that distinguishes hosts.
 */
__attribute__((visibility("default"))) long gethostid(void)
{
	struct utsname host;
	size_t n = uname(&host) == 0 ? strlen(host.nodename) : 0;
	return (long)(int32_t)fnv32(FNV32_START, host.nodename, n);
}

static OTF2_FlushType flush_always(void *arg, OTF2_FileType type, OTF2_LocationRef location,
				   void *caller, bool final)
{
	(void)arg;
	(void)type;
	(void)location;
	(void)caller;
	(void)final;
	return OTF2_FLUSH;
}

/*
 * By default a writer keeps up to 128 MiB before it flushes. Here it gets two chunks, so that
 * memory does not grow with events. A writer that gets no further chunk flushes, and uses its
 * chunks again. The library clears a whole chunk even for an empty file, so chunks that a writer
 * leaves behind go to the next one instead of back to the system: with thousands of locations, page
 * faults would be most of the work.
 */
enum { MAX_CHUNKS = 2 };
struct chunks {
	void *at[MAX_CHUNKS];
	unsigned n_used;
	uint64_t n_bytes; /* of each */
};
struct spare {
	struct spare *next;
	uint64_t n_bytes;
};

static void *take_chunk(struct otf2_writer *w, uint64_t n_bytes)
{
	pthread_mutex_lock(&w->spares_lock);
	struct spare **at = &w->spares, *found;
	while (*at && (*at)->n_bytes != n_bytes)
		at = &(*at)->next;
	found = *at;
	if (found)
		*at = found->next;
	pthread_mutex_unlock(&w->spares_lock);
	return found ? found : malloc(n_bytes);
}

static void leave_chunk(struct otf2_writer *w, void *chunk, uint64_t n_bytes)
{
	struct spare *s = chunk;
	pthread_mutex_lock(&w->spares_lock);
	*s = (struct spare){w->spares, n_bytes};
	w->spares = s;
	pthread_mutex_unlock(&w->spares_lock);
}

static void *allocate_chunk(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **mine,
			    uint64_t n_bytes)
{
	struct chunks *c = *mine ? *mine : (*mine = calloc(1, sizeof *c));
	(void)type;
	(void)location;
	if (!c || c->n_used == MAX_CHUNKS)
		return NULL;
	c->n_bytes = n_bytes;
	if (!c->at[c->n_used])
		c->at[c->n_used] = take_chunk(arg, n_bytes);
	if (c->at[c->n_used])
		return c->at[c->n_used++];
	if (c->n_used == 0) { /* nothing in it, and free_chunks() is not called for a writer that
				 never had a chunk */
		free(c);
		*mine = NULL;
	}
	return NULL;
}

static void free_chunks(void *arg, OTF2_FileType type, OTF2_LocationRef location, void **mine,
			bool final)
{
	struct chunks *c = *mine;
	(void)type;
	(void)location;
	if (!c)
		return;
	c->n_used = 0;
	if (!final)
		return;
	for (unsigned i = 0; i < MAX_CHUNKS; i++)
		if (c->at[i])
			leave_chunk(arg, c->at[i], c->n_bytes);
	free(c);
	*mine = NULL;
}

static void free_spares(struct otf2_writer *w)
{
	for (struct spare *s = w->spares, *next; s; s = next) {
		next = s->next;
		free(s);
	}
}

/*
 * Locks of the archive, like those of OTF2_Pthread_Locks.h, but without memory of their own,
 * because that header's locks are freed twice if memory is short.
 */
static OTF2_CallbackCode create_lock(void *arg, OTF2_Lock *lock)
{
	struct otf2_writer *w = arg;
	if (w->n_locks == OTF2_MAX_LOCKS ||
	    pthread_mutex_init(&w->locks[w->n_locks].mutex, NULL) != 0)
		return OTF2_CALLBACK_ERROR;
	*lock = &w->locks[w->n_locks++];
	return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode destroy_lock(void *arg, OTF2_Lock lock)
{
	(void)arg;
	return pthread_mutex_destroy(&lock->mutex) == 0 ? OTF2_CALLBACK_SUCCESS
							: OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode take_lock(void *arg, OTF2_Lock lock)
{
	(void)arg;
	return pthread_mutex_lock(&lock->mutex) == 0 ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR;
}

static OTF2_CallbackCode leave_lock(void *arg, OTF2_Lock lock)
{
	(void)arg;
	return pthread_mutex_unlock(&lock->mutex) == 0 ? OTF2_CALLBACK_SUCCESS
						       : OTF2_CALLBACK_ERROR;
}

static void set_sampling_properties(struct otf2_writer *w)
{
	const struct model_gpu_sampling *s = &w->m->gpu_sampling;
	const struct {
		const char *name;
		uint64_t value;
	} numbers[] = {{"HPCTOOLKIT_LITE::GPU_PC_SAMPLES", s->total},
		       {"HPCTOOLKIT_LITE::GPU_PC_SAMPLES_EXACT", s->in_tree_exact},
		       {"HPCTOOLKIT_LITE::GPU_PC_SAMPLES_APPORTIONED", s->in_tree_apportioned},
		       {"HPCTOOLKIT_LITE::GPU_PC_SAMPLES_NOT_ATTRIBUTED",
			s->outside + s->in_tree_unattributed}};
	char text[64];
	if (!sampling_is_there(s))
		return;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		snprintf(text, sizeof text, "%" PRIu64, numbers[i].value);
		otf2_check(w, OTF2_Archive_SetProperty(w->archive, numbers[i].name, text, true),
			   "property");
	}
	snprintf(text, sizeof text, sampling_agreement(s) < 0 ? "not measured" : "%.6f",
		 sampling_agreement(s));
	otf2_check(w,
		   OTF2_Archive_SetProperty(
			   w->archive, "HPCTOOLKIT_LITE::GPU_APPORTIONING_AGREEMENT", text, true),
		   "property");
	otf2_check(w,
		   OTF2_Archive_SetBoolProperty(w->archive, "HPCTOOLKIT_LITE::GPU_PC_SAMPLES_CLOSE",
						s->closes, true),
		   "property");
}

static void set_part(struct otf2_writer *w)
{
	char *part = w->m->part ? names_clean(w->m->part) : NULL;
	if (part)
		otf2_check(w,
			   OTF2_Archive_SetProperty(w->archive, "HPCTOOLKIT_LITE::PART", part,
						    true),
			   "property");
	free(part);
	for (uint32_t i = 0; i < w->m->n_part_notes; i++) {
		char name[64], *note = names_clean(w->m->part_notes[i]);
		snprintf(name, sizeof name, "HPCTOOLKIT_LITE::PART_NOTE_%" PRIu32, i);
		if (note)
			otf2_check(w, OTF2_Archive_SetProperty(w->archive, name, note, true),
				   "property");
		free(note);
	}
}

static void set_properties(struct otf2_writer *w)
{
	const struct model *m = w->m;
	char text[1024];
	otf2_check(w, OTF2_Archive_SetCreator(w->archive, PACKAGE_NAME " " PACKAGE_VERSION),
		   "creator");
	snprintf(text, sizeof text,
		 "%s: %" PRIu32 " processes, %" PRIu32 " threads; %s%s%ssamples delivered %" PRIu64
		 ", in the tree %" PRIu64 "; the ledger %s",
		 m->title ? m->title : "", m->n_processes, m->n_profiles,
		 m->part ? "part of the run: " : "", m->part ? m->part : "",
		 m->part ? "; in the whole run: " : "", m->ledger.delivered, m->ledger.in_tree,
		 m->ledger_closes ? "closes" : "does not close");
	char *description = names_clean(text),
	     *host = names_clean(m->n_processes ? m->processes[0].host : NULL);
	if (description)
		otf2_check(w, OTF2_Archive_SetDescription(w->archive, description), "description");
	if (host && *host)
		otf2_check(w, OTF2_Archive_SetMachineName(w->archive, host), "machine name");
	free(description);
	free(host);
	set_part(w);
	snprintf(text, sizeof text, "%" PRIu64, m->ledger.delivered);
	otf2_check(w,
		   OTF2_Archive_SetProperty(w->archive, "HPCTOOLKIT_LITE::SAMPLES_DELIVERED", text,
					    true),
		   "property");
	snprintf(text, sizeof text, "%" PRIu64, m->ledger.in_tree);
	otf2_check(w,
		   OTF2_Archive_SetProperty(w->archive, "HPCTOOLKIT_LITE::SAMPLES_IN_TREE", text,
					    true),
		   "property");
	otf2_check(w,
		   OTF2_Archive_SetBoolProperty(w->archive, "HPCTOOLKIT_LITE::LEDGER_CLOSES",
						m->ledger_closes, true),
		   "property");
	set_sampling_properties(w);
}

static void write_archive(struct otf2_writer *w)
{
	static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = flush_always,
						  .otf2_post_flush = NULL};
	static const OTF2_LockingCallbacks locking = {NULL, create_lock, destroy_lock, take_lock,
						      leave_lock};
	static const OTF2_MemoryCallbacks memory = {.otf2_allocate = allocate_chunk,
						    .otf2_free_all = free_chunks};
	w->archive = OTF2_Archive_Open(w->path, "traces", OTF2_FILEMODE_WRITE, EVENT_CHUNK_BYTES,
				       DEFINITION_CHUNK_BYTES, OTF2_SUBSTRATE_POSIX,
				       OTF2_COMPRESSION_NONE);
	if (!w->archive) {
		otf2_check(w, OTF2_ERROR_FILE_CAN_NOT_OPEN, "archive");
		return;
	}
	if (otf2_check(w, OTF2_Archive_SetFlushCallbacks(w->archive, &flush, NULL),
		       "flush callbacks") &&
	    otf2_check(w, OTF2_Archive_SetMemoryCallbacks(w->archive, &memory, w),
		       "memory callbacks") &&
	    otf2_check(w, OTF2_Archive_SetSerialCollectiveCallbacks(w->archive),
		       "collective callbacks") &&
	    otf2_check(w, OTF2_Archive_SetLockingCallbacks(w->archive, &locking, w),
		       "locking callbacks")) {
		set_properties(w);
		otf2_write_events(w);
		log_progress("otf2 definitions", 0, 0);
		if (!atomic_load(&w->failed))
			otf2_write_definitions(w);
	}
	if (!atomic_load(&w->is_unwritable))
		otf2_check(w, OTF2_Archive_Close(w->archive), "closing");
	log_progress(NULL, 0, 0);
}

static enum status prepare(struct otf2_writer *w)
{
	w->n_events = calloc((size_t)otf2_n_locations(w->m) + 1, sizeof *w->n_events);
	if (w->n_events && otf2_gpu_number_groups(w))
		return otf2_tree_make(w->m, &w->tree);
	log_error(w->path, "out of memory");
	return STATUS_NO_MEMORY;
}

static enum status fill_directory(struct otf2_writer *w)
{
	enum status status = prepare(w);
	if (status == STATUS_OK) {
		OTF2_ErrorCallback before = OTF2_Error_RegisterCallback(otf2_on_error, w);
		write_archive(w);
		OTF2_Error_RegisterCallback(before, NULL);
		free_spares(w);
		status = atomic_load(&w->failed) ? STATUS_IO : STATUS_OK;
	}
	if (status != STATUS_OK)
		outdir_remove(w->path);
	otf2_tree_free(&w->tree);
	free(w->n_events);
	free(w->gpu_groups);
	return status;
}

static enum status write_otf2(const struct model *m, const struct sink_options *o)
{
	const struct sink_otf2_options *settings = o->settings;
	struct otf2_writer w = {.m = m,
				.o = o,
				.path = outfile_path(o->directory, "otf2"),
				.spares_lock = PTHREAD_MUTEX_INITIALIZER,
				.enter_leave = settings && settings->form &&
					       strcmp(settings->form, "enterleave") == 0};
	enum status status = w.path ? outdir_make(w.path) : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = fill_directory(&w);
	free(w.path);
	return status;
}

/* ---- the sink ---- */

/*
 * An archive has two files for each thread and queue. Unless the user asks for it, it is written
 * only if there are at most this many threads and queues.
 */
enum { MOST_LOCATIONS = 1000 };

static bool is_too_large(const struct model *m, const void *settings)
{
	if (((const struct sink_otf2_options *)settings)->form || m->n_profiles <= MOST_LOCATIONS)
		return false;
	log_note(NULL, "no OTF2 archive: %u threads and queues would make %u files; --to %s",
		m->n_profiles, 2 * m->n_profiles, "text,cctdb,otf2 writes it");
	return true;
}

static enum status set_form(void *settings, const char *value)
{
	if (strcmp(value, "enterleave") != 0 && strcmp(value, "callingcontext") != 0)
		return options_refuse("--otf2 is 'callingcontext' or 'enterleave', not '%s'",
				      value);
	((struct sink_otf2_options *)settings)->form = value;
	return STATUS_OK;
}

static const struct option_spec options[] = {
	{0, "otf2", "FORM",
	 "callingcontext (default), or enterleave for readers that know no calling-context events",
	 OPTION_CALL(set_form)},
	{0, NULL, NULL, NULL, OPTION_CALL(NULL)},
};
static const struct sink_otf2_options defaults;

const struct sink_ops sink_otf2 = {
	.name = "otf2",
	.what = "trace; above 1000 threads only if named",
	.makes_files = true,
	.options = options,
	.defaults = &defaults,
	.settings_bytes = sizeof defaults,
	.is_too_large = is_too_large,
	.write = write_otf2,
};
