/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.db: the time lines, read from the measurement and written in pieces, so that memory does
 * not grow with them. Every profile has a header, even without samples, because hpcviewer takes the
 * n-th header for the n-th profile. A line ends with the idle context when its thread ends. In the
 * line of a queue, an operation begins its context, and its end begins the idle context, unless the
 * next operation follows at once. Test: tests/unit/sink/test_sink_cctdb.c.
 */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/sink/cctdb/cctdb.h"
#include "hpcprof-lite/sink/cctdb/cctdb_format.h"
#include "hpcprof-lite/sink/cctdb/cctdb_share.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/progress.h"

#include <stdlib.h>

enum { CHUNK_SAMPLES = 8192, CHUNK_OPS = 2048, BUFFER_BYTES = 256 << 10 };

struct line {
	uint64_t start, n;           /* file offset, samples written */
	uint64_t first_ns, last_ns;
};

struct writer {
	const struct cctdb_plan *plan;
	const struct model *m;
	struct outfile *file;
	struct line *lines; /* by profile */
	struct cctdb_part own; /* profiles */
	size_t in_row;         /* how many a thread writes at a time */
	struct progress progress;
};

static void fail(struct writer *w, const char *why)
{
	if (!atomic_exchange(&w->file->failed, true))
		log_error(w->file->path, "%s", why);
}

/* `context`: of the model. */
static void put(const struct writer *w, struct line *l, struct outstream *out, uint64_t time_ns,
		uint32_t context)
{
	cctdb_put_sample(outstream_room(out, CCTDB_SAMPLE_BYTES), time_ns,
			 cctdb_plan_id(w->plan, context));
	if (l->n++ == 0)
		l->first_ns = time_ns;
	l->last_ns = time_ns;
}

/*
 * The most records that the line of a profile needs: a thread's samples and the idle one at the
 * end; two for each operation of a queue.
 */
static uint64_t most_records(const struct model_profile *p)
{
	uint64_t n = p->n_trace_records;
	return p->kind == MODEL_PROFILE_QUEUE ? 2 * n : n ? n + 1 : 0;
}

static void fail_longer(struct writer *w)
{
	fail(w, "a time line is longer than the measurement said");
}

static void write_samples(struct writer *w, uint32_t profile, struct outstream *out,
			  struct model_sample *samples, unsigned worker)
{
	const struct model_profile *p = &w->m->profiles[profile];
	struct line *l = &w->lines[profile];
	struct model_trace_cursor cursor = {0};
	uint32_t context = 0; /* of the last sample; nothing is idle before the first */
	for (size_t n; (n = model_trace_read(w->m, profile, &cursor, samples, CHUNK_SAMPLES));) {
		if (l->n + n > p->n_trace_records) {
			fail_longer(w);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			if (samples[i].shown == 0 && context == 0)
				continue;
			context = samples[i].shown;
			put(w, l, out, samples[i].time_ns, context);
		}
		progress_add(&w->progress, n, worker);
	}
	if (context != 0)
		put(w, l, out, p->end_ns > l->last_ns ? p->end_ns : l->last_ns, 0);
}

static void write_ops(struct writer *w, uint32_t profile, struct outstream *out,
		      struct model_gpu_op *ops, unsigned worker)
{
	struct line *l = &w->lines[profile];
	struct model_gpu_cursor cursor = {0};
	uint64_t end_ns = 0, n_read = 0;
	for (size_t n; (n = model_gpu_read(w->m, profile, &cursor, ops, CHUNK_OPS));) {
		if ((n_read += n) > w->m->profiles[profile].n_trace_records) {
			fail_longer(w);
			break;
		}
		for (size_t i = 0; i < n; i++) {
			if (l->n && ops[i].start_ns > end_ns)
				put(w, l, out, end_ns, 0);
			put(w, l, out, ops[i].start_ns, ops[i].context);
			end_ns = ops[i].end_ns;
		}
		progress_add(&w->progress, n, worker);
	}
	if (l->n)
		put(w, l, out, end_ns, 0);
}

union chunk {
	struct model_sample samples[CHUNK_SAMPLES];
	struct model_gpu_op ops[CHUNK_OPS];
};

static void write_line(struct writer *w, uint32_t profile, struct outstream *out,
		       union chunk *chunk, unsigned worker)
{
	const struct model_profile *p = &w->m->profiles[profile];
	if (p->n_trace_records == 0)
		return;
	outstream_move(out, w->lines[profile].start);
	if (p->kind == MODEL_PROFILE_QUEUE)
		write_ops(w, profile, out, chunk->ops, worker);
	else
		write_samples(w, profile, out, chunk->samples, worker);
}

static void write_row(void *arg, size_t i, unsigned worker)
{
	struct writer *w = arg;
	const size_t first = w->own.first + i * w->in_row, n = w->own.end - first,
		     end = first + (w->in_row < n ? w->in_row : n);
	struct outstream out;
	union chunk *chunk = malloc(sizeof *chunk);
	if (!chunk) {
		fail(w, "out of memory");
		return;
	}
	if (outstream_open(&out, w->file, 0, BUFFER_BYTES) == STATUS_OK) {
		for (size_t k = first; k < end; k++)
			write_line(w, (uint32_t)k, &out, chunk, worker);
		outstream_close(&out);
	}
	free(chunk);
}

static void write_front(struct writer *w, uint64_t end)
{
	const struct model *m = w->m;
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	struct cctdb_section section = {CCTDB_TRACES_BYTES +
						(uint64_t)m->n_profiles * CCTDB_TRACE_BYTES,
					cctdb_header_bytes(CCTDB_TRACE)};
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (w->lines[i].n) {
			first_ns =
				w->lines[i].first_ns < first_ns ? w->lines[i].first_ns : first_ns;
			last_ns = w->lines[i].last_ns > last_ns ? w->lines[i].last_ns : last_ns;
		}
	if (first_ns == UINT64_MAX) {
		first_ns = m->start_ns;
		last_ns = m->end_ns;
	}
	uint8_t footer[CCTDB_FOOTER_BYTES];
	struct outstream out;
	cctdb_put_footer(footer, CCTDB_TRACE);
	outfile_write(w->file, footer, sizeof footer, end);
	if (outstream_open(&out, w->file, 0, BUFFER_BYTES) != STATUS_OK)
		return;
	cctdb_put_header(outstream_room(&out, cctdb_header_bytes(CCTDB_TRACE)), CCTDB_TRACE,
			 &section);
	cctdb_put_traces(outstream_room(&out, CCTDB_TRACES_BYTES),
			 section.pointer + CCTDB_TRACES_BYTES, m->n_profiles, first_ns, last_ns);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct line *l = &w->lines[i];
		cctdb_put_trace(outstream_room(&out, CCTDB_TRACE_BYTES), i + 1, l->start,
				l->start + l->n * CCTDB_SAMPLE_BYTES);
	}
	outstream_close(&out);
}

/* Gives every line of this process its place, from `at` on. Returns the end of the last. */
static uint64_t place_lines(struct writer *w, uint64_t at)
{
	for (uint32_t i = w->own.first; i < w->own.end; i++) {
		w->lines[i].start = cctdb_align(at, CCTDB_PLACE_ALIGN);
		at = w->lines[i].start + most_records(&w->m->profiles[i]) * CCTDB_SAMPLE_BYTES;
	}
	return at;
}

enum status cctdb_write_trace(const struct cctdb_plan *plan, const struct sink_options *o)
{
	const struct model *m = plan->m;
	struct outfile file;
	struct writer w = {.plan = plan, .m = m, .file = &file, .own = cctdb_own_profiles(m)};
	struct cctdb_place place = {.front = cctdb_header_bytes(CCTDB_TRACE) + CCTDB_TRACES_BYTES +
					     (uint64_t)m->n_profiles * CCTDB_TRACE_BYTES};
	enum status status = cctdb_create(m, &file, o->directory, "trace.db");
	if (status != STATUS_OK)
		return status;
	w.lines = calloc(m->n_profiles ? m->n_profiles : 1, sizeof *w.lines);
	if (w.lines)
		place.own = place_lines(&w, 0);
	else
		fail(&w, "out of memory");
	if (cctdb_find_place(m, w.lines ? STATUS_OK : STATUS_NO_MEMORY, &place) == STATUS_OK) {
		place_lines(&w, place.start);
		w.progress = progress_of_traces(m, o, "trace.db");
		const size_t n_own = w.own.end - w.own.first;
		w.in_row = cctdb_in_row(n_own, o->n_workers);
		pool_run((n_own + w.in_row - 1) / w.in_row, o->n_workers, write_row, &w);
		progress_end(&w.progress);
		cctdb_gather_profiles(m, w.lines, sizeof *w.lines);
		if (cctdb_is_first(m))
			write_front(&w, place.end);
	}
	free(w.lines);
	return cctdb_close(m, &file);
}
