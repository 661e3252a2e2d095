/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Analysis of one binary; see analyse.h. Must not touch files other than the binary, its debug
 * files and the given descriptor.
 */
#include "config.h"

#include "hpcstruct-lite/driver/analyse.h"

#include "common/base/log.h"
#include "common/base/map.h"
#include "common/format/structure_layout.h"
#include "hpcstruct-lite/debug/cubin.h"
#include "hpcstruct-lite/debug/debug.h"
#include "hpcstruct-lite/debug/opencl_source.h"
#include "hpcstruct-lite/image/image.h"
#include "hpcstruct-lite/scope/scope.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define PRODUCER "hpcstruct-lite " PACKAGE_VERSION
#define TEXT_OF(number) #number
#define NUMBER_TEXT(number) TEXT_OF(number)
#define ANALYSIS_REVISION NUMBER_TEXT(STRUCTURE_REVISION)

/* This much code takes 10 ms of CPU time for loops, and more with debug information. */
#define BIG_CODE_BYTES (256u << 10)

/* The state of one thread. */
struct worker {
	struct analysis *analysis;
	unsigned number;
	pthread_t thread;
	struct debug_session *session;
	struct debug_unit unit;
	struct scope_scratch *scratch;
};

struct analysis {
	const struct analyse_options *options;
	struct analyse_progress *progress;
	struct image *code, *separate, *alternate; /* the last two may be NULL */
	struct image *dwarf; /* `code` or `separate`, whichever has units, or NULL */
	struct debug_unit_places places;
	struct scope_map *map;
	struct worker *workers;
	atomic_size_t next_unit;
	_Atomic int status;
	atomic_bool incomplete;
	atomic_size_t n_split;                     /* units whose functions are in .dwo files */
	const uint64_t *link_addrs;                /* the requested addresses, in ascending order */
	size_t n_link_addrs;                       /* 0: everything */
	int cancel_fd; /* readable when no units are left, so that nobody waits longer */
};

/* Logs how long a step took, with -v. */
static void note_step(const struct analysis *a, const char *step, struct timespec *since)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	log_detail(a->code->path, "%s: %.3f s", step,
		   (double)(now.tv_sec - since->tv_sec) +
			   (double)(now.tv_nsec - since->tv_nsec) * 1e-9);
	*since = now;
}

/*
 * Takes the tokens that are free, for a step that can use up to n_workers threads. Returns the
 * number of threads, including this one.
 */
static unsigned borrow_workers(const struct analysis *a)
{
	unsigned n = 1;
	while (n < a->options->n_workers && (!a->options->tokens || tokens_try(a->options->tokens)))
		n++;
	atomic_fetch_add(&a->progress->n_tokens, n - 1);
	return n;
}

static void return_workers(const struct analysis *a, unsigned n)
{
	for (unsigned i = 1; i < n && a->options->tokens; i++)
		tokens_give(a->options->tokens);
	atomic_fetch_sub(&a->progress->n_tokens, n - 1);
}

static enum status unpack(const struct analysis *a, struct image *image)
{
	unsigned n = borrow_workers(a);
	bool ok = image_unpack(image, debug_sections, n);
	return_workers(a, n);
	return ok ? STATUS_OK : STATUS_NO_MEMORY;
}

/*
 * Returns the status of a step that began with errno = 0. libdwarf does not report every failed
 * allocation, and reports some as damage, but malloc() has set errno.
 */
static enum status check_memory(enum status status)
{
	return errno == ENOMEM ? STATUS_NO_MEMORY : status;
}

static void fail(struct analysis *a, enum status status)
{
	int ok = STATUS_OK;
	atomic_compare_exchange_strong(&a->status, &ok, (int)status);
}

static bool is_skipped(const struct analyse_progress *p, uint64_t offset)
{
	for (uint32_t i = 0; i < p->n_skipped; i++)
		if (p->skipped[i] == offset)
			return true;
	return false;
}

static enum status prepare_worker(struct worker *w)
{
	if (w->session)
		return STATUS_OK;
	const struct analysis *a = w->analysis;
	struct debug_input input = {a->dwarf, a->alternate, a->code, a->link_addrs,
				    a->n_link_addrs};
	w->scratch = scope_scratch_new();
	return w->scratch ? debug_session_open(&input, &w->session) : STATUS_NO_MEMORY;
}

static void read_unit(struct worker *w, size_t i)
{
	struct analysis *a = w->analysis;
	uint64_t offset = a->places.at[i].offset;
	if (is_skipped(a->progress, offset)) {
		atomic_store(&a->incomplete, true);
		return;
	}
	errno = 0;
	enum status status = prepare_worker(w);
	if (status == STATUS_OK)
		status = debug_read_unit(w->session, offset, &w->unit);
	status = check_memory(status);
	if (status == STATUS_OK) {
		status = scope_add_unit(a->map, &w->unit, (uint32_t)i, w->scratch);
		if (w->unit.incomplete || w->unit.is_split)
			atomic_store(&a->incomplete, true);
		if (w->unit.is_split)
			atomic_fetch_add(&a->n_split, 1);
	}
	if (status != STATUS_OK)
		fail(a, status);
}

static void read_units(struct worker *w)
{
	struct analysis *a = w->analysis;
	for (size_t i; atomic_load(&a->status) == STATUS_OK &&
		       (i = atomic_fetch_add(&a->next_unit, 1)) < a->places.n;) {
		atomic_store(&a->progress->unit[w->number], a->places.at[i].offset);
		read_unit(w, i);
		atomic_store(&a->progress->unit[w->number], ANALYSE_NO_UNIT);
		atomic_fetch_add(&a->progress->n_done, 1);
	}
}

/* Runs a further thread, which works only while it holds a token. */
static void *run_worker(void *arg)
{
	struct worker *w = arg;
	struct analysis *a = w->analysis;
	if (a->options->tokens && !tokens_take(a->options->tokens, a->cancel_fd))
		return NULL;
	atomic_fetch_add(&a->progress->n_tokens, 1);
	read_units(w);
	if (a->options->tokens)
		tokens_give(a->options->tokens);
	atomic_fetch_sub(&a->progress->n_tokens, 1);
	return NULL;
}

static enum status run_workers(struct analysis *a)
{
	unsigned n = a->options->n_workers < ANALYSE_MAX_WORKERS ? a->options->n_workers
								 : ANALYSE_MAX_WORKERS,
		 n_threads = 0;
	n = n > a->places.n ? (unsigned)a->places.n : n;
	free(a->workers);
	a->workers = calloc(n + 1, sizeof *a->workers);
	a->cancel_fd = eventfd(0, EFD_CLOEXEC);
	if (!a->workers || a->cancel_fd < 0)
		return STATUS_NO_MEMORY;
	atomic_store(&a->progress->n_units, a->places.n);
	for (unsigned i = 0; i < n; i++) {
		a->workers[i].analysis = a;
		a->workers[i].number = i;
	}
	while (n_threads + 1 < n && pthread_create(&a->workers[n_threads + 1].thread, NULL,
						   run_worker, &a->workers[n_threads + 1]) == 0)
		n_threads++;
	read_units(&a->workers[0]);
	eventfd_write(a->cancel_fd, 1);
	for (unsigned i = 0; i < n; i++) {
		if (i > 0 && i <= n_threads)
			pthread_join(a->workers[i].thread, NULL);
		debug_session_close(a->workers[i].session);
		debug_unit_free(&a->workers[i].unit);
		scope_scratch_free(a->workers[i].scratch);
	}
	close(a->cancel_fd);
	return (enum status)atomic_load(&a->status);
}

/* Reads DWARF. If libdwarf rejects all of it, we still have the symbols. */
static enum status read_dwarf(struct analysis *a)
{
	bool damaged = false;
	enum status status = debug_list_units(a->dwarf, &a->places, &damaged);
	if (status == STATUS_OK && a->places.n > 0)
		status = run_workers(a);
	if (atomic_load(&a->n_split) > 0)
		log_warn(a->dwarf->path,
			 "%zu of %zu units keep their functions in .dwo files, which are not read: "
			 "lines and symbols alone",
			 atomic_load(&a->n_split), a->places.n);
	if (damaged || status == STATUS_BAD_INPUT)
		atomic_store(&a->incomplete, true);
	return status == STATUS_BAD_INPUT ? STATUS_OK : status;
}

/* Adds the units of the cubin one after the other, after the units of DWARF. */
struct unit_adder {
	struct analysis *analysis;
	struct scope_scratch *scratch;
};

static enum status add_cubin_unit(void *arg, const struct debug_unit *unit, uint32_t number)
{
	const struct unit_adder *adder = arg;
	struct analysis *a = adder->analysis;
	if (unit->incomplete)
		atomic_store(&a->incomplete, true);
	return scope_add_unit(a->map, unit, (uint32_t)a->places.n + number, adder->scratch);
}

static enum status read_cubin(struct analysis *a)
{
	errno = 0;
	struct unit_adder adder = {a, scope_scratch_new()};
	enum status status =
		adder.scratch ? cubin_read(a->code, add_cubin_unit, &adder) : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = scope_read_calls(a->map);
	status = check_memory(status);
	scope_scratch_free(adder.scratch);
	return status;
}

static enum status read_source(struct analysis *a)
{
	struct debug_unit unit = {.offset = 0};
	struct strtab names = {0};
	struct scope_scratch *scratch = scope_scratch_new();
	enum status status = scratch ? source_read_unit(a->code, &unit, &names) : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = scope_add_unit(a->map, &unit, 0, scratch);
	scope_scratch_free(scratch);
	debug_unit_free(&unit);
	strtab_free(&names);
	return status;
}

static uint64_t mix(uint64_t h, const void *bytes, size_t n_bytes)
{
	return hash_u64(h * UINT64_C(31) + hash_bytes(bytes, n_bytes));
}

/*
 * Hashes the content of a file without a build id. Another build may have the same size and time,
 * because reproducible builds give all files one time. Hashes eight bytes at once, because such
 * files may be large.
 */
static uint64_t hash_content(const struct image *image)
{
	const size_t n_words = image->file.n_bytes / sizeof(uint64_t);
	const uint64_t *words = (const void *)image->file.bytes; /* aligned to a page */
	uint64_t h = 0;
	for (size_t i = 0; i < n_words; i++)
		h = (h ^ words[i]) * UINT64_C(0x9E3779B97F4A7C15) + (h >> 29);
	return mix(h, words + n_words, image->file.n_bytes % sizeof(uint64_t));
}

static uint64_t mix_image(uint64_t h, const struct image *image)
{
	if (!image)
		return mix(h, "", 1);
	uint64_t facts[3] = {image->file.n_bytes, image->file.mtime_ns,
			     image->build_id_bytes ? 0 : hash_content(image)};
	return mix(mix(h, image->build_id, image->build_id_bytes), facts, sizeof facts);
}

uint64_t analyse_fingerprint(const struct analysis *a, const char *content_key)
{
	uint64_t h = mix(0, PRODUCER ANALYSIS_REVISION, sizeof PRODUCER ANALYSIS_REVISION);
	bool has_loops = !a->options->no_loops && scope_has_loops(a->code);
	h = mix(h, has_loops ? "loops" : "", has_loops ? sizeof "loops" : 1);
	h = content_key ? mix(h, content_key, strlen(content_key)) : mix_image(h, a->code);
	/* the structure of source text contains its path */
	char path[PATH_MAX];
	if (a->code->kind->is_source && realpath(a->code->path, path))
		h = mix(h, path, strlen(path));
	return mix_image(mix_image(h, a->separate), a->alternate);
}

uint64_t analyse_cache_number(const struct analysis *a, const char *content_key)
{
	return content_key && !a->options->no_loops && !a->code->kind->is_source
		       ? STRUCTURE_REVISION
		       : analyse_fingerprint(a, content_key);
}

const struct image *analyse_image(const struct analysis *a)
{
	return a->code;
}

enum status analyse_open(int fd, const char *path, const struct analyse_options *options,
			 struct analysis **out)
{
	const int cause = errno;
	struct analysis *a = calloc(1, sizeof *a);
	if (!a) {
		log_error(path, "out of memory");
		if (fd >= 0)
			close(fd);
		return STATUS_NO_MEMORY;
	}
	struct timespec since;
	clock_gettime(CLOCK_MONOTONIC, &since);
	a->options = options;
	a->progress = options->progress;
	errno = cause;
	enum status status = image_take(fd, path, &a->code);
	if (status != STATUS_OK) {
		analyse_close(a);
		return status;
	}
	if (!debug_has_units(a->code) && !a->code->kind->is_source && !a->code->is_cubin)
		image_find_debug(a->code, options->debug_dirs, &a->separate);
	a->dwarf = debug_has_units(a->code)                      ? a->code
		   : a->separate && debug_has_units(a->separate) ? a->separate
								 : NULL;
	bool missing = false;
	if (a->dwarf)
		image_find_alternate(a->dwarf, options->debug_dirs, &a->alternate, &missing);
	atomic_store(&a->incomplete, missing || a->code->is_incomplete);
	note_step(a, "files opened", &since);
	*out = a;
	return STATUS_OK;
}

void analyse_close(struct analysis *a)
{
	if (!a)
		return;
	free(a->workers);
	vec_free(&a->places);
	scope_map_free(a->map);
	image_close(a->alternate);
	image_close(a->separate);
	image_close(a->code);
	free(a);
}

bool analyse_is_big(const struct analysis *a)
{
	return image_n_positions(a->code) >= BIG_CODE_BYTES && !a->code->is_cubin &&
	       !a->code->kind->is_source;
}

enum status analyse_read(struct analysis *a, const uint64_t *link_addrs, size_t n_link_addrs)
{
	struct timespec since;
	clock_gettime(CLOCK_MONOTONIC, &since);
	a->link_addrs = link_addrs;
	a->n_link_addrs = n_link_addrs;
	vec_clear(&a->places);
	atomic_store(&a->next_unit, 0);
	atomic_store(&a->n_split, 0);
	scope_map_free(a->map);
	a->map = scope_map_new(a->code);
	enum status status = a->map ? STATUS_OK : STATUS_NO_MEMORY;
	if (status == STATUS_OK && a->dwarf && !a->progress->without_dwarf) {
		status = unpack(a, a->dwarf);
		if (status == STATUS_OK && a->alternate)
			status = unpack(a, a->alternate);
		note_step(a, "sections decompressed", &since);
	}
	if (status == STATUS_OK && a->dwarf && a->progress->without_dwarf)
		atomic_store(&a->incomplete, true);
	else if (status == STATUS_OK && a->dwarf)
		status = read_dwarf(a);
	else if (status == STATUS_OK && a->code->kind->is_source)
		status = read_source(a);
	if (status == STATUS_OK && a->code->is_cubin)
		status = read_cubin(a);
	note_step(a, "debug information read", &since);
	unsigned n = n_link_addrs > 0 ? borrow_workers(a) : 1;
	if (status == STATUS_OK)
		status = scope_finish(a->map, a->separate, link_addrs, n_link_addrs, n);
	return_workers(a, n);
	note_step(a, "joined with symbols", &since);
	if (status == STATUS_OK && n_link_addrs > 0)
		status = scope_narrow(a->map, link_addrs, n_link_addrs);
	n = borrow_workers(a);
	if (status == STATUS_OK)
		status = scope_demangle_all(a->map, n);
	return_workers(a, n);
	note_step(a, "names demangled", &since);
	if (status == STATUS_OK && !a->options->no_loops && scope_has_loops(a->code)) {
		n = borrow_workers(a);
		status = scope_find_loops(a->map, n);
		return_workers(a, n);
		note_step(a, "loops found", &since);
	} else if (status == STATUS_OK && !a->options->no_loops && a->code->architecture) {
		log_detail(a->code->path, "code for sm_%u: loops are found in sm_70 and later",
			   a->code->architecture);
	}
	if (status == STATUS_NO_MEMORY)
		log_error(a->code->path, "out of memory");
	return status;
}

enum status analyse_write(struct analysis *a, const char *content_key, int fd, const char *out_path)
{
	struct scope_facts facts = {a->code->path,    a->separate ? a->separate->path : NULL,
				    PRODUCER,         analyse_fingerprint(a, content_key),
				    a->dwarf != NULL, atomic_load(&a->incomplete)};
	struct timespec since;
	clock_gettime(CLOCK_MONOTONIC, &since);
	enum status status = scope_write(a->map, &facts, fd, out_path);
	note_step(a, "written", &since);
	return status;
}
