/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A small reader of measurement files for tests: checks every identity that must hold in a file at
 * any moment, and prints what is in it as "name value" lines. Independent of hpcprof-lite; knows
 * the format only from measurement.h.
 * Usage: run_check [-k] FILE...   -k: the process may have been killed at any instruction. Exit 1:
 *     an identity is violated.
 */
#include "common/format/measurement.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct thread {
	const struct msr_thread *record;
	uint64_t n_nodes, n_cells, cell_count, sum[MSR_MAX_METRICS], count[MSR_MAX_METRICS];
	uint64_t n_trace, n_trace_off, last_ns;
};

static struct thread *threads;
static uint64_t n_threads;
static int failures;
static const char *file_name;
static int killed;

#define FAIL(...) (printf("# %s: ", file_name), printf(__VA_ARGS__), putchar('\n'), failures++)

static struct thread *thread_of(uint32_t number)
{
	if (number >= n_threads) {
		threads = realloc(threads, (number + 1) * sizeof *threads);
		if (!threads)
			exit(2);
		memset(threads + n_threads, 0, (number + 1 - n_threads) * sizeof *threads);
		n_threads = number + 1;
	}
	return &threads[number];
}

static void read_nodes(struct thread *t, const struct msr_view *v)
{
	const struct msr_node *node = (const void *)v->content;
	if (v->extent->first != t->n_nodes)
		FAIL("node extent starts at %" PRIu64 ", expected %" PRIu64, v->extent->first,
		     t->n_nodes);
	for (uint64_t i = 0; i < v->n_bytes / sizeof *node; i++, t->n_nodes++) {
		uint64_t id = t->n_nodes;
		if (id > 0 && node[i].parent >= id)
			FAIL("node %" PRIu64 " has parent %u", id, node[i].parent);
		if (id > 0 && node[i].parent == 0 &&
		    msr_addr_module(node[i].addr) != MSR_MODULE_NONE)
			FAIL("node %" PRIu64 " below the root is no entry point", id);
		if (id > 0 && node[i].parent != 0 &&
		    msr_addr_module(node[i].addr) == MSR_MODULE_NONE &&
		    msr_addr_link(node[i].addr) < MSR_WAIT)
			FAIL("node %" PRIu64 " has no module", id);
	}
}

static void read_cells(struct thread *t, const struct msr_view *v)
{
	const struct msr_cell *cell = (const void *)v->content;
	if (v->extent->first != t->n_cells)
		FAIL("cell extent starts at %" PRIu64 ", expected %" PRIu64, v->extent->first,
		     t->n_cells);
	for (uint64_t i = 0; i < v->n_bytes / sizeof *cell; i++, t->n_cells++) {
		uint64_t count = atomic_load(&cell[i].count), sum = atomic_load(&cell[i].sum);
		if (cell[i].metric >= MSR_MAX_METRICS) {
			FAIL("cell of metric %u", cell[i].metric);
			continue;
		}
		if (cell[i].next > t->n_cells)
			FAIL("cell %" PRIu64 " continues at %u", t->n_cells, cell[i].next);
		if (count == 0 && !killed)
			FAIL("cell %" PRIu64 " without samples", t->n_cells);
		t->cell_count += count;
		t->count[cell[i].metric] += count;
		t->sum[cell[i].metric] += sum;
	}
}

static void read_trace(struct thread *t, const struct msr_view *v, uint64_t start_ns)
{
	const uint64_t *record = (const void *)v->content;
	uint64_t now = v->extent->first;
	for (uint64_t i = 0; i < v->n_bytes / sizeof *record; i++) {
		unsigned tag = record[i] >> 28 & 15;
		if (tag == MSR_TRACE_TAG_ESCAPE) {
			now = record[++i];
			continue;
		}
		now += record[i] >> 32;
		if (now < t->last_ns || now < start_ns)
			FAIL("time line runs backwards");
		if ((record[i] & MSR_TRACE_NODE_MAX) >= t->n_nodes)
			FAIL("trace record of node %" PRIu64, record[i] & MSR_TRACE_NODE_MAX);
		t->last_ns = now;
		if (record[i] & MSR_TRACE_NODE_MAX)
			t->n_trace++;
		else
			t->n_trace_off++;
	}
}

/* Three passes: trace records name nodes, which may lie behind them in the file. Extents of a kind
 * are in order of `sequence`, not of place. */
static void read_kind(const uint8_t *bytes, uint64_t n_bytes, enum msr_kind kind, uint64_t start_ns)
{
	for (uint32_t sequence = 0, seen = 1; seen; sequence++) {
		struct msr_view v;
		uint64_t pos = msr_first_extent((const void *)bytes), skipped;
		enum msr_scan s;
		seen = 0;
		while ((s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END) {
			if (s == MSR_SCAN_DAMAGED) {
				if (kind == MSR_NODE && sequence == 0 &&
				    (!killed || skipped > sizeof(struct msr_extent)))
					FAIL("damaged: %" PRIu64 " bytes before %" PRIu64, skipped,
					     pos);
				continue;
			}
			if (v.extent->kind != kind || v.extent->sequence != sequence)
				continue;
			struct thread *t = thread_of(v.extent->thread);
			seen = 1;
			if (v.clamped)
				FAIL("extent says more than it holds");
			if (kind == MSR_NODE)
				read_nodes(t, &v);
			else if (kind == MSR_CELL)
				read_cells(t, &v);
			else
				read_trace(t, &v, start_ns);
		}
	}
}

/* Threads, and what is counted without regard to order: cheap for files of many threads. */
static void read_rest(const uint8_t *bytes, uint64_t n_bytes, uint64_t *n_modules,
		      uint64_t *n_metrics, uint64_t *n_info, uint64_t *n_free)
{
	struct msr_view v;
	uint64_t pos = msr_first_extent((const void *)bytes), skipped;
	enum msr_scan s;
	while ((s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END) {
		if (s == MSR_SCAN_DAMAGED)
			continue;
		uint32_t bytes_of_record = 0;
		switch (v.extent->kind) {
		case MSR_THREAD:
			if (v.n_bytes == sizeof(struct msr_thread))
				thread_of(v.extent->thread)->record = (const void *)v.content;
			break;
		case MSR_FREE:
			*n_free += atomic_load(&v.extent->length);
			break;
		case MSR_METRIC:
			*n_metrics += v.n_bytes / sizeof(struct msr_metric);
			break;
		case MSR_MODULE:
		case MSR_INFO:
			for (uint64_t at = 0; at + 8 <= v.n_bytes; at += bytes_of_record) {
				memcpy(&bytes_of_record, v.content + at, sizeof bytes_of_record);
				if (bytes_of_record < 16 || bytes_of_record % 8 ||
				    bytes_of_record > v.n_bytes - at) {
					FAIL("record of %u bytes", bytes_of_record);
					break;
				}
				++*(v.extent->kind == MSR_MODULE ? n_modules : n_info);
			}
		}
	}
}

static void check_thread(uint64_t number, uint64_t n_metrics, int trace, uint64_t end_ns)
{
	const struct thread *t = &threads[number];
	const struct msr_thread *r = t->record;
	uint64_t lost = 0;
	if (!r) {
		FAIL("thread %" PRIu64 " has no record", number);
		return;
	}
	for (unsigned i = 0; i < MSR_N_LOSSES; i++)
		if (msr_loss_takes_sample((enum msr_loss)i))
			lost += atomic_load(&r->losses[i]);
	uint64_t delivered = atomic_load(&r->delivered), recorded = atomic_load(&r->recorded);
	/* A thread that lived when another ended the process may have been inside the handler. */
	bool stopped = killed || r->end_ns == end_ns;
	uint64_t flight = stopped ? n_metrics : 0,
		 trace_lost = atomic_load(&r->losses[MSR_LOSS_TRACE]);
	if (delivered < recorded + lost || delivered > recorded + lost + flight)
		FAIL("thread %" PRIu64 ": delivered %" PRIu64 ", recorded %" PRIu64
		     ", lost %" PRIu64,
		     number, delivered, recorded, lost);
	if (t->cell_count < recorded || t->cell_count > recorded + (stopped ? 1 : 0))
		FAIL("thread %" PRIu64 ": recorded %" PRIu64 ", in cells %" PRIu64, number,
		     recorded, t->cell_count);
	if (trace && (t->n_trace + trace_lost > recorded ||
		      t->n_trace + trace_lost + (stopped ? 1 : 0) < recorded))
		FAIL("thread %" PRIu64 ": recorded %" PRIu64 ", trace records %" PRIu64, number,
		     recorded, t->n_trace);
	if (!killed && r->end_ns < r->start_ns)
		FAIL("thread %" PRIu64 " has no end", number);
}

static uint8_t *read_file(const char *name, uint64_t *n_bytes)
{
	FILE *f = fopen(name, "rb");
	if (!f || fseek(f, 0, SEEK_END) != 0) {
		perror(name);
		exit(2);
	}
	*n_bytes = (uint64_t)ftell(f);
	rewind(f);
	uint8_t *bytes = aligned_alloc(64, (*n_bytes + 127) & ~UINT64_C(63));
	if (!bytes || fread(bytes, 1, *n_bytes, f) != *n_bytes) {
		perror(name);
		exit(2);
	}
	fclose(f);
	return bytes;
}

static void check_process(const char *name, const uint8_t *bytes, uint64_t n_bytes)
{
	uint64_t n_modules = 0, n_metrics = 0, n_info = 0, n_free = 0;
	uint64_t sum[MSR_MAX_METRICS] = {0}, count[MSR_MAX_METRICS] = {0}, nodes = 0, trace = 0,
		 delivered = 0, recorded = 0, alive = 0, cpu = 0, cpu_off = 0, trace_off = 0,
		 unsampled = 0, unseen = 0, complete = 0, handler = 0, n_frames = 0, measured = 0,
		 in_flight = 0, losses[MSR_N_LOSSES],
		 use[sizeof(struct msr_source_use) / sizeof(uint64_t)] = {0};
	unsigned major;
	const struct msr_header *h = (const void *)bytes;
	file_name = name;
	if (msr_check_header(bytes, n_bytes, &major) != MSR_HEADER_SOUND) {
		FAIL("header");
		return;
	}
	n_threads = 0;
	read_rest(bytes, n_bytes, &n_modules, &n_metrics, &n_info, &n_free);
	for (unsigned k = MSR_NODE; k <= MSR_TRACE; k++)
		read_kind(bytes, n_bytes, (enum msr_kind)k, h->start_mono_ns);
	for (unsigned i = 0; i < MSR_N_LOSSES; i++)
		losses[i] = atomic_load(&h->losses[i]);
	for (uint64_t i = 0; i < n_threads; i++) {
		const struct msr_thread *r = threads[i].record;
		check_thread(i, n_metrics, h->flags & MSR_FLAG_TRACE, h->end_mono_ns);
		if (!r)
			continue;
		measured++;
		nodes += threads[i].n_nodes;
		trace += threads[i].n_trace;
		trace_off += threads[i].n_trace_off;
		cpu_off += atomic_load(&r->cpu_off_ns);
		delivered += atomic_load(&r->delivered);
		recorded += atomic_load(&r->recorded);
		in_flight += atomic_load(&r->delivered) - atomic_load(&r->recorded);
		alive += r->end_ns > r->start_ns ? r->end_ns - r->start_ns : 0;
		cpu += r->cpu_end_ns > r->cpu_start_ns ? r->cpu_end_ns - r->cpu_start_ns : 0;
		unsampled += atomic_load(&r->cpu_unsampled_ns);
		unseen += atomic_load(&r->cpu_unseen_ns);
		handler += atomic_load(&r->handler_ns);
		n_frames += atomic_load(&r->n_frames);
		for (size_t u = 0; u < sizeof use / sizeof *use; u++)
			use[u] += ((const uint64_t *)&r->use)[u];
		complete += atomic_load(&r->path_ends[MSR_END_ROOT]);
		for (unsigned m = 0; m < MSR_MAX_METRICS; m++) {
			sum[m] += threads[i].sum[m];
			count[m] += threads[i].count[m];
		}
		for (unsigned l = 0; l < MSR_N_LOSSES; l++)
			losses[l] += atomic_load(&r->losses[l]);
		for (unsigned l = 0; l < MSR_N_LOSSES; l++)
			if (msr_loss_takes_sample((enum msr_loss)l))
				in_flight -= atomic_load(&r->losses[l]);
	}
	printf("file %s\nbytes %" PRIu64 "\nfree %" PRIu64
	       "\nexit_kind %u\nexit_code %d\nexec_seq %u\nrank %d\nn_ranks %d\nthreads %" PRIu64
	       "\nmodules %" PRIu64 "\ninfo %" PRIu64 "\nmetrics %" PRIu64 "\n",
	       name, n_bytes, n_free, h->exit_kind, h->exit_code, h->exec_seq, h->rank, h->n_ranks,
	       measured, n_modules, n_info, n_metrics);
	for (uint64_t i = 0; i < n_threads && i < 16; i++)
		if (threads[i].record)
			printf("name%" PRIu64 " %.31s\n", i, threads[i].record->name);
	printf("delivered %" PRIu64 "\nrecorded %" PRIu64 "\nin_flight %" PRIu64 "\nnodes %" PRIu64
	       "\ntrace %" PRIu64 "\ncomplete %" PRIu64 "\ncpu_ns %" PRIu64
	       "\nunsampled_ns %" PRIu64 "\nunseen_ns %" PRIu64 "\nhandler_ns %" PRIu64
	       "\nn_frames %" PRIu64 "\n",
	       delivered, recorded, in_flight, nodes, trace, complete, cpu, unsampled, unseen,
	       handler, n_frames);
	printf("cpu_off_ns %" PRIu64 "\ntrace_off %" PRIu64 "\noff_ns %" PRIu64
	       "\nis_off %d\nstops %" PRIu64 "\nstarts %" PRIu64 "\n",
	       cpu_off, trace_off, atomic_load(&h->off_ns), atomic_load(&h->off_since_ns) != 0,
	       atomic_load(&h->n_stops), atomic_load(&h->n_starts));
	printf("alive_ns %" PRIu64 "\n", alive);
	printf("event_ns %" PRIu64 "\nevent_samples %" PRIu64 "\nevent_switches %" PRIu64
	       "\ntimer_ns %" PRIu64 "\ntimer_samples %" PRIu64 "\nsource_changes %" PRIu64 "\n",
	       use[0], use[1], use[2], use[3], use[4], use[5]);
	for (unsigned m = 0; m < n_metrics && m < MSR_MAX_METRICS; m++)
		printf("count%u %" PRIu64 "\nsum%u %" PRIu64 "\n", m, count[m], m, sum[m]);
	for (unsigned l = 0; l < MSR_N_LOSSES; l++)
		printf("lost-%s %" PRIu64 "\n", msr_loss_name((enum msr_loss)l), losses[l]);
	free(threads);
	threads = NULL;
}

/* The process of the file, and the children of fork inside of it. */
static void check_file(const char *name)
{
	uint64_t n_bytes, pos = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	uint8_t *bytes = read_file(name, &n_bytes);
	check_process(name, bytes, n_bytes);
	for (enum msr_scan s;
	     (s = msr_next_extent(bytes, n_bytes, &pos, &v, &skipped)) != MSR_SCAN_END;)
		if (s == MSR_SCAN_EXTENT && msr_is_process(&v))
			check_process(name, v.content, v.n_bytes);
	free(bytes);
}

int main(int argc, char **argv)
{
	int i = 1;
	if (argc > 1 && strcmp(argv[1], "-k") == 0) {
		killed = 1;
		i++;
	}
	for (; i < argc; i++)
		check_file(argv[i]);
	printf("failures %d\n", failures);
	return failures != 0;
}
