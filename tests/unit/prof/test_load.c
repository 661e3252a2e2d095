/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of hpcprof-lite/load/measurement and job: what a sound file holds comes back; a damaged one
 * is read as far as it is sound and never harms. */
#include "tests/unit/prof/prof_fixture.h"

#include "common/base/log.h"
#include "common/format/local_data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* One process, two threads, small enough to damage every byte of it. */
static uint8_t *make_small(size_t *n_bytes)
{
	static const uint8_t id[4] = {1, 2, 3, 4};
	char *directory = fixture_directory();
	struct gen *g = gen_open(directory, &(struct gen_process){.pid = 7,
								  .rank = -1,
								  .start_mono_ns = 1000,
								  .start_real_ns = 5000,
								  .extent_bytes = 96});
	gen_info(g, "command", "a b\nc");
	gen_info(g, "executable", "/bin/a");
	uint16_t module = gen_module(g, "/bin/a", id, sizeof id, MSR_MODULE_MAIN);
	uint32_t metric = gen_metric(g, "CPUTIME", MSR_UNIT_NS, 1000, MSR_SOURCE_TEST);
	for (uint32_t t = 0; t < 2; t++) {
		gen_thread(g, "t");
		uint32_t node = gen_entry(g, t, t ? MSR_ENTRY_THREAD : MSR_ENTRY_MAIN);
		for (uint32_t d = 0; d < 12; d++) {
			node = gen_child(g, t, node,
					 msr_addr_make(module, 0x1000 + d * 16, d == 5));
			gen_sample(g, t, node, metric, 2000 + d * 10, 1000);
		}
		gen_sample(g, t, node, metric, UINT64_C(6000000000), 1000);
	}
	char *path = gen_close(g, MSR_EXIT_RETURN, 0);
	uint8_t *bytes = fixture_read(path, n_bytes);
	free(path);
	fixture_remove(directory);
	return bytes;
}

static void test_sound(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	struct load_file f = {0};
	assert_int_equal(load_file_bytes("sound", bytes, n, &f), STATUS_OK);
	assert_int_equal(f.bytes_damaged, 0);
	assert_false(f.truncated);
	assert_string_equal(f.command, "a b\nc");
	assert_string_equal(f.command_line, "a $'b\\nc'");
	assert_string_equal(f.executable, "/bin/a");
	assert_int_equal(f.threads.n, 2);
	assert_non_null(f.metrics[0]);
	assert_string_equal(f.modules.at[1].path, "/bin/a");
	for (size_t i = 0; i < 2; i++) {
		assert_true(f.threads.at[i].copy);
		assert_int_equal(f.threads.at[i].n_nodes, 14);
		assert_int_equal(f.threads.at[i].n_trace_records, 13);
		assert_int_equal(f.threads.at[i].first_trace_ns, 2000);
		assert_true(f.threads.at[i].last_trace_ns == UINT64_C(6000000000));
		assert_true(f.threads.at[i].trace.n > 1 && f.threads.at[i].nodes.n > 1);
	}
	load_file_close(&f);
	free(bytes);
}

/* Loads and builds the whole model; returns the samples in its tree. */
static uint64_t build(uint8_t *bytes, size_t n, bool *ok)
{
	struct load_job job = {0};
	struct load_file *f = vec_push(&job.files);
	enum status s = load_file_bytes("damaged", bytes, n, f);
	*ok = s == STATUS_OK;
	if (!*ok) {
		load_job_close(&job);
		return 0;
	}
	f->path = NULL; /* the bytes are ours, not mapped */
	struct model *m = fixture_model_of(&job, NULL, 1);
	fixture_check_model(m);
	uint64_t in_tree = m->ledger.in_tree, last = 0;
	assert_true(m->ledger.n_trace_records <= n / 8);
	for (uint32_t p = 0; p < m->n_profiles; p++) {
		struct model_trace_cursor c = {0};
		struct model_sample samples[7];
		uint64_t count = 0;
		last = 0;
		for (size_t k; (k = model_trace_read(m, p, &c, samples, 7));)
			for (size_t i = 0; i < k; i++, count++) {
				assert_true(samples[i].context < m->n_contexts &&
					    samples[i].metric < m->n_metrics);
				assert_true(
					samples[i].time_ns -
						(uint64_t)m->private_->timelines[p].to_real_ns >=
					last);
				last = samples[i].time_ns -
				       (uint64_t)m->private_->timelines[p].to_real_ns;
			}
		assert_int_equal(count, m->profiles[p].n_trace_records);
	}
	model_free(m);
	return in_tree;
}

static void test_truncated(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	uint64_t most = 0;
	for (size_t cut = 0; cut <= n; cut += 64) {
		/* exactly as long as the file would be, so that a read beyond shows under the
		 * sanitizers */
		uint8_t *copy = aligned_alloc(64, cut ? cut : 64);
		memcpy(copy, bytes, cut);
		bool ok;
		uint64_t in_tree = build(copy, cut, &ok);
		assert_int_equal(ok, cut >= MSR_HEADER_BYTES);
		assert_true(in_tree >= most); /* a longer prefix never holds less */
		most = in_tree;
		struct load_file f = {0};
		if (ok) {
			assert_int_equal(load_file_bytes("cut", copy, cut, &f), STATUS_OK);
			assert_int_equal(f.truncated, cut < n);
			assert_int_equal(f.bytes_damaged > 0, cut < n);
			load_file_close(&f);
		}
		free(copy);
	}
	assert_int_equal(most, 26);
	free(bytes);
}

static void test_every_byte_flipped(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	size_t n_refused = 0;
	for (size_t i = 0; i < n; i++) {
		if (i > sizeof(struct msr_header) && i < MSR_HEADER_BYTES)
			continue; /* padding that nobody reads */
		for (unsigned mask = 1; mask < 256; mask = mask == 1      ? 0x80
							   : mask == 0x80 ? 0xff
									  : 256) {
			bool ok;
			bytes[i] ^= (uint8_t)mask;
			build(bytes, n, &ok);
			n_refused += !ok;
			bytes[i] ^= (uint8_t)mask;
		}
	}
	assert_int_equal(n_refused, 3 * 10); /* magic and major version, nothing else */
	free(bytes);
}

static void test_other_version(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	struct load_file f = {0};
	((struct msr_header *)bytes)->version_major = 9;
	assert_int_equal(load_file_bytes("other", bytes, n, &f), STATUS_UNSUPPORTED);
	load_file_close(&f);
	((struct msr_header *)bytes)->version_major = MSR_VERSION_MAJOR;
	((struct msr_header *)bytes)->version_minor = 77; /* additions may be ignored */
	assert_int_equal(load_file_bytes("minor", bytes, n, &f), STATUS_OK);
	load_file_close(&f);
	bytes[0] = 'X';
	assert_int_equal(load_file_bytes("not ours", bytes, n, &f), STATUS_BAD_INPUT);
	load_file_close(&f);
	free(bytes);
}

/* The first record of an extent. */
static void *find_record(uint8_t *bytes, size_t n, enum msr_kind kind, uint32_t thread,
			 uint32_t sequence)
{
	uint64_t pos = MSR_HEADER_BYTES, skipped;
	struct msr_view v;
	for (enum msr_scan s; (s = msr_next_extent(bytes, n, &pos, &v, &skipped)) != MSR_SCAN_END;)
		if (s == MSR_SCAN_EXTENT && v.extent->kind == kind && v.extent->thread == thread &&
		    v.extent->sequence == sequence)
			return (void *)(uintptr_t)v.content;
	fail_msg("no such extent");
	abort();
}

/* As hpcrun-lite copies it while the process runs: the header follows a text. */
static void test_copied_part(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	struct load_file f = {0};
	struct local_part *part = (void *)(bytes + LOCAL_PART_OFFSET);
	const struct msr_header header = *(struct msr_header *)bytes;
	memset(bytes, 0, MSR_HEADER_BYTES);
	memcpy(bytes, LOCAL_DATA_HEAD, strlen(LOCAL_DATA_HEAD));
	assert_int_equal(load_file_bytes("text", bytes, n, &f), STATUS_BAD_INPUT);
	load_file_close(&f);
	*part = (struct local_part){LOCAL_PART_MAGIC, 9000, 9000, {0}, header};
	part->header.end_mono_ns = 0;
	assert_int_equal(load_file_bytes("part", bytes, n, &f), STATUS_OK);
	assert_int_equal(f.copied_ns, 9000);
	assert_int_equal(f.header.pid, 7);
	assert_int_equal(f.threads.n, 2);
	assert_true(load_is_live(&f, &f.threads.at[0]));
	load_file_close(&f);
	/* Of what the header does not have yet, only some has arrived. */
	const struct msr_extent *second =
		(struct msr_extent *)find_record(bytes, n, MSR_THREAD, 1, 0) - 1;
	part->header.allocated = (uint64_t)((const uint8_t *)second - bytes);
	assert_int_equal(load_file_bytes("part", bytes, n, &f), STATUS_OK);
	assert_int_equal(f.threads.n, 1);
	assert_false(f.truncated);
	load_file_close(&f);
	free(bytes);
}

static void test_bad_node_costs_its_subtree(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	struct msr_node *nodes = find_record(bytes, n, MSR_NODE, 1, 0);
	struct load_file f = {0};
	nodes[4].parent = 4; /* its own parent */
	assert_int_equal(load_file_bytes("cycle", bytes, n, &f), STATUS_OK);
	assert_int_equal(f.threads.at[1].node_to[3], 0);
	for (uint32_t i = 4; i < 14; i++)
		assert_int_equal(f.threads.at[1].node_to[i], LOAD_DAMAGED);
	assert_int_equal(f.threads.at[0].n_trace_records, 13);
	assert_int_equal(f.threads.at[1].n_trace_records, 2);
	/* ten nodes, their cells, eleven trace records */
	assert_int_equal(f.bytes_damaged,
			 10 * sizeof(struct msr_node) + 10 * sizeof(struct msr_cell) + 11 * 8);
	load_file_close(&f);
	free(bytes);
}

/* Two extents that claim the same indices: cells would count twice, nodes would be whichever came
 * last. */
static void test_overlap(void **state)
{
	(void)state;
	static const enum msr_kind kinds[] = {MSR_NODE, MSR_CELL};
	for (int k = 0; k < 2; k++) {
		size_t n;
		uint8_t *bytes = make_small(&n);
		struct msr_extent *e =
			(struct msr_extent *)find_record(bytes, n, kinds[k], 0, 1) - 1;
		struct load_file f = {0};
		e->first = 0;
		e->check = msr_extent_check(e);
		assert_int_equal(load_file_bytes("overlap", bytes, n, &f), STATUS_OK);
		assert_true(f.bytes_damaged >= 96);
		uint64_t count = 0;
		for (size_t p = 0; p < f.threads.at[0].cells.n; p++)
			for (size_t i = 0;
			     i < f.threads.at[0].cells.at[p].n_bytes / sizeof(struct msr_cell); i++)
				count += ((const struct msr_cell *)f.threads.at[0]
						  .cells.at[p]
						  .content)[i]
						 .count;
		assert_true(k == 0 ||
			    count == 10); /* 13 samples, 3 of them in the extent that is out */
		load_file_close(&f);
		free(bytes);
	}
}

static void test_time_beyond_reason(void **state)
{
	(void)state;
	size_t n;
	uint8_t *bytes = make_small(&n);
	uint64_t *words = find_record(bytes, n, MSR_TRACE, 0, 1);
	struct load_file f = {0};
	assert_true(words[2] == msr_trace_make(0, MSR_TRACE_TAG_ESCAPE, MSR_TRACE_ABSOLUTE) &&
		    words[3] == UINT64_C(6000000000));
	words[3] = UINT64_MAX - 5;
	assert_int_equal(load_file_bytes("late", bytes, n, &f), STATUS_OK);
	assert_int_equal(f.threads.at[0].n_trace_records, 13);
	assert_int_equal(f.threads.at[0].last_trace_ns, 2110); /* the clock stays where it was */
	load_file_close(&f);
	struct load_job job = {0};
	struct load_file *again = vec_push(&job.files);
	assert_int_equal(load_file_bytes("late", bytes, n, again), STATUS_OK);
	struct model *m = fixture_model_of(&job, NULL, 1);
	struct model_trace_cursor c = {0};
	struct model_sample samples[16];
	assert_int_equal(model_trace_read(m, 0, &c, samples, 16), 13);
	assert_int_equal(samples[12].time_ns, 2110 + 4000);
	model_free(m);
	free(bytes);
}

static void test_job(void **state)
{
	(void)state;
	char *directory = fixture_directory(), *directories[2] = {directory, directory};
	struct load_job job = {0};
	assert_int_equal(load_job_open(directories, 1, 1, &job), STATUS_NOT_FOUND);
	load_job_close(&job);
	gen_job(directory, &(struct gen_job){.n_processes = 3,
					     .n_threads = 2,
					     .n_nodes = 50,
					     .n_samples = 100,
					     .n_metrics = 1,
					     .seed = 1,
					     .ranks = true});
	assert_int_equal(load_job_open(directories, 2, 2, &job), STATUS_OK);
	assert_int_equal(job.files.n, 3); /* named twice, counted once */
	for (int i = 0; i < 3; i++)
		assert_int_equal(job.files.at[i].header.rank, i);
	char *path = strdup(job.files.at[1].path);
	load_job_close(&job);
	assert_int_equal(truncate(path, 100), 0); /* its process died at once: the others count */
	assert_int_equal(load_job_open(directories, 1, 1, &job), STATUS_OK);
	assert_int_equal(job.files.n, 2);
	assert_int_equal(job.n_short, 1);
	load_job_close(&job);
	free(path);
	fixture_remove(directory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sound),
		cmocka_unit_test(test_truncated),
		cmocka_unit_test(test_every_byte_flipped),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_copied_part),
		cmocka_unit_test(test_bad_node_costs_its_subtree),
		cmocka_unit_test(test_overlap),
		cmocka_unit_test(test_time_beyond_reason),
		cmocka_unit_test(test_job),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
