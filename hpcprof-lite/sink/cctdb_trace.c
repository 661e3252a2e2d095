/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * trace.db: the time lines, read from the measurement and written in pieces, so that memory does not grow with them. Every profile has a header, also one
 * without samples: hpcviewer takes the n-th header for the n-th profile. A line ends with the idle context when its thread ends. Test: tests/unit/test_sink_cctdb.c.
 */
#include "common/base/log.h"
#include "common/base/pool.h"
#include "hpcprof-lite/sink/cctdb.h"
#include "hpcprof-lite/sink/cctdb_format.h"
#include "hpcprof-lite/sink/outfile.h"
#include "hpcprof-lite/sink/progress.h"

#include <stdlib.h>

enum { CHUNK_SAMPLES = 8192, BUFFER_BYTES = 256 << 10 };

struct line {
	uint64_t start, n;           /* file offset, samples written */
	uint64_t first_ns, last_ns;
};

struct writer {
	const struct model *m;
	struct outfile *file;
	struct line *lines; /* by profile */
	struct progress progress;
};

static void fail(struct writer *w, const char *why)
{
	if (!atomic_exchange(&w->file->failed, true))
		log_error(w->file->path, "%s", why);
}

static void put(struct line *l, struct outstream *out, uint64_t time_ns, uint32_t context)
{
	cctdb_put_sample(outstream_room(out, CCTDB_SAMPLE_BYTES), time_ns, context);
	if (l->n++ == 0)
		l->first_ns = time_ns;
	l->last_ns = time_ns;
}

static void write_line(void *arg, size_t profile, unsigned worker)
{
	struct writer *w = arg;
	const struct model_profile *p = &w->m->profiles[profile];
	struct line *l = &w->lines[profile];
	struct model_trace_cursor cursor = {0};
	struct outstream out;
	uint32_t context = 0; /* of the last sample; nothing is idle before the first */
	if (p->n_trace_records == 0)
		return;
	struct model_sample *samples = malloc(CHUNK_SAMPLES * sizeof *samples);
	if (!samples) {
		fail(w, "out of memory");
		return;
	}
	if (outstream_open(&out, w->file, l->start, BUFFER_BYTES) == STATUS_OK) {
		for (size_t n; (n = model_trace_read(w->m, (uint32_t)profile, &cursor, samples, CHUNK_SAMPLES));) {
			if (l->n + n > p->n_trace_records) {
				fail(w, "a time line is longer than the measurement said");
				break;
			}
			for (size_t i = 0; i < n; i++) {
				if (samples[i].context == 0 && context == 0)
					continue;
				context = samples[i].context;
				put(l, &out, samples[i].time_ns, context);
			}
			progress_add(&w->progress, n, worker);
		}
		if (context != 0)
			put(l, &out, p->end_ns > l->last_ns ? p->end_ns : l->last_ns, 0);
		outstream_close(&out);
	}
	free(samples);
}

static void write_front(struct writer *w)
{
	const struct model *m = w->m;
	uint64_t first_ns = UINT64_MAX, last_ns = 0;
	struct cctdb_section section = {CCTDB_TRACES_BYTES + (uint64_t)m->n_profiles * CCTDB_TRACE_BYTES, cctdb_header_bytes(CCTDB_TRACE)};
	for (uint32_t i = 0; i < m->n_profiles; i++)
		if (w->lines[i].n) {
			first_ns = w->lines[i].first_ns < first_ns ? w->lines[i].first_ns : first_ns;
			last_ns = w->lines[i].last_ns > last_ns ? w->lines[i].last_ns : last_ns;
		}
	if (first_ns == UINT64_MAX) {
		first_ns = m->start_ns;
		last_ns = m->end_ns;
	}
	struct outstream out;
	if (outstream_open(&out, w->file, 0, BUFFER_BYTES) != STATUS_OK)
		return;
	cctdb_put_header(outstream_room(&out, cctdb_header_bytes(CCTDB_TRACE)), CCTDB_TRACE, &section);
	cctdb_put_traces(outstream_room(&out, CCTDB_TRACES_BYTES), section.pointer + CCTDB_TRACES_BYTES, m->n_profiles, first_ns, last_ns);
	for (uint32_t i = 0; i < m->n_profiles; i++) {
		const struct line *l = &w->lines[i];
		cctdb_put_trace(outstream_room(&out, CCTDB_TRACE_BYTES), i + 1, l->start, l->start + l->n * CCTDB_SAMPLE_BYTES);
	}
	outstream_close(&out);
}

enum status cctdb_write_trace(const struct model *m, const struct sink_options *o)
{
	struct outfile file;
	struct writer w = {.m = m, .file = &file};
	uint8_t footer[CCTDB_FOOTER_BYTES];
	uint64_t end = cctdb_header_bytes(CCTDB_TRACE) + CCTDB_TRACES_BYTES + (uint64_t)m->n_profiles * CCTDB_TRACE_BYTES;
	enum status status = outfile_create(&file, o->directory, "trace.db");
	if (status != STATUS_OK)
		return status;
	w.lines = calloc(m->n_profiles ? m->n_profiles : 1, sizeof *w.lines);
	if (!w.lines)
		fail(&w, "out of memory");
	else {
		for (uint32_t i = 0; i < m->n_profiles; i++) {
			uint64_t n = m->profiles[i].n_trace_records;
			w.lines[i].start = cctdb_align(end, 8);
			end = w.lines[i].start + (n ? n + 1 : 0) * CCTDB_SAMPLE_BYTES; /* and the idle one at the end */
		}
		w.progress = progress_of_traces(m, o, "trace.db");
		pool_run(m->n_profiles, o->n_workers, write_line, &w);
		progress_end(&w.progress);
		write_front(&w);
		cctdb_put_footer(footer, CCTDB_TRACE);
		outfile_write(&file, footer, sizeof footer, end);
	}
	free(w.lines);
	return outfile_close(&file);
}
